"""Figures and pages of companions."""

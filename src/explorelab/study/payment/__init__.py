"""Payments: who gets what, and the files for the platforms."""

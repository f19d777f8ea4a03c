"""Figures and their style, the words and numbers in them, and HTML pages."""

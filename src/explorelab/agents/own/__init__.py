"""Agents of a user's own: declared, composed of functions, checked, and found in files."""

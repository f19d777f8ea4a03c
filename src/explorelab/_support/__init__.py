"""Helpers used throughout the package: checks, files, progress, wording of errors."""

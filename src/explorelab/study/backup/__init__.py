"""Backing up a study's database, and restoring it."""

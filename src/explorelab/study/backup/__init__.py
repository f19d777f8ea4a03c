"""Backups of a study's database, and putting them back."""

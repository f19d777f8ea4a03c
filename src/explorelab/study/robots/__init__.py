"""Participants that are programs, over the real interface."""

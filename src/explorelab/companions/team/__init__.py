"""Simulated teams of a person and an adviser."""

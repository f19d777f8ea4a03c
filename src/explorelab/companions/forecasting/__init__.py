"""Forecasts of unseen people: folds and their groups, predictions from a person's own past, and those that know less."""

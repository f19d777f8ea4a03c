"""Checks of how far a fit can be trusted: recovery of known parameters and models, and predictive checks."""

"""Hierarchical Bayes: everyone's parameters and the population they come from."""

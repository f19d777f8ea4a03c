"""Fit agents to people, one by one or as a group."""

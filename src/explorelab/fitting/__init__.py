"""Fitting agents to people: one at a time, as a group, and left-out blocks predicted from the others."""

"""Learners: from a prior and what was seen to a belief about every arm."""

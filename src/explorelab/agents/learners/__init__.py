"""Learners: from a prior and the rewards seen to a belief about every arm."""

"""Advice in a study: computed in processes of its own, shown if it is ready in time, and stored with the choice."""

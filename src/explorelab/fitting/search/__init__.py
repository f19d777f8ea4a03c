"""The search for the best parameters: starts, steps, and many problems at once."""

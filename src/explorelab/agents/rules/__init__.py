"""Rules: the value of each arm, the choice among them, habits, and commitments."""

"""Rules: what an arm is worth, which one is chosen, with which habits, and for how long."""

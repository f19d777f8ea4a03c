"""How many people, blocks and choices a study needs, found by simulating it."""

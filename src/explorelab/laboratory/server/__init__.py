"""What researchers ask the laboratory: a table of addresses with the right that each needs, and their answers."""

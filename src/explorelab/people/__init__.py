"""People: what they chose, read and checked; and what the library finds in it."""

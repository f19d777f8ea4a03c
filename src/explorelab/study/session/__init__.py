"""A person's way through a study, from arrival to the last page; every rule of the game."""

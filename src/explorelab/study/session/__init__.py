"""A person's path through a study, from arrival to the last page, and every rule of the game."""

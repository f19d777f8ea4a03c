"""The check of a file of choices: everything wrong with it at once, and where."""

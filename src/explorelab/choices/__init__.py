"""People's choices: reading, checking and writing files, and the table of choices."""

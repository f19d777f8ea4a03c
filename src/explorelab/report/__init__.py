"""A report on people's choices: one page to send, from a file of choices."""

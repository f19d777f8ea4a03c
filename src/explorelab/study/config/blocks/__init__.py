"""Blocks of choices: their tasks, what people see of them, and the design that says who plays which, in which order."""

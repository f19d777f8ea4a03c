"""The check of a file of choices, which reports every problem and its location."""

"""What people chose: files, their check, and the table of choices."""

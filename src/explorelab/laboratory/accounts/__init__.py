"""Who the researchers are, and what each may do where."""

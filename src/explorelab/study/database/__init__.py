"""The database: its tables, the store that reads and writes it, and what watches over it."""

"""What the command line prints: tables for people to read."""

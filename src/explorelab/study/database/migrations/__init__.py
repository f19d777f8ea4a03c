"""How the tables came to be what they are, in Alembic's form."""

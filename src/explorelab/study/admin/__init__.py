"""The researcher's page: logging in, looking, deleting, downloading."""

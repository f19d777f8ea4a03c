"""The laboratory's own database: accounts, roles, invitations, studies, and who changed what."""

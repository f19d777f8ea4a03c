"""What takes long for a study, in processes of its own: pilots, reports, backups."""

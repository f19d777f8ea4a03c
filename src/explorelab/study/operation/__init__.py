"""What whoever runs a study's server does: deploys it, backs its database up, and restores it."""

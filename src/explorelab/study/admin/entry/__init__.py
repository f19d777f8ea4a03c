"""Who may see the researcher's page, and what they may do there."""

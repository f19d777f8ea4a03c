"""What a fit can be trusted with: simulated people with known parameters, refitted, and simulated beside real ones."""

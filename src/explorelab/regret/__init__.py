"""What people lost, and which form their regret follows: phenotypes."""

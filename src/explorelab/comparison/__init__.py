"""Compare agents: left-out blocks, leave-one-out, and random-effects model selection."""

"""Compare agents: by left-out blocks, by leave-one-out, and by random-effects model selection."""

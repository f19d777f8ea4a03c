"""Which agent describes people best: left-out blocks, leave-one-out, and the group's own mixture of agents."""

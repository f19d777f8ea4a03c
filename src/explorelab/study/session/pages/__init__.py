"""Pages of a study's own: how study.toml describes them, what they ask, and how people go through them."""

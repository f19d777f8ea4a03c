"""TOML files, read with the lines that their values stand on."""

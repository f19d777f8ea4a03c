"""Several studies on one server, for researchers with accounts: created, edited, run and watched in the browser."""

"""The web server: routes, limits, connections, worker processes."""

"""How much anyone may ask of the server: how often, how large, and over how many connections."""

"""The experiment in a browser: what is shown, what is kept, and what comes out of it."""

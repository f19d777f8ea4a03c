"""One person, live: their parameters estimated while they play, their next choice forecast, and advice."""

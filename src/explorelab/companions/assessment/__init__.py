"""One person, or everyone in a file, assessed: form of regret, regret to come, and weaknesses."""

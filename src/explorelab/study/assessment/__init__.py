"""The companion's assessment of everyone who is playing: computed in a process of its own while a researcher looks."""

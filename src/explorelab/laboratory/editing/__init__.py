"""A study's files changed in the browser: checked as they are typed, kept as drafts, saved as versions, shown as screens."""

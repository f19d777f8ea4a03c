"""The sections of a report, each from its numbers to sentences, figures and tables."""

"""Commands that simulate people: how far a fit can be trusted, and how large a study must be."""

"""Every figure and its style; the words and numbers that stand in them; pages that hold them."""

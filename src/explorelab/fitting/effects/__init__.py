"""Effects of conditions on parameters: formulas, their design, the group around them, and the table of effects."""

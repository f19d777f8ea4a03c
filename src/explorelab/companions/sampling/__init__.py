"""Points that stand for what is known of a person: where they are drawn, and what they weigh."""

"""Points that stand for what is known of a person: possible parameters, where they are drawn, and what they weigh."""

"""Agents by name: the paper's four, the rules they are measured against, and models of people."""

"""NAME=VALUE settings, as on a command line."""

from __future__ import annotations

from explorelab.errors import InputError

type Written = int | float | str
"""A value on a command line: a number if it can be read as one, otherwise text."""


def name_and_value(flag: str, text: str) -> tuple[str, Written | list[Written]]:
    """The two sides of NAME=VALUE; comma-separated values become a list."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{flag} must be NAME=VALUE, got {text!r}.")
    values = [_value(part) for part in value.split(",")]
    return name.strip().replace("-", "_"), values if len(values) > 1 else values[0]


def _value(text: str) -> Written:
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

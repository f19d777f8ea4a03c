"""NAME=VALUE settings, as on a command line."""

from __future__ import annotations

from typing import Any

from explorelab.errors import InputError


def name_and_value(flag: str, text: str) -> tuple[str, Any]:
    """The two sides of NAME=VALUE; comma-separated values become a list."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InputError(f"{flag} must be NAME=VALUE, got {text!r}.")
    values = [_value(part) for part in value.split(",")]
    return name.strip().replace("-", "_"), values if len(values) > 1 else values[0]


def _value(text: str) -> Any:
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text

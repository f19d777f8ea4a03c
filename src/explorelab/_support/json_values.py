"""Types of values from and for files: JSON, and whatever has not been checked yet."""

from __future__ import annotations

from typing import Any

type Json = None | bool | int | float | str | list[Json] | dict[str, Json]
"""A value that JSON can hold."""

type Unchecked = Any
"""A value as TOML, JSON or a user gave it: it may be anything until it has been checked."""

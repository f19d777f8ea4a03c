"""Types of values from and for files: JSON, and whatever has not been checked yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

type Json = bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None
"""A value that JSON can hold."""

type JsonObject = dict[str, Any]
"""A summary for JSON: whoever reads on in it knows what its maker puts there, and need not ask `Json` at every step."""

type Unchecked = Any
"""A value as TOML, JSON or a user gave it: it may be anything until it has been checked."""

"""Compiled programs in a folder that several processes share."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any


@cache
def put_whole() -> None:
    """From now on, JAX puts a compiled program into its folder in one step.

    By itself it writes into the file that others read already: they would find half a program, or one that a killed process
    left behind. Should JAX change inside, it does as it likes: half a program is noticed, and compiled again.
    """
    try:
        from jax._src.lru_cache import LRUCache

        by_itself = LRUCache.put
    except (ImportError, AttributeError):
        return

    def put(self: Any, key: str, value: bytes) -> None:
        folder = str(getattr(self, "path", ""))
        if not key or getattr(self, "eviction_enabled", True) or "://" in folder or not Path(folder).is_dir():
            by_itself(self, key, value)
            return
        target = Path(folder, f"{key}-cache")
        if target.exists():
            return
        with NamedTemporaryFile(dir=folder, prefix=".", delete=False) as beside:
            beside.write(value)
        os.replace(beside.name, target)

    LRUCache.put = put  # type: ignore[method-assign]

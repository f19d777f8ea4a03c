"""Passwords are known by a slow hash alone."""

from __future__ import annotations

import hashlib

HASHING_COST = 2**14
"""The cost of scrypt: each guess of a password takes tens of milliseconds and 16 MB."""
AT_ONCE = 2
"""Passwords checked at the same time: each takes 16 MB."""


def hashed(password: str, salt: bytes) -> bytes:
    """The hash of a password; takes about 50 ms, so never call it in the event loop."""
    return hashlib.scrypt(password.encode(), salt=salt, n=HASHING_COST, r=8, p=1)

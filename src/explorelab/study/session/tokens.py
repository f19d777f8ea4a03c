"""Tokens by which the server knows a person again: their code, signed. They cannot be guessed and are stored nowhere."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No characters that are read as one another."""


def new_code() -> str:
    """A random name for a person in exports: ten characters, about 50 bits."""
    return "".join(secrets.choice(ALPHABET) for _ in range(10))


def token_for(secret: bytes, code: str) -> str:
    """The token of the person with this code."""
    return f"{code}.{_signature(secret, code)}"


def code_of(secret: bytes, token: str) -> str | None:
    """The code of the person whose token this is; None if it is nobody's."""
    code, _, signature = token.partition(".")
    expected = _signature(secret, code)
    return code if hmac.compare_digest(signature.encode(), expected.encode()) else None


def _signature(secret: bytes, code: str) -> str:
    return hmac.new(secret, b"person:" + code.encode(), sha256).hexdigest()

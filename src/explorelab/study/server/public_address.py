"""The public address behind a proxy: its origin, and the path under which the study is served."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from explorelab.errors import InputError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_PATH = re.compile(r"(/[A-Za-z0-9_~.-]+)*/?")


def parts_of(url: str) -> tuple[str, str]:
    """Origin and path of a public address, such as "https://x" and "/study1"; both empty if there is none."""
    if not url:
        return "", ""
    expected = "--public-url must be an address such as https://example.org or https://example.org/study1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InputError(f"{expected}, got {url!r}.") from None
    if parts.scheme not in ("http", "https") or not re.fullmatch(r"[^\s@\"'<>\\]+", parts.netloc) or port == 0:
        raise InputError(f"{expected}, got {url!r}.")
    if parts.query or parts.fragment or not _PATH.fullmatch(parts.path) or {".", ".."} & set(parts.path.split("/")):
        raise InputError(f"{expected}, with nothing after the path, got {url!r}.")
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def below(prefix: str, app: ASGIApp) -> ASGIApp:
    """The application for proxies that keep the public path on requests and for those that strip it."""
    if not prefix:
        return app
    raw = prefix.encode()

    async def without_prefix(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
        elif scope["path"] == prefix:
            await to_folder(prefix, scope, send)
        elif scope["path"].startswith(f"{prefix}/"):
            kept = {"path": scope["path"][len(prefix) :], "raw_path": (scope.get("raw_path") or b"").removeprefix(raw)}
            await app({**scope, **kept}, receive, send)
        else:
            await app(scope, receive, send)

    return without_prefix


async def to_folder(prefix: str, scope: Scope, send: Send) -> None:
    """A redirect to the address with a trailing slash, to which the page's own addresses are relative."""
    query = scope.get("query_string", b"")
    location = f"{prefix}/".encode() + (b"?" + query if query else b"")
    await send(
        {"type": "http.response.start", "status": 308, "headers": [(b"location", location), (b"content-length", b"0")]}
    )
    await send({"type": "http.response.body"})

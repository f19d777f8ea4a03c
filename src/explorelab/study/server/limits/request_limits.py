"""Limits on requests: how large, how often, and in what form."""

from __future__ import annotations

import ipaddress
import json
import logging
import time
from collections.abc import Callable
from functools import lru_cache

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorelab.study.database.refusals import Refused
from explorelab.study.server.limits.rate_limits import InProcess, Limit

LARGEST_BODY = 64 * 1024
LARGEST_HEAD = 32 * 1024
"""Bytes of the request line and all headers."""


log = logging.getLogger("explorelab.study.server.limits.connections")


@lru_cache(4096)
def network_of(address: str) -> str:
    """An address or, for IPv6, the /64 network that one customer has."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


class Pace:
    """Refuses requests from an address that sends too many, whoever they claim to be."""

    def __init__(self, app: ASGIApp, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._app, self._now = app, now
        self._rate = InProcess(Limit.pace("address", per_second))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] == "http":
            try:
                self._rate.count(network_of((scope.get("client") or [""])[0]), self._now())
            except Refused as refused:
                log.warning("One address sends too many requests; if it is a proxy, name it with --trusted-proxies.")
                await answer(send, refused.status, refused.error, refused.message, refused.retry_after_s)
                return
        await self._app(scope, receive, send)


class FormLimit:
    """Refuses headers that are too large, and addresses with a zero byte, which no database accepts in text."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] == "http":
            path, query = scope["path"], scope["query_string"]
            size = len(path) + len(query) + sum(len(name) + len(value) + 4 for name, value in scope["headers"])
            if size > LARGEST_HEAD:
                await answer(send, 431, "too-large", f"Address and headers must have at most {LARGEST_HEAD} bytes.")
                return
            if "\0" in path or b"%00" in query or b"\0" in query:
                await answer(send, 400, "malformed", "The address must not contain a zero byte.")
                return
        await self._app(scope, receive, send)


class BodyLimit:
    """Refuses large bodies before they are read, and posts that are not JSON."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST_BODY) -> None:
        self._app, self._largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it here."""
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH", "DELETE"):
            await self._app(scope, receive, send)
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 20 or int(length) > self._largest:
            await self._too_large(send)
            return
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        if kind != b"application/json":
            await answer(send, 415, "not-json", "The body must be JSON, with the header Content-Type: application/json.")
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._largest:
                raise HTTPException(413, f"The body must be at most {self._largest} bytes")
            return message

        await self._app(scope, counted, send)

    async def _too_large(self, send: Send) -> None:
        await answer(send, 413, "too-large", f"The body must be at most {self._largest} bytes.")


async def answer(send: Send, status: int, error: str, message: str, retry_after_s: int | None = None) -> None:
    """A refusal below the level of routes."""
    body = json.dumps({"error": error, "message": message}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    if retry_after_s is not None:
        headers.append((b"retry-after", str(retry_after_s).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""Bounds on what anyone may ask: how large, how often, and in what form."""

from __future__ import annotations

import json
from collections import OrderedDict

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorelab.study.refusals import Refused

LARGEST_BODY = 64 * 1024
REMEMBERED = 20_000
"""Callers whose pace is kept in mind; the one not heard of for longest is forgotten first."""


class Rate:
    """A bucket for each caller that fills at a steady pace; a request takes one drop."""

    def __init__(self, per_second: float, at_once: float) -> None:
        self._per_second, self._at_once = per_second, at_once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, caller: str, now: float) -> None:
        """Refuse the request if the caller's bucket is empty."""
        left, then = self._left.pop(caller, (self._at_once, now))
        left = min(self._at_once, left + max(0.0, now - then) * self._per_second)
        self._left[caller] = (max(0.0, left - 1), now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        if left < 1:
            wait_s = max(1, round((1 - left) / self._per_second + 0.5))
            raise Refused(429, "too-fast", f"Too many requests: try again in {wait_s} s.", wait_s)


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
        if not length.isdigit() or int(length) > self._largest:
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


async def answer(send: Send, status: int, error: str, message: str) -> None:
    """A refusal below the level of routes."""
    body = json.dumps({"error": error, "message": message}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

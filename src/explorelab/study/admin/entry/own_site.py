"""Whether a request comes from this site's own pages. `own` is the server's address where a proxy hides it, else empty."""

from __future__ import annotations

from typing import Literal, TypedDict
from urllib.parse import urlsplit

from fastapi import Request

from explorelab.study.database.refusals import Refused


class CookieSettings(TypedDict):
    """Who may read a cookie, and where it is sent."""

    path: str | None
    httponly: bool
    samesite: Literal["strict"]
    secure: bool


def cookie_settings(request: Request, own: str, path: str | None = None) -> CookieSettings:
    """Settings of a cookie. Without a path, it belongs to the login's folder, also under a study's prefix."""
    return {"path": path, "httponly": True, "samesite": "strict", "secure": is_https(request, own)}


def check_origin(request: Request, own: str) -> None:
    """Refuse a request that came from another site, or that does not say where it came from."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    same_site = site == "same-origin"
    # A page that sends no referrer says "null"; then the other header, which no script can set, decides.
    same_origin = same_site if origin in (None, "null") else _is_own(origin or "", request, own)
    if not same_origin or (site is not None and not same_site):
        raise Refused(403, "origin", "The request comes from another site, or does not say which site it comes from.")


def is_https(request: Request, own: str) -> bool:
    """Whether the browser uses https to reach us or the proxy in front of us."""
    return request.url.scheme == "https" or own.startswith("https:")


def _is_own(origin: str, request: Request, own: str) -> bool:
    if own and origin == own:
        return True
    parts = urlsplit(origin)
    return parts.scheme in ("http", "https") and parts.netloc == request.headers.get("host")

"""Who has arrived, from the page's address as given by Prolific and MTurk, or from the browser's own key.

From then on the server knows a person again by a token: their code, signed. It cannot be guessed and is stored nowhere.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from explorelab.study.database.refusals import invalid

if TYPE_CHECKING:
    from explorelab.study.database.tables import Person

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""MTurk's name for an assignment that has not been accepted."""
LONGEST = 128
PLAIN = re.compile(rf"[A-Za-z0-9_.-]{{1,{LONGEST}}}")
"""The form of platform IDs; a link pasted without being filled in has braces."""
ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No characters that are easily confused."""


class Arrival(NamedTuple):
    """Someone who has arrived."""

    source: str
    identity: str
    """SHA-256 of source and ID, and in the database a keyed hash of that: the same for the same person."""
    browser: str
    """SHA-256 of the browser's key, which nobody else knows."""
    platform_id: str | None = None
    platform_session: str | None = None
    platform_study: str | None = None
    submit_to: str | None = None
    agent: str | None = None
    """Which agent plays, for a robot."""
    language: str | None = None
    """In which language the study is shown."""


def is_preview(query: Mapping[str, str]) -> bool:
    """Whether this is only an MTurk preview."""
    return query.get("assignmentId") == PREVIEW


def wants_to_simulate(query: Mapping[str, str]) -> bool:
    """Whether the link asks the page to play by itself."""
    return any(name.strip().lower() == "simulate" for name in query)


def who(query: Mapping[str, str], key: str, pilot: bool) -> Arrival:
    """Who has arrived. Robots identify themselves with the server's key; everyone else is a person."""
    browser = identity_of("browser", key)
    if pilot:
        said = "".join(letter for letter in query.get("agent", "")[:2000] if letter.isprintable())
        return Arrival("pilot", identity_of("pilot", key), browser, agent=said)
    if "PROLIFIC_PID" in query:
        name = _name("PROLIFIC_PID", query)
        session, study = (_optional(each, query) for each in ("SESSION_ID", "STUDY_ID"))
        return Arrival("prolific", identity_of("prolific", name), browser, name, session, study)
    if "workerId" in query:
        name = _name("workerId", query)
        session, study = (_optional(each, query) for each in ("assignmentId", "hitId"))
        submit_to = _submit_to(query.get("turkSubmitTo", ""))
        return Arrival("mturk", identity_of("mturk", name), browser, name, session, study, submit_to)
    return Arrival("plain", identity_of("plain", key), browser)


def keyed(arrival: Arrival, secret: bytes) -> Arrival:
    """The arrival as stored: without the study's secret nobody can test a list of IDs against the database."""
    return arrival._replace(identity=keyed_identity(arrival.identity, secret))


def keyed_identity(identity: str, secret: bytes) -> str:
    """A keyed hash of a plain one."""
    return hmac.new(secret, b"identity:" + identity.encode(), sha256).hexdigest()


def proven(arrival: Arrival, known: Person) -> bool:
    """Whether this is the person known by this ID, proved by the browser's key or the platform's first session.

    A platform ID is no secret, and anyone can write it into a link.
    """
    if known.source in ("plain", "pilot"):
        return True  # the name itself is made from the key
    same_session = bool(arrival.platform_session) and arrival.platform_session == known.first_session
    return arrival.browser == known.browser or same_session


def identity_of(source: str, name: str) -> str:
    """Someone's identity, before it is hashed with the study's secret."""
    return sha256(f"{source}:{name}".encode()).hexdigest()


def _name(key: str, query: Mapping[str, str]) -> str:
    value = query[key].strip()
    if not PLAIN.fullmatch(value):
        raise invalid(
            f"This link is incomplete: {key} must be 1 to {LONGEST} letters and digits, filled in by the platform. "
            "Please tell the researchers."
        )
    return value


def _optional(key: str, query: Mapping[str, str]) -> str | None:
    return _name(key, query) if query.get(key, "").strip() else None


def _submit_to(address: str) -> str | None:
    """Where to return to, if that is MTurk: the address comes from the link, and anyone can write a link."""
    scheme, _, rest = address.partition("://")
    host = rest.split("/", 1)[0].lower()
    known = host == "mturk.com" or host.endswith(".mturk.com")
    return (
        f"https://{host}"
        if scheme == "https" and known and set(host) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-")
        else None
    )


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

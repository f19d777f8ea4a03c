"""Which process of the server assesses people, and until when: one for all of them, as long as a researcher looks.

The lease is a row of `settings`. A process that is killed leaves it to run out.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import Connection, select

from explorelab.study.database.store import keep, keep_first
from explorelab.study.database.tables import settings

NAME = "assessing"
LOOKED_S = 60.0
"""People are assessed until nobody has looked for so long."""
HELD_S = 30.0
"""A lease that is not renewed for so long is free."""


class Lease(NamedTuple):
    """Who assesses, until when, and when a researcher last looked."""

    holder: str = ""
    until: float = 0.0
    people_at: float = 0.0
    pilots_at: float = 0.0
    """When somebody last looked at people, and at pilots."""

    def kinds(self, now: float) -> tuple[bool, ...]:
        """Whom somebody has looked at lately: False for people, True for pilots."""
        return tuple(pilots for pilots, at in ((False, self.people_at), (True, self.pilots_at)) if now - at < LOOKED_S)


def looked(connection: Connection, name: str, pilots: bool, now: float) -> bool:
    """Record that somebody looks; returns whether the process of this name is the one to assess."""
    lease = _locked(connection)
    lease = lease._replace(pilots_at=now) if pilots else lease._replace(people_at=now)
    mine = lease.holder == name or now >= lease.until or now < lease.until - 2 * HELD_S  # the clock may be set back
    if mine:
        lease = lease._replace(holder=name, until=now + HELD_S)
    keep(connection, NAME, json.dumps(lease))
    return mine


def renewed(connection: Connection, name: str, now: float) -> Lease | None:
    """The lease of the process of this name for another while; None if it has lost it, or nobody looks any more."""
    lease = _locked(connection)
    if lease.holder != name or not lease.kinds(now):
        return None
    lease = lease._replace(until=now + HELD_S)
    keep(connection, NAME, json.dumps(lease))
    return lease


def given_back(connection: Connection, name: str) -> None:
    """Leave the lease to others, if it is this process's."""
    lease = _locked(connection)
    if lease.holder == name:
        keep(connection, NAME, json.dumps(lease._replace(holder="", until=0.0)))


def _locked(connection: Connection) -> Lease:
    """The lease, which nobody else changes before the end of the transaction."""
    keep_first(connection, NAME, json.dumps(Lease()))
    value = connection.execute(select(settings.c.value).where(settings.c.name == NAME).with_for_update()).scalar_one()
    return Lease(*json.loads(value))

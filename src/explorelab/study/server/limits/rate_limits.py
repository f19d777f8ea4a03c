"""Rate limits: a number at once, and then as fast as the limit refills.

A limit is defined once. It is counted either in this process, for frequent requests that may be forgotten, or in the
database, for all processes together and across restarts. There, callers are stored as keyed hashes, and only until the limit
is full again: the database holds nobody's address.
"""

from __future__ import annotations

import hmac
import math
from collections import OrderedDict
from typing import NamedTuple, Self

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from explorelab._support.counted import counted
from explorelab.study.database.refusals import Refused
from explorelab.study.database.tables import buckets

BURST_S = 3.0
"""How far a steady rate may be exceeded in a burst."""
MINUTE_S = 60.0
FORGOTTEN_S = 3600.0
"""Every limit in the database is full again after this time, so its row can be deleted."""
REMEMBERED = 20_000
"""Callers that a process remembers; the one not heard from for longest is forgotten first."""


class Limit(NamedTuple):
    """A number at once, and then as fast as it refills."""

    what: str
    most: float
    fills_in_s: float
    too_many: str = "Too many requests: try again in {wait_s} s."
    """The sentence shown when it is empty, with the wait in seconds or in words."""
    error: str = "too-fast"

    @classmethod
    def pace(cls, what: str, per_second: float) -> Self:
        """A number per second, plus a short burst."""
        return cls(what, BURST_S * per_second, BURST_S)

    def filled(self, left: float, passed_s: float) -> float:
        """What is left after some time."""
        return min(self.most, left + passed_s * self._per_second)

    def check(self, left: float) -> None:
        """Refuse a request for which not enough is left."""
        if left < 1:
            wait_s = max(1, math.ceil((1 - left) / self._per_second))
            raise Refused(429, self.error, self.too_many.format(wait_s=wait_s, wait=_in_words(wait_s)), wait_s)

    @property
    def _per_second(self) -> float:
        return self.most / self.fills_in_s


class InProcess:
    """A limit that is counted in this process."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, caller: str, now: float) -> None:
        """Count one request of this caller, or refuse it."""
        left, then = self._left.pop(caller, (self._limit.most, now))
        left = self._limit.filled(left, max(0.0, now - then))
        self._left[caller] = (max(0.0, left - 1), now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        self._limit.check(left)


class InDatabase:
    """A limit that is counted in the database; callers are named by a hash keyed with the secret."""

    def __init__(self, limit: Limit, secret: bytes) -> None:
        self._limit, self._secret = limit, secret

    def count(self, connection: Connection, caller: str, now: float) -> None:
        """Count one request of this caller, or refuse it."""
        limit, name = self._limit, self._name(caller)
        insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        connection.execute(insert(buckets).values(name=name, left=limit.most, at=now).on_conflict_do_nothing())
        row = connection.execute(select(buckets).where(buckets.c.name == name).with_for_update()).one()
        # Requests counted at once may have read the clock in a different order. A clock that was set back, however,
        # must not keep anyone waiting until it has caught up.
        passed_s = max(0.0, now - row.at) if now > row.at - MINUTE_S else limit.fills_in_s
        at = max(now, row.at) if passed_s < limit.fills_in_s else now
        left = limit.filled(row.left, passed_s)
        limit.check(left)
        connection.execute(update(buckets).where(buckets.c.name == name).values(left=left - 1, at=at))
        _forget(connection, now)

    def give_back(self, connection: Connection, caller: str) -> None:
        """Forget this caller's count."""
        connection.execute(delete(buckets).where(buckets.c.name == self._name(caller)))

    def _name(self, caller: str) -> str:
        return f"{self._limit.what}:{hmac.digest(self._secret, f'bucket:{caller}'.encode(), 'sha256').hex()[:32]}"


def _in_words(seconds: int) -> str:
    return counted(seconds, "second") if seconds < 120 else counted(math.ceil(seconds / 60), "minute")


def _forget(connection: Connection, now: float) -> None:
    # Rows held by another transaction are left for the next time: waiting for them could deadlock.
    old = select(buckets.c.name).where(buckets.c.at < now - FORGOTTEN_S).with_for_update(skip_locked=True)
    names = list(connection.execute(old).scalars())
    if names:
        connection.execute(delete(buckets).where(buckets.c.name.in_(names)))

"""Limits that hold for all processes together and across restarts, kept in the database.

Who it was is kept as a keyed hash, and only until the bucket is full again: no address of anybody is in the database.
"""

from __future__ import annotations

import hmac
import math
from typing import NamedTuple

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from explorelab._support.counted import counted
from explorelab.study.database.refusals import Refused
from explorelab.study.database.tables import buckets

MINUTE_S = 60.0
FORGOTTEN_S = 3600.0
"""Every bucket is full again after this time, so its row can be deleted."""


class Bucket(NamedTuple):
    """A number at once, and then as fast as it refills."""

    what: str
    most: int
    fills_in_s: float
    too_many: str
    """The sentence shown when it is empty."""

    def take(self, connection: Connection, secret: bytes, caller: str, now: float) -> None:
        """Count one request of this caller, or refuse it."""
        name = self._name(secret, caller)
        insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
        connection.execute(insert(buckets).values(name=name, left=self.most, at=now).on_conflict_do_nothing())
        row = connection.execute(select(buckets).where(buckets.c.name == name).with_for_update()).one()
        # Requests counted at once may have read the clock in a different order. A clock that was set back, however,
        # must not keep anyone waiting until it has caught up.
        passed_s = max(0.0, now - row.at) if now > row.at - MINUTE_S else self.fills_in_s
        at = max(now, row.at) if passed_s < self.fills_in_s else now
        left = min(self.most, row.left + passed_s * self._per_second)
        if left < 1:
            wait_s = max(1, math.ceil((1 - left) / self._per_second))
            raise Refused(429, "too-many", f"{self.too_many}: wait {_in_words(wait_s)}.", wait_s)
        connection.execute(update(buckets).where(buckets.c.name == name).values(left=left - 1, at=at))
        _forget(connection, now)

    def give_back(self, connection: Connection, secret: bytes, caller: str) -> None:
        """Forget this caller's count."""
        connection.execute(delete(buckets).where(buckets.c.name == self._name(secret, caller)))

    @property
    def _per_second(self) -> float:
        return self.most / self.fills_in_s

    def _name(self, secret: bytes, caller: str) -> str:
        return f"{self.what}:{hmac.digest(secret, f'bucket:{caller}'.encode(), 'sha256').hex()[:32]}"


def _in_words(seconds: int) -> str:
    return counted(seconds, "second") if seconds < 120 else counted(math.ceil(seconds / 60), "minute")


def _forget(connection: Connection, now: float) -> None:
    # Rows held by another transaction are left for the next time: waiting for them could deadlock.
    old = select(buckets.c.name).where(buckets.c.at < now - FORGOTTEN_S).with_for_update(skip_locked=True)
    names = list(connection.execute(old).scalars())
    if names:
        connection.execute(delete(buckets).where(buckets.c.name.in_(names)))

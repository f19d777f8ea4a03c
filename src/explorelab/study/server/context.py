"""What is needed to answer every request."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from explorelab.study.config.design import Study
from explorelab.study.database.store import Store

ASKED_HEAD = "explorelab.head"
"""In the scope of a request that is answered like GET, but without a body."""


class Context(NamedTuple):
    """The study, its database, and the clock."""

    study: Study
    store: Store
    now: Callable[[], float]
    """Seconds since 1970."""

"""A study's metrics in Prometheus' text format: written here, because its client shares counts of processes through files.

Each process has a label of its own, as after a restart it counts from zero; sums and rates are Prometheus' to make.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy import Connection, func, select, text

from explorelab import __version__
from explorelab.study.database.sqlite_file import free_bytes, log_of
from explorelab.study.database.store import Store
from explorelab.study.database.tables import people
from explorelab.study.export.live.request_counts import BUCKETS_S, RequestCounts, Told
from explorelab.study.session.stages import KEPT

FORMAT = "text/plain; version=0.0.4; charset=utf-8"

type Sample = tuple[str, Mapping[str, str], float]
"""What follows the family's name, the labels, and the number."""


class Measured(NamedTuple):
    """Everything that metrics tell, from one transaction."""

    people: Mapping[tuple[str, bool], int]
    """By stage, and whether they are pilots."""
    database_bytes: int
    disk_free_bytes: int | None
    """None where the database is on another server, whose disk is not ours to see."""
    processes: Mapping[str, Told]


def measured(connection: Connection, store: Store, counts: RequestCounts, now: float) -> Measured:
    """The numbers of now."""
    query = select(people.c.stage, people.c.pilot, func.count()).group_by(people.c.stage, people.c.pilot)
    found = {(str(stage), bool(pilot)): int(n) for stage, pilot, n in connection.execute(query)}
    free = None if store.file is None else free_bytes(store.file)
    return Measured(found, _bytes(connection, store), free, counts.all_told(connection, now))


def _bytes(connection: Connection, store: Store) -> int:
    if store.file is None:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    return sum(file.stat().st_size for file in (store.file, log_of(store.file)) if file.exists())


def in_text(seen: Measured) -> str:
    """The metrics as Prometheus reads them."""
    lines = [*_family("info", "gauge", "The version of the server.", [("", {"version": __version__}, 1)])]
    lines += _family("people", "gauge", "People by stage; pilots are robots and tests.", _people(seen))
    lines += _family("database_bytes", "gauge", "Size of the database, with its log.", [("", {}, seen.database_bytes)])
    if seen.disk_free_bytes is not None:
        lines += _family("disk_free_bytes", "gauge", "Free space on the database's disk.", [("", {}, seen.disk_free_bytes)])
    each = seen.processes.items()
    waiting = [("", {"process": name}, told["waiting"]) for name, told in each]
    lines += _family("requests_waiting", "gauge", "Requests that wait for the database.", waiting)
    refused = [
        ("", {"process": name, "status": status}, n)
        for name, told in each for status, n in sorted(told["statuses"].items()) if status != "500"
    ]  # fmt: skip
    lines += _family("requests_refused_total", "counter", "Requests that were refused, by status.", refused)
    failed = [("", {"process": name}, told["statuses"].get("500", 0)) for name, told in each]
    lines += _family("errors_total", "counter", "Requests that the server failed to handle.", failed)
    took = [sample for name, told in each for kind in told["took"] for sample in _histogram(name, kind, told)]
    about = "Seconds until something was on disk and acknowledged; the count is of what was acknowledged."
    lines += _family("acknowledged_seconds", "histogram", about, took)
    return "\n".join([*lines, ""])


def _people(seen: Measured) -> list[Sample]:
    return [
        ("", {"stage": stage.value, "pilot": str(pilot).lower()}, seen.people.get((stage.value, pilot), 0))
        for stage in KEPT for pilot in (False, True)
    ]  # fmt: skip


def _histogram(process: str, kind: str, told: Told) -> Iterator[Sample]:
    labels = {"process": process, "kind": kind}
    counts = list(accumulate(told["took"][kind]))
    for limit, n in zip([*map(str, BUCKETS_S), "+Inf"], counts, strict=True):
        yield "_bucket", {**labels, "le": limit}, n
    yield "_sum", labels, told["took_s"][kind]
    yield "_count", labels, counts[-1]


def _family(name: str, kind: str, about: str, samples: Iterable[Sample]) -> list[str]:
    """The lines of one metric; labels are names of our own, so that nothing in them must be escaped."""
    name = f"explorelab_{name}"
    lines = [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
    for end, labels, number in samples:
        told = ",".join(f'{label}="{value}"' for label, value in labels.items())
        lines.append(f"{name}{end}{{{told}}} {number}" if told else f"{name}{end} {number}")
    return lines

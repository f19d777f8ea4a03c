"""Bonus files: one for each platform, in the form it requires."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from explorelab._support.files import cannot_be_written, sync
from explorelab.study.config.design import Payment, Study
from explorelab.study.export.cells import safe

if TYPE_CHECKING:
    from explorelab.study.database.tables import Person

CENT = Decimal("0.01")
SOURCES = ("prolific", "mturk", "plain")
NAMED = re.compile(r"[A-Za-z0-9]{1,64}")
"""The form of platform IDs. Anything else was made up in the address, perhaps to add lines to a file."""


class Due(NamedTuple):
    """What someone is owed."""

    person: int
    code: str
    source: str
    platform_id: str
    platform_session: str
    bonus: Decimal
    base: Decimal
    currency: str

    @property
    def total(self) -> Decimal:
        """What is paid through the file: the bonus and, for people without a platform to pay it, the base."""
        return self.bonus + (self.base if self.source == "plain" else 0)


def cents(amount: float) -> Decimal:
    """An amount in whole cents, from its shortest decimal form: 0.1 is ten cents."""
    return Decimal(repr(float(amount))).quantize(CENT)


def due_of(row: Person, payment: Payment, bonus: float) -> Due | None:
    """What the person of a row is owed; None if their platform ID is missing or invalid."""
    name, session = row.platform_id or "", row.platform_session or ""
    if row.source != "plain" and not NAMED.fullmatch(name):
        return None
    if row.source == "mturk" and not NAMED.fullmatch(session):
        return None
    return Due(row.id, row.code, row.source, name, session, cents(bonus), cents(payment.base), payment.currency)


def file_name(source: str, batch: str) -> str:
    """The file name of a batch."""
    return f"bonus-{source}-{batch}.csv"


def by_file(dues: Iterable[Due], batch: str) -> dict[str, list[Due]]:
    """Who is in which file: one for each platform or, if people there were promised several currencies, one for each."""
    found: dict[tuple[str, str], list[Due]] = {}
    for due in sorted(dues, key=lambda due: SOURCES.index(due.source)):
        found.setdefault((due.source, due.currency), []).append(due)
    sources = [source for source, _ in found]
    return {
        file_name(source if sources.count(source) == 1 else f"{source}-{currency}", batch): those
        for (source, currency), those in found.items()
    }


def text_of(study: Study, source: str, dues: Iterable[Due]) -> str:
    """The lines of a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if source == "mturk":
        writer.writerow(["WorkerId", "AssignmentId", "BonusAmount", "Reason", "UniqueRequestToken"])
    elif source == "plain":
        writer.writerow(["participant", "base", "bonus", "total", "currency"])
    for due in dues:
        writer.writerow(_cells(study, due))
    return text.getvalue()


def _cells(study: Study, due: Due) -> Sequence[str]:
    if due.source == "prolific":  # the list for bulk payments has no header
        return due.platform_id, f"{due.bonus}"
    if due.source == "mturk":
        # With the same token MTurk pays only once, however often it is asked.
        token = f"bonus-{due.code}-{due.platform_session}"[:64]
        reason = safe(f"Bonus for your points in: {study.title or study.name}")
        return due.platform_id, due.platform_session, f"{due.bonus}", reason, token
    return safe(due.code), f"{due.base}", f"{due.bonus}", f"{due.total}", due.currency


def write_aside(study: Study, out: Path, batch: str, dues: Iterable[Due]) -> list[Path]:
    """Write the files of a batch to disk under hidden names; returns where `put` will put them."""
    targets = []
    try:
        out.mkdir(exist_ok=True)
        for name, those in by_file(dues, batch).items():
            targets.append(out / name)
            _write(aside(targets[-1]), text_of(study, those[0].source, those))
    except OSError as error:
        forget(targets)
        raise cannot_be_written(out, error) from None
    return targets


def aside(target: Path) -> Path:
    """Where a file is until it is put in its place."""
    return target.with_name(f".{target.name}.part")


def _write(path: Path, text: str) -> None:
    """Write a file that only its owner may read: it says who took part."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def put(targets: Iterable[Path]) -> None:
    """Put files into their places, and make sure that they stay there."""
    folders = set()
    for target in targets:
        try:
            aside(target).replace(target)
        except FileNotFoundError:  # another call that saw the mark was faster and wrote the same
            if not target.exists():
                raise
        folders.add(target.parent)
    for folder in folders:
        sync(folder)


def forget(targets: Iterable[Path]) -> None:
    """Remove files that were not put into their places."""
    for target in targets:
        aside(target).unlink(missing_ok=True)

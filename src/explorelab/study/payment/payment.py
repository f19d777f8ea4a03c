"""Who is paid what: everyone who finished, once, in files for Prolific, MTurk and everybody else.

A batch is recorded in the database together with a mark that its files are still to come; then the files appear, and the
mark is removed. If this is interrupted before the entry, nobody was paid; if after it, the next call finds the mark and
writes the files from the database. Nobody is in two batches.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, Engine, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from explorelab._support.counted import counted
from explorelab.errors import InputError, unknown_name
from explorelab.study.config.design import Study
from explorelab.study.database.tables import Person, payments, people, settings
from explorelab.study.payment.payment_files import Due, by_file, due_of, forget, put, write_aside
from explorelab.study.session.doubts import REASONS, doubted
from explorelab.study.session.terms import bonus_of, terms_of

MARK = "pending_payment"
"""Setting that names a batch whose files are not written yet."""


class Share(NamedTuple):
    """Payments to the people from one platform."""

    n: int
    total: Decimal
    currency: str


class Paid(NamedTuple):
    """The result of a payment."""

    batch: str
    """Its name, from its time; empty if there was nobody to pay."""
    files: tuple[Path, ...]
    shares: dict[str, Share]
    """By where people came from: prolific, mturk, plain; with the currency if people there were promised several."""
    n_nothing: int
    """How many finished but are owed nothing."""
    not_payable: tuple[str, ...]
    """Codes of people whose platform ID is missing or invalid."""
    doubted: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Codes of people who may not have played by hand or in time, and why: they are not paid unless named."""
    recovered: tuple[Path, ...] = ()
    """Files of an earlier batch that was recorded but not written."""
    again: bool = False
    """Whether the batch was written before."""

    @property
    def n(self) -> int:
        """How many people are paid."""
        return sum(share.n for share in self.shares.values())

    @property
    def totals(self) -> dict[str, Decimal]:
        """What they are paid together, by currency."""
        found: dict[str, Decimal] = {}
        for share in self.shares.values():
            found[share.currency] = found.get(share.currency, Decimal("0.00")) + share.total
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The summary that is printed."""
        told = []
        if self.doubted:
            told.append(
                f"NOT paid because they may not have played by hand or in time: {_people(len(self.doubted))}. Check them on "
                "the researcher's page; --also CODE pays someone anyway."
            )
            told += [f"  {code}: {', '.join(REASONS[word] for word in why)}" for code, why in self.doubted]
        told += [f"Written for a batch that was interrupted; pay it if you have not: {path}" for path in self.recovered]
        told += [f"{name}: {_people(share.n)}, {share.total} {share.currency}" for name, share in self.shares.items()]
        sums = " and ".join(f"{total} {currency}" for currency, total in self.totals.items())
        if self.n:
            told.append(f"In all: {_people(self.n)}, {sums}.")
        elif self.doubted or self.n_nothing or self.not_payable:
            told.append("There is nobody else to pay.")
        else:
            told.append("There is nobody to pay: nobody has finished, or everyone who has is already in a payment file.")
        told += [f"Wrote {path}" for path in self.files]
        if self.again:
            told.append(f"Batch {self.batch} was written before: pay it only if you have not.")
        told += [
            f"MTurk pays in USD, but these amounts are in {share.currency}."
            for name, share in self.shares.items()
            if name.startswith("mturk") and share.currency != "USD"
        ]
        if self.n_nothing:
            told.append(f"Left out because there is nothing to pay: {_people(self.n_nothing)}.")
        if self.not_payable:
            codes = ", ".join(self.not_payable)
            told.append(f"Left out because their platform ID is missing or invalid: {codes}.")
        return told


def _people(n: int) -> str:
    return counted(n, "person", "people")


def pay(
    study: Study,
    engine: Engine,
    out: Path,
    *,
    again: bool | str = False,
    also: Collection[str] = (),
    now: Callable[[], float] = time.time,
) -> Paid:
    """Write bonus files to a folder for everyone who finished and is in no file yet; robots are never paid.

    Doubted people are listed and not paid, except those whose codes are in `also`. `again` rewrites the files of the last
    batch, or of the one named, and pays nobody a second time.
    """
    recovered = tuple(_recover(study, engine, out))
    if again is not False:
        return _again(study, engine, out, again)._replace(recovered=recovered)
    return _pay(study, engine, out, frozenset(also), now())._replace(recovered=recovered)


def _pay(study: Study, engine: Engine, out: Path, also: frozenset[str], at: float) -> Paid:
    targets: list[Path] = []
    with engine.connect() as connection, connection.begin() as transaction:
        # Written first: SQLite then lets nobody else write, and on PostgreSQL a second payment waits here for the first.
        _reserve(connection)
        batch = _free_name(connection, out, datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ"))
        _mark(connection, batch, out)
        owed = _owed(connection, study, also)
        dues = owed.dues
        if not dues:
            transaction.rollback()
            return Paid("", (), {}, *owed[1:])
        rows = [{"person": due.person, "batch": batch, "bonus": float(due.bonus), "at": at} for due in dues]
        try:
            connection.execute(insert(payments), rows)
            targets = write_aside(study, out, batch, dues)
            transaction.commit()
        except BaseException:
            forget(targets)
            raise
    put(targets)
    _unmark(engine)
    return Paid(batch, tuple(targets), _shares(dues), *owed[1:])


def _reserve(connection: Connection) -> None:
    try:
        connection.execute(insert(settings).values(name=MARK, value=""))
    except IntegrityError:
        raise InputError("another payment of this study is running: wait until it is done, then try again.") from None


def _mark(connection: Connection, batch: str, out: Path) -> None:
    value = json.dumps({"batch": batch, "folder": str(out.resolve())})
    connection.execute(update(settings).where(settings.c.name == MARK).values(value=value))


def _unmark(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(delete(settings).where(settings.c.name == MARK))


def _free_name(connection: Connection, out: Path, batch: str) -> str:
    """The name, with a number appended if a batch of the same second already has it."""
    taken = set(connection.execute(select(payments.c.batch).distinct()).scalars())
    names = (batch if i == 1 else f"{batch}-{i}" for i in range(1, 1_000_000))
    return next(name for name in names if name not in taken and not any(out.glob(f"bonus-*-{name}.csv")))


class Owed(NamedTuple):
    """Who is owed what, how many are owed nothing, who cannot be paid, and who is not paid because of doubts."""

    dues: list[Due]
    n_nothing: int
    not_payable: tuple[str, ...]
    doubted: tuple[tuple[str, tuple[str, ...]], ...]


def _owed(connection: Connection, study: Study, also: frozenset[str]) -> Owed:
    """Everyone who has finished and is in no file yet."""
    query = (
        select(people)
        .select_from(people.outerjoin(payments, payments.c.person == people.c.id))
        .where(payments.c.id.is_(None), people.c.pilot.is_(False), people.c.finished_at.is_not(None))
        .order_by(people.c.id)
    )
    dues, nothing, not_payable, left = [], 0, [], []
    rows, why = list(connection.execute(query)), doubted(connection)
    unknown = also - {row.code for row in rows}
    if unknown:
        codes = ", ".join(sorted(unknown))
        raise InputError(f"--also must name people who have finished and are not in a payment file yet, got {codes}.")
    for row in rows:
        if row.id in why and row.code not in also:
            left.append((row.code, why[row.id]))
            continue
        due = due_of(row, terms_of(study, row).payment, bonus_of(study, row))
        if due is None:
            not_payable.append(row.code)
        elif due.total <= 0:
            nothing += 1
        else:
            dues.append(due)
    return Owed(dues, nothing, tuple(not_payable), tuple(left))


def _entered(connection: Connection, study: Study, batch: str) -> tuple[list[Due], tuple[str, ...]]:
    """Who is in a batch, and who in it can no longer be paid because their data were deleted since."""
    query = (
        select(people, payments.c.bonus.label("paid"))
        .select_from(payments.join(people, people.c.id == payments.c.person))
        .where(payments.c.batch == batch)
        .order_by(people.c.id)
    )
    found: list[tuple[Person, Due | None]] = [
        (row, due_of(row, terms_of(study, row).payment, row.paid)) for row in connection.execute(query)
    ]
    return [due for _, due in found if due is not None], tuple(row.code for row, due in found if due is None)


def _recover(study: Study, engine: Engine, out: Path) -> list[Path]:
    """Write the files of a batch that was recorded but perhaps not written, where they belong."""
    with engine.connect() as connection:
        value = connection.execute(select(settings.c.value).where(settings.c.name == MARK)).scalar_one_or_none()
        if value is None:
            return []
        marked = json.loads(value)
        dues, _ = _entered(connection, study, marked["batch"])
    folder = Path(marked["folder"])
    folder = folder if folder.is_dir() else out
    written = write_aside(study, folder, marked["batch"], dues)
    there = [target for target in written if target.exists()]
    forget(there)
    targets = [target for target in written if target not in there]
    put(targets)
    _unmark(engine)
    return targets


def _again(study: Study, engine: Engine, out: Path, which: bool | str) -> Paid:
    with engine.connect() as connection:
        known = list(connection.execute(select(payments.c.batch).order_by(payments.c.at, payments.c.id)).scalars())
        if not known:
            raise InputError("there is no earlier batch to write again: nobody has been paid yet.")
        batch = known[-1] if which is True else str(which)
        if batch not in known:
            raise unknown_name("batch of payments", batch, set(known))
        dues, gone = _entered(connection, study, batch)
    targets = write_aside(study, out, batch, dues)
    put(targets)
    return Paid(batch, tuple(targets), _shares(dues), 0, gone, again=True)


def _shares(dues: list[Due]) -> dict[str, Share]:
    found = {}
    for name, those in by_file(dues, "").items():
        total = sum((due.total for due in those), Decimal("0.00"))
        found[name.removeprefix("bonus-").removesuffix("-.csv")] = Share(len(those), total, those[0].currency)
    return found

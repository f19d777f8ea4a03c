"""Reads rows for an export: one state of the database, ordered by person, block and trial, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Engine, FromClause, Select, and_, func, literal, select, true

from explorelab.choices.advice_given import ARM_OF_STUDY
from explorelab.study.config.blocks.block_design import BlockDesign
from explorelab.study.config.design import Study
from explorelab.study.database.tables import AnyRow, blocks, choices, consents, events, people
from explorelab.study.export.own_columns import own_block_cells, own_block_columns, own_cells, own_columns
from explorelab.study.session.choice_fields import ALL, Cell, ChoiceRead, exported_to
from explorelab.study.session.stages import PLAYED, Stage
from explorelab.study.session.terms import bonus_of, terms_of
from explorelab.tasks.places import grid_shape

AT_ONCE = 1000
"""Rows in memory at a time."""

PARTICIPANTS = (
    "participant", "source", "pilot", "agent", "stage", "cell", "seed", "n_pages", "n_choices", "n_missed", "points",
    "bonus", "base", "per_point", "most_bonus", "currency", "doubts", "arrived_at", "seen_at", "finished_at", "language",
)  # fmt: skip
DOUBTED = ("participant", "stage", "n_choices", "doubts")
CONSENTS = ("participant", "consented_at", "version", "text_file")
BLOCKS = (
    "participant", "block_number", "block", "kind", "dynamic", "timing", "deadline_ms", "landscape", "n_trials", "start",
    "begun_at", "n_choices", "n_missed",
)  # fmt: skip
OF_BLOCK = ("participant", "block_number", "block", "kind", "dynamic", "timing", "deadline_ms", "landscape")
CHOICES = (*OF_BLOCK, *exported_to(ALL))
ARM = ARM_OF_STUDY
"""The column with the kind of advice, which only studies with advice have."""
EVENTS = ("participant", "epoch", "number", "event", "block_number", "trial", "page_ms", "value", "received_at")
LANDSCAPES = ("landscape", "arm", "x", "y", "mean_reward", "noise", "reward_variance")
ABOUT_BLOCK = (
    blocks.c.number, blocks.c.kind, blocks.c.dynamic, blocks.c.timing, blocks.c.deadline_ms, blocks.c.landscape,
    blocks.c.start, blocks.c.advice.label(ARM), blocks.c.name.label("block_name"), blocks.c.scene, blocks.c.levels,
    blocks.c.n_trials, people.c.seed,
)  # fmt: skip
"""What a `ChoiceRead` holds of its block."""


def block_columns(advice: bool, design: BlockDesign | None = None) -> tuple[str, ...]:
    """The columns of the table of blocks."""
    return (*BLOCKS, *([ARM] if advice else []), *([] if design is None else own_block_columns(design)))


def choice_columns(advice: bool, design: BlockDesign | None = None) -> tuple[str, ...]:
    """The columns of the complete table of choices."""
    own = () if design is None else own_columns(design)
    return (*OF_BLOCK, *own, *([ARM] if advice else []), *exported_to(ALL, advice, blocks=design is not None))


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one fixed state of the database while others keep writing."""
    if engine.dialect.name == "postgresql":
        engine = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    with engine.connect() as connection, connection.begin():
        driver: Any = connection.connection.dbapi_connection
        if engine.dialect.name == "sqlite" and not driver.in_transaction:
            connection.exec_driver_sql("BEGIN")  # by itself, the driver does not begin a transaction for reads
        yield connection


class Included(NamedTuple):
    """Whose rows are read: those who agreed and whose data were not deleted; people, robots or both."""

    pilots: str

    @property
    def who(self) -> ColumnElement[bool]:
        """The condition on the table people."""
        return true() if self.pilots == "with" else people.c.pilot.is_(self.pilots == "only")

    def of(self, table: FromClause) -> FromClause:
        """A table with a column person, joined to people and their consent; only the rows that are included."""
        return table.join(people, people.c.id == table.c.person).join(consents, _agreed(people.c.id))

    def n(self, connection: Connection, table: FromClause) -> int:
        """How many rows of the table are included."""
        return int(connection.execute(select(func.count()).select_from(self.of(table)).where(self.who)).scalar_one())


def _agreed(person: Column[int]) -> ColumnElement[bool]:
    return and_(consents.c.person == person, consents.c.agreed.is_(True))


def streamed(connection: Connection, query: Select[Any]) -> Iterator[AnyRow]:
    """The rows of a query, with only a few in memory at a time."""
    with connection.execution_options(yield_per=AT_ONCE).execute(query) as rows:
        yield from rows


def participant_rows(
    connection: Connection, included: Included, study: Study, doubts: Mapping[int, tuple[str, ...]]
) -> Iterator[tuple[Cell, ...]]:
    """A row of `PARTICIPANTS` for everyone who is included."""
    counted = select(func.count()).select_from(choices).where(choices.c.person == people.c.id)
    query = (
        select(
            people,
            counted.scalar_subquery().label("n_choices"),
            counted.where(choices.c.missed.is_(True)).scalar_subquery().label("n_missed"),
        )
        .select_from(people.join(consents, _agreed(people.c.id)))
        .where(included.who)
        .order_by(people.c.id)
    )
    for row in streamed(connection, query):
        through = row.stage in PLAYED or row.finished_at is not None
        bonus, promised = bonus_of(study, row) if through else None, terms_of(study, row).payment
        yield (
            row.code, row.source, row.pilot, row.agent, row.stage, row.cell, row.seed, row.epoch, row.n_choices,
            row.n_missed, row.points, bonus, promised.base, promised.per_point, promised.most,
            promised.currency, " ".join(doubts.get(row.id, ())), row.arrived_at, row.seen_at, row.finished_at,
            row.language,
        )  # fmt: skip


def doubted_rows(
    connection: Connection, included: Included, doubts: Mapping[int, tuple[str, ...]]
) -> Iterator[tuple[Cell, ...]]:
    """A row of `DOUBTED` for everyone who is included and doubted."""
    counted = select(func.count()).select_from(choices).where(choices.c.person == people.c.id).scalar_subquery()
    query = select(people.c.id, people.c.code, people.c.stage, counted).select_from(
        people.join(consents, _agreed(people.c.id))
    )
    for number, code, stage, n_choices in streamed(connection, query.where(included.who).order_by(people.c.id)):
        if number in doubts:
            yield code, stage, n_choices, " ".join(doubts[number])


def by_code[T](connection: Connection, about: Mapping[int, T]) -> dict[str, T]:
    """What is known of people, by their code in exports instead of their number."""
    if not about:
        return {}
    codes = {row.id: row.code for row in connection.execute(select(people.c.id, people.c.code))}
    return {codes[person]: told for person, told in about.items()}


def n_among(connection: Connection, included: Included, persons: Iterable[int]) -> int:
    """How many of these people are included."""
    query = select(people.c.id).select_from(people.join(consents, _agreed(people.c.id))).where(included.who)
    return len({*persons} & {*connection.execute(query).scalars()})


def consent_rows(connection: Connection, included: Included) -> Iterator[tuple[Cell, ...]]:
    """A row of `CONSENTS` for everyone who is included."""
    query = (
        select(people.c.code, consents.c.at, consents.c.version)
        .select_from(people.join(consents, _agreed(people.c.id)))
        .where(included.who)
        .order_by(people.c.id)
    )
    for row in streamed(connection, query):
        yield row.code, row.at, row.version, text_file(row.version)


def text_file(version: str) -> str:
    """The name of the file with this version of the consent text."""
    return f"materials/consent-{''.join(letter for letter in version if letter.isalnum())}.md"


def consent_texts(connection: Connection, included: Included) -> Iterator[tuple[str, str]]:
    """Each version of the consent text that someone included agreed to."""
    query = (
        select(consents.c.version, func.min(consents.c.text).label("text"))
        .select_from(people.join(consents, _agreed(people.c.id)))
        .where(included.who)
        .group_by(consents.c.version)
    )
    for row in sorted(connection.execute(query)):
        yield row.version, row.text


class _Count:
    """Numbers task blocks as they are played: 1, 2, ...; training has no number."""

    def __init__(self) -> None:
        self._person: int | None = None
        self._number = -1
        self._n = 0

    def number(self, person: int, number: int, kind: str) -> int | None:
        """The number of this block among the task blocks, for blocks that come in order."""
        if person != self._person:
            self._person, self._number, self._n = person, -1, 0
        if number != self._number:
            self._number = number
            self._n += kind == "task"
        return self._n if kind == "task" else None


def with_advice(connection: Connection, study: Study) -> bool:
    """Whether advice is part of the study, or was when some block was played."""
    advised = select(blocks.c.id).where(blocks.c.advice != "").limit(1)
    return study.advice is not None or connection.execute(advised).first() is not None


def block_rows(
    connection: Connection, included: Included, study: Study, advice: bool = False
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """A row of `block_columns` for each block that was begun."""
    counted = (
        select(func.count())
        .select_from(choices)
        .where(choices.c.person == blocks.c.person, choices.c.block == blocks.c.number)
    )
    query = (
        select(
            people.c.code,
            blocks,
            counted.scalar_subquery().label("n_choices"),
            counted.where(choices.c.missed.is_(True)).scalar_subquery().label("n_missed"),
        )
        .select_from(included.of(blocks))
        .where(included.who)
        .order_by(blocks.c.person, blocks.c.number)
    )
    count = _Count()
    for row in streamed(connection, query):
        yield (
            row.code, row.number + 1, count.number(row.person, row.number, row.kind), row.kind, row.dynamic, row.timing,
            row.deadline_ms or None, row.landscape, row.n_trials, row.start, row.begun_at, row.n_choices, row.n_missed,
            *([row.advice] if advice else []), *([] if study.design is None else own_block_cells(study, row)),
        )  # fmt: skip


AROUND: Mapping[str, Callable[[ChoiceRead], Cell]] = {
    "participant": attrgetter("row.code"),
    "block_number": lambda choice: choice.row.number + 1,
    "block": attrgetter("block"),
    "deadline_ms": lambda choice: choice.row.deadline_ms or None,
}
"""Columns about a choice's person and block that have no column of the same name in the database."""


def cells_of(
    columns: Sequence[str],
    file: str,
    design: BlockDesign | None = None,
    more: Mapping[str, Callable[[ChoiceRead], Cell]] = MappingProxyType({}),
) -> Callable[[ChoiceRead], tuple[Cell, ...]]:
    """A function that turns a choice into a row with these columns; the choice's own fields define theirs."""
    known = {
        **more,
        **AROUND,
        **({} if design is None else own_cells(design)),
        **exported_to(file, advice=True, blocks=True),
    }
    cells = [known.get(name) or attrgetter(f"row.{name}") for name in columns]
    return lambda choice: tuple([cell(choice) for cell in cells])


def choices_of(connection: Connection, included: Included, study: Study) -> Iterator[ChoiceRead]:
    """Every choice, in the order of people, blocks and trials."""
    joined = included.of(choices).join(blocks, and_(blocks.c.person == choices.c.person, blocks.c.number == choices.c.block))
    query = (
        select(people.c.code, people.c.pilot, *ABOUT_BLOCK, *choices.c)
        .select_from(joined)
        .where(included.who)
        .order_by(choices.c.person, choices.c.block, choices.c.trial)
    )
    count = _Count()
    for row in streamed(connection, query):
        yield ChoiceRead(row, count.number(row.person, row.number, row.kind), study)


def event_rows(connection: Connection, included: Included) -> Iterator[tuple[Cell, ...]]:
    """A row of `EVENTS` for everything a browser reported."""
    query = (
        select(people.c.code, *events.c)
        .select_from(included.of(events))
        .where(included.who)
        .order_by(events.c.person, events.c.epoch, events.c.number)
    )
    for row in streamed(connection, query):
        block, trial = (None if value is None else value + 1 for value in (row.block, row.trial))
        yield row.code, row.epoch, row.number, row.kind, block, trial, row.page_ms, row.value, row.received_at


def landscape_rows(study: Study) -> Iterator[tuple[Cell, ...]]:
    """A row of `LANDSCAPES` for each square of each landscape."""
    for name, task in study.landscapes.items():
        sides = grid_shape(task.places)
        for arm, mean in enumerate(task.means.tolist()):
            place = (None, None) if sides is None else divmod(arm, sides[1])
            yield name, arm, *place, mean if task.change is None else None, task.noise.kind, float(task.noise.var)


class Played(NamedTuple):
    """The task blocks that are included."""

    landscapes: tuple[str, ...]
    dynamics: tuple[str, ...]
    n_trials: int
    """Choices in the longest of them when complete; 0 if there are none."""


def played(connection: Connection, included: Included) -> Played:
    """Which landscapes and dynamics were played in task blocks, and how long the blocks are."""
    query = (
        select(blocks.c.landscape, blocks.c.dynamic, func.max(blocks.c.n_trials))
        .select_from(included.of(blocks))
        .where(included.who, blocks.c.kind == "task")
        .group_by(blocks.c.landscape, blocks.c.dynamic)
    )
    found = [tuple(row) for row in connection.execute(query)]
    landscapes, dynamics = (tuple(sorted({row[i] for row in found})) for i in (0, 1))
    return Played(landscapes, dynamics, max((row[2] for row in found), default=0))


class LeftOut(NamedTuple):
    """How many are not in the export, and why."""

    declined: int
    withdrawn: int
    """Left before they agreed, or had their data deleted."""
    undecided: int
    """Came and never answered."""
    pilots: int
    """Robots if they are left out; people if only robots are exported."""


def left_out(connection: Connection, included: Included) -> LeftOut:
    """How many are not in the export, and why."""
    query = (
        select(people.c.stage, func.count())
        .select_from(people.outerjoin(consents, _agreed(people.c.id)))
        .where(included.who, consents.c.id.is_(None))
        .group_by(people.c.stage)
    )
    found = {str(stage): int(n) for stage, n in connection.execute(query)}
    declined, withdrawn = found.pop(Stage.DECLINED, 0), found.pop(Stage.WITHDRAWN, 0)
    others = literal(False) if included.pilots == "with" else ~included.who
    query_others = select(func.count()).select_from(people.join(consents, _agreed(people.c.id))).where(others)
    return LeftOut(declined, withdrawn, sum(found.values()), int(connection.execute(query_others).scalar_one()))


def period(connection: Connection, included: Included) -> tuple[float | None, float | None]:
    """When the first person arrived and when the last was seen."""
    query = (
        select(func.min(people.c.arrived_at), func.max(people.c.seen_at))
        .select_from(people.join(consents, _agreed(people.c.id)))
        .where(included.who)
    )
    first, last = connection.execute(query).one()
    return first, last

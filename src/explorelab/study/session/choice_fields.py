"""Every field of a choice, defined once: what the page reports, what is stored and exported, and what it means.

A new field is an entry here and, if it is kept, a migration. From the entries come the request of the page (`Choosing`), the
columns of the table, the columns of the exported files, and their descriptions.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import Field, create_model
from sqlalchemy import Boolean, Float, Integer, String, Text
from sqlalchemy.types import TypeEngine

from explorelab.study.advice.reasons import WHY
from explorelab.study.advice.record import was_followed, was_shown, why
from explorelab.study.session.questions import Click, FromPage, Milliseconds, Number

MILLISECONDS, POINTS, CLICKS = "milliseconds", "points", "clicks"
ALL, ANALYSED = "data", "choices.csv"
"""Files that choices are exported to: the complete table, and what `explorelab check`, `fit` and `report` read."""
REQUIRED = ...

type Cell = bool | int | float | str | None
"""A value in the database or in an exported file."""

if TYPE_CHECKING:  # two of these import this module
    from explorelab.study.config.blocks.boards import Dynamic
    from explorelab.study.config.design import Study
    from explorelab.study.database.tables import Block, Person
    from explorelab.study.session.game import Report


class ChoiceMade(NamedTuple):
    """A choice about to be stored."""

    report: Report
    """What the page reports: a `Choosing`."""
    person: Person
    block: Block
    """The rows of the person and of the block."""
    position: int
    goal: int
    arm: int
    reward: float
    flags: str
    now: float


class ChoiceRow(Protocol):
    """A row of `choices` with its person and block, as far as more than its name is asked of it."""

    person: int
    number: int
    """Of the block, from 0."""
    dynamic: Dynamic
    deadline_ms: int
    n_trials: int
    seed: int
    """Of the person."""
    landscape: str
    scene: str
    levels: str
    """JSON, see `BlockPlan`."""
    trial: int
    position: int
    clicks: str
    advice: str | None


class ChoiceRead(NamedTuple):
    """A choice about to be exported."""

    row: ChoiceRow
    """The row of the choice, with its person and block."""
    block: int | None
    """The number of its block among the task blocks, from 1; None for training."""
    study: Study


@dataclass(frozen=True, kw_only=True)
class ChoiceField:
    """One field of a choice."""

    name: str
    description: str = ""
    unit: str = ""
    least: float | None = None
    most: float | None = None
    asked: Any = None
    """Its type in the page's report; None if the page does not report it."""
    asked_as: str = ""
    """Its name there, if different."""
    default: Any = REQUIRED
    """The default if the page does not report it."""
    column: type[TypeEngine[Any]] | TypeEngine[Any] | None = None
    """The type of its database column; None if it is not stored."""
    nullable: bool = False
    kept: Callable[[ChoiceMade], Cell] | None = None
    """How the stored value is computed; None if it is the reported one."""
    files: tuple[str, ...] = (ALL,)
    """The files it is exported to."""
    cell: Callable[[ChoiceRead], Cell] | None = None
    """How the exported value is computed; None if it is the stored one."""
    of_advice: bool = False
    """Whether it is about advice: then it is exported only from studies with advice."""
    of_blocks: bool = False
    """Whether it is about blocks of one's own: then it is exported only from studies with such blocks."""

    @property
    def to_keep(self) -> Callable[[ChoiceMade], Cell]:
        """What is stored for a choice."""
        return self.kept or attrgetter(f"report.{self.asked_as or self.name}")

    @property
    def to_export(self) -> Callable[[ChoiceRead], Cell]:
        """What is exported for a choice."""
        return self.cell or attrgetter(f"row.{self.name}")


def _changes_of_mind(choice: ChoiceRead) -> int:
    squares = [square for square, _ in json.loads(choice.row.clicks)]
    return sum(before != after for before, after in pairwise(squares))


def _overrun(made: ChoiceMade) -> float:
    return made.report.elapsed_ms - made.block.deadline_ms if made.block.deadline_ms else 0.0


def _available(choice: ChoiceRead) -> str:
    row, study = choice.row, choice.study
    # Under travel the dot moves one square per choice: the sample is never further away.
    if row.dynamic != "standard":
        return _listed(study.board_of(row).next_to(row.position))
    scene = study.scene(row)
    return _listed(None if scene is None else scene.on_offer(row.trial))


def _listed(arms: tuple[int, ...] | None) -> str:
    return "" if arms is None else " ".join(map(str, arms))


def _foregone(choice: ChoiceRead) -> str:
    row, scene = choice.row, choice.study.scene(choice.row)
    if scene is None or not scene.foregone:
        return ""
    return " ".join(f"{each:.15g}" for each in scene.every_reward(row.seed, row.number, row.trial, row.n_trials))


def _forced(choice: ChoiceRead) -> bool:
    scene = choice.study.scene(choice.row)
    return scene is not None and scene.forced(choice.row.trial) is not None


FIELDS = (
    ChoiceField(name="block", asked=Number, column=Integer, files=()),  # exported as the block's own columns
    ChoiceField(
        name="trial", description="Number of the choice in its block, from 1.", least=1,
        asked=Number, column=Integer, files=(ALL, ANALYSED), cell=lambda choice: choice.row.trial + 1,
    ),
    ChoiceField(
        name="position", description="Square of the blue dot before this choice, from 0.",
        column=Integer, kept=lambda made: made.position,
    ),
    ChoiceField(
        name="goal", description="Square of the yellow dot when time was up, from 0: what the person aimed at.",
        asked=Number | None, column=Integer, kept=lambda made: made.goal,
    ),
    ChoiceField(
        name="arm", description="Square that was sampled, from 0: column times height plus row.",
        column=Integer, kept=lambda made: made.arm, files=(ALL, ANALYSED),
    ),
    ChoiceField(
        name="reward", description="Reward of the square that was sampled.", unit=POINTS,
        column=Float, kept=lambda made: made.reward, files=(ALL, ANALYSED),
    ),
    ChoiceField(
        name="missed", description="1: no click, so the yellow dot stayed where it was; 0: otherwise.",
        least=0, most=1, column=Boolean, kept=lambda made: made.report.goal is None, files=(ALL, ANALYSED),
    ),
    ChoiceField(
        name="available", description="Squares that could be sampled, separated by spaces; empty: all.",
        files=(ANALYSED,), cell=_available,
    ),
    ChoiceField(
        name="foregone_rewards", description="Rewards of all arms on this choice, separated by spaces, if they were shown.",
        of_blocks=True, cell=_foregone,
    ),
    ChoiceField(
        name="forced", description="1: only this arm could be chosen, as the task says; 0: otherwise.", least=0, most=1,
        of_blocks=True, files=(ALL, ANALYSED), cell=_forced,
    ),
    ChoiceField(
        name="reaction_time_ms", unit=MILLISECONDS, least=0, files=(ANALYSED,), cell=attrgetter("row.last_click_ms"),
        description="From the start of the choice's clock to the last click; empty: no click.",
    ),
    ChoiceField(
        name="n_clicks", description="Clicks during the choice.", unit=CLICKS, least=0,
        column=Integer, kept=lambda made: len(made.report.clicks),
    ),
    ChoiceField(
        name="changes_of_mind", description="Clicks on a different square than the click before.", unit=CLICKS, least=0,
        cell=_changes_of_mind,
    ),
    ChoiceField(
        name="first_click_ms", description="From the start of the choice's clock to the first click.",
        unit=MILLISECONDS, least=0, column=Float, nullable=True,
        kept=lambda made: made.report.clicks[0][1] if made.report.clicks else None,
    ),
    ChoiceField(
        name="last_click_ms", description="From the start of the choice's clock to the last click.",
        unit=MILLISECONDS, least=0, column=Float, nullable=True,
        kept=lambda made: made.report.clicks[-1][1] if made.report.clicks else None,
    ),
    ChoiceField(
        name="clicks",
        description="Every click as JSON: [[square, milliseconds since the choice's clock started], ...].",
        asked=Annotated[list[Click], Field(max_length=200)],
        column=Text, kept=lambda made: json.dumps(made.report.clicks, separators=(",", ":")),
    ),
    ChoiceField(
        name="elapsed_ms", description="Time on the choice's clock when the browser recorded the choice.",
        unit=MILLISECONDS, least=0, asked=Milliseconds, column=Float,
    ),
    ChoiceField(
        name="overrun_ms", description="How much elapsed_ms exceeds deadline_ms.", unit=MILLISECONDS,
        column=Float, kept=_overrun,
    ),
    ChoiceField(
        name="pauses", description="How often the choice was restarted because the page had been hidden.",
        unit="pauses", least=0, asked=Annotated[int, Field(ge=0, le=10_000)], column=Integer,
    ),
    ChoiceField(
        name="attempts", description="Which of the browser's attempts to send the choice arrived, from 1.",
        unit="attempts", least=1, asked=Annotated[int, Field(ge=1, le=1_000_000)], asked_as="attempt", column=Integer,
    ),
    ChoiceField(
        name="by_hand", asked=Annotated[int, Field(ge=0, le=200)] | None, default=None, files=(),
    ),  # the flag synthetic is what is kept of it
    ChoiceField(
        name="advised", description="Square that was suggested, from 0 (under travel, a goal); empty: none.", of_advice=True,
        asked=Number | None, default=None, column=Integer, nullable=True, files=(ALL, ANALYSED),
    ),
    ChoiceField(
        name="advice_shown", least=0, most=1, of_advice=True, files=(ALL, ANALYSED),
        cell=lambda choice: was_shown(choice.row),
        description="1: the suggestion was on the screen before the first click; 0: it was not, or there was none; "
        "empty: training.",
    ),
    ChoiceField(
        name="followed", least=0, most=1, of_advice=True, files=(ALL, ANALYSED),
        cell=lambda choice: was_followed(choice.row),
        description="1: the person chose the square that was shown as suggested; 0: they did not; empty: none was shown.",
    ),
    ChoiceField(
        name="advice", of_advice=True, asked=Literal[tuple(WHY)] | None, default=None, column=String(32), nullable=True,
        kept=lambda made: why(made.block, made.report), files=(),
    ),  # exported as advice_reason, which no condition of someone's own is likely to be called
    ChoiceField(
        name="advice_reason", of_advice=True, files=(ALL, ANALYSED), cell=lambda choice: choice.row.advice,
        description="Why a square was suggested or not: "
        + "; ".join(f"{word} ({told})" for word, told in WHY.items())
        + ".",
    ),
    ChoiceField(
        name="advice_shown_ms", unit=MILLISECONDS, least=0, of_advice=True, asked=Milliseconds | None, default=None,
        column=Float, nullable=True,
        description="From the start of the choice's clock until the suggestion was drawn (0: already before the clock was "
        "restarted by a pause or a reload); empty: it was not.",
    ),
    ChoiceField(
        name="advice_seal", asked=Annotated[str, Field(max_length=64)] | None, default=None, files=(),
    ),  # proves that the server gave the advice
    ChoiceField(
        name="epoch", description="Which of the person's page loads it was, from 1.", least=1,
        column=Integer, kept=lambda made: made.person.epoch,
    ),
    ChoiceField(
        name="flags", column=String(255), kept=lambda made: made.flags,
        description="Flags of the choice, separated by spaces: early (the server saw less time pass than "
        "elapsed_ms), clock (the server's clock was set back meanwhile), overrun (elapsed over the deadline by 100 ms or "
        "more), paused, retried, slow (arrived over 4 s after the deadline), synthetic (a click not made by mouse, finger "
        "or key), hurried (clicked faster than a hand can), regular (first clicked after exactly as long as in the "
        "choice before).",
    ),
    ChoiceField(
        name="received_at", description="When the server received it, UTC.", unit="ISO 8601",
        column=Float, kept=lambda made: made.now,
    ),
)  # fmt: skip
"""In the order of the reports and the files."""

KEPT = tuple((field.name, field.to_keep) for field in FIELDS if field.column is not None)


def exported_to(file: str, advice: bool = False, blocks: bool = False) -> dict[str, Callable[[ChoiceRead], Cell]]:
    """The columns that a file has of a choice itself, and what is in them."""
    return {
        field.name: field.to_export
        for field in FIELDS
        if file in field.files and (advice or not field.of_advice) and (blocks or not field.of_blocks)
    }


def _asked() -> Any:
    asked: dict[str, Any] = {
        field.asked_as or field.name: (field.asked, field.default) for field in FIELDS if field.asked is not None
    }
    return create_model("Asked", __base__=FromPage, **asked)


class Choosing(_asked()):  # type: ignore[misc]
    """A choice whose time is up."""

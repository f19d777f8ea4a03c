"""What the researcher's page receives, as types that check and document the answers."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, WithJsonSchema

from explorelab._support.written_numbers import JsonObject
from explorelab.study.admin.entry.rights import Right
from explorelab.study.advice.only_with_advice import OnlyWithAdvice


class LoggedIn(BaseModel):
    """The password was right."""

    ok: bool


class SessionInfo(BaseModel):
    """The researcher's own session."""

    csrf: str
    ends_at: float
    rights: list[Right]
    """What the researcher may do."""
    laboratory: str
    """The laboratory's page, from the study's address; empty where the study is served alone."""


class Notices(BaseModel):
    """What the researcher should know about the server, a sentence each."""

    notices: list[str]


class Totals(BaseModel):
    """How many people are where. Everyone is in exactly one place from `consent` on; together they are `arrived`."""

    arrived: int
    consented: int
    """Everyone who agreed, whatever happened afterwards; deleted people are not counted."""
    consent: int
    instructions: int
    training: int
    task: int
    at_page: int
    """At a page of the study's own."""
    debriefing: int
    finished: int
    screened: int
    """Has failed a quiz as often as one may."""
    declined: int
    withdrawn: int
    gone: int
    """Not seen for longer than people may stay away."""
    median_minutes_finished: float | None
    median_minutes_active: float | None
    choices: int
    choices_last_minute: int
    doubted: int
    """People who may not have played by hand or in time, wherever they are."""


class CellCount(BaseModel):
    """A condition, and how many people count in it when the next is assigned."""

    name: str
    levels: dict[str, str]
    """What distinguishes it from others: the levels of factors between persons, and which of the orders."""
    active: int
    finished: int
    """At the debriefing or beyond."""


class Curve(BaseModel):
    """Mean observed regret of the task blocks of one dynamic and timing; lists are over choices 1, 2, ..."""

    dynamic: str
    """Of blocks of one's own, the name of the block."""
    timing: str
    """Of blocks of one's own, the levels of the factors that change it."""
    n_blocks: int
    n_finished: int
    n: list[int]
    """Blocks that have reached this choice."""
    mean: list[float]
    """The mean loss at each choice over everyone who has made it, summed over choices."""
    low: list[float | None]
    high: list[float | None]
    """95 % interval from the spread among those who have come this far; null for fewer than three."""


class Share(BaseModel):
    """How many finished blocks follow a form, with a 95 % interval, and the share that the paper reports."""

    form: str
    n: int
    share: float | None
    low: float | None
    high: float | None
    paper: float


class Phenotypes(BaseModel):
    """Forms of regret over the finished task blocks of one dynamic, or of all of them."""

    dynamic: str
    n: int
    shares: list[Share]


class Histogram(BaseModel):
    """Counts in named bins."""

    name: str
    bins: list[str]
    counts: list[int]


class TimingQuality(BaseModel):
    """How well the deadlines of one timing are met."""

    timing: str
    choices: int
    missed: int


class Quality(BaseModel):
    """Deadlines, attention and network. Histograms count people with choices, except `overrun`, which counts choices."""

    missed: int
    focus_losses: int
    hidden_pauses: int
    slow_network: int
    overrun_median_ms: float | None
    overrun_max_ms: float | None
    timings: list[TimingQuality]
    histograms: list[Histogram]
    flags: dict[str, int]
    """Choices with each flag."""


class AdviceCount(BaseModel):
    """One kind of advice: choices made under it, and how many had a suggestion on the screen, in vain or not."""

    arm: str
    choices: int
    shown: int
    late: int
    """Not shown because it was not ready in time, or could not be computed."""
    followed: int
    """Choices of a square that was shown as suggested."""


class Overview(OnlyWithAdvice):
    """Everything on the page except the list of people; for people or, separately, for pilots."""

    name: str
    title: str
    pilots: bool
    n_people: int
    n_pilots: int
    n_blocks: int
    n_trials: int
    """Choices in a task block."""
    return_within_minutes: float
    totals: Totals
    cells: list[CellCount]
    curves: list[Curve]
    phenotypes: list[Phenotypes]
    quality: Quality
    advice: list[AdviceCount] | None
    """Only sent in studies with advice."""


class PersonRow(NamedTuple):
    """One person, sent as a list without names because there may be thousands; `People.columns` has the names."""

    code: str
    source: str
    pilot: bool
    place: str
    cell: str
    block: int
    """The current or next block, from 0."""
    n_blocks: int
    trial: int
    """The number of choices made in the block."""
    n_trials: int
    points: float
    choices: int
    missed: int
    focus_losses: int
    hidden_pauses: int
    slow_network: int
    flags: str
    doubts: str
    arrived_at: float
    seen_at: float


COLUMNS_SCHEMA: JsonObject = {
    "type": "array", "prefixItems": [{"type": "string", "const": name} for name in PersonRow._fields],
    "minItems": len(PersonRow._fields), "maxItems": len(PersonRow._fields),
}  # fmt: skip
"""Exactly these names in this order; the page's type of a person comes from here."""


class People(BaseModel):
    """The list of people: everyone, or those who changed since `since`."""

    version: str
    """To be sent as `since` next time."""
    now: float
    full: bool
    """Whether this is everyone; otherwise the rows replace or extend those sent before."""
    columns: Annotated[tuple[str, ...], WithJsonSchema(COLUMNS_SCHEMA)]
    rows: list[PersonRow]


class PersonBlock(BaseModel):
    """A block of one person."""

    number: int
    kind: str
    panel: str
    line: str
    """Where its regret belongs: a `Curve` of this dynamic and timing."""
    dynamic: str
    timing: str
    landscape: str
    deadline_ms: int
    n_trials: int
    begun_at: float
    missed: int
    points: float
    regret: list[float]
    """Observed regret after each choice so far."""
    form: str | None
    """Which form it follows, once a task block is finished."""


class PersonPage(BaseModel):
    """A page of the study's own that someone has left."""

    page: str
    kind: str
    attempt: int
    """For which time it was shown, from 1."""
    seconds: float | None
    """How long it was shown, by the server's clock."""
    left_at: float
    passed: bool | None
    """Of a quiz: whether all answers were right."""
    wrong: list[str]
    """The questions whose answers are not the expected ones."""


class PersonEvent(BaseModel):
    """Something that happened in the browser."""

    kind: str
    at: float
    block: int | None
    trial: int | None
    value: float | None


class PersonDetail(BaseModel):
    """One person, without their platform ID."""

    code: str
    source: str
    pilot: bool
    place: str
    cell: str
    agent: str | None
    epoch: int
    points: float
    bonus: float
    currency: str
    in_payment_file: bool
    arrived_at: float
    consented_at: float | None
    seen_at: float
    finished_at: float | None
    deleted: bool
    doubts: list[str]
    """Why they may not have played by hand or in time, in words."""
    excluded: list[str]
    """Why they are to be left out of analyses by the study's rules, in words."""
    pages: list[PersonPage]
    """In studies with pages of their own: those they have left, in order."""
    blocks: list[PersonBlock]
    events: list[PersonEvent]
    """The last ones, newest first."""


class DeletePerson(BaseModel):
    """The code, typed again by hand."""

    model_config = ConfigDict(extra="forbid")
    code: str


class Deleted(BaseModel):
    """What was deleted."""

    code: str
    n_choices: int

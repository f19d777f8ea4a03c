"""The kinds of pages, one entry for each: its file, its settings, when it may be left, and what it shows beside its text.

A new kind is an entry here, and one in page/participant/screens/pages/page-kinds.ts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from explorelab._support.written_numbers import Json
from explorelab.study.config.design import Payment
from explorelab.study.config.fields import Table
from explorelab.study.session.pages.sent import Sent

type Settings = Mapping[str, Json]

EARLY_S = 1.0
"""How much earlier than a break's end its page may say that it is over: no two clocks agree."""
LEAVE, GO_ON = "leave", "go-on"
"""What happens to people who have failed a quiz as often as they may."""


class Shown(NamedTuple):
    """What a page may show of a person."""

    points: float
    payment: Payment
    since_s: float
    """How long they have been on the page."""


class ClockShown(Sent):
    """A break."""

    seconds_left: float
    wait: bool
    """Whether the page can be left only when the time is up."""


class ScoreShown(Sent):
    """What someone has collected so far; null for what is not shown."""

    points: float | None
    bonus: float | None
    currency: str


class Extras(NamedTuple):
    """What a page shows beside its text and its questions."""

    clock: ClockShown | None = None
    score: ScoreShown | None = None


class PageKind(NamedTuple):
    """A kind of page."""

    file: Literal["", ".md", ".toml"] = ""
    """How the name of its file ends; empty if it has none."""
    needs_file: bool = False
    keys: tuple[str, ...] = ()
    """Its settings, beside those of every page."""
    read: Callable[[Table], dict[str, Json]] = lambda table: {}
    asks: bool = False
    """Whether its file has questions; a page that asks is shown once, unless someone is sent back."""
    judges: bool = False
    """Whether all answers must be right."""
    plays: bool = False
    """Whether blocks are played."""
    extras: Callable[[Settings, Shown], Extras] = lambda settings, shown: Extras()
    early: Callable[[Settings, float], str] = lambda settings, since_s: ""
    """Why the page cannot be left yet, so many seconds after it was shown; empty if it can."""


def _read_quiz(table: Table) -> dict[str, Json]:
    read: dict[str, Json] = {
        "attempts": table.whole("attempts", 1, 20, default=3),
        "back_to": table.text("back_to", 40, ""),
        "on_fail": table.text("on_fail", 20, LEAVE),
        "code": table.text("code", 64, ""),
    }
    if read["on_fail"] not in (LEAVE, GO_ON):
        table.problem("on_fail", f'must be "{LEAVE}" or "{GO_ON}", got {read["on_fail"]!r}.')
    if read["code"] and read["on_fail"] == GO_ON:
        table.problem("code", f'is for people who leave, so on_fail must be "{LEAVE}", got "{GO_ON}".')
    return read


def _read_break(table: Table) -> dict[str, Json]:
    return {"seconds": table.number("seconds", 1, 3600, "seconds"), "wait": table.truth("wait", False)}


def _left_of_break(settings: Settings, since_s: float) -> float:
    seconds = settings["seconds"]
    assert isinstance(seconds, (int, float))
    return max(0.0, seconds - since_s)


def _clock(settings: Settings, shown: Shown) -> Extras:
    left = round(_left_of_break(settings, shown.since_s), 1)
    return Extras(clock=ClockShown(seconds_left=left, wait=bool(settings["wait"])))


def _too_early(settings: Settings, since_s: float) -> str:
    left = _left_of_break(settings, since_s)
    return f"The break lasts another {left:.0f} s." if settings["wait"] and left > EARLY_S else ""


SHOWN = ("points", "bonus")
"""What a page of kind score may show."""


def _read_score(table: Table) -> dict[str, Json]:
    return {"show": list(table.names("show", "score", SHOWN)) if "show" in table.values else list(SHOWN)}


def _score(settings: Settings, shown: Shown) -> Extras:
    wanted = settings["show"]
    assert isinstance(wanted, list)
    points = shown.points if "points" in wanted else None
    bonus = shown.payment.bonus(shown.points) if "bonus" in wanted else None
    return Extras(score=ScoreShown(points=points, bonus=bonus, currency=shown.payment.currency))


def _read_blocks(table: Table) -> dict[str, Json]:
    return {"blocks": list(table.names("blocks", "block", ()))} if "blocks" in table.values else {}


BLOCKS = "blocks"
KINDS: Mapping[str, PageKind] = {
    "text": PageKind(file=".md", needs_file=True),
    "quiz": PageKind(
        file=".toml",
        needs_file=True,
        keys=("attempts", "back_to", "on_fail", "code"),
        read=_read_quiz,
        asks=True,
        judges=True,
    ),
    "form": PageKind(file=".toml", needs_file=True, asks=True),
    "break": PageKind(file=".md", keys=("seconds", "wait"), read=_read_break, extras=_clock, early=_too_early),
    "score": PageKind(file=".md", keys=("show",), read=_read_score, extras=_score),
    BLOCKS: PageKind(keys=("blocks", "order"), read=_read_blocks, plays=True),
}

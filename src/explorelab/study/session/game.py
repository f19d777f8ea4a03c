"""The game as the server plays it: blocks begin, choices are checked, rewards drawn and kept."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from sqlalchemy import Connection, bindparam, func, insert, select, update

from explorelab.study.advice.record import check_advice
from explorelab.study.config.blocks.boards import Board
from explorelab.study.config.blocks.scenes import Scene
from explorelab.study.config.design import BlockPlan, PlayedOn, Study
from explorelab.study.database.refusals import invalid, not_now, out_of_order
from explorelab.study.database.tables import Block, Person, blocks, choices, people
from explorelab.study.session.assignment import cell_named
from explorelab.study.session.choice_fields import KEPT, Cell, ChoiceMade
from explorelab.study.session.pages.person_path import Onward, after_block
from explorelab.study.session.stages import Stage
from explorelab.study.session.terms import terms_of

START = 1_000_000
"""Used instead of a trial in the seed of a block's start square."""
CLOCK_SLACK_MS = 1.0
"""How far a browser's clock, which is coarse on purpose, may fall short of the deadline."""
OVERRUN_MS = 100.0
SLOW_S = 4.0
"""Longer than a round trip takes on a poor network, or than a busy server's `Retry-After`."""
EARLY_S = 0.005
"""How much less time may have passed here than in the browser before a choice is doubted: no two clocks agree."""
HURRIED = 0.05
HURRIED_MS = 50.0
"""No hand keeps clicking within this share of the clock after it started, or within this many milliseconds."""


# SQL statements of a choice are built once: building them takes several times as long as running them.
_OF_BLOCK = (choices.c.person == bindparam("of_person"), choices.c.block == bindparam("of_block"))
_BLOCK = select(blocks).where(blocks.c.person == bindparam("of_person"), blocks.c.number == bindparam("of_block"))
_CHOICE = select(choices).where(*_OF_BLOCK, choices.c.trial == bindparam("of_trial"))
_LAST = (
    select(choices.c.trial, choices.c.arm, choices.c.goal, choices.c.reward, choices.c.received_at, choices.c.first_click_ms)
    .where(*_OF_BLOCK)
    .order_by(choices.c.trial.desc())
    .limit(1)
)
_POINTS = select(func.coalesce(func.sum(choices.c.reward), 0.0)).where(*_OF_BLOCK, choices.c.trial <= bindparam("of_trial"))
_KEEP = insert(choices)
_STATE = ("seen_at", "points", "begun", "block", "stage", "bonus", "step", "step_at")
_ADVANCE = (
    update(people).where(people.c.id == bindparam("of_person")).values({name: bindparam(f"new_{name}") for name in _STATE})
)


class Report(Protocol):
    """What the browser reports about a choice, as far as the rules need it."""

    block: int
    trial: int
    goal: int | None
    """The square the yellow dot was put on; None if nobody clicked."""
    clicks: list[tuple[int, float]]
    elapsed_ms: float
    pauses: int
    attempt: int
    by_hand: int | None
    """How many clicks came from a mouse, a finger or a key; None if the page does not say."""
    advised: int | None
    advice: str | None
    advice_shown_ms: float | None
    """The suggestion, why it was made or not, and when it was drawn: see `advice.record`."""


class LastChoice(Protocol):
    """A stored choice, as far as the next one depends on it."""

    trial: int
    arm: int
    goal: int
    reward: float
    received_at: float
    first_click_ms: float | None


class Made(NamedTuple):
    """A stored choice."""

    trial: int
    arm: int
    goal: int
    """Where the yellow dot is from now on."""
    reward: float | None
    """None where rewards are hidden, like the points."""
    points: float | None
    points_block: float | None
    n_left: int
    foregone: list[float | None] | None
    """The rewards of all arms, where they are shown."""
    available: list[int] | None
    """The arms that may be chosen next, whatever else the dynamic says; None for all."""


class Place(NamedTuple):
    """The current state of a block."""

    trial: int
    """The next trial."""
    position: int
    goal: int
    last_reward: float | None
    last_at: float
    """When the clock of the next choice could start, by the server's clock."""
    clicked_ms: float | None = None
    """When the first click of the last choice came, by its clock."""


def plans(study: Study, person: Person) -> tuple[BlockPlan, ...]:
    """The blocks of this person, as promised when they agreed to take part."""
    if person.plan is None:
        return study.plan(cell_named(study, person.cell), person.seed)
    return tuple(BlockPlan(**block) for block in json.loads(person.plan))


def begin(connection: Connection, study: Study, person: Person, number: int, now: float) -> None:
    """Begin a block with both dots on a random square; repeating this changes nothing."""
    if not (Stage(person.stage).about.under_way and Stage(person.stage).about.block):
        raise not_now("Blocks are played between consent and debriefing, when it is their turn.")
    if number == person.block and person.begun:
        return
    if number != person.block:
        raise out_of_order(f"The next block is number {person.block}, counted from 0, not {number}.")
    plan = plans(study, person)[number]
    scene = study.scene(plan)
    given = None if scene is None else scene.task.start
    start = start_square(person.seed, number, study.board_of(plan).n_arms) if given is None else given
    connection.execute(insert(blocks).values(person=person.id, number=number, start=start, begun_at=now, **plan._asdict()))
    _change(connection, person, stage=Stage.PLAY, begun=True, seen_at=now)


def scene_of(study: Study, block: PlayedOn) -> Scene:
    """What the block is played on, which the study must still have."""
    scene = study.scene(block)
    if scene is None:
        raise not_now("This study has changed since you started and cannot be continued.")
    return scene


def start_square(seed: int, number: int, n_arms: int) -> int:
    """Where both dots are when a block begins, unless a graph says it: every square is equally likely."""
    return int(np.random.default_rng([seed, number, START]).integers(n_arms))


def block_of(connection: Connection, person: Person, number: int) -> Block | None:
    """A block that has begun, or None."""
    return connection.execute(_BLOCK, {"of_person": person.id, "of_block": number}).one_or_none()


def place_of(connection: Connection, person: Person, block: Block) -> Place:
    """The state of the block: after its last choice, or at its start."""
    last: LastChoice | None = connection.execute(_LAST, {"of_person": person.id, "of_block": block.number}).one_or_none()
    if last is None:
        return Place(0, block.start, block.start, None, block.begun_at)
    return Place(last.trial + 1, last.arm, _yellow(block, last), last.reward, last.received_at, last.first_click_ms)


def _yellow(block: Block, choice: LastChoice) -> int:
    """Where the yellow dot is after a choice: under travel, the goal is kept."""
    return int(choice.goal if block.dynamic == "travel" else choice.arm)


def choose(connection: Connection, study: Study, person: Person, report: Report, now: float) -> Made:
    """Store the choice and return it; if it was stored before, return that one, whatever is reported now."""
    block = block_of(connection, person, report.block)
    place = place_of(connection, person, block) if block is not None else None
    if block is not None and place is not None and report.trial < place.trial:
        key = {"of_person": person.id, "of_block": report.block, "of_trial": report.trial}
        kept = connection.execute(_CHOICE, key).one()
        return _made(connection, study, person.points, person, block, kept.trial, kept.arm, kept.goal, kept.reward)
    if block is None or place is None or person.stage != Stage.PLAY or not person.begun or report.block != person.block:
        raise out_of_order(f"Block {report.block} is not being played.")
    if report.trial != place.trial:
        raise out_of_order(f"The next choice is number {place.trial}, counted from 0, not {report.trial}.")
    _check(study, block, place, report)
    flags = _flags(person, block, place, report, now - place.last_at)
    scene = scene_of(study, block)
    goal = report.goal
    if goal is None:
        goal = scene.kept(place.goal, report.trial, person.seed, report.block)
    arm = scene.board.sampled(block.dynamic, place.position, goal)
    drawn = scene.reward(arm, person.seed, report.block, report.trial, block.n_trials)
    made = ChoiceMade(report, person, block, place.position, goal, arm, drawn, flags, now)
    connection.execute(_KEEP, {"person": person.id, **{name: kept(made) for name, kept in KEPT}})
    points = person.points + (drawn if block.kind == "task" else 0.0)
    _advance(connection, study, person, block, report.trial, points, now)
    return _made(connection, study, points, person, block, report.trial, arm, goal, drawn)


def _check(study: Study, block: Block, place: Place, report: Report) -> None:
    """Refuse what cannot have happened."""
    board, scene = study.board_of(block), study.scene(block)
    allowed = board.allowed(block.dynamic, place.position)
    choosable = None if scene is None else scene.choosable(place.trial)
    for square, _ in report.clicks:
        _check_arm(board, square, allowed, choosable, place)
    if report.goal != (report.clicks[-1][0] if report.clicks else None):
        raise invalid("goal must be the square clicked last, or null if none was clicked.")
    times = [0.0, *(ms for _, ms in report.clicks), report.elapsed_ms]
    if any(later < earlier for earlier, later in pairwise(times)):
        raise invalid("Clicks must come one after another, between 0 and elapsed_ms.")
    if block.deadline_ms:
        _check_deadline(block, report)
    elif not report.clicks:
        raise invalid("A choice without a deadline is recorded when something is clicked, got no clicks.")
    if report.by_hand is not None and report.by_hand > len(report.clicks):
        raise invalid(f"by_hand must be at most the number of clicks, {len(report.clicks)}, got {report.by_hand}.")
    check_advice(block, allowed, board.n_arms, report)


def _check_arm(
    board: Board, square: int, allowed: tuple[int, ...] | None, choosable: tuple[int, ...] | None, place: Place
) -> None:
    """Refuse a click where nothing can be clicked."""
    what = "square" if board.layout == "grid" else "arm"
    if not 0 <= square < board.n_arms:
        raise invalid(f"{'A' if what == 'square' else 'An'} {what} must be 0 to {board.n_arms - 1}, got {square}.")
    if allowed is not None and square not in allowed:
        raise invalid(f"{what.capitalize()} {square} is not next to {what} {place.position}, where the dot is.")
    if choosable is not None and square not in choosable:
        offered = ", ".join(map(str, choosable))
        raise invalid(f"{what.capitalize()} {square} is not on offer in choice {place.trial}, only {offered}.")


def _check_deadline(block: Block, report: Report) -> None:
    """Refuse a choice that was recorded before its time was up, or a click that came later."""
    if report.elapsed_ms < block.deadline_ms - CLOCK_SLACK_MS:
        raise invalid(f"A choice is recorded when its {block.deadline_ms} ms are up, got elapsed_ms {report.elapsed_ms:g}.")
    if report.clicks and report.clicks[-1][1] > block.deadline_ms:
        late = f"got one at {report.clicks[-1][1]:g} ms"
        raise invalid(f"A click counts until the {block.deadline_ms} ms of its choice are up, {late}.")


def slack_s(clock_ms: float) -> float:
    """How much less time may have passed here than on the browser's clock: clocks are coarse, and run fast or slow."""
    return min(max(0.1 * clock_ms, 2.0), 250.0) / 1000


def _flags(person: Person, block: Block, place: Place, report: Report, waited_s: float) -> str:
    """Flags of a choice: what is doubtful or worth knowing; a choice that came impossibly soon is refused.

    An honest clock starts after the last answer was sent, so the server sees at least as much time pass. A negative time
    means that the server's own clock was set back, and shows nothing. Robots may try out a study in less time.
    """
    # Without a deadline, a choice takes as long as it takes.
    deadline_ms = block.deadline_ms or report.elapsed_ms
    claimed_s, deadline_s = report.elapsed_ms / 1000, deadline_ms / 1000
    if 0 <= waited_s < claimed_s - slack_s(report.elapsed_ms) and not person.pilot:
        raise invalid(f"The choice came {waited_s:.3f} s after the last one, and says that {claimed_s:.3f} s have passed.")
    first_ms = report.clicks[0][1] if report.clicks else None
    hurried_ms = min(HURRIED * block.deadline_ms, HURRIED_MS) if block.deadline_ms else HURRIED_MS
    found = {
        "early": 0 <= waited_s < claimed_s - EARLY_S,
        "clock": waited_s < 0,
        "overrun": report.elapsed_ms - deadline_ms >= OVERRUN_MS,
        "paused": report.pauses > 0,
        "retried": report.attempt > 1,
        "slow": waited_s - deadline_s > SLOW_S,
        "synthetic": not person.pilot and (report.by_hand or 0) < len(report.clicks),
        "hurried": first_ms is not None and first_ms < hurried_ms,
        "regular": first_ms is not None and first_ms == place.clicked_ms,
    }
    return " ".join(name for name, so in found.items() if so)


def _advance(
    connection: Connection, study: Study, person: Person, block: Block, trial: int, points: float, now: float
) -> None:
    """The person after a choice: perhaps at the end of a block, or of all of them."""
    over = trial + 1 == block.n_trials
    to = _onward(connection, study, person, block.number) if over else Onward(Stage.PLAY, person.step, block.number)
    bonus = terms_of(study, person).payment.bonus(points) if to.stage == Stage.DEBRIEFING else None
    step_at = now if to.step != person.step else person.step_at
    after = (now, points, not over, to.block, to.stage, bonus, to.step, step_at)
    new = {f"new_{name}": value for name, value in zip(_STATE, after, strict=True)}
    connection.execute(_ADVANCE, {"of_person": person.id, **new})


def _onward(connection: Connection, study: Study, person: Person, number: int) -> Onward:
    """Where someone is after a block."""
    plan = plans(study, person)
    if person.path is not None:
        return after_block(connection, person, plan, number)
    return Onward(Stage.DEBRIEFING if number + 1 == len(plan) else Stage.PLAY, person.step, number + 1)


def points_of(connection: Connection, person: Person, number: int, until: int | None = None) -> float:
    """The points of a block, up to and including a trial."""
    key = {"of_person": person.id, "of_block": number, "of_trial": START if until is None else until}
    return float(connection.execute(_POINTS, key).scalar_one())


def available(study: Study, block: Block, trial: int, position: int) -> list[int] | None:
    """The arms that may be chosen on a trial, where a page cannot tell from the dynamic alone; None for all."""
    scene, board = study.scene(block), study.board_of(block)
    choosable = None if scene is None or trial >= block.n_trials else scene.choosable(trial)
    if choosable is None and board.layout != "grid":
        choosable = board.allowed(block.dynamic, position)
    return None if choosable is None else list(choosable)


def _made(
    connection: Connection, study: Study, points: float, person: Person, block: Block, trial: int, arm: int, goal: int,
    drawn: float,
) -> Made:  # fmt: skip
    in_block = points_of(connection, person, block.number, trial)
    yellow = goal if block.dynamic == "travel" else arm
    following = available(study, block, trial + 1, arm)
    made = Made(trial, arm, yellow, drawn, points, in_block, block.n_trials - trial - 1, None, following)
    scene = study.scene(block)
    if scene is None:
        return made
    if not scene.shows_rewards:
        return made._replace(reward=None, points=None if block.kind == "task" else points, points_block=None)
    if scene.foregone:
        return made._replace(foregone=[*scene.every_reward(person.seed, block.number, trial, block.n_trials)])
    return made


def _change(connection: Connection, person: Person, **values: Cell) -> None:
    connection.execute(update(people).where(people.c.id == person.id).values(values))

"""What a page is sent: the stage to show, its text, and of the game only the current block and the person's choices."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field
from sqlalchemy import Connection

from explorelab._support.written_numbers import JsonObject
from explorelab.choices.advice_given import NONE
from explorelab.study.advice.only_with_advice import OnlyWithAdvice
from explorelab.study.config.blocks.boards import Board
from explorelab.study.config.blocks.scenes import OUTCOME_MS, Scene
from explorelab.study.config.design import Completion, Payment, Study
from explorelab.study.config.texts import template_labels, texts_for
from explorelab.study.database.tables import Person
from explorelab.study.session import game
from explorelab.study.session.pages.sent import Sent
from explorelab.study.session.pages.shown_page import MarksShown, PageShown, html_of, page_shown, way_out
from explorelab.study.session.participants import version_of
from explorelab.study.session.stages import Stage
from explorelab.study.session.terms import Terms, bonus_of, terms_of

PICTURES = "pictures/"
"""Where the study's pictures are, relative to the page."""


class AdviceOffered(Sent):
    """When the page may ask for advice, and until when it shows it."""

    from_trial: int
    """The first choice that is advised, counted from 0."""
    within_ms: int
    """Advice that arrives later on the choice's clock is not shown."""


class ArmShown(Sent):
    """What people see of an arm that is no square of a grid."""

    label: str = ""
    colour: str = ""
    """A CSS colour; empty for the usual one."""
    picture: str = ""
    """The address of a picture; empty for none."""


class LayoutShown(Sent):
    """How the arms of a block are laid out on the screen."""

    kind: Literal["grid", "buttons", "line", "graph"] = "grid"
    width: int = 0
    """Of a grid, in squares."""
    height: int = 0
    arms: list[ArmShown] = Field(default=[])
    """Of all others, one for each arm."""
    places: list[tuple[float, float]] = Field(default=[])
    """Of a graph: where each arm is, from 0 to 1, from left to right and from top to bottom."""
    edges: list[tuple[int, int]] = Field(default=[])
    """Of a graph: the pairs of arms between which a line is drawn."""
    directed: bool = False
    """Whether each edge leads only from its first arm to its second, which an arrowhead shows."""


class RewardsShown(Sent):
    """How rewards are shown: as points, as money, or not at all."""

    kind: Literal["points", "money", "hidden"] = "points"
    currency: str = ""
    per_point: float = 1.0
    """Of money: what a point is worth."""


class BlockShown(OnlyWithAdvice, Sent):
    """The current or next block."""

    number: int
    n_blocks: int
    kind: Literal["training", "task"]
    number_of_kind: int
    """Counted from 0 among training or task blocks."""
    n_of_kind: int
    dynamic: Literal["standard", "neighbour", "travel"]
    deadline_ms: int | None
    """Null: a choice is reported as soon as an arm is clicked."""
    outcome_ms: int = OUTCOME_MS
    """Without a deadline: how long an outcome is looked at before the next choice."""
    n_trials: int
    width: int
    height: int
    layout: LayoutShown
    rewards: RewardsShown = RewardsShown()
    foregone: bool = False
    """Whether the rewards of the other arms are shown too."""
    closes: bool = False
    """Whether arms are closed at some choices."""
    available: list[int] | None = None
    """The arms that may be chosen next, if the dynamic too lets them; null for all."""
    trial: int | None = None
    """The next choice, counted from 0; set only once the block has begun, like the fields below."""
    position: int | None = None
    goal: int | None = None
    last_reward: float | None = None
    """Null also where rewards are hidden, like the points."""
    points_block: float | None = None
    advice: AdviceOffered | None = None
    """Only sent where there is advice."""


class PaymentShown(Sent):
    """What someone has earned."""

    currency: str
    base: float
    bonus: float
    total: float


class CompletionShown(Sent):
    """How someone leaves."""

    code: str
    redirect: str
    submit_to: str | None


class State(Sent):
    """What to show now."""

    stage: Stage
    epoch: int
    language: str
    direction: Literal["ltr", "rtl"]
    consent_version: str | None = None
    html: dict[str, str] = Field(default={})
    block: BlockShown | None = None
    page: PageShown | None = None
    points: float | None = 0.0
    """Null while rewards of a block that counts are hidden."""
    payment: PaymentShown | None = None
    completion: CompletionShown | None = None


class Arrived(Sent):
    """The token for all later requests, and what to show first."""

    token: str
    state: State
    pilot: bool = False
    """Whether this is a pilot's page: only such a page may play by itself."""


class Shown(BaseModel):
    """What to show now."""

    state: State


class Chosen(Sent):
    """A choice that is on disk, and its outcome."""

    trial: int
    arm: int
    position: int
    goal: int
    reward: float | None
    """Null where rewards are hidden, like the points."""
    points: float | None
    points_block: float | None
    n_left: int
    foregone: list[float | None] | None = None
    """The rewards of all arms, where they are shown."""
    available: list[int] | None = None
    """The arms that may be chosen next; null for all."""
    state: State | None = None
    """What follows, when the block is over."""


class Advised(Sent):
    """Advice on a choice."""

    arm: int | None
    """The suggested square; null for silence."""
    reason: str
    seal: str
    """To be reported with the choice, together with the advice."""


class Left(Sent):
    """A page that has been left: its answers are on disk."""

    marks: MarksShown
    state: State


class Told(BaseModel):
    """How many events were new."""

    stored: int


def _with_names(schema: JsonObject) -> None:
    """Name every label in the server's interface, from which the page's types are made: a new one is in texts.toml alone."""
    schema["properties"] = {name: {"type": "string"} for name in template_labels()}
    schema["additionalProperties"] = False


class Texts(BaseModel):
    """The short texts of the page."""

    language: str
    direction: Literal["ltr", "rtl"]
    title: str
    languages: dict[str, str]
    """The languages of the study with their own names; empty if there is only one."""
    labels: Annotated[dict[str, str], Field(json_schema_extra=_with_names)]


def bare_state(study: Study, stage: Stage, epoch: int = 0, terms: Terms | None = None) -> State:
    """A stage without personal data except the terms that its text may mention."""
    texts = study.texts if terms is None else texts_for(study, terms.payment)
    text = texts.pages.get(stage)
    return State(
        stage=stage, epoch=epoch, language=study.texts.language, direction=study.texts.direction,
        html={} if text is None else {stage: html_of(text, texts)},
    )  # fmt: skip


def state_of(connection: Connection, study: Study, person: Person, now: float) -> State:
    """What this person's page shows now."""
    study = study.speaking(person.language)
    stage = Stage.READY if person.stage == Stage.PLAY and not person.begun else Stage(person.stage)
    terms = terms_of(study, person)
    state = bare_state(study, stage, person.epoch, terms)
    state.points = person.points
    if stage == Stage.CONSENT:
        state.consent_version = version_of(study.texts.pages[Stage.CONSENT])
    if stage.about.block:
        state.block = _block(connection, study, person)
        if state.block.kind == "task" and state.block.rewards.kind == "hidden":
            state.points = None
    if stage.about.page:
        state.page = page_shown(connection, study, person, now)
    if stage.about.played:
        bonus, base = bonus_of(study, person), terms.payment.base
        total = round(base + bonus, 2)
        state.payment = PaymentShown(currency=terms.payment.currency, base=base, bonus=bonus, total=total)
    if stage == Stage.FINISHED:
        state.completion = _completion(terms.completion, person)
    if stage == Stage.SCREENED and (code := way_out(person)):
        state.completion = _completion(replace(terms.completion, code=code), person)
    return state


def _offered(study: Study, arm: str) -> AdviceOffered | None:
    if study.advice is None or arm in ("", NONE):
        return None
    return AdviceOffered(from_trial=study.advice.from_choice - 1, within_ms=study.advice.within_ms)


def _completion(completion: Completion, person: Person) -> CompletionShown:
    """How this person leaves; without a platform that identifies them, with a code that does."""
    code, redirect = completion.code, completion.redirect
    redirect = redirect.replace("{code}", quote(code, safe=""))
    if person.source == "plain":
        code = "-".join(part for part in (code, person.code) if part)
        redirect = "" if "prolific.co" in redirect else redirect
    return CompletionShown(code=code, redirect=redirect, submit_to=person.submit_to)


def _block(connection: Connection, study: Study, person: Person) -> BlockShown:
    plans = game.plans(study, person)
    plan = plans[person.block]
    kinds = [each.kind for each in plans]
    board, scene = study.board_of(plan), study.scene(plan)
    shown = BlockShown(
        number=person.block, n_blocks=len(plans), kind=plan.kind, number_of_kind=kinds[: person.block].count(plan.kind),
        n_of_kind=kinds.count(plan.kind), dynamic=plan.dynamic, deadline_ms=plan.deadline_ms or None,
        n_trials=plan.n_trials, width=board.width if board.layout == "grid" else 0,
        height=board.height if board.layout == "grid" else 0, layout=layout_shown(board),
        advice=_offered(study, plan.advice),
    )  # fmt: skip
    if scene is not None:
        shown.rewards, shown.foregone = rewards_shown(scene, terms_of(study, person).payment), scene.foregone
        shown.closes, shown.outcome_ms = scene.closes, scene.outcome_ms
    block = game.block_of(connection, person, person.block) if person.begun else None
    if block is not None:
        # What applied when the block began applies to its end, whatever the study file says now.
        place = game.place_of(connection, person, block)
        shown.dynamic, shown.deadline_ms, shown.n_trials = block.dynamic, block.deadline_ms or None, block.n_trials
        shown.trial, shown.position, shown.goal = place[:3]
        shown.available = game.available(study, block, place.trial, place.position)
        if scene is None or scene.shows_rewards:
            shown.last_reward = place.last_reward
            shown.points_block = game.points_of(connection, person, person.block)
    return shown


def layout_shown(board: Board) -> LayoutShown:
    """How the arms of a board are shown."""
    if board.layout == "grid":
        return LayoutShown(width=board.width, height=board.height)
    arms = [
        ArmShown(label=arm.label, colour=arm.colour, picture=f"{PICTURES}{quote(arm.picture)}" if arm.picture else "")
        for arm in board.arms
    ]
    places, edges = list(board.places), list(board.edges)
    return LayoutShown(kind=board.layout, arms=arms, places=places, edges=edges, directed=board.directed)


def rewards_shown(scene: Scene, payment: Payment) -> RewardsShown:
    """How rewards are shown on this scene to someone who was promised this payment."""
    if scene.rewards != "money":
        return RewardsShown(kind=scene.rewards)
    return RewardsShown(kind="money", currency=payment.currency, per_point=payment.per_point)

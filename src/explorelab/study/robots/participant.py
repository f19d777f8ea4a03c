"""Participants that are programs: they load the page, agree, play with an honest clock and finish, over the real interface.

A `Page` talks to the server like the browser's page: a request is sent again until it is answered. A `Player` decides.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypedDict

import httpx
import numpy as np

from explorelab._support.written_numbers import Json, JsonObject
from explorelab.choices.advice_given import LATE
from explorelab.errors import ExplorelabError
from explorelab.study.robots.page_answers import Answerer, random_answers
from explorelab.study.session.stages import Stage

if TYPE_CHECKING:
    from explorelab.study.config.blocks.boards import Dynamic, Layout

BACKOFF_S = (0.5, 1.0, 2.0, 4.0, 5.0)
"""Waits before each retry; the last one repeats forever."""
CHANGES_OF_MIND = 0.1
"""Share of choices on which another square is clicked first."""
MISSED = 0.03
"""Share of choices on which nobody clicks in time."""

UNHURRIED_MS = 1500.0
"""No choice without a deadline takes longer."""

type State = JsonObject
type Witness = Callable[[str, Mapping[str, Json], JsonObject], None]
"""Called with every answer that arrives: the path, what was sent, what came back."""


class AdviceOffer(TypedDict):
    """When a page asks for advice, and how long it waits."""

    from_trial: int
    within_ms: float


class LayoutSent(TypedDict):
    """How the arms lie."""

    kind: Layout
    arms: list[JsonObject]


class Block(TypedDict, total=False):
    """The block that a page is sent; `position`, `goal` and `trial` once it has begun."""

    number: int
    dynamic: Dynamic
    deadline_ms: int | None
    n_trials: int
    width: int
    height: int
    layout: LayoutSent
    available: list[int] | None
    position: int
    goal: int
    trial: int
    advice: AdviceOffer


class RefusedError(ExplorelabError):
    """The server refuses a request for good."""

    def __init__(self, status: int, word: str, message: str) -> None:
        super().__init__(f"{message} ({status} {word})")
        self.status, self.word = status, word


class Page:
    """The study's page, loaded once."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        key: str,
        query: Mapping[str, str],
        *,
        pilot_key: str = "",
        backoff_s: Sequence[float] = BACKOFF_S,
        witness: Witness | None = None,
        longest_wait_s: float = math.inf,
    ) -> None:
        self._client, self._key, self._query = client, key, dict(query)
        self._name = secrets.token_hex(16)
        self._headers = {"X-Pilot-Key": pilot_key} if pilot_key else {}
        self._backoff_s, self._witness = tuple(backoff_s), witness
        self._longest_wait_s = longest_wait_s
        self.epoch = 0
        self.n_retries = 0

    async def arrive(self) -> State:
        """Tell the server that the page is there."""
        answer = await self._ask("/api/arrive", {"page": self._name, "key": self._key, "query": self._query})
        self._headers["Authorization"] = f"Bearer {answer['token']}"
        state: State = answer["state"]
        self.epoch = state["epoch"]
        return state

    async def post(self, path: str, **fields: Json) -> JsonObject:
        """The answer to a request of this page, retried until it comes."""
        return await self._ask(path, {"epoch": self.epoch, **fields})

    async def once(self, path: str, **fields: Json) -> JsonObject | None:
        """The answer to a request that is not worth repeating; None if none came."""
        try:
            response = await self._client.post(path, json={"epoch": self.epoch, **fields}, headers=self._headers)
        except httpx.TransportError:
            return None
        return response.json() if response.status_code == 200 else None

    async def _ask(self, path: str, body: dict[str, Json]) -> JsonObject:
        attempt = 0
        while True:
            attempt += 1
            if path == "/api/choice":
                body["attempt"] = attempt
            wait = self._backoff_s[min(attempt, len(self._backoff_s)) - 1]
            try:
                response = await self._client.post(path, json=body, headers=self._headers)
            except httpx.TransportError:
                pass
            else:
                if response.status_code == 200:
                    answer: JsonObject = response.json()
                    if self._witness is not None:
                        self._witness(path, body, answer)
                    return answer
                if response.status_code != 429 and response.status_code < 500:
                    raise _refusal(response)
                wait = max(wait, min(_seconds(response.headers.get("Retry-After", "")), self._longest_wait_s))
            self.n_retries += 1
            await asyncio.sleep(wait)


def _refusal(response: httpx.Response) -> RefusedError:
    try:
        told = response.json()
        return RefusedError(response.status_code, told["error"], told["message"])
    except (ValueError, KeyError, TypeError):
        return RefusedError(response.status_code, "unknown", "the server refused without saying why")


def _seconds(text: str) -> float:
    return float(text) if text.isdigit() else 0.0


class Player(Protocol):
    """Whatever makes the decisions on a page."""

    def begin(self, block: Block) -> None:
        """A block begins."""

    def decide(self, block: Block, trial: int, position: int, goal: int, advised: int | None = None) -> Decision:
        """Which squares to click, and when; the blue dot is at the position, the yellow one at the goal.

        `advised` is the square that is shown as suggested, if one is.
        """

    def learn(self, arm: int, reward: float | None) -> None:
        """A reward is shown; None where rewards are hidden."""


class Decision(NamedTuple):
    """What the hand does within one choice."""

    goal: int | None
    """Where the yellow dot ends up; None if nobody clicked."""
    clicks: list[tuple[int, float]]
    """Squares, and milliseconds since the clock started."""


def hand(goal: int, allowed: np.ndarray, deadline_ms: float | None, rng: np.random.Generator) -> Decision:
    """Clicks that end on this square in time, now and then on another first, and now and then none at all.

    Without a deadline, the first click is the choice.
    """
    missed, changed = rng.uniform(size=2) < (MISSED, CHANGES_OF_MIND)
    if deadline_ms is None:
        return Decision(goal, [(goal, round(UNHURRIED_MS * float(rng.beta(2.0, 4.0)), 1))])
    if missed:
        return Decision(None, [])
    times = deadline_ms * np.sort(rng.beta(2.0, 4.0, size=2))
    clicks = [(int(rng.choice(np.flatnonzero(allowed))), round(float(times[0]), 1))] if changed else []
    return Decision(goal, [*clicks, (goal, round(float(times[1]), 1))])


async def take_part(
    page: Page, player: Player, *, turn: asyncio.Lock | None = None, speed: float = 1.0, answerer: Answerer | None = None
) -> State:
    """Play from where the server says this person is to the end; returns the last state.

    `turn` is held from arrival to consent, so that people arrive one after another. With a `speed` other than 1 the clock
    runs that many times faster than it says. `answerer` answers the questions of pages; without one, answers are random.
    """
    answers = answerer or random_answers(np.random.default_rng())
    async with turn or asyncio.Lock():
        state = await page.arrive()
        if state["stage"] == Stage.CONSENT:
            agreed = await page.post("/api/consent", agreed=True, version=state["consent_version"])
            state = agreed["state"]
    while True:
        if state["stage"] in (Stage.INSTRUCTIONS, Stage.READY):
            state = (await page.post("/api/begin", block=state["block"]["number"]))["state"]
        elif state["stage"] == Stage.PLAY:
            state = await play_block(page, player, state["block"], speed)
        elif state["stage"] == Stage.PAGE:
            state = await leave_page(page, state["page"], answers)
        elif state["stage"] == Stage.DEBRIEFING:
            state = (await page.post("/api/finish"))["state"]
        else:
            return state


async def leave_page(page: Page, shown: JsonObject, answers: Answerer) -> State:
    """Answer the questions of a page, and go on; returns the state after it."""
    began = time.perf_counter()
    given = answers(shown)
    elapsed_ms = round(1e3 * (time.perf_counter() - began), 1)
    report = {"step": shown["step"], "attempt": shown["attempt"], "answers": given, "times": {}, "elapsed_ms": elapsed_ms}
    state: State = (await page.post("/api/page", **report))["state"]
    return state


async def _advice(page: Page, block: Block, trial: int, began: float, speed: float) -> JsonObject:
    """What a page reports of advice on this choice: shown if it arrived in time; nothing if there is none to ask for."""
    offered = block.get("advice")
    if offered is None or trial < offered["from_trial"]:
        return {}
    said = await page.once("/api/advice", block=block["number"], trial=trial)
    shown_ms = round(speed * 1e3 * (time.perf_counter() - began), 1)
    until_ms = min(offered["within_ms"], block["deadline_ms"] or math.inf)
    if said is None or (said["arm"] is not None and shown_ms > until_ms):
        return {"advice": LATE}
    if said["arm"] is None:
        return {"advice": said["reason"], "advice_seal": said["seal"]}
    return {"advised": said["arm"], "advice": said["reason"], "advice_seal": said["seal"], "advice_shown_ms": shown_ms}


async def play_block(page: Page, player: Player, block: Block, speed: float = 1.0) -> State:
    """Make the remaining choices of this block; returns the state after the last."""
    player.begin(block)
    position, goal, trial = block["position"], block["goal"], block["trial"]
    while True:
        began = time.perf_counter()
        advice = await _advice(page, block, trial, began, speed)
        decision = player.decide(block, trial, position, goal, advice.get("advised"))
        until_ms = block["deadline_ms"] or decision.clicks[-1][1]
        while (elapsed := speed * 1e3 * (time.perf_counter() - began)) < until_ms:
            await asyncio.sleep((until_ms - elapsed) / (1e3 * speed))
        answer = await page.post(
            "/api/choice",
            block=block["number"],
            trial=trial,
            goal=decision.goal,
            clicks=[list(click) for click in decision.clicks],
            elapsed_ms=round(elapsed, 1),
            pauses=0,
            **advice,
        )
        player.learn(answer["arm"], answer["reward"])
        block = {**block, "available": answer["available"]}
        position, goal, trial = answer["position"], answer["goal"], trial + 1
        if answer["n_left"] == 0:
            state: State = answer["state"]
            return state

"""Pilots a study: robots take part before people do, and their data are marked as theirs."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import numpy as np

from explorelab._support import checks
from explorelab._support.checks import Floats
from explorelab._support.progress import Progress
from explorelab._support.written_numbers import Json, JsonObject
from explorelab.errors import ExplorelabError, InputError, InterruptedByUserError, unknown_name
from explorelab.study.config.blocks.boards import Board
from explorelab.study.config.blocks.scenes import Scene
from explorelab.study.config.design import Study
from explorelab.study.config.languages import LANG
from explorelab.study.robots.page_answers import PASSES, Answerer, knowing_answers
from explorelab.study.robots.participant import Block, Decision, Page, Witness, hand, take_part
from explorelab.study.robots.reader import Reader, read_labels
from explorelab.study.robots.sight import Sight, sight_of
from explorelab.study.session.stages import Stage

if TYPE_CHECKING:
    from explorelab.agents import Agent

SITUATED: Mapping[str, float] = {
    "prior_mean": 40.0, "prior_var": 400.0, "length_scale": 3.0, "temperature": 4.0,
    "stickiness": 0.5, "travel_cost": 1.0, "novelty": 0.5, "lapse": 0.02,
}  # fmt: skip
"""The situated robots' parameters scatter around these values, for rewards of the paper's size."""
ANYWHERE = ("restless-kalman", "kalman-ucb")
"""Robots for blocks of one's own, whose arms may lie nowhere and whose means may change."""
TYPICALLY = 100
"""Choices over which means that change are looked at, for the size of rewards."""
FOLLOW = 0.5
"""The probability that a robot follows advice."""
QUESTIONS = 1_000_003
"""Instead of a block's number in the seed of what robots answer to questions."""
SCATTER = 0.2
"""Standard deviation of the logarithm of every parameter."""


class Piloted(NamedTuple):
    """The outcome of a pilot."""

    people: int
    finished: int
    screened: int
    """Robots that failed a quiz as often as is allowed."""
    choices: int
    missed: int
    """Choices on which the robot let the time run out."""
    retries: int
    """Requests that had to be sent again."""
    seconds: float
    agents: tuple[str, ...]
    """Who played, one for each robot."""
    failures: tuple[str, ...]
    """Why robots stopped before the end."""
    unread: tuple[str, ...] = ()
    """What robots were shown that was not in their language."""


class Robot:
    """An agent that plays: a mind to decide with and a hand to click with."""

    def __init__(
        self, agent: Agent, study: Study, seed: Sequence[int], follow: float = FOLLOW, passes: float = PASSES
    ) -> None:
        from explorelab.study.robots.minds import Mind

        self._mind, self._study, self._seed, self._follow = Mind(agent, study), study, tuple(seed), follow
        self.answer: Answerer = knowing_answers(study, np.random.default_rng([*seed, QUESTIONS]), passes)
        """How it answers the questions of pages."""
        self._heading: int | None = None
        """The square that a traveller is on the way to; None if any square is reached at once."""
        self._sight = Sight(study.board)

    def begin(self, block: Block) -> None:
        """A block begins."""
        kind = block["layout"]["kind"] if "layout" in block else "grid"
        if self._study.design is None and (block["width"], block["height"]) != (self._study.width, self._study.height):
            size, here = (
                f"{a} x {b}" for a, b in ((block["width"], block["height"]), (self._study.width, self._study.height))
            )
            raise InputError(f"the server runs another study: its grid is {size}, expected {here}.")
        if self._study.design is not None:
            self._sight = sight_of(kind, block["width"], block["height"], len(block["layout"]["arms"]))
            self._mind.see(self._sight)
        self._mind.begin(block["n_trials"])

    def decide(self, block: Block, trial: int, position: int, goal: int, advised: int | None = None) -> Decision:
        """The agent's choice, or the square advised, clicked; the same for the same seed, rewards and advice before.

        A traveller keeps its goal until it is reached, as the paper's agents do on a graph.
        """
        allowed = self._sight.allowed(block["dynamic"], position, block.get("available"))
        rng = np.random.default_rng([*self._seed, block["number"], trial])
        chances = np.cumsum(self._mind.probabilities(trial, position, allowed))
        drawn = int(np.searchsorted(chances, rng.uniform() * chances[-1], side="right"))
        travels = block["dynamic"] == "travel"
        aim = goal if travels and goal != position else drawn
        if advised is not None and np.random.default_rng([*self._seed, block["number"], trial, 1]).uniform() < self._follow:
            aim = advised
        decision = hand(aim, allowed, block["deadline_ms"], rng)
        # If nobody clicks, the yellow dot stays where it was, and the blue one moves on towards it.
        self._heading = (goal if decision.goal is None else decision.goal) if travels else None
        return decision

    def learn(self, arm: int, reward: float | None) -> None:
        """A reward is shown; where it is hidden, there is nothing to learn."""
        if reward is not None:
            self._mind.learn(arm, reward, self._heading)


def run_pilot(
    base_url: str,
    study: Study,
    *,
    people: int,
    seed: int = 0,
    pilot_key: str,
    agents: Sequence[str | Agent] | None = None,
    speed: float | None = None,
    progress: bool | None = None,
    follow: float = FOLLOW,
    passes: float = PASSES,
    languages: Sequence[str] = (),
) -> Piloted:
    """Let robots take part in the study served at this address.

    `agents` are taken in turn; without any, half of the robots lie between the paper's two example agents and half are
    situated. They wait for the clock as people do; with `speed` it runs that many times faster, and the server then doubts
    their times. They follow advice with the probability `follow`, and answer a question that has a right answer rightly with
    the probability `passes`. They take the study's `languages` in turn, all of them unless some are named. The same seed
    gives the same agents, and the same choices as long as rewards and advice are the same.
    """
    n, seed = checks.whole("people", people, at_least=1), checks.whole("seed", seed, at_least=0)
    fast = 1.0 if speed is None else float(checks.real("speed", speed, above=0))
    follow = float(checks.real("follow", follow, at_least=0, at_most=1))
    for each in languages:
        if each not in study.languages:
            raise unknown_name("language", each, study.languages)
    casts = cast(study, n, seed, agents)
    passes = float(checks.real("passes", passes, at_least=0, at_most=1))
    spoken = [language for language, _ in zip(cycle(languages or study.languages), casts, strict=False)]
    robots = [Robot(agent, study, (seed, number), follow, passes) for number, agent in enumerate(casts)]
    _warm_up(robots, study)
    try:
        readers = map(Reader, spoken)
        all_ = [_Cast(*each) for each in zip(robots, map(described, casts), readers, strict=True)]
        return asyncio.run(_pilot(base_url, study, all_, pilot_key, fast, progress))
    except KeyboardInterrupt:
        raise InterruptedByUserError("interrupted; the choices made so far are stored.") from None


def cast(study: Study, n: int, seed: int, agents: Sequence[str | Agent] | None = None) -> list[Agent]:
    """One agent for each robot."""
    if agents is None and study.design is None:
        return _mixed(n, np.random.default_rng([seed, 326]))
    if agents is None:
        agents = ANYWHERE
    if not agents:
        raise InputError("agents must name at least one agent, got none.")
    built = [_built(agent, study) for agent in agents]
    return [built[i % len(built)] for i in range(n)]


def _built(agent: str | Agent, study: Study) -> Agent:
    """The agent, with values that suit the study's rewards if only a name is given."""
    from explorelab.agents.agent_names import agent_of, parsed
    from explorelab.agents.own.compose import suited
    from explorelab.agents.parameters import Units
    from explorelab.agents.registry import parameters_of

    if not isinstance(agent, str):
        return agent
    means = np.concatenate([_typical_means(scene) for scene in study.scenes.values()])
    spread = float(means.std()) or 1.0
    places = all(scene.board.width for scene in study.scenes.values())
    typical = {"prior_mean": float(means.mean()), "prior_var": spread**2, "temperature": spread / 4}
    typical |= {"length_scale": 2.0 if places else 0.0}
    name = parsed(agent).name
    built = agent_of(agent)
    if built.own:
        apart = max(study.width, study.height, 2)
        return suited(built, Units(typical["prior_mean"], spread, 1.0, float(apart)))
    return agent_of(agent, **{key: value for key, value in typical.items() if key in parameters_of(name)})


def _typical_means(scene: Scene) -> Floats:
    """The means of a scene; those that change, on the first choices of a block."""
    task = scene.task
    return task.means if task.change is None else scene.means(0, 0, min(task.n_trials or TYPICALLY, TYPICALLY)).ravel()


def _mixed(n: int, rng: np.random.Generator) -> list[Agent]:
    """Alternately an agent between the paper's two examples and a situated one."""
    from explorelab.agents.named.human import situated_ucl
    from explorelab.agents.named.ucl import stochastic_ucl
    from explorelab.regret.paper_people import ENDS, on_the_line

    agents = []
    for number in range(n):
        place = rng.uniform(size=1)
        values = SITUATED if number % 2 else {name: float(on_the_line(name, place)[0]) for name in ENDS}
        scattered: dict[str, Any] = {
            name: value * float(np.exp(SCATTER * rng.standard_normal())) for name, value in values.items()
        }
        agents.append((situated_ucl if number % 2 else stochastic_ucl)(**scattered))
    return agents


def described(agent: Agent) -> str:
    """The agent and its parameters in a line."""
    values = (
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in agent.given.items()
    )
    return f"{agent.name}({', '.join(values)})"


def _warm_up(robots: Sequence[Robot], study: Study) -> None:
    """Compile what the robots will run, so that no clock runs out meanwhile."""
    blocks = [block for cell in study.longest for block in study.plan(cell)]
    kinds = {(study.board_of(block), block.n_trials) for block in blocks}
    for robot in robots:
        for board, n_trials in kinds:
            block = _sent(board, n_trials)
            robot.begin(block)
            robot.decide(block, 0, 0, 0)
            robot.learn(0, 0.0)


def _sent(board: Board, n_trials: int) -> Block:
    """A block on this board, as far as a robot sees it."""
    grid = board.layout == "grid"
    return {
        "width": board.width if grid else 0, "height": board.height if grid else 0, "number": 0, "dynamic": "standard",
        "deadline_ms": 1000, "n_trials": n_trials,
        "layout": {"kind": board.layout, "arms": [] if grid else [{} for _ in range(board.n_arms)]},
    }  # fmt: skip


class _Cast(NamedTuple):
    """One robot of a pilot."""

    robot: Robot
    name: str
    """Its agent and parameters."""
    reader: Reader


class _Tally:
    """What has been acknowledged so far."""

    def __init__(self, bar: Progress) -> None:
        self.choices = self.missed = self.screened = 0
        self._bar = bar

    def beside(self, reader: Reader) -> Witness:
        """Count what is acknowledged to a robot, and let it read."""

        def witness(path: str, body: Mapping[str, Json], answer: JsonObject) -> None:
            reader(path, body, answer)
            if path == "/api/page":
                self.screened += answer["state"]["stage"] == Stage.SCREENED
            if path == "/api/choice":
                self.choices += 1
                self.missed += body["goal"] is None
                self._bar.advance()

        return witness


async def _pilot(
    base_url: str, study: Study, casts: Sequence[_Cast], pilot_key: str, speed: float, progress: bool | None
) -> Piloted:
    began = time.perf_counter()
    n_choices = len(casts) * sum(block.n_trials for block in study.plan(study.longest[0]))
    no_limit = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=base_url, limits=no_limit, timeout=30.0) as client:
        await _check_there(client, base_url)
        await read_labels(client, [each.reader for each in casts])
        with Progress("piloting", n_choices, progress) as bar:
            tally, turn = _Tally(bar), asyncio.Lock()
            pages = [
                Page(client, secrets.token_hex(32), {"agent": each.name, LANG: each.reader.language}, pilot_key=pilot_key,
                     witness=tally.beside(each.reader))
                for each in casts
            ]  # fmt: skip
            one_by_one = (_to_the_end(page, each.robot, turn, speed) for page, each in zip(pages, casts, strict=True))
            ends = await asyncio.gather(*one_by_one)
    failures = tuple(end for end in ends if end)
    return Piloted(
        people=len(casts),
        finished=len(casts) - len(failures) - tally.screened,
        screened=tally.screened,
        choices=tally.choices,
        missed=tally.missed,
        retries=sum(page.n_retries for page in pages),
        seconds=time.perf_counter() - began,
        agents=tuple(each.name for each in casts),
        failures=failures,
        unread=tuple(dict.fromkeys(complaint for each in casts for complaint in each.reader.complaints())),
    )


async def _to_the_end(page: Page, robot: Robot, turn: asyncio.Lock, speed: float) -> str:
    """Why the robot stopped early; empty if it did not."""
    try:
        state = await take_part(page, robot, turn=turn, speed=speed, answerer=robot.answer)
    except ExplorelabError as error:
        return str(error)
    return "" if state["stage"] in (Stage.FINISHED, Stage.SCREENED) else f"the study ended for the robot at {state['stage']}"


async def _check_there(client: httpx.AsyncClient, base_url: str) -> None:
    try:
        healthy = (await client.get("/api/health")).status_code == 200
    except (httpx.TransportError, httpx.UnsupportedProtocol, httpx.InvalidURL):
        healthy = False
    if not healthy:
        raise InputError(f"no study answers at {base_url}: start one with explorelab study serve.")

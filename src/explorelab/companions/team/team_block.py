"""One block of a simulated team: the adviser suggests, the person follows or not, and both learn from the reward."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from explorelab.agents import Agent, playing
from explorelab.agents.factors import Params, Rule
from explorelab.agents.playing import Playing, Seen
from explorelab.choices.table import NOWHERE
from explorelab.companions.advice import POLICIES, Adviser, adviser_for
from explorelab.companions.expert import prior_for
from explorelab.companions.live import begun
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import Scene
from explorelab.companions.team.team_people import Person, layout_of_task
from explorelab.tasks import Task, landscape
from explorelab.tasks.task import PROFILES


class TeamBlock(NamedTuple):
    """What became of a team."""

    regret: float
    silent: float
    """Share of trials without a suggestion."""
    follow: float
    """The adviser's last estimate of the probability of following; NaN if it makes none."""


class Job(NamedTuple):
    """Which team: kind of person, policy of advice, probability of following, and number of the person."""

    kind: str
    policy: str
    follow: float
    number: int


def family_expert(task: Task) -> Agent:
    """UCL with the prior of the family that the task belongs to, as far as it is known."""
    family = [landscape(name) for name in PROFILES]
    ours = task.n_arms == family[0].n_arms and any(np.array_equal(task.means, one.means) for one in family)
    return prior_for(family if ours else [task])


def adviser_of(
    task: Task, expert: Agent, scene: Scene, settings: Settings, horizon: int, policy: str, number: int
) -> Adviser:
    """The adviser of one team."""
    mind = None
    if POLICIES[policy].personal:
        mind = begun(scene, settings._replace(seed=number), horizon)
    return adviser_for(policy, expert, layout_of_task(task), float(task.noise.var), horizon, mind)


def play(task: Task, crowd: dict[str, list[Person]], advise: Callable[[str, int], Adviser], job: Job) -> TeamBlock:
    """One team's block."""
    person = crowd[job.kind][job.number]
    adviser = advise(job.policy, job.number) if job.policy in POLICIES else None
    gaps, n_arms, best = task.gaps, task.n_arms, int(np.argmax(task.means))
    with jax.enable_x64(True):
        state = _begun(person.rule, n_arms, person.ready)
    position, regret, n_silent = NOWHERE, 0.0, 0
    for t, ((own_chance, follow_chance), noise) in enumerate(zip(person.uniform, person.noise, strict=True), start=1):
        advised = best if adviser is None else adviser.suggest().arm
        state, probs = _thought(person, n_arms, state, t, position)
        follow = 0.0 if advised is None else job.follow
        regret += (1 - follow) * float(probs @ gaps) + (follow * gaps[advised] if advised is not None else 0.0)
        n_silent += advised is None
        arm = min(int(np.searchsorted(np.cumsum(probs), own_chance * probs.sum())), n_arms - 1)
        if advised is not None and follow_chance < follow:
            arm = advised
        reward = float(task.means[arm] + noise)
        with jax.enable_x64(True):
            state = _learned(person.rule, person.ready, state, np.int32(arm), np.float64(reward))
        position = arm
        if adviser is not None:
            adviser = adviser.observe(arm, reward, advised=advised)
    known = np.nan if adviser is None or adviser.mind is None else adviser.mind.follow_probability
    return TeamBlock(regret, n_silent / len(person.noise), known)


def _thought(person: Person, n_arms: int, state: Playing, t: int, position: int) -> tuple[Playing, np.ndarray]:
    """The person with room for trial t, and the probability with which they choose each arm by themselves."""
    learner = person.rule.learner
    until = playing.room_for(learner, n_arms, t)
    with jax.enable_x64(True):
        if t > 1 and until != playing.room_for(learner, n_arms, t - 1):
            state = _with_room(person.rule, until, person.ready, state)
        return state, np.asarray(_probs(person.rule, person.ready, state, np.int32(t), np.int32(position)))


@partial(jax.jit, static_argnames=("rule", "n_arms"))
def _begun(rule: Rule, n_arms: int, ready: Params) -> Playing:
    return playing.begun(rule, ready, n_arms)


@partial(jax.jit, static_argnames=("rule", "until"))
def _with_room(rule: Rule, until: int, ready: Params, state: Playing) -> Playing:
    return playing.with_room(rule, ready, state, until)


@partial(jax.jit, static_argnames="rule")
def _probs(rule: Rule, ready: Params, state: Playing, t: jax.Array, position: jax.Array) -> jax.Array:
    return jnp.exp(playing.log_probs(rule, ready, state, t, position, None))


@partial(jax.jit, static_argnames="rule")
def _learned(rule: Rule, ready: Params, state: Playing, arm: jax.Array, reward: jax.Array) -> Playing:
    return playing.learned(rule, ready, state, None, Seen(arm, arm, reward, jnp.bool_(True)))

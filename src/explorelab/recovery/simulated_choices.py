"""Simulated people in place of real ones: the same blocks, the same free and forced trials, other choices.

The loop is the likelihood's replay, except that it chooses: the same learner, limit, choice rule and commitment, the same
time and position. So choices are generated with exactly the probabilities that `fitting.likelihood` gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from jax import lax
from jaxtyping import Array, Bool, Float, Int, UInt32

from explorelab._support import checks
from explorelab._support.counted import each_of
from explorelab._support.door import door
from explorelab.agents import Agent
from explorelab.agents import step as steps
from explorelab.agents.factors import AnyArray, AnyBelief, Params, Pytree, Rule, Ways, prepared
from explorelab.agents.named.human import random_choice
from explorelab.agents.own.trial import check_chosen
from explorelab.choices.table import NOWHERE, Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.likelihood import positions
from explorelab.fitting.model import prepare
from explorelab.fitting.search.batches import in_calls, mapped
from explorelab.recovery.designs import is_played, repeated
from explorelab.regret.observed import HOW_TO_TELL, noise_var_of
from explorelab.simulation import chance
from explorelab.tasks.noise import noise_kind, scale_for

NOTHING, FREE, KEPT, REPEATED = range(4)
"""What happens on a trial: nothing is sampled; the person chooses; the arm is given; the last arm is sampled again."""


@dataclass(frozen=True)
class Plan:
    """What is known before anything runs; static to `jit`."""

    rule: Rule
    n_arms: int
    noise: str
    points: tuple[float, float] | None
    """The lowest and highest reward, where rewards are paid in whole points."""
    whole: bool
    """Whether every trial is sampled, and so learned from."""


class Row(NamedTuple):
    """A block to be played; several have a leading axis. JAX arrays inside compiled calls, NumPy arrays outside."""

    number: UInt32[AnyArray, ""]
    """The number of the block: its randomness depends only on this, the seed and the time."""
    params: Params
    """One number per parameter, in natural units."""
    means: Float[AnyArray, "*trial arm"]
    """The mean of every arm or, where means change, of every arm on every trial."""
    start: Int[AnyArray, ""]
    kind: Int[AnyArray, " trial"]
    """What happens on every trial."""
    arm: Int[AnyArray, " trial"]
    """The arm of every trial on which it is given; arbitrary elsewhere."""
    reward: Float[AnyArray, " trial"]
    available: Bool[AnyArray, "trial arm"] | None
    """trial x arm, or None."""


type Played = tuple[Int[Array, " trial"], Float[Array, " trial"]]
"""Arm and reward of every trial."""

type PerPerson = npt.ArrayLike
"""One number for everyone, or one for each participant."""


class State(NamedTuple):
    """The state of a simulated person."""

    belief: AnyBelief
    position: Int[Array, ""]
    bound: steps.Bound


@door
def simulate_choices(
    choices: Choices,
    agent: str | Agent,
    params: Mapping[str, PerPerson] | None = None,
    seed: int = 0,
    n_copies: int = 1,
    *,
    noise: str = "gaussian",
    progress: bool | None = None,
) -> Choices:
    """An agent's choices in place of these people's (or on `blank_choices`), with the same blocks and conditions.

    On trials on which people were free to choose, the agent chooses. A forced arm stays, with its reward; an arm that was
    sampled again because a person missed a trial becomes the simulated person's own last arm; a trial without a sample stays
    so. Rewards are the row's means (which must be known) plus noise with the layout's variance. The arms on offer are those
    that people had, even if these depended on earlier choices. The same seed gives the same choices, however the work is
    divided.

    Parameters
    ----------
    choices
        Choices to imitate, real or from `blank_choices`.
    agent
        Agent or its name.
    params
        Parameters by name, in natural units: one number for everyone, one per participant or, with copies, one per simulated
        participant; the others are the agent's.
    seed
        Same seed, same result.
    n_copies
        Number of times to simulate everyone: participant i of copy c is number c * n_participants + i of the result.
    noise
        "gaussian", "integer" (whole numbers from -h to h), or one added with `add_noise`.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    seed, n_copies = (
        checks.whole("seed", seed, at_least=0),
        checks.whole("n_copies", n_copies, at_least=1, at_most=checks.MANY),
    )
    noise = noise_kind(noise).name
    many = repeated(choices, np.tile(np.arange(choices.n_participants), n_copies)) if n_copies > 1 else choices
    # For an agent given by name, missing values follow the units of the data, as in a fit.
    built = prepare(choices if isinstance(agent, Agent) else played(choices, noise), agent, free=())
    values = _values(built.agent, built.data.fixed, params or {}, choices.n_participants, n_copies)
    fixed = {name: value for name, value in built.data.fixed.items() if name not in values}
    kind = _kinds(many)
    plan = Plan(built.agent.rule, many.layout.n_arms, noise, many.layout.points, not (kind == NOTHING).any())
    scale, keys = _noise_scale(choices, noise), chance.keys_from(seed)

    def call(rows: Row, count: np.int32) -> Played:
        return _played(plan, fixed, built.data.ways, jnp.float64(scale), jnp.asarray(keys), rows, count)

    arm, reward = in_calls(call, _rows(many, kind, values), "simulating", progress)
    sampled = kind != NOTHING
    check_chosen(built.agent.name, bool((arm < many.layout.n_arms).all()))
    return replace(
        many,
        arm=np.where(sampled, arm, NOWHERE).astype(np.int32),
        reward=np.where(sampled, reward, 0.0),
        advice=None,  # nobody advised those who are simulated
        table=None,
        exclusions=(),
        players="simulated",
        source=f"{built.agent.name} on {choices.source}" if choices.source else built.agent.name,
    )


def played(choices: Choices, noise: str = "gaussian") -> Choices:
    """The same choices or, if still to be made, random ones, which set the units of rewards."""
    return choices if is_played(choices) else simulate_choices(choices, random_choice(), noise=noise)


def _values(agent: Agent, known: Params, params: Mapping[str, PerPerson], n: int, copies: int) -> dict[str, np.ndarray]:
    """Every given parameter's value for each simulated person, checked as the agent itself would."""
    values = {}
    for name, given in params.items():
        if name not in known:
            raise unknown_name(f"parameter of {agent.name}", name, known)
        value = checks.numbers(name, given)
        if value.ndim > 1 or (value.ndim == 1 and len(value) not in (n, n * copies)):
            raise InputError(f"{name} must be one number, or one for {each_of(n, 'participant')}, got {value.shape}.")
        if agent.build is not None and name in agent.params:
            for extreme in (value.min(), value.max()):
                agent.build(**{**agent.given, name: float(extreme)})
        values[name] = np.resize(value, n * copies)  # repeats it, copy after copy
    return values


def _kinds(choices: Choices) -> np.ndarray:
    """What happens on each trial."""
    given = choices.observed & ~choices.scored
    # Someone missed a trial and stayed where they were. A trial forced onto the previous arm looks the same, but is not.
    missed = np.zeros(given.shape, bool) if choices.missed is None else choices.missed
    again = given & missed & (choices.arm == positions(choices)) & (choices.arm != NOWHERE)
    # In a blank design, a trial with a single arm on offer has no arm to keep yet: a free choice gives that arm.
    free = choices.scored | (given & (choices.arm == NOWHERE))
    kind = np.where(free, FREE, np.where(again, REPEATED, np.where(given, KEPT, NOTHING)))
    return kind.astype(np.int32)


def _rows(choices: Choices, kind: np.ndarray, values: Mapping[str, np.ndarray]) -> Row:
    n = choices.n_rows
    start = np.full(n, NOWHERE) if choices.start is None else choices.start
    return Row(
        number=np.arange(n, dtype=np.uint32),
        params={name: value[choices.participant] for name, value in values.items()},
        means=known_means(choices),
        start=start.astype(np.int32),
        kind=kind,
        arm=choices.arm.astype(np.int32),
        reward=choices.reward.astype(np.float64),
        available=choices.available,
    )  # fmt: skip


def known_means(choices: Choices) -> np.ndarray:
    """The true mean of every arm in every row; if they are unknown, an error that says how to give them."""
    if choices.means is None or np.isnan(choices.means[choices.present] if choices.means_change else choices.means).any():
        lacking = "they are" if choices.means is None else "some are"
        raise InputError(f"simulated people need the true mean rewards, but {lacking} not known: {HOW_TO_TELL}.")
    return np.nan_to_num(choices.means.astype(np.float64))  # beyond the end of a block nobody sees them


def _noise_scale(choices: Choices, noise: str) -> float:
    """The scale of noise with the layout's variance or, if that is unknown, with the variance of the rewards seen."""
    var = choices.layout.noise_var
    if var is None and is_played(choices) and choices.observed.any():
        var = noise_var_of(choices)
    if var is None:
        raise InputError("simulated people need the variance of the noise: add noise_var to the table [task].")
    return scale_for(noise, var)


@partial(jax.jit, static_argnames="plan")
def _played(
    plan: Plan, fixed: Params, ways: Ways, scale: Float[Array, ""], keys: chance.Keys, rows: Row, count: Int[Array, ""]
) -> Played:
    return mapped(partial(_play, plan, fixed, ways, scale, keys), rows, count)


def _play(plan: Plan, fixed: Params, ways: Ways, scale: Float[Array, ""], keys: chance.Keys, row: Row) -> Played:
    """Arm and reward of every trial of a block."""
    params = prepared(plan.rule, {**fixed, **row.params}, ways)
    learner, horizon = plan.rule.learner, row.kind.shape[0]
    state = State(learner.init(params, plan.n_arms), row.start, steps.unbound())
    step = partial(_trial, plan, params, scale, keys, row.number)
    if row.means.ndim == 1:
        step = partial(_fixed, row.means, step)
    played, begin = [], 0
    for end in learner.stages(plan.n_arms, horizon):
        state = state._replace(belief=learner.resize(params, state.belief, end))
        available = None if row.available is None else row.available[begin:end]
        now = (
            jnp.arange(begin + 1, end + 1, dtype=jnp.int32),
            row.kind[begin:end],
            row.arm[begin:end],
            row.reward[begin:end],
        )
        moving = None if row.means.ndim == 1 else row.means[begin:end]
        state, done = lax.scan(step, state, (*now, available, moving))
        played.append(done)
        begin = end
    return jax.tree.map(lambda *parts: jnp.concatenate(parts), *played)


def _fixed(means: Float[Array, " arm"], step: Callable[..., Pytree], state: State, now: Pytree) -> Pytree:
    """A trial on which the means are what they always are."""
    return step(state, (*now[:-1], means))


def _trial(
    plan: Plan,
    params: Params,
    scale: Float[Array, ""],
    keys: chance.Keys,
    number: UInt32[Array, ""],
    state: State,
    now: Pytree,
) -> tuple[State, tuple[Int[Array, ""], Float[Array, ""]]]:
    """One trial: `fitting.likelihood.decide`, and a draw."""
    t, kind, given, told, available, means = now
    rule, dtype = plan.rule, jnp.dtype("float64")
    luck = chance.of_step(keys, number, t, dtype)
    moment = steps.moment_of(rule.commitment, state.bound, t, state.position)
    value = rule.limit(params, state.belief, moment)
    drawn = rule.choice.draw(params, state.belief, value, moment, available, luck.decision)
    deciding = steps.decides(state.bound, available)
    wanted = jnp.where(deciding, drawn, state.bound.goal) if steps.binds(rule.commitment) else drawn
    arm = jnp.select([kind == FREE, kind == KEPT, kind == REPEATED], [wanted, given, state.position], NOWHERE)
    arm = arm.astype(jnp.int32)
    at = jnp.maximum(arm, 0)
    noise = noise_kind(plan.noise).quantile(scale, luck.reward)
    drawn_reward = means[at] + noise
    if plan.points is not None:
        drawn_reward = jnp.clip(jnp.round(drawn_reward), *plan.points)
    reward = jnp.where(kind == KEPT, told, drawn_reward)
    belief = rule.learner.update(params, state.belief, at, reward)
    sampled = kind != NOTHING
    if not plan.whole:
        belief = jax.tree.map(lambda new, old: jnp.where(sampled, new, old), belief, state.belief)
    position = jnp.where(sampled, arm, state.position)
    if not steps.binds(rule.commitment):
        return State(belief, position, state.bound), (arm, reward)
    decided = deciding & sampled
    bound = steps.bound_to(rule.commitment, params, state.belief, state.bound, decided, arm)
    return State(belief, position, steps.counted(bound, decided, sampled)), (arm, reward)

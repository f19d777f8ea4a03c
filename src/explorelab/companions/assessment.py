"""What a person's regret comes to: its form at the end of the block, what is still to be lost, and which weaknesses cost it.

The block so far is known. How it may go on is played from points of the posterior, each of which goes on as the person would
with those parameters; and once more by the adviser alone, with the task's prior and what the person has seen.

A weakness is a parameter on the wrong side of what suits the task, by more than a factor, at a price:

    P(weakness) = P(parameter beyond factor x reference) x P(with the reference in its place, less is lost)

The first comes from the posterior. The second comes from whole blocks played with and without the reference, with the same
luck: Phi(mean / standard error) of what is saved. So an odd parameter that does no harm is no weakness: a low temperature
with a good prior, or a narrow prior in the right place. References are those of `expert.prior_for` (the variance and the
length scale of the landscape) and the temperature at which somebody who knew all means would still lose `LOST_AT_BEST` of
what random choice loses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import brentq
from scipy.special import softmax
from scipy.stats import norm

from explorelab._support.rounding import without_rounding
from explorelab.agents import playing
from explorelab.agents.factors import Agent, Params, Rule, Ways, prepared
from explorelab.agents.playing import Playing, Seen, room_for
from explorelab.choices.table import NOWHERE
from explorelab.companions import points as compiled
from explorelab.companions.expert import prior_for
from explorelab.companions.past import Past, Trial, arrays_of
from explorelab.companions.scene import Numbers
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block
from explorelab.fitting.objective import Model
from explorelab.regret.forms import FORMS, NONE
from explorelab.regret.forms_fast import best_forms
from explorelab.simulation.futures import Future, futures, world_of
from explorelab.tasks import Task

if TYPE_CHECKING:
    from explorelab.companions.live import Companion

LABELS = (*FORMS, NONE)
N_FUTURES = 128
N_BLOCKS = 64
"""Whole blocks played to see what a weakness costs."""
PADDED = 32
"""Arrays of trials are as long as a multiple of this, so that few programs serve blocks of all lengths."""
LOST_AT_BEST = 0.05
"""Of what random choice loses: what a person may lose by temperature alone before it counts."""
WORTH_A_LOOK = 0.05
"""Probability that a parameter is on the wrong side, below which nobody asks what that costs."""


class Weakness(NamedTuple):
    """One of the paper's weaknesses, as one person has it."""

    probability: float
    cost: float
    """Expected regret over a whole block that the reference in its place would save; 0 where nobody asked."""
    sentence: str


class Assessment(NamedTuple):
    """How a person is doing in a block."""

    t: int
    """Trials so far."""
    phenotype: dict[str, float]
    """Probability of each form of regret at the end of the block."""
    regret: float
    """Expected regret so far: the sum of m* - m_i over the arms chosen."""
    regret_to_come: float
    """Expected regret in the rest of the block if they go on as they do."""
    regret_if_advised: float
    """The same if they did what the adviser suggests."""
    weaknesses: dict[str, Weakness]


# The block so far, and how it may go on -------------------------------------------------------------------------------


def task_of(mind: Companion) -> Task:
    """The task that is played; an error if its means are unknown."""
    if mind.task is None or not np.isfinite(mind.task.means).all():
        raise InputError("regret needs the true mean rewards: pass companion() a task that has them.")
    mind.task.check_fixed("an assessment")
    return mind.task


def losses_so_far(task: Task, block: tuple[Trial, ...]) -> np.ndarray:
    """Loss against the best arm on each trial so far, by rewards and by means (2 x trial), as in `regret.observed`."""
    arm = np.array([trial.arm for trial in block], int)
    reward = np.array([trial.reward for trial in block])
    observed = np.array([trial.observed for trial in block], bool)
    mean = np.where(arm == NOWHERE, 0.0, task.means[np.maximum(arm, 0)])
    earned = np.stack([np.where(observed, reward, mean), mean])
    return without_rounding(task.best - earned, task.best, earned)


def phenotype(mind: Companion, n_futures: int = N_FUTURES) -> dict[str, float]:
    """Probability of each form of observed regret at the end of the block, and of none."""
    return _shares(_curves(mind, _going_on(mind, n_futures)))


def _shares(curves: np.ndarray) -> dict[str, float]:
    found = best_forms(curves, "raw")
    return {label: float((found == (k if label != NONE else -1)).mean()) for k, label in enumerate(LABELS)}


def _curves(mind: Companion, futures: Future | None) -> np.ndarray:
    """Observed regret from the first trial to the end of the block, future x trial."""
    task = task_of(mind)
    so_far = losses_so_far(task, mind.past.blocks[-1])[0]
    if futures is None:
        return np.cumsum(so_far)[None]
    lost = task.best - futures.reward
    lost[:, : len(so_far)] = so_far
    return np.cumsum(lost, axis=1)


def _to_come(mind: Companion, futures: Future | None) -> float:
    """Expected regret in what is left of the block."""
    if futures is None:
        return 0.0
    return float(task_of(mind).gaps[futures.arm[:, mind.past.t - 1 :]].sum(1).mean())


def _going_on(mind: Companion, n_futures: int) -> Future | None:
    """The rest of the block as the person may play it; None if it is over."""
    if mind.past.t > mind.horizon:
        return None
    model, points = mind.scene.model, mind.posterior.points
    learner, n_arms = model.rule.learner, model.n_arms
    kept = _resampled(mind.posterior.weight, n_futures)
    with jax.enable_x64(True):
        points = jax.tree.map(lambda x: np.asarray(x)[kept], points)
        room = room_for(learner, n_arms, mind.horizon)
        if room != room_for(learner, n_arms, max(mind.past.t - 1, 1)):
            points = compiled.with_room(model, points, room)
        return _played(mind, model.rule, points.ready, points.playing, n_futures, shared=False)


def _advised(mind: Companion, tasks: tuple[Task, ...], n_futures: int) -> Future | None:
    """The rest of the block as the adviser would play it, who knows such landscapes (the policy "impersonal", followed)."""
    if mind.past.t > mind.horizon:
        return None
    expert, n_arms = _expert(tasks), mind.n_arms
    past = Past(mind.past.blocks[-1:], mind.past.starts[-1:])
    blocks = arrays_of(past, expert.rule.learner, n_arms).blocks
    room = room_for(expert.rule.learner, n_arms, max(mind.horizon, blocks.arm.shape[1]))
    known = {"noise_var": task_of(mind).noise.var, "horizon": mind.horizon, "n_arms": n_arms, **expert.params}
    with jax.enable_x64(True):
        params = {name: np.asarray(value, np.float64) for name, value in known.items()}
        block = jax.tree.map(lambda x: x[0], blocks)
        ready, now = _after(expert.rule, n_arms, room, params, mind.scene.numbers.ways, block)
        return _played(mind, expert.rule, ready, now, n_futures, shared=True)


def _played(mind: Companion, rule: Rule, ready: Params, now: Playing, n_futures: int, shared: bool) -> Future:
    """The rest of the block from these states; if they are `shared`, all futures begin in the same one."""
    task = task_of(mind)
    luck = _keys(mind, len(mind.past.blocks), mind.past.t), np.arange(n_futures, dtype=np.uint32)
    return _cut(mind, futures(*_how(mind, rule), shared, ready, now, world_of(task), *luck, *_when(mind, mind.past)))


def _how(mind: Companion, rule: Rule) -> tuple[Rule, str, int]:
    """What is compiled for."""
    return rule, task_of(mind).noise.kind, -(-mind.horizon // PADDED) * PADDED


def _when(mind: Companion, past: Past) -> tuple[np.int32, np.int32, np.int32]:
    return np.int32(past.t), np.int32(past.position), np.int32(mind.horizon)


def _cut(mind: Companion, done: Future) -> Future:
    return jax.tree.map(lambda x: np.array(x)[:, : mind.horizon], done)


def _keys(mind: Companion, *numbers: int) -> np.ndarray:
    return np.random.SeedSequence([mind.settings.seed, 4, *numbers]).generate_state(4).reshape(2, 2)


def _resampled(weight: np.ndarray, n: int) -> np.ndarray:
    """Points in proportion to their weights, each as often as its weight says, to within one."""
    return np.searchsorted(np.cumsum(weight), (np.arange(n) + 0.5) / n).clip(max=len(weight) - 1)


@partial(jax.jit, static_argnames=("rule", "n_arms", "room"))
def _after(rule: Rule, n_arms: int, room: int, params: Params, ways: Ways, block: Block) -> tuple[Params, Playing]:
    """Somebody with these parameters after a block's trials; those that fill the arrays up teach nothing."""
    ready = prepared(rule, params, ways)
    start = playing.with_room(rule, ready, playing.begun(rule, ready, n_arms), room)
    told = block.available, Seen(block.arm, block.arm, block.reward, block.observed)
    return ready, jax.lax.scan(lambda now, each: (playing.learned(rule, ready, now, *each), None), start, told)[0]


# What an expert would do ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _expert(tasks: tuple[Task, ...]) -> Agent:
    return prior_for(list(tasks))


@lru_cache(maxsize=64)
def references(tasks: tuple[Task, ...]) -> Mapping[str, float]:
    """What suits these landscapes: variance and length scale of the prior, and temperature."""
    suits = _expert(tasks).params
    found = {name: float(suits[name]) for name in ("prior_var", "length_scale") if name in suits}
    return found | {"temperature": float(np.median([_temperature(task) for task in tasks]))}


def _temperature(task: Task) -> float:
    """The temperature at which somebody who knows all means loses `LOST_AT_BEST` of what random choice loses."""
    gaps = task.gaps
    if not gaps.any():
        return np.inf

    def too_much(log_temperature: float) -> float:
        return float(softmax(-gaps / np.exp(log_temperature)) @ gaps - LOST_AT_BEST * gaps.mean())

    middle = np.log(gaps.max())
    return float(np.exp(brentq(too_much, middle - 20, middle + 5)))


# Weaknesses -----------------------------------------------------------------------------------------------------------


class _Kind(NamedTuple):
    """A weakness: the parameter, by which factor it may differ from the reference, and how it is told."""

    parameter: str
    factor: float
    """Above 1: a larger parameter is the weakness; below 1: a smaller one."""
    told: str

    def shown_by(self, values: np.ndarray, reference: float) -> np.ndarray:
        """Which values are beyond the reference by more than the factor."""
        return values > self.factor * reference if self.factor > 1 else values < self.factor * reference


WEAKNESSES: dict[str, _Kind] = {
    "prior too weak": _Kind(
        "prior_var", 4.0, "Their prior is too weak: variance {own}, while the arms' means vary by {suits}; too much looks "
        "worth trying."
    ),
    "prior too confident": _Kind(
        "prior_var", 0.25, "Their prior is too confident: variance {own}, while the arms' means vary by {suits}; rewards "
        "change their mind too slowly."
    ),
    "no use of neighbourhood": _Kind(
        "length_scale", 0.25, "They make too little use of the neighbourhood: length scale {own}, while the landscape has "
        "{suits}."
    ),
    "too hot": _Kind(
        "temperature", 2.0, "They choose too randomly: temperature {own}, while {suits} already gives away "
        f"{100 * LOST_AT_BEST:.0f} % of what random choice loses."
    ),
    "too cold": _Kind(
        "temperature", 0.25, "They choose too rigidly: temperature {own}, where {suits} would let them find better arms."
    ),
}  # fmt: skip
"""The paper's weaknesses, by name."""


def weaknesses(mind: Companion, tasks: tuple[Task, ...], n_blocks: int = N_BLOCKS) -> dict[str, Weakness]:
    """Which weaknesses the person shows on such landscapes, of those whose parameters the agent has."""
    suits = references(tasks)
    with jax.enable_x64(True):
        values = _values(mind.scene.model, mind.scene.numbers, mind.posterior.points.z)
        own = {name: np.asarray(values[name]) for name in suits if name in values and np.ndim(values[name]) == 1}
    weight, kept = mind.posterior.weight, _resampled(mind.posterior.weight, n_blocks)
    as_is: list[np.ndarray] = []
    found = {}
    for name, kind in WEAKNESSES.items():
        if kind.parameter not in own:
            continue
        value, reference = own[kind.parameter], suits[kind.parameter]
        shown = kind.shown_by(value, reference)
        probability, saved, helps = float(weight @ shown), 0.0, 0.0
        if probability > WORTH_A_LOOK:
            as_is = as_is or [_whole_block(mind, kept, {})]
            cured = _whole_block(mind, kept, {kind.parameter: np.where(shown[kept], reference, value[kept])})
            saved, helps = _saved((as_is[0] - cured)[shown[kept]])
        middle = float(np.exp(weight @ np.log(np.maximum(value, 1e-12))))
        found[name] = Weakness(probability * helps, saved, kind.told.format(own=f"{middle:.3g}", suits=f"{reference:.3g}"))
    return found


def _saved(each: np.ndarray) -> tuple[float, float]:
    """The mean of what is saved, and the probability that it is more than nothing."""
    if len(each) < 2:
        return 0.0, 0.0
    error = each.std(ddof=1) / np.sqrt(len(each))
    mean = float(each.mean())
    return mean, float(norm.cdf(mean / error)) if error > 0 else float(mean > 0)


def _whole_block(mind: Companion, kept: np.ndarray, instead: Mapping[str, np.ndarray]) -> np.ndarray:
    """Expected regret of a whole block at these points, with other values of some parameters."""
    task, model = task_of(mind), mind.scene.model
    room = room_for(model.rule.learner, model.n_arms, mind.horizon)
    unplayed = Past(starts=(NOWHERE if task.start is None else task.start,))
    with jax.enable_x64(True):
        values = _values(model, mind.scene.numbers, np.asarray(mind.posterior.points.z)[kept])
        ready, now = _begun(model, mind.scene.numbers, room, {**values, **instead})
        luck = _keys(mind, 0), np.arange(len(kept), dtype=np.uint32)
        done = futures(*_how(mind, model.rule), False, ready, now, world_of(task), *luck, *_when(mind, unplayed))
    return np.asarray(task.gaps[_cut(mind, done).arm].sum(1))


@partial(jax.jit, static_argnames="model")
def _values(model: Model, numbers: Numbers, z: Float[Array, "point parameter"]) -> Params:
    """All parameters of every point, in natural units."""
    return jax.vmap(partial(compiled.parameters, model, numbers))(z)


@partial(jax.jit, static_argnames=("model", "room"))
def _begun(model: Model, numbers: Numbers, room: int, values: Params) -> tuple[Params, Playing]:
    """Points with these parameters before a block, with room for all of it."""

    def one(params: Params) -> tuple[Params, Playing]:
        ready = prepared(model.rule, params, numbers.ways)
        start = playing.begun(model.rule, ready, model.n_arms)
        return ready, playing.with_room(model.rule, ready, start, room)

    return jax.vmap(one)(values)


# All of it ------------------------------------------------------------------------------------------------------------


def assessed(
    mind: Companion, tasks: tuple[Task, ...] = (), n_futures: int = N_FUTURES, with_weaknesses: bool = True
) -> Assessment:
    """How the person is doing; `tasks` are the landscapes that the adviser's prior is made for, by default this one."""
    task = task_of(mind)
    tasks = tasks or (task,)
    going_on = _going_on(mind, n_futures)
    return Assessment(
        t=mind.past.t - 1,
        phenotype=_shares(_curves(mind, going_on)),
        regret=float(losses_so_far(task, mind.past.blocks[-1])[1].sum()),
        regret_to_come=_to_come(mind, going_on),
        regret_if_advised=_to_come(mind, _advised(mind, tasks, n_futures)),
        weaknesses=weaknesses(mind, tasks) if with_weaknesses else {},
    )

"""The paper's weaknesses: a parameter on the wrong side of what suits the task, by more than a factor, at a price.

    P(weakness) = P(parameter beyond factor x reference) x P(with the reference in its place, less is lost)

The first comes from the posterior. The second comes from whole blocks played with and without the reference, with the same
luck: Phi(mean / standard error) of what is saved. So an odd parameter that does no harm is no weakness: a low temperature
with a good prior, or a narrow prior in the right place. References are those of `expert.prior_for` (the variance and the
length scale of the landscape) and the temperature at which somebody who knew all means would still lose `LOST_AT_BEST` of
what random choice loses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float
from scipy.stats import norm

from explorelab.agents import playing
from explorelab.agents.factors import Params, prepared
from explorelab.agents.playing import Playing, room_for
from explorelab.choices.table import NOWHERE
from explorelab.companions.assessment.rest_of_block import cut, how, keys_of, resampled, task_of, when
from explorelab.companions.assessment.what_suits import LOST_AT_BEST, references
from explorelab.companions.past import Past
from explorelab.companions.sampling import points as compiled
from explorelab.companions.scene import Numbers
from explorelab.fitting.objective import Model
from explorelab.simulation.futures import futures, world_of
from explorelab.tasks import Task

if TYPE_CHECKING:
    from explorelab.companions.live import Companion

N_BLOCKS = 64
"""Whole blocks played to see what a weakness costs."""
SHOWN = 0.5
"""Weaknesses are named from this probability on."""
WORTH_A_LOOK = 0.05
"""Probability that a parameter is on the wrong side, below which nobody asks what that costs."""


class Weakness(NamedTuple):
    """One of the paper's weaknesses, as one person has it."""

    probability: float
    cost: float
    """Expected regret over a whole block that the reference in its place would save; 0 where nobody asked."""
    sentence: str


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
    weight, kept = mind.posterior.weight, resampled(mind.posterior.weight, n_blocks)
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
        luck = keys_of(mind, 0), np.arange(len(kept), dtype=np.uint32)
        done = futures(*how(mind, model.rule), False, ready, now, world_of(task), *luck, *when(mind, unplayed))
    return np.asarray(task.gaps[cut(mind, done).arm].sum(1))


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

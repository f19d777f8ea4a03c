"""Learn what an operator knows, and play in their place.

An operator's prior has a mean that differs between arms: where they expect reward. It is learned from their choices, as
parameters of the agent that models them, together with its other parameters:

    prior_mean_i = mu + sum_k c_k phi_k(i),     c_k ~ N(0, 1)

phi_k are the leading eigenvectors of a smooth kernel over the places of the arms, times the square roots of their
eigenvalues, so that the field has twice the spread of the rewards beforehand. The estimate is the most probable one, its
uncertainty that of Laplace's approximation.

The automaton is UCL with that prior. It is guarded: beside the operator's prior there is a weak one, with the mean, variance
and smoothness of the rewards seen, and each counts as far as it foresees rewards, those that the operator saw included.
Choices tell what the prior is, rewards tell whether it is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from scipy.stats import norm

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab.agents import Agent
from explorelab.agents.factors import Learner, Params
from explorelab.agents.learners.kernels import KERNELS, correlation
from explorelab.agents.named.ucl import CREDIBILITY_SCALE, deterministic_ucl
from explorelab.choices.table import Choices, Layout
from explorelab.companions.expert import Expert, View, expert_of, together, view_of
from explorelab.companions.past import Past, arrays_of, checked_trial, past_blocks
from explorelab.companions.sampling import points as compiled
from explorelab.companions.scene import Group, Numbers
from explorelab.errors import InputError
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.objective import Model
from explorelab.fitting.results import on_natural_scale
from explorelab.fitting.search.likelihood_checks import check_likelihood
from explorelab.fitting.search.solve import limits
from explorelab.fitting.spaces import Dimension, axes_of, origin_of, units_of

INTERVAL = 1.959964
SHAPE = "prior_shape_{}"
MOST = 6.0
"""Bounds of the weights c_k."""
REACH = 0.25
"""Length scale of the field, as a share of the largest distance between arms."""
WIDER = 2.0
"""Spread of the field and of its level, in standard deviations of the rewards seen, which are the better ones."""
KERNEL = "squared-exponential"
CHOSEN = 3
"""Number of parameters of the weak prior."""
FALLBACK = "matern32"
"""Kernel of the weak prior."""
LENGTHS = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
"""Its length scales, in units of the smallest distance between arms."""


@dataclass(frozen=True, eq=False)
class LearnedPrior:
    """What an operator expects before their first choice, as learned from their choices."""

    layout: Layout
    noise_var: float
    mean: np.ndarray
    """Prior mean of each arm."""
    covariance: np.ndarray
    """arm x arm: how uncertain the mean is, plus how uncertain the operator is."""
    estimates: xr.Dataset
    """`estimate`, `low` and `high` of every parameter; `prior_mean` and `prior_mean_sd` of every arm."""
    weak: Agent
    """UCL with a weak prior, for the case that the operator is wrong."""
    past: Past
    """The choices that it was learned from."""

    def __repr__(self) -> str:
        return f"<LearnedPrior from {counted(self.past.n_scored, 'choice')}: best at arm {int(self.mean.argmax())}>"


@door
def learn_prior(choices: Choices, agent: str = "stochastic-ucl", *, n_shapes: int = 16) -> LearnedPrior:
    """Learn an operator's prior from their choices: its mean for every arm, its variance and its length scale.

    Parameters
    ----------
    choices
        One person's choices, in any number of blocks; the task must give places and noise.
    agent
        Name of the agent that models them; it must have a prior mean.
    n_shapes
        Number of smooth shapes that the prior mean is made of.
    """
    n = checks.whole("n_shapes", n_shapes, at_least=1, at_most=1000)
    if choices.n_participants != 1:
        several = counted(choices.n_participants, "person", "people")
        raise InputError(f"a prior is learned from one person's choices, got those of {several}.")
    if choices.layout.places is None or choices.layout.noise_var is None:
        raise InputError("learning a prior needs the places of the arms and the noise of the task.")
    fitted = _widened(prepare(choices, agent))
    check_likelihood(choices, fitted)
    if "prior_mean" not in {dimension.name for dimension in fitted.space}:
        raise InputError(f"{fitted.agent.name} has no prior mean that could be learned.")
    if "prior_var" not in fitted.agent.params:
        raise InputError(f"{fitted.agent.name} has no prior variance: the prior of an operator needs a mean and a variance.")
    shapes = _shapes(choices, min(n, choices.layout.n_arms))
    with jax.enable_x64(True):
        return _learned(choices, fitted, shapes)


def _widened(fitted: Fitted) -> Fitted:
    """The same, with a wider prior of the prior mean: an operator who knows where to go sees good rewards alone."""
    space = tuple(
        replace(dimension, spread=WIDER * dimension.spread) if dimension.name == "prior_mean" else dimension
        for dimension in fitted.space
    )
    return fitted._replace(space=space)


def _shapes(choices: Choices, n: int) -> np.ndarray:
    """The leading shapes, shape x arm, in units of reward."""
    distances = choices.layout.distances
    assert distances is not None
    with jax.enable_x64(True):
        length = jnp.asarray(REACH * distances.max())
        kernel = np.asarray(correlation(KERNELS[KERNEL], jnp.asarray(distances), length))
    values, vectors = np.linalg.eigh(kernel)
    leading = np.argsort(-values)[:n]
    sign = np.sign(vectors[np.abs(vectors[:, leading]).argmax(0), leading])
    return WIDER * units_of(choices).reward_sd * (vectors[:, leading] * sign * np.sqrt(np.maximum(values[leading], 0))).T


@cache
def _shaped(learner: Learner, n: int) -> Learner:
    """The learner with a prior mean made of shapes; cached, so that it is the same constant to `jit`."""

    def prepared(params: Params, distances: jax.Array | None) -> Params:
        weights = jnp.stack([params[SHAPE.format(k)] for k in range(n)])
        return learner.prepare({**params, "prior_mean": params["prior_mean"] + weights @ params["prior_shapes"]}, distances)

    return replace(learner, prepare=prepared)


def _learned(choices: Choices, fitted: Fitted, shapes: np.ndarray) -> LearnedPrior:
    n = len(shapes)
    space = (*fitted.space, *(Dimension(SHAPE.format(k), "real", 0.0, 1.0, -MOST, MOST) for k in range(n)))
    rule = replace(fitted.model.rule, learner=_shaped(fitted.model.rule.learner, n))
    model = Model(rule, axes_of(space), fitted.model.n_arms)
    group = Group(np.zeros(len(space)), np.eye(len(space)))
    fixed = {**fitted.data.fixed, "prior_shapes": jnp.asarray(shapes)}
    numbers = Numbers(fitted.data.ways, fixed, origin_of(space), *limits(space), group)
    past = _past(choices)
    arrays = arrays_of(past, rule.learner, model.n_arms)
    found = compiled.most_probable(model, numbers, arrays.blocks, arrays.weight, group.mean)
    z, spread = np.asarray(found.z), np.linalg.inv(np.asarray(found.information))
    # mu and the weights move the prior mean in proportion.
    at = [dimension.name for dimension in space].index("prior_mean")
    slope = np.zeros((len(space), model.n_arms))
    slope[at], slope[-n:] = space[at].spread, shapes
    params = {
        name: float(value) for name, value in compiled.parameters(model, numbers, found.z).items() if np.ndim(value) == 0
    }
    mean = params["prior_mean"] + z[-n:] @ shapes
    doubt = slope.T @ spread @ slope
    distances = jnp.asarray(choices.layout.distances)
    belief = _prior_covariance(fitted, params, distances)
    sd = np.sqrt(np.diagonal(spread))
    low, middle, high = (on_natural_scale(space, np.clip(z + k * sd, *limits(space))) for k in (-INTERVAL, 0.0, INTERVAL))
    table = {"estimate": middle, "low": low, "high": high}
    estimates = xr.Dataset(
        {name: ("parameter", values[:-n]) for name, values in table.items()}
        | {"prior_mean": ("arm", mean), "prior_mean_sd": ("arm", np.sqrt(np.diagonal(doubt)))},
        coords={"parameter": [dimension.name for dimension in fitted.space]},
    )
    weak = _weak(choices, params["noise_var"], past)
    return LearnedPrior(choices.layout, params["noise_var"], mean, belief + doubt, estimates, weak, past)


def _weak(choices: Choices, noise_var: float, past: Past) -> Agent:
    """UCL with the mean and variance of the rewards seen, and the length scale under which they are most probable."""
    units = units_of(choices)
    everywhere = np.ones(choices.layout.n_arms, bool)
    agents = [
        deterministic_ucl(prior_mean=units.reward_centre, prior_var=units.reward_sd**2, length_scale=length, kernel=FALLBACK)
        for length in units.spacing * LENGTHS
    ]
    experts = [expert_of(agent, choices.layout, noise_var, choices.n_trials) for agent in agents]
    arrays = arrays_of(past, experts[0].rule.learner, choices.layout.n_arms)
    views = [view_of(expert, arrays, len(past.blocks) - 1, past.t, past.position, everywhere) for expert in experts]
    return agents[int(np.argmax([view.log_weight[0] for view in views]))]


def _prior_covariance(fitted: Fitted, params: dict[str, float], distances: jax.Array) -> np.ndarray:
    """How uncertain the operator is of the arms, before their first choice."""
    ready = fitted.model.rule.learner.prepare(jax.tree.map(jnp.asarray, params), distances)
    if "prior_cov" in ready:
        return np.asarray(ready["prior_cov"])
    return params["prior_var"] * np.eye(fitted.model.n_arms)


def _past(choices: Choices) -> Past:
    starts, blocks = zip(*past_blocks(choices, np.arange(choices.n_rows)), strict=True)
    return Past(tuple(map(tuple, blocks)), tuple(starts))


# Playing --------------------------------------------------------------------------------------------------------------


class Weighted(NamedTuple):
    """A prior, and how probable it is before the block."""

    expert: Expert
    log_probability: float


@dataclass(frozen=True, eq=False)
class Automaton:
    """UCL that plays with several priors, each as far as it foresees rewards. Every change gives a new one."""

    layout: Layout
    priors: tuple[Weighted, ...]
    past: Past

    def choose(self) -> int:
        """The arm with the highest upper credible limit, m + s Phi^-1(1 - 1 / (K t)), under all priors together."""
        view = self._view()
        weight = view.weight
        mean = weight @ view.mean
        variance = np.maximum(np.diagonal(view.covariance, axis1=1, axis2=2), 0.0)
        sd = np.sqrt(np.maximum(weight @ (variance + view.mean**2) - mean**2, 0.0))
        return int(np.argmax(mean - sd * norm.ppf(1 / (CREDIBILITY_SCALE * self.past.t))))

    def observe(self, arm: int, reward: float) -> Automaton:
        """The automaton after a reward.

        Parameters
        ----------
        arm
            Arm that was sampled, from 0.
        reward
            Its reward.
        """
        return replace(self, past=self.past.after(checked_trial(self.layout.n_arms, arm, reward)))

    @property
    def trust(self) -> float:
        """Probability of the first prior, the operator's."""
        return float(self._view().weight[0])

    def _view(self) -> View:
        return _view(self.layout, self.priors, self.past)


def _view(layout: Layout, priors: Sequence[Weighted], past: Past) -> View:
    arrays = arrays_of(past, priors[0].expert.rule.learner, layout.n_arms)
    now = len(past.blocks) - 1, past.t, past.position, np.ones(layout.n_arms, bool)
    return together([view_of(one.expert, arrays, *now) for one in priors], [one.log_probability for one in priors])


@door
def automaton(prior: LearnedPrior, *, guard: float = 0.5, horizon: int = 90) -> Automaton:
    """An automaton that plays in the operator's place, with their learned prior: `choose()`, then `observe(arm, reward)`.

    Parameters
    ----------
    prior
        What was learned from the operator.
    guard
        Probability, beforehand, that the operator is wrong and the weak prior is better; 0 to trust them blindly.
    horizon
        Number of choices in a block.
    """
    if not isinstance(prior, LearnedPrior):
        raise InputError(f"prior must be the result of learn_prior, got {checks.shown(prior)}.")
    doubt = float(checks.scalar("guard", guard, at_least=0, at_most=1))
    theirs = deterministic_ucl(prior_mean=prior.mean, prior_cov=(prior.covariance + prior.covariance.T) / 2)
    how = prior.layout, prior.noise_var, checks.whole("horizon", horizon, at_least=1, at_most=checks.MANY)
    chances = ((theirs, 1 - doubt), (prior.weak, doubt))
    priors = [Weighted(expert_of(agent, *how), np.log(chance)) for agent, chance in chances if chance > 0]
    after = _view(prior.layout, priors, prior.past).log_weight
    if len(after) > 1:
        # Mean, variance and length scale of the weak prior were chosen for the rewards that it is judged by.
        n_seen = sum(trial.observed for block in prior.past.blocks for trial in block)
        after[1] -= 0.5 * CHOSEN * np.log(max(n_seen, 1))
    seen = [one._replace(log_probability=float(log_p - after.max())) for one, log_p in zip(priors, after, strict=True)]
    return Automaton(prior.layout, tuple(seen), Past())

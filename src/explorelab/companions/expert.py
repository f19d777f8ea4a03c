"""The adviser's own view of the arms.

It is what an expert believes after what the person saw, how well it foresaw that, and what each arm is worth to a team. The
worth of arm a with n choices left after this one is that of the knowledge gradient for a finite horizon (Ryzhov, Powell &
Frazier 2012, Operations Research 60, "The knowledge gradient algorithm for a general class of online learning problems"):

    m_a + n * share * (E max_i (m_i + s_i(a) Z) - max_i m_i),     s(a) = Sigma[:, a] / sqrt(Sigma[a, a] + noise_var)

What is learned by sampling a pays on each later choice on which the team takes the arm that then looks best: with the
probability `share`, which depends on the person.

A sample also changes what the person does by themselves. Let p be the probabilities of their next own choice, p(a) those
after they have seen a, and v(a) = |p(a) - p| / 2 the share of choices that go elsewhere. Had nobody suggested a, they would
have made such a choice by themselves before the end with probability 1 - exp(-v n_own), n_own the choices of their own still
to come. The suggestion only brings it forward, and where they go instead pays differently:

    (p(a) - p)' m / v(a) * (1 - exp(-v(a) n_own)),    counted where it is a loss

Somebody who tries every arm once should not be shown ten arms that are equally good, but one of them ten times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float
from scipy.special import softmax
from scipy.stats import norm

from explorelab.agents import Agent, playing
from explorelab.agents.factors import Params, Rule, Value, prepared
from explorelab.agents.learners.kernels import KERNELS, correlation
from explorelab.agents.named.ucl import deterministic_ucl
from explorelab.agents.playing import Playing, Seen, room_for
from explorelab.choices.table import Layout
from explorelab.companions.live import Companion
from explorelab.companions.past import Arrays
from explorelab.companions.sampling.points import Points
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block, ways_of
from explorelab.fitting.objective import Model
from explorelab.tasks import Task

QUANTILES = norm.ppf((np.arange(24) + 0.5) / 24)
"""Equally probable values of Z."""
KERNEL = "matern32"
LENGTHS = 2.0 ** np.arange(-1.0, 5.5, 0.5)
"""Length scales tried for a task's prior, in units of the smallest distance between arms."""
STRETCH = 6.0
"""Landscapes may be this much smoother along one axis than along the others."""
STRAIGHT = 0.5
"""Probability, beforehand, that a landscape is alike in all directions."""
N_MINDS = 16
"""Points of the companion's posterior that are asked what they would choose after a sample."""


class View(NamedTuple):
    """What experts think before a trial, one row each. JAX arrays inside compiled calls, NumPy arrays outside."""

    mean: Any
    """expert x arm."""
    covariance: Any
    """expert x arm x arm."""
    log_weight: Any
    """Log-probability of each expert beforehand, plus the log-density that it gave all rewards, each before it was seen."""
    log_probs: Any
    """Of every arm, were the expert to choose itself; expert x arm."""
    surprise: Any
    """Mean square of the rewards seen, in standard deviations from what each expert had expected."""

    @property
    def weight(self) -> np.ndarray:
        """Probability of each expert after all rewards."""
        return np.asarray(softmax(self.log_weight))


def together(views: list[View], log_prior: Sequence[float]) -> View:
    """Several views as one; `log_prior` are the log-probabilities of each beforehand."""
    views = [view._replace(log_weight=view.log_weight + log_p) for view, log_p in zip(views, log_prior, strict=True)]
    return View(*(np.concatenate(parts) for parts in zip(*views, strict=True)))


class Expert(NamedTuple):
    """An agent with its parameters, made ready for the arms of a task; several with different priors have a leading axis."""

    rule: Rule
    n_arms: int
    ready: Params
    log_prior: np.ndarray
    """Log-probability of each prior."""


def expert_of(agent: Agent, layout: Layout, noise_var: float, horizon: int, *, stretched: bool = False) -> Expert:
    """The agent, ready for these arms; if `stretched`, also as it were if the landscape were smoother along one axis."""
    given = {"noise_var": noise_var, "horizon": horizon, "n_arms": layout.n_arms, **agent.params}
    if layout.places is None and ("length_scale" in agent.params or agent.rule.choice.walks):
        raise InputError(f"{agent.name} needs the places of the arms, but the task does not give them.")
    layouts = [layout]
    if stretched and "length_scale" in agent.params and layout.places is not None:
        n_axes = layout.places.shape[1]
        scales = np.where(np.eye(n_axes, dtype=bool), 1 / STRETCH, 1.0) if n_axes > 1 else ()
        layouts += [replace(layout, places=layout.places * scale) for scale in scales]
    weight = np.full(len(layouts), (1 - STRAIGHT) / max(len(layouts) - 1, 1))
    weight[0] = 1 - weight[1:].sum()
    with jax.enable_x64(True):
        params = {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}
        each = [_ready(agent.rule, params, ways_of(one)) for one in layouts]
        ready = jax.tree.map(lambda *x: jnp.stack(x), *each)
    return Expert(agent.rule, layout.n_arms, ready, np.log(weight))


_ready = jax.jit(prepared, static_argnames="rule")


def prior_for(tasks: list[Task]) -> Agent:
    """Deterministic UCL with the prior of these landscapes.

    It has the mean and variance of their arms, and the length scale (Matern 3/2) under which they are most probable.
    """
    for task in tasks:
        task.check_plain("advice")
    means = np.stack([task.means for task in tasks])
    centre, var = float(means.mean()), float(means.var()) or 1.0
    distances = tasks[0].distances
    if distances is None or tasks[0].n_arms < 2:
        return deterministic_ucl(prior_mean=centre, prior_var=var, ties="random")
    lengths = LENGTHS * distances[distances > 0].min()
    with jax.enable_x64(True):
        fits = [
            _log_density(means - centre, var, np.asarray(correlation(KERNELS[KERNEL], jnp.asarray(distances), length)))
            for length in lengths
        ]
    length = float(lengths[int(np.argmax(fits))])
    return deterministic_ucl(prior_mean=centre, prior_var=var, length_scale=length, kernel=KERNEL, ties="random")


def _log_density(values: np.ndarray, var: float, correlations: np.ndarray) -> float:
    covariance = var * (correlations + 1e-6 * np.eye(len(correlations)))
    root = np.linalg.cholesky(covariance)
    return float(-0.5 * (np.linalg.solve(root, values.T) ** 2).sum() - len(values) * np.log(np.diag(root)).sum())


def view_of(expert: Expert, arrays: Arrays, now: int, t: int, position: int, available: np.ndarray) -> View:
    """What the expert thinks before trial t of block `now`, after what the person saw."""
    until = room_for(expert.rule.learner, expert.n_arms, arrays.blocks.arm.shape[1])
    moment = np.int32(t), np.int32(position), available
    with jax.enable_x64(True):
        seen = _view(expert.rule, expert.n_arms, until, expert.ready, arrays.blocks, arrays.weight, np.int32(now), *moment)
    view = View(*(np.asarray(x) for x in seen))
    return view._replace(log_weight=view.log_weight + expert.log_prior)


@partial(jax.jit, static_argnames=("rule", "n_arms", "until"))
def _view(
    rule: Rule,
    n_arms: int,
    until: int,
    ready: Params,
    blocks: Block,
    weight: Any,
    now: Any,
    t: Any,
    position: Any,
    available: Any,
) -> View:
    def block(ready: Params, each: Block) -> tuple[Playing, Float[Array, ""], Float[Array, ""]]:
        begun = playing.with_room(rule, ready, playing.begun(rule, ready, n_arms), until)

        def trial(state: Playing, told: Any) -> tuple[Playing, tuple[Float[Array, ""], Float[Array, ""]]]:
            offered, seen = told
            belief = state.belief
            var = belief.sd[seen.arm] ** 2 + ready["noise_var"]
            square = (seen.reward - belief.mean[seen.arm]) ** 2 / var
            counted = seen.observed & jnp.isfinite(var)
            after = playing.learned(rule, ready, state, offered, seen)
            density = -0.5 * square - 0.5 * jnp.log(2 * jnp.pi * var)
            return after, (jnp.where(counted, density, 0.0), jnp.where(counted, square, 0.0))

        seen = Seen(each.arm, each.arm, each.reward, each.observed)
        last, (density, square) = lax.scan(trial, begun, (each.available, seen))
        return last, density.sum(), square.sum()

    def one(ready: Params) -> View:
        states, evidence, squares = lax.map(partial(block, ready), blocks)
        state = jax.tree.map(lambda x: x[now], states)
        probs = playing.log_probs(rule, ready, state, t, position, available)
        n = jnp.maximum(weight @ blocks.observed.sum(1), 1)
        return View(state.belief.mean, _covariance(ready, state.belief), weight @ evidence, probs, weight @ squares / n)

    return jax.vmap(one)(ready)


def _covariance(ready: Params, belief: Any) -> Float[Array, "arm arm"]:
    """What is believed of all arms together."""
    if hasattr(belief, "rows"):
        return ready["prior_cov"] - belief.rows.T @ belief.rows if belief.cov is None else belief.cov
    if hasattr(belief, "root"):
        return belief.root @ belief.root.T
    return jnp.diag(belief.sd**2)


def worth(view: View, noise_var: float, n_left: float, share: np.ndarray) -> np.ndarray:
    """What each arm is worth to a team with so many choices left; `share` as each expert sees it."""
    with jax.enable_x64(True):
        return np.asarray(view.weight @ _worths(view.mean, view.covariance, noise_var, n_left * share))


@jax.jit
def _worths(mean: Any, covariance: Any, noise_var: Any, times: Any) -> Float[Array, "expert arm"]:
    def one(mean: Value, covariance: Any, times: Any) -> Value:
        var = jnp.maximum(jnp.diagonal(covariance), 0.0)
        steps = covariance * lax.rsqrt(var + noise_var)  # [i, a]: by how much a reward of a moves arm i

        def add(total: Value, z: Any) -> tuple[Value, None]:
            return total + (mean[:, None] + steps * z).max(0), None

        gained = lax.scan(add, jnp.zeros_like(mean), jnp.asarray(QUANTILES))[0]
        return mean + times * (gained / len(QUANTILES) - mean.max())

    return jax.vmap(one)(mean, covariance, times)


def used_up(mind: Companion, arms: np.ndarray, mean: np.ndarray, offered: np.ndarray, n_own: float) -> np.ndarray:
    """What is lost on the person's own later choices if they see each of these arms now; at most 0."""
    posterior, past = mind.posterior, mind.past
    at = np.searchsorted(np.cumsum(posterior.weight), (np.arange(N_MINDS) + 0.5) / N_MINDS)
    at = np.minimum(at, len(posterior.weight) - 1).astype(np.int32)
    with jax.enable_x64(True):
        now = np.int32(past.t), np.int32(past.position), offered
        return np.asarray(_used_up(mind.scene.model, posterior.points, at, arms.astype(np.int32), mean, n_own, *now))


@partial(jax.jit, static_argnames="model")
def _used_up(
    model: Model, points: Points, at: Any, arms: Any, mean: Any, n_own: Any, t: Any, position: Any, offered: Any
) -> Float[Array, " sample"]:
    def mind(ready: Params, now: Playing) -> Float[Array, " sample"]:
        before = jnp.exp(playing.log_probs(model.rule, ready, now, t + 1, position, offered))

        def sampled(arm: Any) -> Float[Array, ""]:
            # The belief's own arrays may be full, but what it says of each arm is right.
            after = playing.learned(model.rule, ready, now, offered, Seen(arm, arm, mean[arm], jnp.bool_(True)))
            change = jnp.exp(playing.log_probs(model.rule, ready, after, t + 1, arm, offered)) - before
            moved = 0.5 * jnp.abs(change).sum()
            return change @ mean * -jnp.expm1(-n_own * moved) / jnp.maximum(moved, 1e-9)

        return jax.vmap(sampled)(arms)

    return jnp.minimum(points.taken(at).each(mind).mean(0), 0.0)

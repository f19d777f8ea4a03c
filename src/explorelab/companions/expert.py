"""The adviser's own view of the arms.

It is what an expert believes after what the person saw, how well it foresaw that, and what each arm is worth to a team. The
worth of arm a with n choices left after this one is that of the knowledge gradient for a finite horizon (Ryzhov, Powell &
Frazier 2012, Operations Research 60, "The knowledge gradient algorithm for a general class of online learning problems"):

    m_a + n * share * (E max_i (m_i + s_i(a) Z) - max_i m_i),     s(a) = Sigma[:, a] / sqrt(Sigma[a, a] + noise_var)

What is learned by sampling a pays on each later choice on which the team takes the arm that then looks best: with the
probability `share`, which depends on the person.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float
from scipy.stats import norm

from explorelab.agents import Agent, playing
from explorelab.agents.factors import Params, Rule, Value, prepared
from explorelab.agents.learners.kernels import KERNELS, correlation
from explorelab.agents.named.ucl import deterministic_ucl
from explorelab.agents.playing import Playing, Seen, room_for
from explorelab.choices.table import Layout
from explorelab.companions.past import Arrays
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block, ways_of
from explorelab.tasks import Task

QUANTILES = norm.ppf((np.arange(24) + 0.5) / 24)
"""Equally probable values of Z."""
KERNEL = "matern32"
LENGTHS = 2.0 ** np.arange(-1.0, 5.5, 0.5)
"""Length scales tried for a task's prior, in units of the smallest distance between arms."""


class View(NamedTuple):
    """What an expert thinks before a trial. JAX arrays inside compiled calls, NumPy arrays outside."""

    mean: Any
    covariance: Any
    """arm x arm."""
    log_evidence: Any
    """Log-density that it gave all rewards so far, each before it was seen."""
    log_probs: Any
    """Of every arm, were it to choose itself."""


class Expert(NamedTuple):
    """An agent with its parameters, made ready for the arms of a task."""

    rule: Rule
    n_arms: int
    ready: Params


def expert_of(agent: Agent, layout: Layout, noise_var: float, horizon: int) -> Expert:
    """The agent, ready for these arms."""
    given = {"noise_var": noise_var, "horizon": horizon, "n_arms": layout.n_arms, **agent.params}
    if layout.places is None and ("length_scale" in agent.params or agent.rule.choice.walks):
        raise InputError(f"{agent.name} needs the places of the arms, but the task does not give them.")
    with jax.enable_x64(True):
        params = {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}
        ready = _ready(agent.rule, params, ways_of(layout))
    return Expert(agent.rule, layout.n_arms, ready)


_ready = jax.jit(prepared, static_argnames="rule")


def prior_for(tasks: list[Task]) -> Agent:
    """Deterministic UCL with the prior of these landscapes.

    It has the mean and variance of their arms, and the length scale (Matern 3/2) under which they are most probable.
    """
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
    return View(*(np.asarray(x) for x in seen))


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
    def block(each: Block) -> tuple[Playing, Float[Array, ""]]:
        begun = playing.with_room(rule, ready, playing.begun(rule, ready, n_arms), until)

        def trial(state: Playing, told: Any) -> tuple[Playing, Float[Array, ""]]:
            offered, seen = told
            belief = state.belief
            var = belief.sd[seen.arm] ** 2 + ready["noise_var"]
            surprise = -0.5 * (seen.reward - belief.mean[seen.arm]) ** 2 / var - 0.5 * jnp.log(2 * jnp.pi * var)
            after = playing.learned(rule, ready, state, offered, seen)
            return after, jnp.where(seen.observed & jnp.isfinite(var), surprise, 0.0)

        seen = Seen(each.arm, each.arm, each.reward, each.observed)
        last, surprise = lax.scan(trial, begun, (each.available, seen))
        return last, surprise.sum()

    states, evidence = lax.map(block, blocks)
    state = jax.tree.map(lambda x: x[now], states)
    probs = playing.log_probs(rule, ready, state, t, position, available)
    return View(state.belief.mean, _covariance(ready, state.belief), weight @ evidence, probs)


def _covariance(ready: Params, belief: Any) -> Float[Array, "arm arm"]:
    """What is believed of all arms together."""
    if hasattr(belief, "rows"):
        return ready["prior_cov"] - belief.rows.T @ belief.rows if belief.cov is None else belief.cov
    if hasattr(belief, "root"):
        return belief.root @ belief.root.T
    return jnp.diag(belief.sd**2)


def worth(view: View, noise_var: float, n_left: float, share: float) -> Value:
    """What each arm is worth to a team with so many choices left after this one."""
    var = np.maximum(np.diagonal(view.covariance), 0.0)
    mean, best = view.mean, view.mean.max()
    steps = view.covariance / np.sqrt(var + noise_var)  # [i, a]: by how much a reward of a moves arm i
    gained = np.zeros_like(mean)
    for z in QUANTILES:
        gained += (mean[:, None] + steps * z).max(0)
    return mean + n_left * share * (gained / len(QUANTILES) - best)

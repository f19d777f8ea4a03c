"""The people of simulated teams: of the paper's three phenotypes, or drawn from a fit's group, with all their luck."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab.agents.factors import Params, Rule, prepared
from explorelab.agents.named.ucl import stochastic_ucl
from explorelab.choices.table import Layout
from explorelab.companions.sampling import points as compiled
from explorelab.companions.scene import scene_on
from explorelab.errors import InputError
from explorelab.fitting.likelihood import ways_of
from explorelab.regret import paper_people
from explorelab.tasks import Task
from explorelab.tasks.noise import noise_kind

PLACES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "linear": lambda rng, n: np.zeros(n),
    "power": lambda rng, n: rng.uniform(size=n),
    "log": lambda rng, n: np.ones(n),
}
"""Where each kind of person lies between the paper's linear (0) and logarithmic agent (1)."""
FITTED = "fitted"
"""The kind of people that are drawn from a fit's group."""


class Person(NamedTuple):
    """A simulated person, and all the chance in their block."""

    rule: Rule
    ready: Params
    uniform: np.ndarray
    """trial x 2: for their own choice, and for whether they follow."""
    noise: np.ndarray
    number: int


def crowd_of(task: Task, people: xr.DataTree | None, n: int, horizon: int, seed: int) -> dict[str, list[Person]]:
    """The people of each kind."""
    kinds = list(PLACES) if people is None else [FITTED]
    crowd = {}
    for k, kind in enumerate(kinds):
        rng = np.random.default_rng(np.random.SeedSequence([seed, 11, k]))
        if people is None:
            rule, ready = _phenotypes(task, PLACES[kind](rng, n), rng, horizon)
        else:
            rule, ready = _drawn(task, people, n, rng, horizon)
        crowd[kind] = [
            Person(rule, jax.tree.map(lambda x, i=i: x[i], ready), *_chance(task, rng, horizon), i) for i in range(n)
        ]
    return crowd


def _chance(task: Task, rng: np.random.Generator, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    draw = noise_kind(task.noise.kind).draw
    return rng.uniform(size=(horizon, 2)), np.array([draw(task.noise.scale, rng) for _ in range(horizon)])


def _phenotypes(task: Task, place: np.ndarray, rng: np.random.Generator, horizon: int) -> tuple[Rule, Params]:
    """People at these places between the paper's two agents, each parameter multiplied by exp(0.2 g), g standard normal."""
    rule = stochastic_ucl(prior_mean=30, prior_var=1000, length_scale=1, temperature=4).rule
    values = {
        name: paper_people.on_the_line(name, place) * np.exp(paper_people.SCATTER * rng.standard_normal(len(place)))
        for name in paper_people.ENDS
    }
    fixed = {**_credibility(), "noise_var": float(task.noise.var), "horizon": float(horizon), "n_arms": float(task.n_arms)}
    if task.places is None:
        raise InputError(f"the paper's people need arms with places, but {task.name} has none.")
    with jax.enable_x64(True):
        ways = ways_of(layout_of_task(task))
        ready = jax.vmap(lambda one: prepared(rule, {**fixed, **one}, ways))(jax.tree.map(jnp.asarray, values))
    return rule, jax.tree.map(lambda x: np.broadcast_to(x, (len(place), *x.shape)) if x.ndim == 0 else np.asarray(x), ready)


def _credibility() -> dict[str, float]:
    params = stochastic_ucl().params
    return {name: float(params[name]) for name in ("credibility_scale", "credibility_power")}


def _drawn(task: Task, fit: xr.DataTree, n: int, rng: np.random.Generator, horizon: int) -> tuple[Rule, Params]:
    """People from the group of a fit."""
    scene = scene_on(task, None, fit, horizon)
    group = scene.numbers.group
    with jax.enable_x64(True):
        z = rng.multivariate_normal(np.asarray(group.mean), np.asarray(group.covariance), size=n)
        ready = compiled.begun(scene.model, scene.numbers, z).ready
    return scene.model.rule, jax.tree.map(np.asarray, ready)


def layout_of_task(task: Task) -> Layout:
    """The arms as the adviser knows them."""
    return Layout(task.n_arms, task.places, float(task.noise.var), name=task.name)

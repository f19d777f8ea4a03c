"""Simulated people who are fitted once, each alone, and then make up studies of every size.

They are simulated a batch at a time, until what is asked is known well enough. Person i has the same parameters in every
design, and the chance in a batch is the same too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from explorelab._support.checks import Floats
from explorelab._support.work import units
from explorelab.agents import Agent
from explorelab.choices.table import Choices
from explorelab.fitting.fit_people import fit
from explorelab.fitting.spaces import standard
from explorelab.recovery.model_recovery import Setting, judged
from explorelab.recovery.planning.plan_designs import PlannedDesign
from explorelab.recovery.planning.plan_people import Population
from explorelab.recovery.simulated_choices import simulate_choices
from explorelab.recovery.truth import known_of

BATCH = 16
STAGES = 4
"""Times to look whether enough people were simulated."""


class Pool(NamedTuple):
    """Arguments of the unit that simulates and fits a batch, but for the first person's number and how many there are."""

    function: Callable[..., Floats]
    arguments: tuple[Any, ...]
    is_known: Callable[[Floats], bool]
    """Whether so much about these people is enough."""


def filled(pools: list[Pool], n_people: int, label: str, progress: bool | None) -> list[Floats]:
    """What is found about the people of each pool (person first): at most so many, fewer where that is enough."""
    found: list[list[Floats]] = [[] for _ in pools]
    starts = list(range(0, n_people, BATCH))
    open_pools = list(range(len(pools)))
    for part in np.array_split(np.array(starts), min(STAGES, len(starts))):
        where = [(p, int(first)) for p in open_pools for first in part]
        each = [(pools[p].function, *pools[p].arguments, first, min(BATCH, n_people - first)) for p, first in where]
        done = units.results(_batch, each, label, progress, first_alone=True)
        for (p, _), batch in zip(where, done, strict=True):
            found[p].append(batch)
        open_pools = [p for p in open_pools if not pools[p].is_known(np.concatenate(found[p]))]
        if not open_pools:
            break
    return [np.concatenate(batches) for batches in found]


def _batch(function: Callable[..., Floats], *arguments: Any) -> Floats:
    return function(*arguments)


def played(design: PlannedDesign, people: Population, seed: int, first: int, count: int) -> tuple[Floats, Choices]:
    """The standard units and the choices of people number `first` and those after."""
    z = people.drawn(first + count, seed)[first:]
    own = int(np.random.SeedSequence([seed, 51, first]).generate_state(1)[0])
    choices = simulate_choices(
        design.blank(count, own), people.agent, people.natural(z), own, noise=design.noise, progress=False
    )
    return z, choices


def recovered_people(
    design: PlannedDesign, people: Population, parameter: str, method: str, starts: int, seed: int, first: int, count: int
) -> Floats:
    """Person x (true value, estimate, lower and upper end of the interval), in standard deviations of people."""
    z, choices = played(design, people, seed, first, count)
    again = fit(choices, people.agent, method, n_starts=starts, seed=0, progress=False)  # type: ignore[arg-type]
    table = again["estimates"].to_dataset().sel(parameter=parameter)
    at = people.names.index(parameter)
    dimension = people.space[at]
    values = [people.natural(z)[parameter], *(table[name].values for name in ("estimate", "low", "high"))]
    on_line = [standard((dimension,), {parameter: each})[:, 0] for each in values]
    return np.stack(on_line, axis=1) * dimension.spread / people.sd(parameter)


def judged_people(
    design: PlannedDesign,
    people: Population,
    agents: tuple[str | Agent, ...],
    criterion: str,
    method: str,
    starts: int,
    seed: int,
    first: int,
    count: int,
) -> Floats:
    """Person x model: the criterion of every agent for people who are like this one."""
    _, choices = played(design, people, seed, first, count)
    setting = Setting(method, criterion, starts, 0, False)
    return np.stack([judged(choices, known_of(choices, agent), setting) for agent in agents], axis=1)

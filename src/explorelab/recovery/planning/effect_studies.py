"""Simulated studies of an effect: people in two conditions, and the test that `effects` makes of them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from explorelab._support.checks import Floats
from explorelab.choices.table import Choices
from explorelab.errors import ExplorelabError
from explorelab.fitting.bayes.convergence import ConvergenceWarning
from explorelab.fitting.effects.effects_table import effects
from explorelab.fitting.fit_people import fit
from explorelab.recovery.designs import labels
from explorelab.recovery.planning.plan_designs import PlannedDesign
from explorelab.recovery.planning.plan_people import Population
from explorelab.recovery.simulated_choices import simulate_choices

CONDITION = "condition"


class Effect(NamedTuple):
    """What differs between two conditions."""

    parameter: str
    size: float
    """On the parameter's own scale."""
    within: bool
    """Whether everyone is in both conditions."""
    slope_sd: float
    """Standard deviation of people's own differences between conditions, on the same scale; only within people."""


def p_value(
    design: PlannedDesign, people: Population, effect: Effect, starts: int, n_people: int, seed: int, number: int
) -> float:
    """The p-value of the effect in one study; NaN if its fit fails.

    The chance in a study depends only on the seed and its number: its first people are the same however many there are,
    and in every design.
    """
    choices = study(design, people, effect, n_people, seed, number)
    told: dict[str, Any] = {"n_starts": starts, "seed": 0, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            found = effects(fit(choices, people.agent, "em", effects=f"{effect.parameter} ~ {CONDITION}", **told))
        except ExplorelabError:
            return float("nan")  # as good as nothing found
    line = found[(found["parameter"] == effect.parameter) & (found["effect"] != "Intercept")]
    return float(line["p"].iloc[0])


def study(design: PlannedDesign, people: Population, effect: Effect, n_people: int, seed: int, number: int) -> Choices:
    """The choices of one study."""
    own = int(np.random.SeedSequence([seed, 41, number]).generate_state(1)[0])
    blank = design.blank(n_people, own)
    person, block = blank.participant, np.tile(np.arange(design.n_blocks), n_people)
    # Within people, conditions take turns, once through all tasks each, and every second person begins with the other.
    turn = block // len(design.tasks) + person if effect.within else person
    second = turn % 2 == 1
    line = people.drawn(n_people, own)[person]
    at = people.names.index(effect.parameter)
    line[:, at] += moved(effect, second, person, own) / people.space[at].spread
    alone = replace(blank, participants=labels(blank.n_rows), participant=np.arange(blank.n_rows))
    played = simulate_choices(alone, people.agent, people.natural(line), own, noise=design.noise, progress=False)
    return replace(
        played,
        participants=blank.participants,
        participant=person,
        conditions={CONDITION: np.where(second, "b", "a").astype(object)},
    )


def moved(effect: Effect, second: np.ndarray, person: np.ndarray, seed: int) -> Floats:
    """By how much the parameter is moved in each block: half of the difference, up or down."""
    own = np.full(len(second), effect.size)
    if effect.within and effect.slope_sd:
        rng = np.random.default_rng(np.random.SeedSequence([seed, 43]))
        own += effect.slope_sd * rng.standard_normal(int(person.max()) + 1)[person]
    return np.where(second, own, -own) / 2

"""Simulated people of known schedules: what two designs could tell apart, if people did follow one of them.

People are alike but for their schedule: their other parameters are drawn from one population. One has no habits and a clear
bonus; the other has the habits of wu2018, and its group means there. Each schedule makes the choices of the same people on
the same squares, and all models are fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import explorelab as xl
from evaluations.schedules import KNOWN, PLAIN, halves, measured
from evaluations.schedules_models import scheduled
from explorelab.agents.scales import SCALES
from explorelab.choices.table import NOWHERE, Choices
from explorelab.tasks import Task

N_PEOPLE = 40
POSSIBLE = (
    PLAIN,
    ("none", "constant"),
    ("1/(K t)", "constant"),
    ("1/(K trials left)", "constant"),
    ("constant", "nu / log t"),
    ("constant", "t^-c"),
    ("constant", "spread / log t"),
)
"""Models that make choices, and are all fitted to the choices of each."""
CLEAR = {
    "prior_mean": ("real", 30.0, 8.0),
    "length_scale": ("log", 1.5, 0.3),
    "bonus": ("real", 1.5, 0.5),
    "temperature": ("log", 4.0, 0.4),
}
"""Scale, middle and standard deviation on the scale of each parameter: people without habits."""
LIKE_PEOPLE = {
    "prior_mean": ("real", 75.0, 8.0),
    "length_scale": ("log", 1.5, 0.3),
    "bonus": ("real", -2.2, 0.7),
    "temperature": ("log", 6.5, 0.4),
    "stickiness": ("real", 1.2, 1.0),
    "travel_cost": ("real", 2.8, 0.7),
    "novelty": ("real", 11.0, 3.0),
    "lapse": ("logit", 0.02, 0.7),
}
"""The same for people with habits: about what the constant model finds in wu2018."""
WARMING = 0.4
"""Where the temperature is a free power of time, it grows as t^0.4."""
SHORT, LONG = 21, 41
"""Trials of the blocks of wu2018, the revealed square included."""
VARIANTS = {"no habits": (False, False), "habits": (True, True), "habits left out": (True, False)}
"""Whether simulated people have habits, and whether the models that are fitted to them have."""
NAMES = {"wu2018": "8 rounds of 20 or 40 choices among 121 squares", "study": "2 blocks of 90 choices among 100 squares"}


def truths(model: tuple[str, str], habits: bool, n: int, seed: int) -> dict[str, np.ndarray]:
    """Everyone's parameters: the same people for every schedule."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, (scale, middle, sd) in (LIKE_PEOPLE if habits else CLEAR).items():
        line = rng.normal(float(SCALES[scale].to_line(middle)), sd, n)
        drawn[name] = np.asarray(SCALES[scale].from_line(line), float)
    if model[1] == "t^-c":
        drawn["cooling_exponent"] = np.full(n, -WARMING)
    return drawn


def surface(side: int, length: float, number: int) -> Task:
    """A smooth or rough surface of heights from 0 to 100, drawn from a Gaussian process, as those of wu2018 were."""
    at = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    apart = ((at[:, None] - at[None]) ** 2).sum(-1)
    values, vectors = np.linalg.eigh(np.exp(-apart / (2 * length**2)))
    drawn = vectors @ (np.sqrt(np.maximum(values, 0)) * np.random.default_rng(number).standard_normal(side**2))
    heights = 100 * (drawn - drawn.min()) / np.ptp(drawn)
    task = xl.tasks.grid(heights.reshape(side, side), name=f"surface {number}")
    return xl.tasks.with_noise(task, xl.tasks.gaussian_noise(1.0))


def made_choices(
    design: str, habits: bool, model: tuple[str, str], n: int = N_PEOPLE, seed: int = 0
) -> tuple[Choices, str | None]:
    """The choices of people who follow this model, and the condition within which blocks are halved."""
    agent, true = scheduled(*model, habits, KNOWN[design]), truths(model, habits, n, seed)
    if design == "study":
        blank = xl.blank_choices([xl.tasks.landscape("A"), xl.tasks.landscape("B")], n)
        return xl.simulate_choices(blank, agent, true, seed, noise="integer", progress=False), None
    tasks = [surface(11, 1.0 + (number % 2), number) for number in range(8)]
    # Schedules of the trials left know how many there are, so blocks of each length are played by themselves.
    short, long = (
        xl.simulate_choices(xl.blank_choices(own, n, 4, length), agent, true, seed + length, progress=False)
        for own, length in ((tasks[:4], SHORT), (tasks[4:], LONG))
    )
    return together(short, long), "horizon"


def together(short: Choices, long: Choices) -> Choices:
    """The short and the long blocks of the same people as one data set, with the length as a condition."""

    def padded(field: str, otherwise: Any) -> np.ndarray:
        one = getattr(short, field)
        return np.pad(one, ((0, 0), (0, long.n_trials - short.n_trials)), constant_values=otherwise)

    order = np.argsort(np.concatenate([short.participant, long.participant]), kind="stable")

    def joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.concatenate([first, second])[order]

    empty = {"arm": NOWHERE, "reward": 0.0, "observed": False, "scored": False, "present": False}
    assert short.means is not None
    assert long.means is not None
    return replace(
        long,
        participant=joined(short.participant, long.participant),
        block=joined(short.block, np.char.add("long ", long.block)),
        means=joined(short.means, long.means),
        conditions={"horizon": joined(np.full(short.n_rows, SHORT), np.full(long.n_rows, LONG))},
        **{field: joined(padded(field, none), getattr(long, field)) for field, none in empty.items()},
    )


def measure_simulated(wanted: Callable[[str], bool], numbers: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every wanted model fitted to the choices of every other, on both designs."""
    for number, variant, design, truth in product(numbers, VARIANTS, NAMES, POSSIBLE):
        has, knows = VARIANTS[variant]
        if has != knows and truth != PLAIN:
            continue
        keys = {" | ".join([design, variant, *truth, *model, f"half {number}"]): model for model in POSSIBLE}
        keys = {name: model for name, model in keys.items() if wanted(name)}
        if keys:
            choices, within = made_choices(design, has, truth)
            yield from measured(choices, halves(choices, within)[number - 1], KNOWN[design], knows, keys)

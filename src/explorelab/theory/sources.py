"""Which theorems cover which algorithm, and what each requires of the agent and the task."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from explorelab._support.checks import Floats
from explorelab.theory import corrected, published
from explorelab.theory._checks import LARGEST_TIME
from explorelab.theory.quantile import CREDIBILITY_SCALE
from explorelab.theory.remainder import (
    LEAST_POWER,
    LONGEST_BLOCK_HORIZON,
    best_epsilon,
    power_left,
    tail_exponent,
)

type Bound = Callable[..., Floats]


class Theorems(NamedTuple):
    """What the paper proves about one algorithm."""

    title: str
    published_visits: Bound
    corrected_visits: Bound
    published_transitions: Bound | None = None
    corrected_transitions: Bound | None = None
    in_blocks: bool = False  # whether corrected bounds add up over blocks, whose number is then limited
    walks: bool = False  # on a graph, visits include walks, so they need what a bound on transitions needs


THEOREMS: dict[str, Theorems] = {
    "deterministic": Theorems(
        "deterministic UCL",
        published.deterministic_visits,
        corrected.deterministic_visits,
    ),
    "stochastic": Theorems(
        "stochastic UCL with feedback cooling",
        published.stochastic_visits,
        corrected.stochastic_visits,
    ),
    "block": Theorems(
        "block UCL",
        published.block_visits,
        corrected.block_visits,
        published.block_transitions,
        corrected.block_transitions,
        in_blocks=True,
    ),
    "graphical": Theorems(
        "graphical block UCL",
        published.graphical_visits,
        corrected.graphical_visits,
        in_blocks=True,
        walks=True,
    ),
}


class Source(NamedTuple):
    """Published or corrected bounds, prepared for a task: what they bound, from which time on, or why they do not apply."""

    visits: Bound
    transitions: Bound | None
    least: int  # the first time at which its bound on transitions is finite
    most: int  # the last time at which its bounds can be computed
    valid_when: str
    why_not: str


def misfit_of(theorems: Theorems, scale: float, graph: bool) -> str:
    """Why none of the paper's upper bounds covers the agent and the task; empty if they do."""
    if graph and not theorems.walks:
        return f"The bounds of {theorems.title} assume that any arm can be chosen next; here a graph restricts moves."
    if not math.isclose(scale, CREDIBILITY_SCALE, rel_tol=1e-6):
        return f"The bounds hold only for K = sqrt(2 pi e) = {CREDIBILITY_SCALE:.4f}; here K = {scale:g}."
    return ""


def _conditions(theorems: Theorems, schedule: str) -> str:
    return (
        f"The algorithm is {theorems.title} with {schedule} and K = sqrt(2 pi e), its prior uncorrelated and "
        "uninformative, and the reward noise Gaussian with the variance that the agent assumes."
    )


def published_source(theorems: Theorems, misfit: str, power: float, beta: float) -> Source:
    """The published bounds for one algorithm, which are for a = 1 only."""
    when = _conditions(theorems, "a = 1")
    when += " The published proof takes visits and rewards for independent, which appendix G corrects."
    wrong_power = f"The published bound holds only for a = 1; here a = {power:g}." if power != 1 else ""
    moves = theorems.published_transitions and partial(theorems.published_transitions, beta=beta)
    return Source(partial(theorems.published_visits, beta=beta), moves, 2, LARGEST_TIME, when, misfit or wrong_power)


def corrected_source(
    theorems: Theorems, misfit: str, power: float, pull: float, epsilon: float | None, between: int | None, longest: int
) -> Source:
    """The corrected bounds for one algorithm, which are for a > 4/3; by default with the best epsilon."""
    visits, moves = theorems.corrected_visits, theorems.corrected_transitions
    most = LONGEST_BLOCK_HORIZON if theorems.in_blocks else LARGEST_TIME
    left = power_left(power, pull)
    if left <= LEAST_POWER:
        wrong_power = f"The corrected bound needs a > 4/3; here a = {power:g}"
        wrong_power += f", of which the prior leaves {left:.4g}." if power > LEAST_POWER else "."
        return Source(visits, moves, 1, most, _conditions(theorems, "a > 4/3"), misfit or wrong_power)
    chosen = best_epsilon(left, longest) if epsilon is None else epsilon
    tail_exponent(left, chosen)  # refuses an epsilon too large for the power, even if it is not needed
    options = {"power": power, "epsilon": chosen, "pull": pull}
    when = _conditions(theorems, f"a = {power:g} (epsilon = {chosen:.4g})")
    moves = moves and partial(moves, **options)
    visits = partial(visits, **options, n_between=between) if theorems.walks else partial(visits, **options)
    return Source(visits, moves, 1, most, when, misfit)

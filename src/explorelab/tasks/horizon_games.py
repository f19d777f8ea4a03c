"""The horizon task (Wilson et al. 2014): short games of forced choices, then one free choice or six."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from explorelab._support import checks
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.tasks.changing import with_forced, with_points
from explorelab.tasks.task import Task, bandit

NOISE_VAR = 64.0
POINTS = (1, 100)
BASES = (40.0, 60.0)
DIFFERENCES = (4.0, 8.0, 12.0, 20.0, 30.0)
HORIZONS = (1, 6)
SEEN = ((2, 2), (1, 3), (3, 1))
"""How often each arm is seen before the first free choice: as often, or one of them once only."""
SHARES = (0.5, 0.25, 0.25)


@door
def horizon_game(
    n_free: int = 6,
    base: float = 40.0,
    difference: float = 8.0,
    seen: Sequence[int] = (2, 2),
    *,
    forced: Sequence[int] | None = None,
    noise_var: float = NOISE_VAR,
) -> Task:
    """One game of the horizon task: two arms, forced choices, then free ones; whole points from 1 to 100.

    Parameters
    ----------
    n_free
        Number of free choices: 1 or 6 as published.
    base
        Mean of the first arm: 40 or 60 as published.
    difference
        Mean of the second arm minus that of the first: 4, 8, 12, 20 or 30 in size as published.
    seen
        How often each arm is forced: (2, 2), (1, 3) or (3, 1) as published.
    forced
        The forced arms in order; by default the arms take turns.
    noise_var
        Variance of the reward noise; its sd is 8 as published.
    """
    free = checks.whole("n_free", n_free, at_least=1, at_most=checks.MANY)
    low, apart = (float(checks.scalar(name, one)) for name, one in (("base", base), ("difference", difference)))
    if np.shape(seen) != (2,):
        raise InputError(f"seen must be how often each of the two arms is forced, such as (1, 3), got {checks.shown(seen)}.")
    first, second = (checks.whole("seen", each, at_least=0, at_most=checks.MANY) for each in seen)
    order = _turns(first, second) if forced is None else list(forced)
    if [order.count(0), order.count(1)] != [first, second] or len(order) != first + second:
        raise InputError(f"forced must have arm 0 {first} times and arm 1 {second} times, as seen says, got {order}.")
    task = with_points(bandit([low, low + apart], noise_var, name="horizon game"), POINTS)
    conditions: dict[str, str | float] = {
        "free_choices": free,
        "information": "equal" if first == second else "unequal",
        "informative_arm": -1 if first == second else int(first > second),
        "difference": apart,
    }
    return replace(with_forced(task, order), n_trials=len(order) + free, conditions=conditions)


def _turns(first: int, second: int) -> list[int]:
    """Arms 0 and 1, this many times each, taking turns for as long as there are both; the rarer one begins."""
    rarer, other = (0, 1) if first <= second else (1, 0)
    few, many = min(first, second), max(first, second)
    return [rarer, other] * few + [other] * (many - few)


@door
def horizon_task(
    n_games: int = 160,
    seed: int = 0,
    *,
    bases: Sequence[float] = BASES,
    differences: Sequence[float] = DIFFERENCES,
    horizons: Sequence[int] = HORIZONS,
) -> tuple[Task, ...]:
    """The games of a session of the horizon task, for `blank_choices`: means, information and forced arms at random.

    Each length is as common as the others, and half of the games have equal information. `blank_choices` gives every block
    the conditions `free_choices`, `information` ("equal" or "unequal"), `informative_arm` (the arm seen once; -1 if both are
    seen as often) and `difference` (of the second arm's mean from the first).

    Parameters
    ----------
    n_games
        Number of games.
    seed
        Same seed, same games.
    bases
        Means of one arm.
    differences
        Sizes of the difference between the arms' means.
    horizons
        Numbers of free choices.
    """
    n = checks.whole("n_games", n_games, at_least=1, at_most=checks.MANY)
    rng = np.random.default_rng(checks.whole("seed", seed, at_least=0))
    for name, listed in (("bases", bases), ("differences", differences), ("horizons", horizons)):
        if np.ndim(listed) != 1 or len(listed) == 0:
            raise InputError(f"{name} must be a list with at least one number, got {checks.shown(listed)}.")
    lengths = [checks.whole("horizons", each, at_least=1, at_most=checks.MANY) for each in horizons]
    for name, numbers in (("bases", bases), ("differences", differences)):
        checks.numbers(name, numbers)
    order = rng.permutation(np.resize(lengths, n)).tolist()
    return tuple(_game(rng, length, bases, differences) for length in order)


def _game(rng: np.random.Generator, n_free: int, bases: Sequence[float], differences: Sequence[float]) -> Task:
    base, apart = float(rng.choice(bases)), float(rng.choice(differences)) * float(rng.choice([-1, 1]))
    if rng.random() < 0.5:
        base, apart = base + apart, -apart
    seen = SEEN[rng.choice(len(SEEN), p=SHARES)]
    order = rng.permutation([0] * seen[0] + [1] * seen[1]).tolist()
    return horizon_game(n_free, base, apart, seen, forced=order)

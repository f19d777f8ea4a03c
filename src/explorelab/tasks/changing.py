"""Tasks whose means change over time, arms that are not always on offer, and choices that are forced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from explorelab._support import checks
from explorelab._support.checks import Floats, Unchecked
from explorelab._support.counted import counted, each_of
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.tasks.changes import JUMPS, PATH, STILL, TURNS, WALK, Change, drawn_paths
from explorelab.tasks.noise import gaussian_noise
from explorelab.tasks.task import Task

MOST_ARMS = 2**20
"""More arms would not fit into memory."""
MOST_NUMBERS = 2**28
"""More means than this would not fit into memory."""

LARGEST = 1e140
"""Means that spread further cannot be computed with in any precision."""

type Points = tuple[float, float] | Sequence[float] | None
type Blocked = npt.NDArray[np.bool_] | Sequence[Sequence[int]]
type PerArm = npt.ArrayLike
"""One number for all arms, or one for each."""


@door
def moving(means: npt.ArrayLike, noise_var: float = 1.0, points: Points = None, name: str = "moving") -> Task:
    """A task whose means follow a given path.

    Parameters
    ----------
    means
        Mean rewards, `means[time][arm]`; the path is as long as the task.
    noise_var
        Variance of the reward noise.
    points
        Lowest and highest reward, if rewards are paid in whole points between them.
    name
        Name of the task.
    """
    path = checks.numbers("means", means)
    if path.ndim != 2 or path.size == 0:
        raise InputError(f"means over time must have two dimensions, time and arm, got an array of shape {path.shape}.")
    task = Task(path.mean(0), gaussian_noise(noise_var), name, change=Change(PATH, {"path": path}), n_trials=len(path))
    return with_points(task, points)


@door
def restless(
    n_arms: int = 4,
    *,
    decay: PerArm = 0.9836,
    centre: PerArm = 50.0,
    diffusion_sd: PerArm = 2.8,
    trend: PerArm = 0.0,
    first_means: PerArm | None = None,
    noise_var: float = 16.0,
    points: Points = (1, 100),
    seed: int | None = None,
    name: str = "restless",
) -> Task:
    """A restless bandit: the mean of each arm is a random walk that decays towards a centre.

    On each trial every mean becomes decay x mean + (1 - decay) x centre + trend + a normal step (Daw et al. 2006, whose
    numbers are the defaults). All of decay, centre, diffusion_sd, trend and first_means may differ between arms.

    Parameters
    ----------
    n_arms
        Number of arms.
    decay
        Share of its distance from the centre that a mean keeps from trial to trial: 1 for a walk without decay.
    centre
        Where means tend to.
    diffusion_sd
        Standard deviation of the step on each trial.
    trend
        Amount by which means rise on each trial.
    first_means
        Means on the first trial; by default they are drawn as if the walk had gone on for ever or, without decay, are at the
        centre.
    noise_var
        Variance of the Gaussian reward noise.
    points
        Lowest and highest reward, paid in whole points; None to pay rewards as drawn. Means may leave these bounds.
    seed
        Seed of one path that everybody meets; by default each replicate, or each block that a person plays, draws its own.
    name
        Name of the task.
    """
    n = checks.whole("n_arms", n_arms, at_least=1, at_most=MOST_ARMS)
    keeps = _each("decay", decay, n, at_least=0, at_most=1)
    middle, sd = _each("centre", centre, n), _each("diffusion_sd", diffusion_sd, n, at_least=0, at_most=LARGEST)
    first = middle if first_means is None else _each("first_means", first_means, n)
    lasting = np.where((keeps < 1) & (first_means is None), sd / np.sqrt(np.maximum(1 - keeps**2, 1e-300)), 0.0)
    numbers = {
        "decay": keeps,
        "centre": middle,
        "diffusion_sd": sd,
        "trend": _each("trend", trend, n),
        "start": first,
        "start_sd": lasting,
    }
    typical = np.where(keeps < 1, middle, first)
    return with_points(Task(typical, gaussian_noise(noise_var), name, change=Change(WALK, numbers, _seed(seed))), points)


@door
def switching(
    levels: npt.ArrayLike | None = None,
    hazard: float = 0.05,
    *,
    n_arms: int = 4,
    centre: PerArm = 50.0,
    spread: PerArm = 15.0,
    together: bool = True,
    noise_var: float = 16.0,
    points: Points = None,
    seed: int | None = None,
    name: str = "switching",
) -> Task:
    """A task with change points: means stay the same until, with probability `hazard` on each trial, they change.

    Given `levels`, these are the means, and at a change point each moves on by the same random number of arms, so that the
    best arm always changes: `switching([70, 30])` is a reversal task. Without levels, new means are drawn from a normal
    distribution.

    Parameters
    ----------
    levels
        The means that the arms take turns to have; None to draw new ones at each change point.
    hazard
        Probability of a change point on each trial after the first.
    n_arms
        Number of arms, without levels.
    centre
        Mean of the means that are drawn.
    spread
        Standard deviation of the means that are drawn.
    together
        Whether all arms change at the same time; otherwise each has its own change points. Levels always change together.
    noise_var
        Variance of the Gaussian reward noise.
    points
        Lowest and highest reward, if rewards are paid in whole points between them.
    seed
        Seed of one path that everybody meets; by default each replicate, or each block that a person plays, draws its own.
    name
        Name of the task.
    """
    risk = checks.scalar("hazard", hazard, at_least=0, at_most=1)
    if levels is not None:
        values = checks.numbers("levels", levels)
        if values.ndim != 1 or values.size == 0:
            raise InputError(f"levels must be a list with one mean for each arm, got an array of shape {values.shape}.")
        change = Change(TURNS, {"levels": values, "hazard": risk}, _seed(seed))
        return with_points(Task(values, gaussian_noise(noise_var), name, change=change), points)
    n = checks.whole("n_arms", n_arms, at_least=1, at_most=MOST_ARMS)
    middle = _each("centre", centre, n)
    numbers: dict[str, Floats] = {
        "centre": middle,
        "spread": _each("spread", spread, n, at_least=0, at_most=LARGEST),
        "hazard": risk,
    }
    change = Change(JUMPS, {**numbers, "together": np.float64(bool(together))}, _seed(seed))
    return with_points(Task(middle, gaussian_noise(noise_var), name, change=change), points)


def _seed(seed: int | None) -> int | None:
    return None if seed is None else checks.whole("seed", seed, at_least=0)


def _each(name: str, given: PerArm, n_arms: int, **bounds: float) -> Floats:
    """One number for each arm."""
    value = checks.real(name, given, **bounds)  # type: ignore[arg-type]
    if value.ndim and value.shape != (n_arms,):
        raise InputError(f"{name} must be one number, or one for {each_of(n_arms, 'arm')}, got {value.size}.")
    return np.broadcast_to(value, (n_arms,)).astype(float)


@door
def with_points(task: Task, points: Points = (1, 100)) -> Task:
    """The same task with rewards paid in whole points: rounded, and held between a lowest and a highest reward.

    Regret is still counted in means, which are those before rounding.

    Parameters
    ----------
    task
        Task to change.
    points
        Lowest and highest reward, whole numbers; None to pay rewards as drawn.
    """
    bounds = checked_points(points)
    if bounds is None:
        return replace(task, points=None)
    low, high = bounds
    outside = (task.means < low) | (task.means > high)
    if outside.any():
        raise InputError(
            f"points from {low:g} to {high:g} must hold the means, but {task.name} has one of about "
            f"{task.means[outside][0]:g}: give other points, or None."
        )
    return replace(task, points=bounds)


def checked_points(points: Points) -> tuple[float, float] | None:
    """The lowest and the highest reward, checked; None if rewards are paid as drawn."""
    if points is None:
        return None
    if not isinstance(points, tuple | list | np.ndarray) or len(points) != 2:
        raise InputError(f"points must be the lowest and the highest reward, such as (1, 100), got {checks.shown(points)}.")
    low, high = (checks.whole("points", each, at_least=-(2**53), at_most=2**53) for each in points)
    if low >= high:
        raise InputError(f"points must have the lowest reward first, got {low} and {high}.")
    return float(low), float(high)


@door
def with_blocked(task: Task, blocked: Blocked) -> Task:
    """The same task with arms that are not on offer on some trials.

    Parameters
    ----------
    task
        Task to change.
    blocked
        A table of true and false, `blocked[time][arm]`, of the first trials; or a list of (arm, first trial, last trial),
        trials counted from 1. On later trials all arms are on offer.
    """
    table = _table(blocked)
    if table is None:
        table = _spans(task, blocked)
    if table.ndim != 2 or table.shape[1] != task.n_arms:
        raise InputError(
            f"blocked must be a table of time x the task's {counted(task.n_arms, 'arm')}, got shape {table.shape}."
        )
    return _scheduled(replace(task, available=~table if table.any() else None))


def _table(blocked: Unchecked) -> np.ndarray | None:
    """The table of true and false, if that is what it is."""
    try:
        table = np.asarray(blocked)
    except ValueError:  # lists of different lengths
        return None
    return table if table.dtype == bool and table.ndim else None


def _spans(task: Task, blocked: Unchecked) -> np.ndarray:
    """Which arms are blocked when, from a list of (arm, first trial, last trial)."""
    if not isinstance(blocked, list | tuple | np.ndarray) or np.ndim(np.asarray(blocked, object)) == 0:
        raise InputError(f"blocked must be a list of (arm, first trial, last trial), got {checks.shown(blocked)}.")
    spans = []
    for span in blocked:
        if not isinstance(span, list | tuple | np.ndarray) or len(span) != 3:
            raise InputError(f"blocked must be a list of (arm, first trial, last trial), got {checks.shown(span)}.")
        arm = checks.whole("a blocked arm", span[0], at_least=0, at_most=task.n_arms - 1)
        first = checks.whole("the first trial of a blocked arm", span[1], at_least=1)
        last = checks.whole("the last trial of a blocked arm", span[2], at_least=first, at_most=MOST_NUMBERS // task.n_arms)
        spans.append((arm, first, last))
    table = np.zeros((max((last for _, _, last in spans), default=0), task.n_arms), bool)
    for arm, first, last in spans:
        table[first - 1 : last, arm] = True
    return table


@door
def with_forced(task: Task, arms: Sequence[int]) -> Task:
    """The same task with forced choices on its first trials; the agent learns from them.

    Parameters
    ----------
    task
        Task to change.
    arms
        The arm that is taken on each of the first trials; -1 where the choice is free.
    """
    forced = [checks.whole("a forced arm", arm, at_least=-1, at_most=task.n_arms - 1) for arm in arms]
    return _scheduled(replace(task, forced=np.array(forced, np.int32) if any(arm >= 0 for arm in forced) else None))


def _scheduled(task: Task) -> Task:
    """Check that something can be chosen on every trial, and that forced arms are on offer."""
    if not task.is_steady and task.moves is not None and (task.available is not None or task.forced is not None):
        raise InputError(f"{task.name} has a graph of moves, on which arms cannot be blocked or forced.")
    if task.available is None:
        return task
    empty = ~task.available.any(1)
    if empty.any():
        raise InputError(f"at least one arm must be on offer on every trial, but on trial {empty.argmax() + 1} none is.")
    forced = np.zeros(0, int) if task.forced is None else task.forced
    for trial, arm in enumerate(forced[: len(task.available)].tolist()):
        if arm >= 0 and not task.available[trial, arm]:
            raise InputError(f"a forced arm must be on offer, but on trial {trial + 1} arm {arm} is blocked.")
    return task


@door
def paths(task: Task, horizon: int, n_paths: int = 1, seed: int = 0) -> Floats:
    """The mean of each arm on each trial, path x time x arm: path i is that of replicate i of `simulate` with this seed.

    Parameters
    ----------
    task
        Task whose means change; if they are fixed, so is the path.
    horizon
        Number of trials.
    n_paths
        Number of paths; all are the same unless each replicate draws its own.
    seed
        Seed of the simulation.
    """
    length = checks.whole("horizon", horizon, at_least=1)
    check_length(task, length)
    n = checks.whole("n_paths", n_paths, at_least=1)
    if length * n * task.n_arms > MOST_NUMBERS:
        raise InputError(f"paths may have up to {MOST_NUMBERS} means in all, got {n} x {length} x {task.n_arms}.")
    return drawn_paths(change_of(task), task.n_arms, length, np.arange(n), checks.whole("seed", seed, at_least=0))


def change_of(task: Task) -> Change:
    """How the means change; fixed ones stay the same."""
    return Change(STILL, {"means": task.means}) if task.change is None else task.change


def check_length(task: Task, horizon: int) -> None:
    """Raise if the horizon is beyond the end of the task."""
    if task.n_trials is not None and horizon > task.n_trials:
        why = "its means are given for" if task.change is not None else "it has"
        there = f"{why} {counted(task.n_trials, 'trial')}"
        raise InputError(f"horizon must be at most {task.n_trials} on {task.name}: {there}, got {horizon}.")

"""Tasks: mean rewards, noise, places, allowed moves and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab.errors import InputError
from explorelab.tasks.changes import CHANGES, Change
from explorelab.tasks.graphs import Graph, Moves, moves
from explorelab.tasks.noise import Noise, gaussian_noise, integer_noise
from explorelab.tasks.places import distances_between, grid_places, walks_between

LARGEST_COST = 1e30
"""Sums of costs stay finite in single precision."""

type Vector = np.ndarray


type CostKind = Literal["fixed", "exponential", "uniform"]


@dataclass(frozen=True, eq=False)
class Costs:
    """Transition costs between arms."""

    mean: np.ndarray
    """Expected cost from arm (row) to arm (column); 0 for staying."""
    kind: CostKind = "fixed"
    """Whether every move has its mean cost, or a random one: exponential, or uniform between 0 and twice the mean."""


@dataclass(frozen=True, eq=False)
class Task:
    """True means, reward noise, places, moves and costs."""

    means: Vector
    """Mean reward of each arm; if the means change, a typical one, which tells their size."""
    noise: Noise
    name: str = "bandit"
    places: np.ndarray | None = None
    """Place of each arm (arm x dimension), for spatial priors and distances, or None."""
    moves: Moves | None = None
    """The graph of allowed moves; None if any arm may follow any other."""
    costs: Costs | None = None
    start: int | None = None
    """Arm where the agent stands before its first choice; None for nowhere, so that the first choice is free."""
    note: str = ""
    """A note shown with all results on this task."""
    change: Change | None = None
    """How the means change over time; None if they are fixed."""
    available: np.ndarray | None = None
    """time x arm, bool: the arms on offer on the first trials; later, and if None, all of them."""
    forced: np.ndarray | None = None
    """The arm that is taken on each of the first trials, -1 where the choice is free; later, and if None, all are free."""
    points: tuple[float, float] | None = None
    """Rewards are paid in whole points between these two; None if they are paid as drawn."""
    n_trials: int | None = None
    """Number of trials, if the task has an end of its own."""
    conditions: Mapping[str, str | float] = field(default_factory=dict)
    """What distinguishes it among the tasks of a design, by name; conditions of the blocks in which it is played."""

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.means)

    @property
    def is_steady(self) -> bool:
        """Whether every trial is like every other: fixed means, all arms on offer, all choices free."""
        return self.change is None and self.available is None and self.forced is None

    @property
    def best(self) -> float:
        """The highest mean reward, m_{i*}."""
        self.check_fixed("the best arm")
        return float(self.means.max())

    @property
    def gaps(self) -> Vector:
        """Delta_i, the regret of choosing each arm once."""
        return self.best - self.means

    def check_fixed(self, what: str) -> None:
        """Raise if the means change: `what` needs one mean for each arm."""
        if self.change is not None:
            words = CHANGES[self.change.kind].words
            raise InputError(f"{what} needs a task whose means are fixed, but {self.name} has means that {words}.")

    def check_plain(self, what: str) -> None:
        """Raise if the means change, arms are blocked, choices forced or rewards rounded: `what` knows nothing of these."""
        self.check_fixed(what)
        odd = {"blocked arms": self.available, "forced choices": self.forced, "rewards in whole points": self.points}
        for words, value in odd.items():
            if value is not None:
                raise InputError(f"{what} needs a task without {words}, but {self.name} has them.")

    @property
    def distances(self) -> np.ndarray | None:
        """Euclidean distance between every pair of arms, if they have places."""
        return None if self.places is None else distances_between(self.places)

    @property
    def walks(self) -> np.ndarray | None:
        """Distance along the axes between every pair of arms: on a grid, the number of squares moved."""
        return None if self.places is None else walks_between(self.places)

    def __repr__(self) -> str:
        parts = [counted(self.n_arms, "arm"), f"{self.noise.kind} noise of variance {self.noise.var:g}"]
        parts += [f"means that {CHANGES[self.change.kind].words}"] if self.change is not None else []
        parts += ["blocked arms"] if self.available is not None else []
        parts += ["forced choices"] if self.forced is not None else []
        parts += [f"whole points from {self.points[0]:g} to {self.points[1]:g}"] if self.points is not None else []
        parts += ["graph of moves"] if self.moves is not None else []
        parts += [f"{self.costs.kind} transition costs"] if self.costs is not None else []
        return f"<Task {self.name}: {', '.join(parts)}>"


@door
def bandit(means: npt.ArrayLike, noise_var: float = 1.0, name: str = "bandit") -> Task:
    """A task with Gaussian noise in which any arm may follow any other.

    Parameters
    ----------
    means
        Mean reward of each arm.
    noise_var
        Variance of the reward noise.
    name
        Name of the task.
    """
    array = checks.numbers("means", means)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"means must be a list with one number for each arm, got an array of shape {array.shape}.")
    return Task(array, gaussian_noise(noise_var), name)


@door
def line(means: npt.ArrayLike, noise_var: float = 1.0, name: str = "line") -> Task:
    """A task whose arms lie on a line at 0, 1, 2, ...

    Parameters
    ----------
    means
        Mean reward of each arm.
    noise_var
        Variance of the Gaussian reward noise.
    name
        Name of the task.
    """
    task = bandit(means, noise_var, name)
    return replace(task, places=np.arange(task.n_arms, dtype=float)[:, None])


@door
def grid(means: npt.ArrayLike, noise_var: float = 1.0, name: str = "grid") -> Task:
    """A task whose arms are the squares of a grid with unit spacing; arm number = x * height + y.

    Parameters
    ----------
    means
        Mean rewards, `means[x][y]`.
    noise_var
        Variance of the Gaussian reward noise.
    name
        Name of the task.
    """
    array = checks.numbers("means", means)
    if array.ndim != 2 or array.size == 0:
        raise InputError(f"means of a grid must have two dimensions, x and y, got an array of shape {array.shape}.")
    return replace(bandit(array.ravel(), noise_var, name), places=grid_places(*array.shape))


@door
def with_noise(task: Task, noise: Noise | float) -> Task:
    """The same task with other reward noise.

    Parameters
    ----------
    task
        Task to change.
    noise
        A `Noise`, or the variance of Gaussian noise.
    """
    return replace(task, noise=noise if isinstance(noise, Noise) else gaussian_noise(noise))


@door
def with_costs(task: Task, costs: npt.ArrayLike | str = "distance", kind: CostKind = "fixed", scale: float = 1.0) -> Task:
    """The same task with transition costs.

    Parameters
    ----------
    task
        Task to change.
    costs
        A matrix (from, to), one number for every move, "distance" (Euclidean between places) or "edges" (the lengths of the
        graph's edges).
    kind
        "fixed", or random and stationary with that mean: "exponential", or "uniform" between 0 and twice the mean.
    scale
        Factor by which to multiply the costs.
    """
    checks.one_of("kind of cost", kind, {"fixed": 0, "exponential": 0, "uniform": 0})
    factor = _scalar("scale", scale, at_least=0)
    if isinstance(costs, str):
        mean = _named_costs(task, costs)
    else:
        mean = checks.numbers("costs", costs)
        if mean.ndim == 0:
            mean = np.full((task.n_arms, task.n_arms), float(mean))
            np.fill_diagonal(mean, 0.0)
    if mean.shape != (task.n_arms, task.n_arms):
        raise InputError(f"costs must be {task.n_arms} x {task.n_arms}, from each arm to each, got shape {mean.shape}.")
    if (mean < 0).any() or np.diag(mean).any():
        i, j = np.argwhere((mean < 0) | (np.eye(task.n_arms, dtype=bool) & (mean != 0)))[0]
        raise InputError(f"costs must be at least 0, and 0 for staying, got {mean[i, j]:g} from arm {i} to arm {j}.")
    if max(float(factor), 1.0) > LARGEST_COST / max(mean.max(), 1.0):
        raise InputError(f"costs must be at most {LARGEST_COST:g}, got {mean.max():g} with a scale of {float(factor):g}.")
    return replace(task, costs=Costs(factor * mean, kind))


def _named_costs(task: Task, name: str) -> np.ndarray:
    checks.one_of("transition costs", name, {"distance": 0, "edges": 0})
    if name == "edges":
        if task.moves is None:
            raise InputError('costs="edges" needs a graph of moves: put the task on one with on_graph first.')
        return np.where(np.isinf(task.moves.length), 0.0, task.moves.length)
    if task.distances is None:
        raise InputError(f'costs="distance" needs arms with places, but {task.name} has none: use line or grid.')
    return task.distances


@door
def on_graph(task: Task, graph: Graph = "neighbours", directed: bool | None = None, start: int = 0) -> Task:
    """The same task on a graph of allowed moves; the agent walks along shortest paths to the arm it wants.

    Parameters
    ----------
    task
        Task to change.
    graph
        A networkx graph, a list of edges, a (sparse) matrix of edge lengths, or "neighbours" (places one apart).
    directed
        Whether edges go one way only; by default a networkx graph decides, edge lists do not and matrices do.
    start
        Arm where the agent stands before its first choice (the paper's i_0, its first arm).
    """
    if isinstance(graph, str):
        checks.one_of("graph", graph, {"neighbours": 0})
        if task.distances is None:
            raise InputError(f'graph="neighbours" needs arms with places, but {task.name} has none.')
        graph = np.where(np.isclose(task.distances, 1), 1.0, 0.0)
    first = checks.whole("start", start, at_least=0)
    if first >= task.n_arms:
        raise InputError(f"start must be an arm from 0 to {task.n_arms - 1}, got {first}.")
    return replace(task, moves=moves(graph, task.n_arms, directed), start=first)


def _scalar(name: str, value: object, **bounds: Unpack[checks.Bounds]) -> float:
    array = checks.real(name, value, **bounds)
    if array.ndim:
        raise InputError(f"{name} must be one number, got an array of shape {array.shape}.")
    return float(array)


# The paper's landscapes -----------------------------------------------------------------------------------------------

RECONSTRUCTION = "Landscape reconstructed from the paper's description: its values were printed only in a figure."

PROFILES: dict[str, tuple[float, ...]] = {
    "A": (1, 15, 28, 40, 51, 60, 48, 35, 20, 2),
    "B": (35, 27, 20, 15, 13, 17, 25, 38, 50, 60),
}
"""Mean reward along x. A: concave, maximum at the sixth place. B: maxima at both ends, the global one at the tenth."""

TRAINING_PEAK = (5, 5)
"""Where the training landscape peaks (x, y from 0). A 10 x 10 grid has no centre square; this is one of the four."""


@door
def landscape(name: str, noise_var: float | None = None) -> Task:
    """The paper's task on 10 x 10 squares.

    Parameters
    ----------
    name
        Landscape "A" or "B", or the "training" peak.
    noise_var
        Variance of Gaussian noise, as in the paper's block simulations; by default whole-number noise from -5 to 5.
    """
    checks.one_of("landscape", name, dict.fromkeys([*PROFILES, "training"], 0))
    if name == "training":
        means = np.zeros((10, 10))
        means[TRAINING_PEAK] = 100.0
    else:
        means = np.repeat(np.array(PROFILES[name])[:, None], 10, axis=1)
    task = replace(grid(means, name=f"landscape {name}"), note=RECONSTRUCTION)
    return with_noise(task, integer_noise(5) if noise_var is None else gaussian_noise(noise_var))


@door
def profile(name: str, noise_var: float = 1.0) -> Task:
    """The ten arms along x of a landscape, on a line, with Gaussian noise.

    Parameters
    ----------
    name
        Landscape "A" or "B".
    noise_var
        Variance of the reward noise.
    """
    means = checks.one_of("landscape profile", name, PROFILES)
    return replace(line(means, noise_var, name=f"profile {name}"), note=RECONSTRUCTION)

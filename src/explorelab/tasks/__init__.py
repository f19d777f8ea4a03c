"""Tasks: mean rewards, noise, places, allowed moves and their costs."""

from explorelab.tasks.noise import Noise, NoiseKind, add_noise, gaussian_noise, integer_noise
from explorelab.tasks.task import (
    Task,
    bandit,
    grid,
    landscape,
    line,
    on_graph,
    profile,
    with_costs,
    with_noise,
)

__all__ = [
    "Noise",
    "NoiseKind",
    "Task",
    "add_noise",
    "bandit",
    "gaussian_noise",
    "grid",
    "integer_noise",
    "landscape",
    "line",
    "on_graph",
    "profile",
    "with_costs",
    "with_noise",
]

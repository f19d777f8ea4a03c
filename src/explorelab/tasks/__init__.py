"""Tasks: mean rewards, noise, places, allowed moves and their costs."""

from explorelab.tasks.changing import moving, paths, restless, switching, with_blocked, with_forced, with_points
from explorelab.tasks.horizon_games import horizon_game, horizon_task
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
    "horizon_game",
    "horizon_task",
    "integer_noise",
    "landscape",
    "line",
    "moving",
    "on_graph",
    "paths",
    "profile",
    "restless",
    "switching",
    "with_blocked",
    "with_costs",
    "with_forced",
    "with_noise",
    "with_points",
]

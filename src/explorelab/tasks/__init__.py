"""Tasks: what each arm is worth, how rewards vary, where one may go next and what a move costs."""

from explorelab.tasks.task import (
    Noise,
    Task,
    bandit,
    gaussian_noise,
    grid,
    integer_noise,
    landscape,
    line,
    on_graph,
    profile,
    with_costs,
    with_noise,
)

__all__ = [
    "Noise",
    "Task",
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

"""Designs to be compared: tasks, numbers of choices and of blocks, in every combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.recovery.designs import blank_choices
from explorelab.tasks import Task

type Tasks = Task | Sequence[Task] | Mapping[str, Task | Sequence[Task]]
"""One design's task, or its tasks, which everyone plays in turn; or several designs by name."""


class PlannedDesign(NamedTuple):
    """What everyone plays."""

    name: str
    tasks: tuple[Task, ...]
    horizon: int
    n_blocks: int

    @property
    def n_choices(self) -> int:
        """Choices of one person, if none is forced."""
        return self.horizon * self.n_blocks

    @property
    def noise(self) -> str:
        """The kind of noise of its rewards."""
        return self.tasks[0].noise.kind

    @property
    def told(self) -> str:
        """The design in words."""
        names = " and ".join(dict.fromkeys(task.name for task in self.tasks))
        return f"{counted(self.n_blocks, 'block')} of {counted(self.horizon, 'choice')} on {names}"

    def blank(self, n_people: int, seed: int) -> Choices:
        """The blocks of so many people, still to be played."""
        return blank_choices(self.tasks, n_people, self.n_blocks, self.horizon, seed)


def designs_of(tasks: Tasks, horizon: Unchecked, n_blocks: Unchecked) -> list[PlannedDesign]:
    """Every combination of tasks, choices and blocks, by names that tell them apart."""
    by_name: Mapping[str, Any] = tasks if isinstance(tasks, Mapping) else {"": tasks}
    if not by_name:
        raise InputError("a plan needs at least one task, got none.")
    horizons, blocks = _numbers("horizon", horizon), _numbers("n_blocks", n_blocks)
    found = []
    for (name, given), length, count in product(by_name.items(), horizons, blocks):
        each = (given,) if isinstance(given, Task) else tuple(given) if isinstance(given, Sequence) else (given,)
        several = len(each) if count is None else count
        made = blank_choices(each, 1, several, length)
        parts = [str(name)] if name else []
        parts += [counted(several, "block")] if len(blocks) > 1 else []
        parts += [counted(made.n_trials, "choice")] if len(horizons) > 1 else []
        label = ", ".join(parts) or " and ".join(dict.fromkeys(task.name for task in each))
        found.append(PlannedDesign(label, each, made.n_trials, several))
    return found


def _numbers(name: str, value: Unchecked) -> list[int | None]:
    """One number or several; None for what the tasks say."""
    if value is None:
        return [None]
    each = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if not each:
        raise InputError(f"{name} must be a whole number or several, got none.")
    numbers: list[int | None] = [checks.whole(name, one, at_least=1, at_most=checks.MANY) for one in each]
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{name} must have each number once, got {checks.shown(value)}.")
    return numbers

"""Blocks for simulated people to play: blank ones, or those that people played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab.choices.table import NOWHERE, Choices
from explorelab.choices.task_file import layout_of
from explorelab.errors import InputError
from explorelab.tasks import Task

MOST_TRIALS = 2**28
"""More would not fit into memory."""


@door
def blank_choices(
    tasks: Task | Sequence[Task], n_participants: int = 1, n_blocks: int | None = None, horizon: int = 90
) -> Choices:
    """Choices still to be made, for `simulate_choices` to fill in: every arm of every trial is `NOWHERE`.

    Participants play the tasks in turn; each block's task is its condition `landscape`. The paper's experiment is

        blank_choices([landscape("A"), landscape("B")], n_participants=326)

    Parameters
    ----------
    tasks
        One task, or several with the same arms.
    n_participants
        Number of participants.
    n_blocks
        Blocks per participant; by default one per task.
    horizon
        Trials per block.
    """
    each = _checked((tasks,) if isinstance(tasks, Task) else tuple(tasks))
    n_people = checks.whole("n_participants", n_participants, at_least=1)
    n_blocks = len(each) if n_blocks is None else checks.whole("n_blocks", n_blocks, at_least=1)
    n_trials = checks.whole("horizon", horizon, at_least=1)
    if n_people * n_blocks * max(n_trials, each[0].n_arms) > MOST_TRIALS:
        raise InputError(
            f"a design may have up to {MOST_TRIALS} trials, got {counted(n_people, 'person', 'people')} with "
            f"{counted(n_blocks, 'block')} of {counted(n_trials, 'trial')}."
        )
    of_row = np.tile(np.arange(n_blocks) % len(each), n_people)
    everywhere = np.ones((len(of_row), n_trials), bool)
    start = None if each[0].start is None else np.full(len(of_row), each[0].start)
    return Choices(
        layout=layout_of(each[0]),
        participants=labels(n_people),
        participant=np.repeat(np.arange(n_people), n_blocks),
        block=np.tile(np.arange(1, n_blocks + 1), n_people).astype(str),
        arm=np.full(everywhere.shape, NOWHERE, np.int32),
        reward=np.zeros(everywhere.shape),
        observed=everywhere,
        scored=everywhere,
        present=everywhere,
        means=np.stack([task.means for task in each])[of_row],
        start=start,
        conditions={"landscape": np.array([task.name for task in each])[of_row]},
        source="design",
        note=" ".join(dict.fromkeys(task.note for task in each if task.note)),
        players="simulated",
    )


def _checked(tasks: tuple[Unchecked, ...]) -> tuple[Task, ...]:
    """Check that one person can play these tasks in turn: the same arms and noise, other means."""
    if not tasks:
        raise InputError("a design needs at least one task, got none.")
    for task in tasks:
        if not isinstance(task, Task):
            raise InputError(f"tasks must be tasks such as landscape('A'), got {checks.shown(task)}.")
        if task.moves is not None:
            raise InputError(f"{task.name} has a graph of moves, which models of people's choices do not support.")
        alike = task.n_arms == tasks[0].n_arms and task.noise == tasks[0].noise and task.start == tasks[0].start
        if not alike or not np.array_equal(_places(task), _places(tasks[0])):
            raise InputError(f"tasks of one design must share arms, places, noise and start: {task.name} differs.")
    return tasks


def _places(task: Task) -> np.ndarray:
    return np.zeros(0) if task.places is None else task.places


def labels(n: int, prefix: str = "") -> tuple[str, ...]:
    """n labels that sort in order: 01, 02, ..."""
    width = len(str(n))
    return tuple(f"{prefix}{i:0{width}d}" for i in range(1, n + 1))


def is_played(choices: Choices) -> bool:
    """Whether every choice has been made."""
    return not bool((choices.scored & (choices.arm == NOWHERE)).any())


def repeated(choices: Choices, who: npt.ArrayLike) -> Choices:
    """The blocks of these participants (indices, with repeats) as those of as many new participants, labelled from 1."""
    who = np.asarray(who, int)
    of_each = [np.flatnonzero(choices.participant == i) for i in range(choices.n_participants)]
    rows = np.concatenate([of_each[i] for i in who])

    def taken(array: np.ndarray | None) -> np.ndarray | None:
        return None if array is None else array[rows]

    return replace(
        choices,
        participants=labels(len(who)),
        participant=np.repeat(np.arange(len(who)), [len(of_each[i]) for i in who]),
        **{name: getattr(choices, name)[rows] for name in ("block", "arm", "reward", "observed", "scored", "present")},
        missed=taken(choices.missed),
        available=taken(choices.available),
        means=taken(choices.means),
        start=taken(choices.start),
        conditions={name: values[rows] for name, values in choices.conditions.items()},
        exclusions=(),
        table=None,
    )

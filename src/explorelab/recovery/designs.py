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
from explorelab.tasks.changes import drawn_paths
from explorelab.tasks.changing import change_of, check_length
from explorelab.tasks.noise import noise_kind

DEFAULT_TRIALS = 90
"""Trials of a block on a task without an end, as in the paper."""
MOST_TRIALS = 2**28
"""More would not fit into memory."""


@door
def blank_choices(
    tasks: Task | Sequence[Task],
    n_participants: int = 1,
    n_blocks: int | None = None,
    horizon: int | None = None,
    seed: int = 0,
) -> Choices:
    """Choices still to be made, for `simulate_choices` to fill in: every arm of every free trial is `NOWHERE`.

    Participants play the tasks in turn; each block's task is its condition `landscape`. The paper's experiment is

        blank_choices([landscape("A"), landscape("B")], n_participants=326)

    Where means change, each block draws its own path (unless the task has one for everybody), which becomes its means.
    Forced trials have their arm and a reward.

    Parameters
    ----------
    tasks
        One task, or several with the same arms.
    n_participants
        Number of participants.
    n_blocks
        Blocks per participant; by default one per task.
    horizon
        Trials per block; by default as many as the task has or, if it has no end, 90.
    seed
        Seed of the paths of changing means, and of the rewards of forced trials.
    """
    each = _checked((tasks,) if isinstance(tasks, Task) else tuple(tasks))
    n_people = checks.whole("n_participants", n_participants, at_least=1)
    n_blocks = len(each) if n_blocks is None else checks.whole("n_blocks", n_blocks, at_least=1)
    lengths = _lengths(each, horizon)
    n_trials, seed = int(lengths.max()), checks.whole("seed", seed, at_least=0)
    moving = any(task.change is not None or task.available is not None for task in each)
    if n_people * n_blocks * (n_trials * each[0].n_arms if moving else max(n_trials, each[0].n_arms)) > MOST_TRIALS:
        raise InputError(
            f"a design may have up to {MOST_TRIALS} trials, got {counted(n_people, 'person', 'people')} with "
            f"{counted(n_blocks, 'block')} of {counted(n_trials, 'trial')}."
        )
    of_row = np.tile(np.arange(n_blocks) % len(each), n_people)
    present = np.arange(n_trials) < lengths[of_row][:, None]
    arm, reward = _forced(each, of_row, present)
    means = _means(each, of_row, n_trials, seed) if moving else np.stack([task.means for task in each])[of_row]
    free = present & (arm == NOWHERE)
    start = None if each[0].start is None else np.full(len(of_row), each[0].start)
    return Choices(
        layout=layout_of(each[0]),
        participants=labels(n_people),
        participant=np.repeat(np.arange(n_people), n_blocks),
        block=np.tile(np.arange(1, n_blocks + 1), n_people).astype(str),
        arm=arm,
        reward=reward if free.all() else _rewards_of_forced(each, of_row, arm, means, seed),
        observed=present,
        scored=free,
        present=present,
        available=_available(each, of_row, n_trials),
        means=means,
        start=start,
        conditions={"landscape": np.array([task.name for task in each])[of_row], **_conditions(each, of_row)},
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
        first = tasks[0]
        alike = (task.n_arms, task.noise, task.start, task.points) == (first.n_arms, first.noise, first.start, first.points)
        if not alike or not np.array_equal(_places(task), _places(tasks[0])):
            raise InputError(f"tasks of one design must share arms, places, noise, points and start: {task.name} differs.")
    return tasks


def _lengths(tasks: tuple[Task, ...], horizon: int | None) -> np.ndarray:
    """The number of trials of each task."""
    if horizon is None:
        return np.array([DEFAULT_TRIALS if task.n_trials is None else task.n_trials for task in tasks])
    n_trials = checks.whole("horizon", horizon, at_least=1)
    for task in tasks:
        check_length(task, n_trials)
    return np.full(len(tasks), n_trials)


def _means(tasks: tuple[Task, ...], of_row: np.ndarray, n_trials: int, seed: int) -> np.ndarray:
    """The means on every trial of every row: each row draws its own path, or all of a task's rows have the same."""
    means = np.empty((len(of_row), n_trials, tasks[0].n_arms))
    for number, task in enumerate(tasks):
        rows = np.flatnonzero(of_row == number)
        means[rows] = drawn_paths(change_of(task), task.n_arms, n_trials, rows, seed)
    return means


def _forced(tasks: tuple[Task, ...], of_row: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arm of every forced trial, `NOWHERE` on others; and no reward yet."""
    arm = np.full((len(tasks), present.shape[1]), NOWHERE, np.int32)
    for number, task in enumerate(tasks):
        if task.forced is not None:
            given = task.forced[: arm.shape[1]]
            arm[number, : len(given)] = np.where(given < 0, NOWHERE, given)
    return np.where(present, arm[of_row], NOWHERE).astype(np.int32), np.zeros(present.shape)


def _rewards_of_forced(
    tasks: tuple[Task, ...], of_row: np.ndarray, arm: np.ndarray, means: np.ndarray, seed: int
) -> np.ndarray:
    """A reward for every forced trial, 0 for others."""
    rng, reward = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,))), np.zeros(arm.shape)
    for row, trial in np.argwhere(arm != NOWHERE).tolist():
        task = tasks[of_row[row]]
        mean = means[row, arm[row, trial]] if means.ndim == 2 else means[row, trial, arm[row, trial]]
        drawn = mean + noise_kind(task.noise.kind).draw(task.noise.scale, rng)
        reward[row, trial] = drawn if task.points is None else np.clip(np.round(drawn), *task.points)
    return reward


def _available(tasks: tuple[Task, ...], of_row: np.ndarray, n_trials: int) -> np.ndarray | None:
    """The arms on offer on every trial; None if all are."""
    if all(task.available is None for task in tasks):
        return None
    available = np.ones((len(tasks), n_trials, tasks[0].n_arms), bool)
    for number, task in enumerate(tasks):
        if task.available is not None:
            available[number, : len(task.available)] = task.available[:n_trials]
    return available[of_row]


def _conditions(tasks: tuple[Task, ...], of_row: np.ndarray) -> dict[str, np.ndarray]:
    """Conditions that all tasks have, for every row."""
    names = [name for name in tasks[0].conditions if all(name in task.conditions for task in tasks)]
    return {name: np.array([task.conditions[name] for task in tasks])[of_row] for name in names}


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
        advice=None if choices.advice is None else choices.advice.cut(rows, choices.n_trials),
        means=taken(choices.means),
        start=taken(choices.start),
        conditions={name: values[rows] for name, values in choices.conditions.items()},
        exclusions=(),
        table=None,
    )

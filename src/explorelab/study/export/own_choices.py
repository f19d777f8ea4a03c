"""Files of choices of blocks of one's own, as `explorelab check`, `fit` and `report` read them.

Blocks with the same arms are in one file, choices.csv; those with other arms are in files of their own. Means that change
are in a third file beside these, for each trial of every landscape or, where each block has its own path, of every block.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from explorelab._support.written_numbers import Json
from explorelab.choices.advice_given import ARM_OF_STUDY
from explorelab.choices.writing import toml_of
from explorelab.study.config.blocks.block_design import BlockDesign
from explorelab.study.config.blocks.scenes import Scene
from explorelab.study.config.design import BlockPlan, Study
from explorelab.study.database.tables import AnyRow
from explorelab.study.export.cells import safe
from explorelab.study.export.choices_file import noise_told, notes, task_key
from explorelab.study.export.own_columns import own_columns
from explorelab.study.export.rows import Played, cells_of
from explorelab.study.session.choice_fields import ANALYSED, Cell, ChoiceRead, exported_to
from explorelab.tasks import Task
from explorelab.tasks.places import grid_shape

ARMS = ("scene", "arm", "label", "colour", "picture", "screen_x", "screen_y")
"""Columns of the table of arms, as people see them."""


class Blocks(NamedTuple):
    """Blocks that are in one file of choices, because they have the same arms."""

    stem: str
    """The name of the file without its ending."""
    plans: list[BlockPlan]
    scenes: Mapping[str, Scene]

    @property
    def tasks(self) -> dict[str, Task]:
        """What they are played on, by name."""
        return {plan.landscape: self.scenes[plan.scene].task for plan in self.plans}

    @property
    def moves(self) -> bool:
        """Whether their arms are next to each other, so that it matters where someone stands."""
        return any(self.scenes[plan.scene].board.has_neighbours for plan in self.plans)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What tasks of the library say of themselves, such as the free choices of a horizon game."""
        return tuple(dict.fromkeys(name for task in self.tasks.values() for name in task.conditions))


class Begun(NamedTuple):
    """A block in a file of choices."""

    participant: str
    block: int
    seed: int
    number: int
    """Of the block, from 0, training included."""
    n_trials: int
    scene: str


def files_of_choices(design: BlockDesign) -> list[Blocks]:
    """What is in which file: the first with blocks that count is choices.csv."""
    found: dict[str, list[BlockPlan]] = {}
    for plan in design.every_plan:
        if plan.kind == "task":
            found.setdefault(_arms_told(design.scenes[plan.scene].task), []).append(plan)
    stems = [f"choices-{plans[0].name}" for plans in found.values()]
    stems = ["choices", *(f"{stem}-{n}" if stem in stems[:n] else stem for n, stem in enumerate(stems[1:], start=1))]
    return [Blocks(stem, plans, design.scenes) for stem, plans in zip(stems, found.values(), strict=True)]


def _arms_told(task: Task) -> str:
    """What a file of choices says of arms."""
    return repr([task.n_arms, None if task.places is None else task.places.tolist(), task.points])


def columns(study: Study, blocks: Blocks, pilots: str, advice: bool) -> tuple[str, ...]:
    """The columns of a file of choices."""
    assert study.design is not None
    own = own_columns(study.design)
    names = ("participant", "block", *exported_to(ANALYSED, advice, blocks=True), *own, "timing", "dynamic", "landscape")
    names += (*blocks.conditions, *(["start"] if blocks.moves else []), *([ARM_OF_STUDY] if advice else []))
    return (*dict.fromkeys(names), *(["pilot"] if pilots == "with" else []))


def cells(study: Study, blocks: Blocks, names: tuple[str, ...]) -> Callable[[ChoiceRead], tuple[Cell, ...]]:
    """A function that turns a choice into a row with these columns."""
    assert study.design is not None
    of_tasks = {name: _condition(blocks.tasks, name) for name in blocks.conditions}
    return cells_of(names, ANALYSED, study.design, of_tasks)


def _condition(tasks: Mapping[str, Task], name: str) -> Callable[[ChoiceRead], Cell]:
    return lambda choice: tasks[choice.row.landscape].conditions.get(name)


def begun(choice: ChoiceRead) -> Begun:
    """The block of a choice that counts."""
    row: AnyRow = choice.row
    assert choice.block is not None
    return Begun(row.code, choice.block, row.seed, row.number, row.n_trials, row.scene)


def task_toml(study: Study, blocks: Blocks, pilots: str) -> str:
    """The text of the TOML file beside a file of choices."""
    tasks = list(blocks.tasks.values())
    noise, doubt = noise_told(tasks)
    table: dict[str, Json] = {"name": study.title or study.name, **_arms(tasks[0]), **noise}
    table |= {} if tasks[0].points is None else {"points": [int(point) for point in tasks[0].points]}
    lengths = {plan.n_trials for plan in blocks.plans}
    table |= {"horizon": lengths.pop()} if len(lengths) == 1 else {}
    table |= {"start": "start"} if blocks.moves else {}
    by = means_by(blocks)
    table |= {"means_by": by[0] if len(by) == 1 else [*by]}
    table |= {"means": f"{blocks.stem}-means.csv"} if len(by) > 1 else {}
    played = Played((), tuple(dict.fromkeys(plan.dynamic for plan in blocks.plans)), 0)
    if said := " ".join([*notes(tasks, played, pilots, doubt), *_shown(blocks)]):
        table["note"] = said
    table |= {"players": "robots"} if pilots == "only" else {}
    if len(by) > 1:
        return toml_of(table, [])
    means = [f"{task_key(safe(name))} = {json.dumps(task.means.tolist())}" for name, task in blocks.tasks.items()]
    return "\n".join([toml_of(table, []), "[task.means]", *means, ""])


def _shown(blocks: Blocks) -> list[str]:
    """What a reader must know of rewards that people did not see, or saw besides their own."""
    scenes = [(plan.name, blocks.scenes[plan.scene]) for plan in blocks.plans]
    hidden = dict.fromkeys(name for name, scene in scenes if not scene.shows_rewards)
    foregone = dict.fromkeys(name for name, scene in scenes if scene.foregone)
    told = [f"People did not see the rewards of {' and '.join(hidden)}: models that learn from them do not apply."]
    also = [f"In {' and '.join(foregone)} people saw the rewards of the other arms too, of which models here know nothing."]
    return (told if hidden else []) + (also if foregone else [])


def _arms(task: Task) -> dict[str, Json]:
    sides = grid_shape(task.places)
    if sides is not None:
        return {"grid": [*sides]}
    return {"arms": task.n_arms} if task.places is None else {"coordinates": task.places.tolist()}


def means_by(blocks: Blocks) -> tuple[str, ...]:
    """The columns that tell means apart."""
    changes = [task.change for task in blocks.tasks.values() if task.change is not None]
    if not changes:
        return ("landscape",)
    own = any(change.own_paths for change in changes)
    return ("participant", "block", "trial") if own else ("landscape", "trial")


def means_columns(blocks: Blocks) -> tuple[str, ...]:
    """The columns of the file with means over time."""
    return (*means_by(blocks), *(f"arm_{arm}" for arm in range(next(iter(blocks.tasks.values())).n_arms)))


def means_rows(blocks: Blocks, played: Iterable[Begun]) -> Iterator[tuple[Cell, ...]]:
    """A row for each trial: of every landscape or, where blocks have paths of their own, of every block."""
    every: list[tuple[tuple[str, ...], Begun]] = []
    if means_by(blocks)[0] == "landscape":
        longest = {plan.landscape: plan for plan in sorted(blocks.plans, key=lambda plan: plan.n_trials)}
        for name, plan in longest.items():
            every.append(((name,), Begun("", 0, 0, 0, plan.n_trials, plan.scene)))
    else:
        every = [((each.participant, f"{each.block}"), each) for each in played]
    for labels, each in every:
        means = blocks.scenes[each.scene].means(each.seed, each.number, each.n_trials)
        for trial, row in enumerate(means.tolist(), start=1):
            yield (*labels, trial, *row)


def arm_rows(design: BlockDesign) -> Iterator[tuple[Cell, ...]]:
    """A row of `ARMS` for each arm of each scene that is no grid."""
    for name, scene in design.scenes.items():
        for arm, look in enumerate(scene.board.arms):
            place = scene.board.places[arm] if scene.board.places else (None, None)
            yield name, arm, *look, *place

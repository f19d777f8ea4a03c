"""What a `Study` knows of blocks of one's own: their design, the advice in them, and a summary in the paper's terms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from explorelab.errors import InputError
from explorelab.study.config.advice_table import TABLE as ADVICE_TABLE
from explorelab.study.config.advice_table import read_advice
from explorelab.study.config.blocks.block_design import BlockDesign
from explorelab.study.config.blocks.block_tables import check_size, read_block_design
from explorelab.study.config.blocks.scenes import Scene
from explorelab.study.config.design import Advice
from explorelab.study.config.fields import Table, TomlFile
from explorelab.tasks.task_table import FILE_KEYS

PAGES = "pages"
NOTHING: dict[str, Any] = {
    "width": 0, "height": 0, "landscapes": {}, "timings": {}, "training": (), "task_timings": (), "task_dynamics": (),
    "task_landscapes": (), "n_task_blocks": 0, "n_trials": 0,
}  # fmt: skip


def own_design(toml: TomlFile, folder: Path) -> dict[str, Any]:
    """What a `Study` knows of its blocks."""
    design = read_block_design(toml, folder, pages_with_blocks(toml))
    if design is None:
        return NOTHING
    advice = _advice(toml, folder, design)
    design = replace(design, arms=() if advice is None else advice.arms)
    check_size(toml, design)
    return {**_summary(design), "advice": advice, "design": design}


def pages_with_blocks(toml: TomlFile) -> list[Table]:
    """The entries of [[pages]] that have blocks."""
    entries = toml.values.get(PAGES)
    listed = enumerate(entries) if isinstance(entries, list) else ()
    with_blocks = [(n, each) for n, each in listed if isinstance(each, dict) and each.get("kind") == "blocks"]
    return [Table(toml, f"[[{PAGES}]] {n + 1}", (PAGES, n), each, True) for n, each in with_blocks]


def _advice(toml: TomlFile, folder: Path, design: BlockDesign) -> Advice | None:
    """The advice in the blocks that have it."""
    advised = [(plan, design.scenes[plan.scene]) for plan in design.every_plan if plan.advice]
    if ADVICE_TABLE in toml.values:
        if not advised:
            toml.problem((ADVICE_TABLE,), "[advice] must have blocks to be given in, got only some with advice = false.")
        for plan, scene in advised:
            if wrong := not_advisable(scene, advised[0][1]):
                toml.problem(("blocks", plan.name), f"[blocks.{plan.name}] must have advice = false: {wrong}.")
    sound = [scene.task for _, scene in advised if not not_advisable(scene, advised[0][1])]
    return read_advice(toml, folder, sound, max((plan.n_trials for plan, _ in advised), default=1))


def not_advisable(scene: Scene, first: Scene) -> str:
    """Why a companion cannot follow someone on this scene, if it cannot; it must follow them on `first` too."""
    if not scene.shows_rewards:
        return "a companion knows rewards that people do not see"
    if scene.foregone:
        return "a companion learns nothing from rewards of the other arms"
    if scene.task.forced is not None:
        return "a companion expects every choice to be free"
    try:
        scene.task.check_plain("a companion")
    except InputError as error:
        return str(error).removesuffix(".")
    if scene.task.places is None:
        return "a companion needs arms with places, as on a grid or a line"
    if first.task.places is None or not np.array_equal(scene.task.places, first.task.places):
        return "a companion needs the same arms in all blocks"
    return ""


def _summary(design: BlockDesign) -> dict[str, Any]:
    """The settings of the paper's design that come closest, for texts and overviews."""
    every = design.every_plan
    counting = [plan for plan in every if plan.kind == "task"] or every
    first = design.plan(design.conditions[0]) if design.n_conditions else ()
    grids = [board for plan in counting if (board := design.scenes[plan.scene].board).layout == "grid"]
    return {
        "width": grids[0].width if grids else 0,
        "height": grids[0].height if grids else 0,
        "landscapes": {plan.landscape: design.scenes[plan.scene].task for plan in every},
        "timings": {plan.timing: plan.deadline_ms for plan in every},
        "training": tuple(plan for plan in first if plan.kind == "training"),
        "task_timings": tuple(dict.fromkeys(plan.timing for plan in counting)),
        "task_dynamics": tuple(dict.fromkeys(plan.dynamic for plan in counting)),
        "task_landscapes": tuple(dict.fromkeys(plan.landscape for plan in counting)),
        "n_task_blocks": sum(plan.kind == "task" for plan in first),
        "n_trials": max(plan.n_trials for plan in counting),
    }


def files_of_design(toml: TomlFile) -> list[str]:
    """The files that tasks and blocks name, of either design."""
    found = []
    for kind, keys in (("landscapes", FILE_KEYS), ("tasks", FILE_KEYS), ("blocks", ("pictures",)), ("factors", ())):
        for table in toml.values.get(kind, {}).values():
            found += [file for key in keys for file in _files(table.get(key))]
            found += [file for level in _levels(table) for file in _files(level.get("pictures"))]
    return list(dict.fromkeys(found))


def _files(value: object) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [each for each in listed if isinstance(each, str)]


def _levels(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Levels of a factor that have settings of their own."""
    given = [level for kind in ("between", "within") if isinstance(table.get(kind), dict) for level in table[kind].values()]
    return [level for level in given if isinstance(level, dict)]

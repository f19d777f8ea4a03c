"""Reads the paper's design, the short way to describe a study: [grid], [landscapes], [timings], [training] and [task]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorelab.study.config.advice_table import read_advice
from explorelab.study.config.blocks.block_tables import MOST_CHOICES, check_names
from explorelab.study.config.blocks.boards import DYNAMICS
from explorelab.study.config.blocks.landscapes import read_landscape
from explorelab.study.config.blocks.own_design import pages_with_blocks
from explorelab.study.config.design import BlockPlan
from explorelab.study.config.fields import TomlFile

MOST_SQUARES = 2500


def papers_design(toml: TomlFile, folder: Path) -> dict[str, Any]:
    """What a `Study` knows of its blocks."""
    pages = pages_with_blocks(toml)
    for number, page in enumerate(pages):
        for key in ("blocks", "order") if not number else ("kind",):
            if key in page.values:
                page.problem(key, "is for studies with [blocks.NAME]: the paper's design has all its blocks on one page.")
    sides = _grid(toml)
    timings = toml.table("timings")
    check_names(timings)
    landscapes = toml.table("landscapes")
    check_names(landscapes)
    tasks = {each: read_landscape(toml.table("landscapes", each), folder, sides) for each in landscapes.values}
    deadlines = {each: timings.whole(each, 20, 600_000, "milliseconds") for each in timings.values}
    task = toml.table("task", known=("blocks", "choices", "timings", "dynamics", "landscapes"))
    n_trials = task.whole("choices", 1, MOST_CHOICES)
    played = [tasks[name] for name in task.values.get("landscapes", []) if isinstance(name, str) and name in tasks]
    return {
        "width": sides[0] if sides else 0,
        "height": sides[1] if sides else 0,
        "landscapes": tasks,
        "timings": deadlines,
        "training": _training(toml, deadlines, list(landscapes.values)),
        "task_timings": task.names("timings", "timing", timings.values),
        "task_dynamics": task.names("dynamics", "dynamic", DYNAMICS),
        "task_landscapes": task.names("landscapes", "landscape", landscapes.values),
        "n_task_blocks": task.whole("blocks", 1, 2),
        "n_trials": n_trials,
        "advice": read_advice(toml, folder, played, n_trials),
    }


def _grid(toml: TomlFile) -> tuple[int, int] | None:
    """Width and height; None if they are wrong and nothing can be checked against them."""
    table = toml.table("grid", known=("width", "height"))
    width, height = (table.whole(side, 1, MOST_SQUARES, "squares") for side in ("width", "height"))
    sound = table.values.get("width") == width and table.values.get("height") == height
    if sound and not 2 <= width * height <= MOST_SQUARES:
        table.problem("", f"must have 2 to {MOST_SQUARES} squares, got {width} x {height} = {width * height}.")
        sound = False
    return (width, height) if sound else None


def _training(toml: TomlFile, deadlines: dict[str, int], landscapes: list[str]) -> tuple[BlockPlan, ...]:
    table = toml.table("training", known=("dynamics", "choices", "landscape", "timing"))
    dynamics = table.names("dynamics", "dynamic", DYNAMICS, empty=True, twice=True)
    if table.values.get("dynamics") == []:  # no training, so its settings do not matter
        return ()
    choices = table.whole("choices", 1, MOST_CHOICES)
    landscape = table.name("landscape", "landscape", landscapes)
    timing = table.name("timing", "timing", deadlines)
    plan = BlockPlan("training", "standard", timing, deadlines.get(timing, 0), landscape, choices)
    return tuple(plan._replace(dynamic=dynamic) for dynamic in dynamics if dynamic in DYNAMICS)

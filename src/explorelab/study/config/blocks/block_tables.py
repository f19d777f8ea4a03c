"""Reads blocks of one's own: the tables [tasks.NAME], [blocks.NAME] and [factors.NAME] of study.toml.

[tasks.calm]                   # a task of the library, as everywhere: see tasks/task_table.py
restless = 4

[blocks.bandit]
task = "calm"
choices = 100                  # by default as many as the task has, if it has an end
counts = true                  # false: training, whose points do not count
repeat = 1                     # so often, one after another
order = "latin"                # of what factors within persons make of it: latin, full, drawn or fixed
deadline_ms = 1500             # or false, the default: a choice is made as soon as an arm is clicked
outcome_ms = 1000              # without a deadline: how long an outcome is looked at before the next choice
dynamic = "standard"           # or "neighbour", "travel"
layout = "buttons"             # or "grid", "line", "graph"; by default what suits the task
labels = ["A", "B", "C", "D"]  # also colours = [...], pictures = [...] and, of a graph, places = [[x, y], ...]
rewards = "points"             # or "money", "hidden"
foregone = false               # whether the rewards of the other arms are shown too
advice = true                  # whether the advice of [advice] is given in it

[factors.speed]
between = [1500, 6000]         # values of one setting, that of its name or:
setting = "deadline_ms"
blocks = ["bandit"]            # by default all that count
[factors.world.within]         # or names of levels, with any settings
calm = { task = "calm" }
stormy = { task = "stormy", labels = ["W", "X", "Y", "Z"] }
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import NamedTuple

from explorelab._support.toml.toml_file import shown
from explorelab.errors import InputError
from explorelab.study.config.advice_table import LONGEST
from explorelab.study.config.blocks.block_design import ADVICE, BlockDesign, BlocksPage, BlockVariants
from explorelab.study.config.blocks.board_table import read_board
from explorelab.study.config.blocks.boards import DYNAMICS, Dynamic
from explorelab.study.config.blocks.factor_tables import FactorTable, read_factors
from explorelab.study.config.blocks.landscapes import BLOCKS_DOOR, task_in
from explorelab.study.config.blocks.orders import ORDERS
from explorelab.study.config.blocks.scenes import OUTCOME_MS, REWARDS, Scene
from explorelab.study.config.blocks.settings import SETTINGS, Settings
from explorelab.study.config.design import BlockPlan
from explorelab.study.config.fields import Table, TomlFile
from explorelab.tasks import Task, bandit
from explorelab.tasks.changing import check_length

TABLES = ("tasks", "blocks", "factors")
INSTEAD_OF = ("grid", "landscapes", "timings", "training", "task")
"""Tables of the paper's design, which blocks of one's own replace."""
MOST_CHOICES = 1000
MOST_OUTCOME_MS = 10_000
MOST_BLOCKS = 500
"""Blocks that one person plays."""
MOST_CONDITIONS = 1000
NO_DEADLINE = "none"

_NAME = re.compile(r"[a-z0-9_-]{1,20}")


class Read(NamedTuple):
    """What study.toml says, apart from a block."""

    folder: Path
    tasks: Mapping[str, Task]


def has_blocks(toml: TomlFile) -> bool:
    """Whether the study has blocks of its own."""
    return any(name in toml.values for name in TABLES)


def read_block_design(toml: TomlFile, folder: Path, pages: Sequence[Table] = ()) -> BlockDesign | None:
    """The design that the tables describe; None if they are too wrong for one. `pages` are the entries with blocks."""
    for name in INSTEAD_OF:
        if name in toml.values:
            toml.problem((name,), f"[{name}] describes the paper's design: leave it out, or else [blocks.NAME].")
    tasks, blocks = toml.table("tasks"), toml.table("blocks")
    for table in (tasks, blocks):
        check_names(table)
    read = Read(folder, {name: task for name in tasks.values if (task := _task(toml, name, folder)) is not None})
    if len(read.tasks) < len(tasks.values) or not blocks.values:
        return None
    tables = {name: toml.table("blocks", name, known=SETTINGS) for name in blocks.values}
    counting = [name for name, table in tables.items() if table.values.get("counts", True) is not False]
    factors = read_factors(toml, list(tables), counting)
    variants = {name: _variants(table, name, factors, read) for name, table in tables.items()}
    if len({name for name in tables if tables[name].there}) < len(tables):
        return None
    if not counting:
        toml.problem(("blocks",), "[blocks] must have a block that counts, got only some with counts = false.")
    return BlockDesign(
        blocks={name: found for name, (found, _) in variants.items()},
        factors=tuple(each.factor for each in factors),
        pages=_pages(pages, list(tables), toml) or (BlocksPage(tuple(tables)),),
        scenes={name: scene for _, scenes in variants.values() for name, scene in scenes.items()},
    )


def check_names(table: Table) -> None:
    """Check the names in a table whose names are free."""
    if table.there and not table.values:
        table.problem("", "must have at least one entry, got none.")
    for name in table.values:
        if not _NAME.fullmatch(name):
            table.problem(name, f"is a name that must be 1 to 20 of a-z, 0-9, - and _, got {name!r}.")


def _task(toml: TomlFile, name: str, folder: Path) -> Task | None:
    return task_in(toml.table("tasks", name), folder, BLOCKS_DOOR)


def _variants(table: Table, name: str, factors: Sequence[FactorTable], read: Read) -> tuple[BlockVariants, dict[str, Scene]]:
    """The block under every combination of the factors that change it, and what they are played on."""
    changing = [each for each in factors if name in each.factor.blocks]
    plain = Settings(table)
    repeat = plain.whole("repeat", 1, MOST_BLOCKS, default=1)
    order = plain.one_of("order", "order", ORDERS, "latin")
    plans, scenes = {}, {}
    if prod(len(each.levels) for each in changing) > MOST_CONDITIONS:
        table.problem("", f"must have at most {MOST_CONDITIONS} combinations of levels of its factors.")
        changing = []
    for levels in product(*(each.levels.items() for each in changing)):
        names = tuple(level for level, _ in levels)
        scene = "-".join([name, *names])
        settings = Settings(table, [level for _, level in levels])
        plans[names], scenes[scene] = _block(settings, name, scene, read)
    return BlockVariants(name, repeat, order, plans), scenes


def _block(settings: Settings, name: str, scene: str, read: Read) -> tuple[BlockPlan, Scene]:
    """A block under some levels of factors, and what it is played on."""
    known = list(read.tasks)
    task_name = settings.one_of("task", "task", known, known[0] if len(known) == 1 else None)
    task = read.tasks.get(task_name, bandit([0.0, 0.0]))
    choices = settings.whole("choices", 1, MOST_CHOICES, default=task.n_trials)
    try:
        check_length(task, choices)
    except InputError as error:
        settings.problem("choices", f"does not fit the task: {error}")
    board = read_board(settings, task, read.folder)
    usual: Dynamic = "neighbour" if task.moves is not None else "standard"
    dynamic = settings.one_of("dynamic", "dynamic", DYNAMICS, usual)
    if dynamic != "standard" and not board.has_neighbours:
        settings.problem("dynamic", f"must be standard on the layout {board.layout}, where no arms are next to each other.")
    if dynamic != "standard" and (task.available is not None or task.forced is not None):
        settings.problem("dynamic", "must be standard where arms are blocked or forced, which may be out of reach.")
    rewards = settings.one_of("rewards", "way to show rewards", REWARDS, "points")
    foregone = settings.truth("foregone", False)
    if foregone and rewards == "hidden":
        settings.problem("foregone", "must be false where rewards are hidden.")
    counts = settings.truth("counts", True)
    deadline_ms = _deadline(settings)
    outcome_ms = settings.whole("outcome_ms", 0, MOST_OUTCOME_MS, "milliseconds", default=OUTCOME_MS)
    if deadline_ms and "outcome_ms" in settings.values:
        settings.problem("outcome_ms", "must be left out where there is a deadline: the next choice begins at once there.")
    plan = BlockPlan(
        "task" if counts else "training", dynamic, f"{deadline_ms} ms" if deadline_ms else NO_DEADLINE, deadline_ms,
        task_name, choices, ADVICE if settings.truth("advice", counts) else "", name=name, scene=scene,
    )  # fmt: skip
    return plan, Scene(task, board, rewards, foregone, outcome_ms, own_noise=True, name=name)


def _deadline(settings: Settings) -> int:
    """Milliseconds for a choice; 0 if there is no deadline."""
    value = settings.values.get("deadline_ms", False)
    if value is False:
        return 0
    if value is True:
        settings.problem("deadline_ms", f"must be a number of milliseconds, or false, got {shown(value)}.")
        return 0
    return settings.whole("deadline_ms", 20, 600_000, "milliseconds")


# Pages ----------------------------------------------------------------------------------------------------------------


def _pages(tables: Sequence[Table], blocks: list[str], toml: TomlFile) -> tuple[BlocksPage, ...]:
    """The pages with blocks; a page that names none has all that no other page names."""
    named = {name for table in tables for name in table.values.get("blocks", []) if isinstance(name, str)}
    pages = []
    for table in tables:
        names = table.names("blocks", "block", blocks) if "blocks" in table.values else ()
        rest = tuple(name for name in blocks if name not in named)
        order = Settings(table).one_of("order", "order", ORDERS, "fixed")
        pages.append(BlocksPage(tuple(name for name in names if name in blocks) or rest, order))
    if tables and not all(page.blocks for page in pages):
        toml.problem((), "each page with blocks must have some, got one for which none is left.")
    unused = [name for name in blocks if tables and not any(name in page.blocks for page in pages)]
    for name in unused:
        toml.problem(("blocks", name), f"[blocks.{name}] must be on one of the pages with blocks, got it on none.")
    return tuple(pages)


def check_size(toml: TomlFile, design: BlockDesign) -> None:
    """Note what makes a design too large to be balanced or played."""
    n = design.n_conditions
    if n > MOST_CONDITIONS:
        advice = 'give some of them fewer levels, or an order that is "drawn" or "latin"'
        toml.problem(("factors",), f"factors and orders must make at most {MOST_CONDITIONS} conditions, got {n}: {advice}.")
        return
    names = [condition.name for condition in design.conditions]
    if len(set(names)) < n:
        toml.problem(
            ("factors",), "levels of factors must keep conditions distinct; two become the same when joined with '-'."
        )
    longest = max(names, key=len)
    if len(longest) > LONGEST:
        toml.problem(
            ("factors",), f"levels of factors must leave names of conditions with at most {LONGEST} characters, got "
            f"{longest!r} with {len(longest)}.",
        )  # fmt: skip
    played = sum(len(design.within(name)) * design.blocks[name].repeat for page in design.pages for name in page.blocks)
    if played > MOST_BLOCKS:
        toml.problem(("blocks",), f"[blocks] must make at most {MOST_BLOCKS} blocks for a person, got {played}.")

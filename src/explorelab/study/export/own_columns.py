"""Columns that only exports of studies with blocks of their own have: names of blocks, levels of factors, what was shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import attrgetter

from explorelab.study.config.blocks.block_design import BlockDesign
from explorelab.study.config.design import Study
from explorelab.study.database.tables import AnyRow
from explorelab.study.session.choice_fields import Cell, ChoiceRead

NAME = "block_name"
OF_SCENE = ("page", "layout", "rewards", "foregone")
"""What the table of blocks says besides."""
OLD = ("dynamic", "deadline_ms")
"""Columns of all exports that a factor may be called like; then they are its column."""


def factor_columns(design: BlockDesign, others: tuple[str, ...] = OLD) -> tuple[str, ...]:
    """The columns with levels of factors, apart from others."""
    return tuple(factor.name for factor in design.factors if factor.name not in others)


def own_columns(design: BlockDesign) -> tuple[str, ...]:
    """What tables of choices have."""
    return (NAME, *factor_columns(design))


def own_block_columns(design: BlockDesign) -> tuple[str, ...]:
    """What the table of blocks has."""
    return (NAME, *OF_SCENE, *factor_columns(design, (*OLD, *OF_SCENE)))


def own_block_cells(study: Study, row: AnyRow) -> tuple[Cell, ...]:
    """The cells of a block in these columns."""
    assert study.design is not None
    scene = study.scene(row)
    shown = (None, None, None) if scene is None else (scene.board.layout, scene.rewards, scene.foregone)
    levels = levels_of(row.levels)
    return (
        row.name,
        row.page + 1,
        *shown,
        *(levels.get(name, "") for name in factor_columns(study.design, (*OLD, *OF_SCENE))),
    )


def own_cells(design: BlockDesign) -> dict[str, Callable[[ChoiceRead], Cell]]:
    """The cells of a choice in these columns."""
    return {NAME: attrgetter(f"row.{NAME}"), **{name: _level(name) for name in factor_columns(design)}}


def _level(name: str) -> Callable[[ChoiceRead], Cell]:
    return lambda choice: levels_of(choice.row.levels).get(name, "")


@lru_cache(maxsize=4096)
def levels_of(text: str) -> Mapping[str, str]:
    """The level of each factor in a block, as it is stored."""
    return json.loads(text) if text else {}

"""Reads factors of a design, between or within persons, over any settings of blocks: the tables [factors.NAME]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import shown
from explorelab.errors import unknown_name
from explorelab.study.config.blocks.block_design import Factor
from explorelab.study.config.blocks.settings import VARIED
from explorelab.study.config.fields import Table, TomlFile

KINDS = ("between", "within")
KEYS = (*KINDS, "setting", "blocks")
_NAME = re.compile(r"[a-z0-9_-]{1,20}")


class FactorTable(NamedTuple):
    """A factor, with the settings of each of its levels."""

    factor: Factor
    levels: Mapping[str, Table]


def read_factors(toml: TomlFile, blocks: Sequence[str], counting: Sequence[str]) -> list[FactorTable]:
    """The factors of a study with these blocks, of which some count."""
    table = toml.table("factors", needed=False)
    found = []
    for name in table.values:
        if not _NAME.fullmatch(name):
            table.problem(name, f"is a name that must be 1 to 20 of a-z, 0-9, - and _, got {name!r}.")
        elif is_taken(name, table.values[name]):
            table.problem(name, f"must have another name, because exports have a column {name} already.")
        elif (factor := _factor(toml.table("factors", name, known=KEYS), name, blocks, counting)) is not None:
            found.append(factor)
    return found


def is_taken(name: str, factor: Unchecked) -> bool:
    """Whether exports have another column of this name; a factor over values of one setting may be called like that."""
    from explorelab.choices.checks.column_names import COLUMNS
    from explorelab.study.export.psychds import VARIABLES

    listed = isinstance(factor, dict) and any(isinstance(factor.get(kind), list) for kind in KINDS)
    own = name in VARIED and listed and factor.get("setting", name) == name
    return not own and (name in COLUMNS or name in VARIABLES)


def _factor(table: Table, name: str, blocks: Sequence[str], counting: Sequence[str]) -> FactorTable | None:
    given = [kind for kind in KINDS if kind in table.values]
    if len(given) != 1:
        came = "both" if given else "neither"
        table.problem("", f"must say either what differs between persons or within each (between, within), got {came}.")
        return None
    (kind,) = given
    changed = table.names("blocks", "block", blocks) if "blocks" in table.values else tuple(counting)
    levels = _levels(table, name, kind)
    if len(levels) < 2:
        if levels or not table.values[kind]:
            table.problem(kind, f"must have at least two levels, got {len(levels)}.")
        return None
    return FactorTable(Factor(name, tuple(levels), kind == "within", tuple(b for b in changed if b in blocks)), levels)


def _levels(table: Table, name: str, kind: str) -> dict[str, Table]:
    """The settings of each level: of one setting if values are listed, otherwise of any."""
    value = table.values[kind]
    if isinstance(value, dict):
        if "setting" in table.values:
            table.problem("setting", f"belongs to a list of values, such as {kind} = [1500, 6000].")
        return {level: each for level in value if (each := _level(table, kind, level, value[level])) is not None}
    if not isinstance(value, list):
        table.problem(kind, f"must be a list of values, or levels with their settings, got {shown(value)}.")
        return {}
    setting = table.values.get("setting", name)
    if setting not in VARIED:
        table.problem("setting" if "setting" in table.values else kind, _unknown(setting))
        return {}
    found: dict[str, Table] = {}
    for number, each in enumerate(value):
        level = _level_name(each)
        if not _NAME.fullmatch(level) or level in found:
            wrong = "each once" if level in found else "names, numbers, true or false"
            table.toml.problem((*table.at, kind, number), f"{table.title} {kind} must list {wrong}, got {shown(each)}.")
            return {}
        title = f"{table.title} {kind}"
        found[level] = Table(table.toml, title, (*table.at, kind), {str(setting): each}, True)
    return found


def _level(table: Table, kind: str, level: str, settings: Unchecked) -> Table | None:
    """A level with settings of its own."""
    at = (*table.at, kind, level)
    if not _NAME.fullmatch(level):
        table.toml.problem(at, f"{table.title} {kind}: a level must be 1 to 20 of a-z, 0-9, - and _, got {level!r}.")
        return None
    if not isinstance(settings, dict):
        table.toml.problem(at, f'{table.title} {level} must be settings, such as {{ task = "a" }}, got {shown(settings)}.')
        return None
    unknown = [key for key in settings if key not in VARIED]
    for key in unknown:
        table.toml.problem((*at, key), f"{table.title} {level}: {_unknown(key)}")
    return None if unknown else Table(table.toml, f"{table.title} {level}:", at, settings, True)


def _unknown(setting: Unchecked) -> str:
    return str(unknown_name("setting of a block that factors may change", str(setting), VARIED))


def _level_name(value: Unchecked) -> str:
    """A value as the name of a level."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, str | int | float) else ""

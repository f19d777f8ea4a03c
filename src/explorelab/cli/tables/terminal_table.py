"""Tables that fit any terminal: headings wrap, and columns that do not fit move to a second table."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

type Rows = Sequence[Sequence[str]]

WIDEST_LABEL = 26
"""On a narrow terminal, longer row names wrap."""
LINES_AND_SPACES = 7
"""Width that a table of two columns adds to theirs."""


def short(value: float | None) -> str:
    """A number for a cell; empty if there is none."""
    return "" if value is None else f"{value:.4g}"


def percent(value: float | None, decimals: int = 0) -> str:
    """A share in per cent for a cell; empty if there is none."""
    return "" if value is None else f"{100 * value:.{decimals}f} %"


def print_table(
    console: Console,
    headings: Sequence[str],
    rows: Rows,
    *,
    title: str = "",
    caption: str = "",
    words: Collection[int] = (0,),
    plain: bool = False,
) -> None:
    """Print rows under their headings; columns in `words` may wrap, the others hold numbers and never do.

    If the terminal is too narrow, headings wrap first; then the last columns go into a second table below, which repeats
    the first column. `plain` tables have no lines.
    """
    sheet = _Sheet(headings, rows, frozenset(words), {"box": None} if plain else {})
    tables = [_table(sheet, range(len(headings)))]
    if _width(console, tables[0]).maximum > console.width:
        sheet = sheet._replace(headings=[_broken(sheet, i) for i in range(len(headings))])
        sheet = sheet._replace(label=_label_width(console, sheet))
        tables = [_table(sheet, columns) for columns in _packed(console, sheet)]
    for table in tables:
        table.title, table.title_justify = (title if table is tables[0] else "") or None, "left"
        table.caption, table.caption_justify = (caption if table is tables[-1] else "") or None, "left"
        console.print(table)


class _Sheet(NamedTuple):
    headings: Sequence[str]
    rows: Rows
    words: frozenset[int]
    look: dict[str, Any]
    label: int | None = None
    """Width of the first column; None for its natural width."""


def _table(sheet: _Sheet, columns: Sequence[int]) -> Table:
    table = Table(*(_column(sheet, i) for i in columns), **sheet.look)
    for row in sheet.rows:
        table.add_row(*(Text(row[i]) for i in columns))
    return table


def _column(sheet: _Sheet, i: int) -> Column:
    if i in sheet.words:
        return Column(Text(sheet.headings[i]), overflow="fold", width=sheet.label if i == 0 else None)
    return Column(Text(sheet.headings[i]), justify="right", no_wrap=True, min_width=_longest(sheet, i))


def _broken(sheet: _Sheet, i: int) -> str:
    """The heading, wrapped to the width of its column's cells."""
    heading = sheet.headings[i]
    if i in sheet.words:
        return heading
    width = max([*(cell_len(row[i]) for row in sheet.rows), *map(cell_len, heading.split()), 1])
    return "\n".join(textwrap.wrap(heading, width, break_long_words=False, break_on_hyphens=False))


def _longest(sheet: _Sheet, i: int) -> int:
    """The width that a column needs for its cells and heading."""
    return max(map(cell_len, [*sheet.headings[i].splitlines(), *(row[i] for row in sheet.rows), " "]))


def _label_width(console: Console, sheet: _Sheet) -> int | None:
    """Width of the first column on a narrow terminal: wide enough to read, with room for the widest other column."""
    if 0 not in sheet.words:
        return None
    widest = max([_longest(sheet, i) for i in range(1, len(sheet.headings)) if i not in sheet.words], default=1)
    return max(min(_longest(sheet, 0), WIDEST_LABEL, console.width - widest - LINES_AND_SPACES), 1)


def _packed(console: Console, sheet: _Sheet) -> list[list[int]]:
    """The columns of each table: the first one and as many others as fit, at least one."""
    groups = [[0]]
    for column in range(1, len(sheet.headings)):
        wider = [*groups[-1], column]
        if len(groups[-1]) > 1 and _width(console, _table(sheet, wider)).minimum > console.width:
            groups.append([0, column])
        else:
            groups[-1] = wider
    return groups


def _width(console: Console, table: Table) -> Measurement:
    return Measurement.get(console, console.options.update(width=10_000), table)

"""Tables on a terminal that keep their numbers, however narrow it is: headings break, columns go into a further table."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

type Rows = Sequence[Sequence[str]]


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
    """Print rows under their headings; columns of `words` may break into lines, others are numbers and never do.

    Where the terminal is too narrow, headings break first; then the last columns go into a table of their own below, which
    has the first column, too. `plain` tables have no lines.
    """
    look: dict[str, Any] = {"box": None} if plain else {}
    everything = list(range(len(headings)))
    tables = [_table(headings, rows, everything, words, look)]
    if not _fits(console, tables[0]):
        narrow = [_broken(heading, [row[i] for row in rows], i in words) for i, heading in enumerate(headings)]
        tables = [
            _table(narrow, rows, columns, words, look) for columns in _packed(console, narrow, rows, words, look, everything)
        ]
    for table in tables:
        table.title, table.title_justify = (title if table is tables[0] else "") or None, "left"
        table.caption, table.caption_justify = (caption if table is tables[-1] else "") or None, "left"
        console.print(table)


def _table(
    headings: Sequence[str], rows: Rows, columns: Sequence[int], words: Collection[int], look: dict[str, Any]
) -> Table:
    table = Table(*(_column(headings[i], i in words) for i in columns), **look)
    for row in rows:
        table.add_row(*(Text(row[i]) for i in columns))
    return table


def _column(heading: str, wordy: bool) -> Column:
    if wordy:
        return Column(Text(heading), justify="left", overflow="fold")
    return Column(Text(heading), justify="right", no_wrap=True)


def _broken(heading: str, cells: Sequence[str], wordy: bool) -> str:
    """The heading in lines no longer than what stands below it."""
    if wordy:
        return heading
    width = max([*map(cell_len, cells), *map(cell_len, heading.split()), 1])
    return "\n".join(textwrap.wrap(heading, width, break_long_words=False, break_on_hyphens=False))


def _packed(
    console: Console,
    headings: Sequence[str],
    rows: Rows,
    words: Collection[int],
    look: dict[str, Any],
    columns: Sequence[int],
) -> list[list[int]]:
    """The columns of each table: the first one, and as many of the others as fit; one at least."""
    groups: list[list[int]] = [[columns[0]]]
    for column in columns[1:]:
        wider = [*groups[-1], column]
        if len(groups[-1]) > 1 and not _fits(console, _table(headings, rows, wider, words, look)):
            groups.append([columns[0], column])
        else:
            groups[-1] = wider
    return groups


def _fits(console: Console, table: Table) -> bool:
    return Measurement.get(console, console.options.update(width=10_000), table).minimum <= console.width

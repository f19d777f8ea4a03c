"""Values as CSV text: times as ISO 8601, flags as 0 and 1, and no text that a spreadsheet would run."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from explorelab._support.written_numbers import tidied

if TYPE_CHECKING:
    from explorelab.study.session.choice_fields import Cell

RUN_BY_SPREADSHEETS = frozenset("=+-@\t＝＋－＠")
"""Text that starts like this is a formula to a spreadsheet; a leading apostrophe makes it text again."""


def safe(text: str) -> str:
    """The text with one kind of line break, and a leading apostrophe if a spreadsheet would run it."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.lstrip(" \n")[:1] in RUN_BY_SPREADSHEETS else text


def _number(value: float) -> int | str:
    value = tidied(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else repr(value)


_WRITTEN: dict[type, Callable[[Any], Cell]] = {str: safe, bool: int, float: _number}


def cell(value: Cell) -> Cell:
    """A value as it is written: flags as 0 and 1, whole numbers without a decimal point, nothing for None."""
    written = _WRITTEN.get(type(value))
    return value if written is None else written(value)


def moment(value: float | None) -> str:
    """A time in UTC, to the millisecond."""
    if value is None:
        return ""
    return datetime.fromtimestamp(value, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def money(value: float | None) -> str:
    """An amount in whole cents."""
    return "" if value is None else f"{value:.2f}"


def _written_as(name: str) -> Callable[[Any], Cell]:
    return moment if name.endswith("_at") else money if name in MONEY else cell


MONEY = ("bonus", "base", "most_bonus")
"""Columns with amounts."""


class Table:
    """A CSV file that is written row by row."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self.path, self.names, self.n = path, tuple(names), 0
        self._as = [_written_as(name) for name in names]
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.writer(self._file, lineterminator="\n")
        self._writer.writerow(names)

    def add(self, values: Iterable[Cell]) -> None:
        """One more row, in the order of the columns."""
        self._writer.writerow([as_text(value) for as_text, value in zip(self._as, values, strict=True)])
        self.n += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

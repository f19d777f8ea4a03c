"""The raw rows of a CSV or Parquet file, each with its number in the file."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from explorelab._support.counted import counted
from explorelab._support.extras import needs
from explorelab.choices.checks.look import Problem, grouped
from explorelab.choices.columns import is_empty
from explorelab.choices.task_file import DataTask
from explorelab.errors import InputError

LONGEST_HEADER = 100_000
"""Number of characters searched for the column names."""
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass
class Raw:
    """The rows of a file as written, with problems and notes from reading it."""

    frame: pd.DataFrame
    rows: np.ndarray
    """Row numbers: in CSV from 2, as the header is row 1; in Parquet, which has no header, from 1; in a table from 0."""
    source: str
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    task: DataTask | None = None
    """What the file itself says about the task, if its format does."""


def read_raw(path: Path) -> Raw:
    """The rows of the file; raises a one-sentence error if it cannot be read at all."""
    if path.is_dir():
        raise InputError(f"{path}: expected a CSV or Parquet file, but this is a folder.")
    data = bytes_of(path)
    if data[:4] == b"PAR1" or path.suffix in (".parquet", ".pq"):
        return _parquet(data, path)
    return without_blank_rows(_csv(data, path))


def bytes_of(path: Path) -> bytes:
    """The whole file; a one-sentence error if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the file: {error.strerror or error}.") from None


def raw_of_frame(frame: pd.DataFrame, source: str = "table", first_row: int = 0) -> Raw:
    """The rows of a table that is already in memory, numbered from 0."""
    unnamed = all(name is None for name in frame.index.names)
    raw = Raw(frame.reset_index(drop=unnamed), np.arange(len(frame)) + first_row, source)
    raw.frame.columns = _one_of_each([str(name).strip() for name in raw.frame.columns], raw)
    raw.frame = raw.frame.loc[:, [name for name in raw.frame.columns if name]]
    return without_blank_rows(raw)


def _parquet(data: bytes, path: Path) -> Raw:
    needs("parquet", "reading a Parquet file")
    import pyarrow as pa
    import pyarrow.parquet as pa_parquet

    try:
        table = pa_parquet.read_table(io.BytesIO(data))
        frame = table.to_pandas()
    except (pa.ArrowException, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{path}: cannot be read as a Parquet file: {_first_line(error)}.") from None
    return raw_of_frame(frame, str(path), first_row=1)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _csv(data: bytes, path: Path) -> Raw:
    notes: list[str] = []
    text = _decoded(data, path, notes)
    if not text.strip():
        raise InputError(f"{path}: expected a header and one row per trial, got an empty file.")
    blank_lines = len(text) - len(text.lstrip("\r\n"))
    skipped = text[:blank_lines].replace("\r\n", "\n").count("\n")
    header = text[blank_lines : blank_lines + LONGEST_HEADER].splitlines()[0]
    separator = _separator(header)
    if separator != ",":
        notes.append(f"The columns are separated by {SEPARATORS[separator]}, not by commas; the file was read accordingly.")
    raw = _parsed(text[blank_lines:], separator, path)
    raw.rows = raw.rows + skipped
    raw.notes[:0] = notes
    return raw


def _decoded(data: bytes, path: Path, notes: list[str]) -> str:
    """The text of the file: UTF-8, or UTF-16 if it has a byte order mark."""
    if data[:4] == b"PK\x03\x04":
        raise InputError(f"{path}: this is a spreadsheet or an archive, not a CSV file: save the sheet as CSV UTF-8.")
    encoding = next((name for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), "")
    if not encoding and b"\0" in data[:4096]:
        raise InputError(
            f"{path}: expected text in UTF-8, got zero bytes. Is this a table? If it is in UTF-16, save it as CSV UTF-8."
        )
    try:
        text = data.decode("utf-16" if encoding == "utf-16" else "utf-8-sig")
    except UnicodeDecodeError as error:
        if encoding == "utf-16":
            raise InputError(
                f"{path}: the file begins as UTF-16 but does not continue as such: save it as CSV UTF-8."
            ) from None
        row = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, row {row}: expected text in UTF-8, got the byte 0x{data[error.start]:02x}. Was the file saved in "
            "Latin-1 or Windows-1252? Save it as CSV UTF-8."
        ) from None
    if encoding == "utf-16":
        notes.append(
            "The file is in UTF-16, as its first bytes say, and was read as such; UTF-8 is what other tools expect."
        )
    return text


def _separator(header: str) -> str:
    """The column separator: the most frequent candidate in the header, a comma if in doubt."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(SEPARATORS, key=unquoted.count)


def _parsed(text: str, separator: str, path: Path) -> Raw:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        header, *records = csv.reader(io.StringIO(text), delimiter=separator)
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as a table: {_first_line(error)}.") from None
    width = len(header)
    # An empty line is a row without values, which is skipped later, with a note.
    rows = np.array([i for i, record in enumerate(records, 2) if len(record) in (0, width)], int)
    ragged = [
        (i, len(record), width, separator.join(record))
        for i, record in enumerate(records, 2)
        if len(record) not in (0, width)
    ]
    kept = [records[i - 2] or [""] * width for i in rows]
    raw = Raw(pd.DataFrame(kept, columns=range(width), dtype=object), rows, str(path))
    raw.frame.columns = _one_of_each([name.strip() for name in header], raw)
    raw.problems += _ragged(ragged, separator, len(records))
    raw.frame = raw.frame.loc[:, [name for name in raw.frame.columns if name]]
    return raw


def _ragged(ragged: list[tuple[int, int, int, str]], separator: str, n_rows: int) -> list[Problem]:
    if not ragged:
        return []
    _, got, expected, line = ragged[0]
    cause = "Is there a separator within a value? Put the value into double quotes."
    if separator == "," and got > expected:
        cause = "Is there a comma within a value, or a decimal comma? Put the value into double quotes, or write 12.5."
    return [
        Problem(
            "",
            f"expected {counted(expected, 'value')}, as in the header, got {got}",
            row=ragged[0][0],
            value=line.strip(),
            cause=cause,
            n=len(ragged),
            n_rows=n_rows,
            rows=tuple(number for number, *_ in ragged[:5]),
        )
    ]


def _one_of_each(names: list[str], raw: Raw) -> list[str]:
    """The column names; repeated ones are emptied and reported, and empty unnamed columns are ignored."""
    kept: list[str] = []
    for i, name in enumerate(names):
        if name and name in kept:
            where = ", ".join(str(j + 1) for j, other in enumerate(names) if other == name)
            message = f"expected each column once, got {name!r} {names.count(name)} times (columns {where})"
            if not any(problem.message == message for problem in raw.problems):
                raw.problems.append(Problem(name, message, value=name, cause="Rename one of them, or leave it out."))
        if not name and not is_empty(raw.frame.iloc[:, i]).all():
            raw.notes.append(f"Column {i + 1} has no name and was not read.")
        kept.append("" if name in kept else name)
    return kept


def without_blank_rows(raw: Raw) -> Raw:
    """The rows that are not blank; skipped ones are noted."""
    blank = np.ones(len(raw.frame), bool)
    for name in raw.frame.columns:
        if not blank.any():
            break
        at = np.flatnonzero(blank)
        blank[at] = is_empty(raw.frame[name].iloc[at])
    if blank.any():
        shown = grouped(raw.rows[blank])
        raw.notes.append(f"Blank rows were skipped: {blank.sum()} ({shown}).")
        raw.frame, raw.rows = raw.frame.loc[~blank].reset_index(drop=True), raw.rows[~blank]
    return raw

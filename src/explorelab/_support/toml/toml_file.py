"""TOML files whose settings know their location, so that errors name the file and line."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_lines import KeyPath, lines_of
from explorelab.errors import InputError


class SettingError(InputError):
    """An invalid setting: `at` says which, within its table; () is the whole table."""

    def __init__(self, at: KeyPath, sentence: str, also: tuple[SettingError, ...] = ()) -> None:
        super().__init__(sentence)
        self.at = at
        self.also = also
        """Other errors in the same table."""


class PlacedError(InputError):
    """Something in a file is invalid; the message begins with the file and, if known, the line."""

    def __init__(self, file: Path, line: int | None, sentence: str) -> None:
        super().__init__(f"{file}, line {line}: {sentence}" if line else f"{file}: {sentence}")
        self.line = line
        self.sentence = sentence


def shown(value: object) -> str:
    """The value as TOML would write it, as far as a message needs it."""
    return str(value).lower() if isinstance(value, bool) else checks.shown(value)


def read_text(file: Path) -> str:
    """The text of a file in UTF-8, with or without a byte order mark."""
    try:
        data = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        return data.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise PlacedError(file, None, f"cannot read the file: {error.strerror or error}.") from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise PlacedError(file, line, f"expected text in UTF-8, got the byte 0x{data[error.start]:02x}.") from None


def read_toml(file: Path) -> Toml:
    """A TOML file, with the lines of its settings."""
    text = read_text(file)
    try:
        return Toml(file, tomllib.loads(text), lines_of(text))
    except RecursionError:
        raise PlacedError(file, None, "expected a TOML file, got lists or tables nested too deeply.") from None
    except ValueError as error:  # also of a number with thousands of digits
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        reason = str(error)[: place.start()] if place else str(error)
        line = None if place is None else int(place[1] or text.rstrip("\n").count("\n") + 1)
        sentence = f"expected TOML, got something else: {reason[:1].lower()}{reason[1:]}."
        raise PlacedError(file, line, sentence) from None


class Toml:
    """The contents of a TOML file, with line numbers."""

    def __init__(self, file: Path, values: dict[str, Unchecked], lines: dict[KeyPath, int]) -> None:
        self.file = file
        self.values = values
        self._lines = lines

    def line_of(self, at: KeyPath) -> int | None:
        """The line of the value at this path, or of its nearest parent that is in the file."""
        while at and at not in self._lines:
            at = at[:-1]
        return self._lines.get(at)

    def error(self, at: KeyPath, sentence: str) -> PlacedError:
        """The error for a value of the file."""
        return PlacedError(self.file, self.line_of(at), sentence)

    def table(self, name: str) -> TomlTable:
        """The table of that name; empty if there is none."""
        return TomlTable(self.values.get(name, {}), name, self)


class TomlTable(MutableMapping[str, Unchecked]):
    """A table that knows the location of its settings; overwritten settings have none."""

    def __init__(self, values: Mapping[str, Unchecked], name: str, toml: Toml | None = None) -> None:
        self._values = dict(values)
        self._name = name
        self._toml = toml
        self._of_the_file = set(values) if toml is not None else set()

    def __getitem__(self, key: str) -> Unchecked:
        return self._values[key]

    def __setitem__(self, key: str, value: Unchecked) -> None:
        self._of_the_file.discard(key)
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        self._of_the_file.discard(key)
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def replace_values(self, changed: Mapping[str, Unchecked]) -> None:
        """Replace settings as written in the file by their meanings, keeping their locations."""
        self._values |= changed

    def of_the_file(self, sentence: str) -> InputError:
        """The error prefixed with the file, if there is one."""
        return InputError(sentence) if self._toml is None else PlacedError(self._toml.file, None, sentence)

    def placed(self, at: KeyPath, sentence: str) -> InputError:
        """The error prefixed with file, line and table, if the setting (or for (), the table) is from a file."""
        if self._toml is None or (at and at[0] not in self._of_the_file):
            return InputError(sentence)
        return self._toml.error((self._name, *at), f"[{self._name}] {sentence}")


@contextmanager
def told_where(*tables: Mapping[str, Unchecked]) -> Iterator[None]:
    """Prefix errors with the file and line of the setting at fault, if it is from a file.

    Errors of the library do not know about tables, but they name the setting, or quote its value.
    """
    try:
        yield
    except PlacedError:
        raise
    except InputError as error:
        raise _placed(error, [table for table in tables if isinstance(table, TomlTable)]) from None


def _placed(error: InputError, tables: list[TomlTable]) -> InputError:
    """The same error with file and line, or with the file alone if it may concern any of several tables."""
    sentence = str(error)
    named = [(*found, table) for table in tables if (found := first_named(sentence, table.items()))]
    if not tables:
        return InputError(sentence)
    if isinstance(error, SettingError):
        return tables[0].placed(error.at, sentence)
    if named:
        _, key, table = min(named, key=lambda each: each[0])
        return table.placed((key,), sentence)
    return tables[0].placed((), sentence) if len(tables) == 1 else tables[0].of_the_file(sentence)


def first_named(sentence: str, settings: Iterable[tuple[str, object]]) -> tuple[int, str] | None:
    """The position at which a sentence first names one of the settings or quotes its text value, and that setting."""
    found = []
    for key, value in settings:
        words = [rf"\b{re.escape(key)}\b", rf"\b{re.escape(key.replace('_', ' '))}\b"]
        words += [re.escape(repr(value))] if isinstance(value, str) else []
        places = [match.start() for word in words if (match := re.search(word, sentence))]
        found += [(min(places), key)] if places else []
    return min(found, default=None)


@contextmanager
def about(key: str, *more: str, table: Mapping[str, Unchecked] | None = None) -> Iterator[None]:
    """Attribute errors to the setting or, of several settings, to the one that the error names."""
    try:
        yield
    except SettingError:
        raise
    except InputError as error:
        settings = [(each, (table or {}).get(each)) for each in (key, *more) if table is None or each in table]
        named = first_named(str(error), settings)
        raise SettingError((named[1] if named else key,), str(error)) from None


def text_of(table: Mapping[str, Unchecked], key: str) -> str | None:
    """A setting that must be text; None if it is missing."""
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise SettingError((key,), f"{key} must be text in quotes, got {shown(value)}.")
    return value

"""Reads a study's files: each wrong value gives one sentence with file and line, and all are reported together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from explorelab._support.checks import Unchecked, is_number
from explorelab._support.toml import toml_file
from explorelab._support.toml.toml_file import PlacedError, Toml, shown
from explorelab._support.toml.toml_lines import KeyPath
from explorelab.errors import InputError, unknown_name


class WrongFilesError(InputError):
    """The files of a study are wrong; the message has a line for each problem."""

    def __init__(self, found: Sequence[tuple[Path, int | None, str]]) -> None:
        super().__init__(
            "\n".join(f"{file}, line {line}: {said}" if line else f"{file}: {said}" for file, line, said in found)
        )
        self.found = found
        """File, line and sentence of each."""


class Problems:
    """What is wrong in the files of a study."""

    def __init__(self) -> None:
        self._found: dict[Path, list[tuple[int | None, str]]] = {}

    def add(self, file: Path, line: int | None, sentence: str) -> None:
        """Add a problem, with its line if there is one."""
        if (line, sentence) not in self._found.setdefault(file, []):  # a setting may be read once for each level of a factor
            self._found[file].append((line, sentence))

    def raise_if_any(self) -> None:
        """Raise all problems together, a line for each, in the order of the files and their lines."""
        found = [(file, *one) for file, those in self._found.items() for one in sorted(those, key=lambda one: one[0] or 0)]
        if found:
            raise WrongFilesError(found)


def read_text(file: Path, problems: Problems) -> str | None:
    """The text of a file in UTF-8, with or without a byte order mark."""
    try:
        return toml_file.read_text(file)
    except PlacedError as error:
        problems.add(file, error.line, error.sentence)
    return None


def read_toml(file: Path, problems: Problems) -> TomlFile | None:
    """A TOML file, with the lines of its settings."""
    try:
        return TomlFile(toml_file.read_toml(file), problems)
    except PlacedError as error:
        problems.add(file, error.line, error.sentence)
    return None


class TomlFile:
    """What a TOML file says, and where."""

    def __init__(self, toml: Toml, problems: Problems) -> None:
        self.file = toml.file
        self.values = toml.values
        self._toml = toml
        self._problems = problems

    def problem(self, at: KeyPath, sentence: str) -> None:
        """Note a problem with this value, at the nearest line that exists in the file."""
        self._problems.add(self.file, self._toml.line_of(at), sentence)

    def only(self, kind: str, values: Iterable[str], known: Collection[str], at: KeyPath = ()) -> None:
        """Refuse unknown names and suggest the closest known one."""
        for name in values:
            if name not in known:
                self.problem((*at, name), str(unknown_name(kind, name, known)))

    def table(self, *at: str, known: Collection[str] | None = None, needed: bool = True) -> Table:
        """The table of that name (empty if there is none, which is a problem where it is needed)."""
        values: Unchecked = self.values
        for name in at:
            values = values.get(name) if isinstance(values, dict) else None
        title = f"[{'.'.join(at)}]"
        fine = isinstance(values, dict)
        if values is None and needed:
            self.problem((), f"expected a table {title}, got none.")
        elif values is not None and not fine:
            self.problem(at, f"{'.'.join(at)} must be a table, {title}, got {shown(values)}.")
        if fine and known is not None:
            self.only(f"setting in {title}", values, known, at)
        return Table(self, title, at, values if fine else {}, fine)


class Table:
    """One table of a TOML file. Problems are noted, and a harmless value is returned so that reading can continue."""

    def __init__(self, toml: TomlFile, title: str, at: KeyPath, values: dict[str, Unchecked], there: bool) -> None:
        self.toml = toml
        self.title = title
        self.at = at
        self.values = values
        self.there = there

    def problem(self, key: str, sentence: str) -> None:
        """Something is wrong with this key ("": with the table)."""
        name = f"{self.title} {key}" if key else self.title
        self.toml.problem((*self.at, key) if key else self.at, f"{name} {sentence}")

    def value(self, key: str, default: Unchecked = None) -> Unchecked:
        """The value as it stands; None if it is missing, which is a problem unless there is a default."""
        value = self.values.get(key, default)
        if value is None and self.there:
            self.toml.problem(self.at, f"{self.title} must have a setting {key}, got none.")
        return value

    def whole(self, key: str, low: int, high: int, unit: str = "", default: int | None = None) -> int:
        """A whole number within the bounds."""
        value = self.value(key, default)
        if value is None:
            return low
        if not isinstance(value, int) or isinstance(value, bool):
            self.problem(key, f"must be a whole number, got {shown(value)}.")
        elif not low <= value <= high:
            self.problem(key, f"must be {low} to {high}{unit and ' ' + unit}, got {shown(value)}.")
        else:
            return value
        return low

    def number(self, key: str, low: float, high: float, unit: str = "", default: float | None = None) -> float:
        """A number within the bounds."""
        value = self.value(key, default)
        if value is None:
            return low
        if not is_number(value):
            self.problem(key, f"must be a number, got {shown(value)}.")
        elif not low <= value <= high:
            self.problem(key, f"must be {low:.15g} to {high:.15g}{unit and ' ' + unit}, got {shown(value)}.")
        else:
            return float(value)
        return low

    def truth(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self.value(key, default)
        if isinstance(value, bool):
            return value
        self.problem(key, f"must be true or false, got {shown(value)}.")
        return default

    def text(self, key: str, most: int, default: str | None = None) -> str:
        """One line of text that is not empty (unless that is its default) and not longer than `most`."""
        value = self.value(key, default)
        if value is None or value == default:
            return value or ""
        if not isinstance(value, str):
            self.problem(key, f"must be text in quotes, got {shown(value)}.")
        elif not value.strip():
            self.problem(key, f"must not be empty, got {shown(value)}.")
        elif not value.isprintable():
            self.problem(key, f"must be one line of printable text, got {shown(value)}.")
        elif len(value) > most:
            self.problem(key, f"must have at most {most} characters, got {len(value)}.")
        else:
            return value
        return ""

    def names(
        self, key: str, kind: str, known: Collection[str], *, empty: bool = False, twice: bool = False
    ) -> tuple[str, ...]:
        """A list of known names."""
        value = self.value(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            self.problem(key, f'must be a list of names, such as ["a", "b"], got {shown(value)}.')
            return ()
        if not value and not empty:
            self.problem(key, "must have at least one name, got an empty list.")
        for number, name in enumerate(value):
            at: KeyPath = (*self.at, key, number)
            if known and name not in known:
                self.toml.problem(at, f"{self.title} {key}: {unknown_name(kind, name, known)}")
            elif name in value[:number] and not twice:
                self.toml.problem(at, f"{self.title} {key} must list each name once, got {name!r} twice.")
        return tuple(value)

    def name(self, key: str, kind: str, known: Collection[str]) -> str:
        """One known name."""
        value = self.value(key)
        if value is not None and not isinstance(value, str):
            self.problem(key, f"must be text in quotes, got {shown(value)}.")
        elif value is not None and known and value not in known:
            self.toml.problem((*self.at, key), f"{self.title} {key}: {unknown_name(kind, value, known)}")
        return value if isinstance(value, str) else ""

"""Line numbers of settings in a TOML file, which the standard reader does not keep."""

from __future__ import annotations

import re
import tomllib

type KeyPath = tuple[str | int, ...]
"""The path of a value: names of tables and keys, and numbers (from 0) of items in lists."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[^\s.=\[\]"\']+')
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_TEXT = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\[\]{}\n#]+")


def lines_of(text: str) -> dict[KeyPath, int]:
    """The line, from 1, of every table, key and list item in a text that `tomllib` accepts."""
    return _Scanner(text).lines


class _Scanner:
    """Walks once through a text known to be valid TOML, so it only has to tell its parts apart."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self._counted_to = 0
        self._line = 1
        self._lists: dict[KeyPath, int] = {}  # lists of tables, [[name]], and how many tables they have so far
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.at < len(text):
            if text[self.at] == "[":
                table = self._header()
            else:
                self._setting(table)
            self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def _take(self, mark: str) -> bool:
        """Skip blanks, and the mark if it comes next; returns whether it did."""
        self._skip(_BLANK)
        here = self.text.startswith(mark, self.at)
        self.at += len(mark) if here else 0
        return here

    def _here(self) -> int:
        self._line += self.text.count("\n", self._counted_to, self.at)
        self._counted_to = self.at
        return self._line

    def _key(self) -> list[str]:
        """The parts of a key, `a.b."c d"`."""
        self._skip(_BLANK)
        parts = []
        while True:
            part = self._skip(_KEY)
            parts.append(tomllib.loads(f"key = {part}")["key"] if part[:1] in ("'", '"') else part)
            if not self._skip(_DOT):
                return parts

    def _header(self) -> KeyPath:
        """The path of [name] or [[name]]."""
        line = self._here()
        many = self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        path: KeyPath = ()
        for part in self._key():
            path = self._last_of(path)
            path = (*path, part)
            self.lines.setdefault(path, line)
        self._take("]]" if many else "]")
        if many:
            self._lists[path] = self._lists.get(path, 0) + 1
            path = self._last_of(path)
        self.lines[path] = line
        return path

    def _last_of(self, path: KeyPath) -> KeyPath:
        """The path that a longer name continues: within a list of tables, that of the last one."""
        return (*path, self._lists[path] - 1) if path in self._lists else path

    def _setting(self, table: KeyPath) -> None:
        line = self._here()
        path = table
        for part in self._key():
            path = (*path, part)
            self.lines.setdefault(path, line)
        self._take("=")
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._skip(_BLANK)
        if self._take("["):
            number = 0
            while not self._take("]"):
                self.lines[(*path, number)] = self._here()
                self._value((*path, number))
                self._take(",")
                number += 1
        elif self._take("{"):
            while not self._take("}"):
                self._setting(path)
                self._take(",")
        elif not self._skip(_TEXT):
            self._skip(_PLAIN)

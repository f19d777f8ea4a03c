"""Settings of a block as they apply under some levels of factors: what is wrong is told where it stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import shown
from explorelab.errors import unknown_name
from explorelab.study.config.fields import Table

VARIED = (
    "task", "choices", "counts", "deadline_ms", "dynamic", "layout", "labels", "colours", "pictures", "places", "rewards",
    "foregone", "outcome_ms", "advice",
)  # fmt: skip
"""Settings of a block that factors may change."""
SETTINGS = (*VARIED, "repeat", "order")


class Settings(Table):
    """A table [blocks.NAME] in which levels of factors replace some settings."""

    def __init__(self, base: Table, levels: Sequence[Table] = ()) -> None:
        self._from = {key: level for level in levels for key in level.values}
        values = {**base.values, **{key: level.values[key] for key, level in self._from.items()}}
        super().__init__(base.toml, base.title, base.at, values, base.there)

    def problem(self, key: str, sentence: str) -> None:
        """Something is wrong with this key ("": with the block)."""
        level = self._from.get(key)
        if level is None:
            super().problem(key, sentence)
        else:
            level.problem(key, sentence)

    def one_of[Name: str](self, key: str, kind: str, known: Collection[Name], default: Name | None = None) -> Name:
        """One of these names; the default, or the first of them, if it is none."""
        value = self.value(key, default)
        for name in known:
            if name == value:
                return name
        if value is not None and not isinstance(value, str):
            self.problem(key, f"must be text in quotes, got {shown(value)}.")
        elif value is not None:
            self.problem(key, f"must name a {kind}: {unknown_name(kind, value, known)}")
        return next(iter(known)) if default is None else default

    def listed(self, key: str, what: str, n: int) -> list[Unchecked] | None:
        """A list with something for each of so many arms; None if there is none, or a wrong one."""
        if key not in self.values:
            return None
        value = self.values[key]
        if not isinstance(value, list):
            self.problem(key, f"must be a list of {what}, got {shown(value)}.")
        elif len(value) != n:
            self.problem(key, f"must have {n}, one for each arm, got {len(value)}.")
        else:
            return value
        return None

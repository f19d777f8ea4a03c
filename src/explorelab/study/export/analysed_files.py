"""The files of choices while they are written: choices.csv or, of blocks with different arms, several."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.export import choices_file, own_choices
from explorelab.study.export.cells import Table
from explorelab.study.export.own_choices import Begun, Blocks
from explorelab.study.export.rows import cells_of
from explorelab.study.session.choice_fields import ANALYSED, Cell, ChoiceRead


class AnalysedFile:
    """One file of choices."""

    def __init__(self, table: Table, cells: Callable[[ChoiceRead], tuple[Cell, ...]], blocks: Blocks | None = None) -> None:
        self.table = table
        self._cells, self._blocks = cells, blocks
        self._begun: dict[Begun, None] = {}

    def add(self, choice: ChoiceRead) -> None:
        """One more choice."""
        self.table.add(self._cells(choice))
        if self._blocks is not None:
            self._begun[own_choices.begun(choice)] = None

    def finish(self) -> None:
        """Write the means beside it, if they change."""
        blocks = self._blocks
        if blocks is None or "trial" not in own_choices.means_by(blocks):
            return
        path = self.table.path.with_name(f"{blocks.stem}-means.csv")
        with Table(path, own_choices.means_columns(blocks)) as means:
            for row in own_choices.means_rows(blocks, self._begun):
                means.add(row)


class Analysed:
    """All files of choices, by what the blocks in them are played on."""

    def __init__(self, files: Mapping[str, AnalysedFile]) -> None:
        self._files = files

    @property
    def columns(self) -> list[str]:
        """The columns of all of them."""
        return list(dict.fromkeys(name for file in self._files.values() for name in file.table.names))

    @property
    def n(self) -> int:
        """How many choices are in them."""
        return sum(file.table.n for file in dict.fromkeys(self._files.values()))

    def add(self, choice: ChoiceRead) -> None:
        """One more choice that counts."""
        file = self._files.get(choice.row.scene)
        if file is None:
            block, known = choice.row.scene or "those of the paper's design", ", ".join(self._files) or "none"
            raise InputError(f"study.toml must describe every block that was played: expected {block!r}, got {known}.")
        file.add(choice)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for file in dict.fromkeys(self._files.values()):
            file.table.__exit__(kind, error, trace)
            if error is None:
                file.finish()


def analysed_files(study: Study, own: list[Blocks], folder: Path, pilots: str, advice: bool) -> Analysed:
    """The files of choices of a study; `own` is what is in which file, if the study has blocks of its own."""
    if study.design is None:
        names = choices_file.columns(pilots, advice)
        return Analysed({"": AnalysedFile(Table(folder / "choices.csv", names), cells_of(names, ANALYSED))})
    files: dict[str, AnalysedFile] = {}
    for blocks in own:
        names = own_choices.columns(study, blocks, pilots, advice)
        table = Table(folder / f"{blocks.stem}.csv", names)
        files |= dict.fromkeys(
            (plan.scene for plan in blocks.plans), AnalysedFile(table, own_choices.cells(study, blocks, names), blocks)
        )
    return Analysed(files)

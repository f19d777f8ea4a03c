"""A study's data as files: everything, the same every time, after Psych-DS, and as `explorelab check` and `fit` read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from sqlalchemy import Connection, Engine

from explorelab._support import checks
from explorelab._support.counted import counted, plural
from explorelab._support.progress import Progress
from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.database.tables import choices, events
from explorelab.study.export import choices_file, own_choices, page_rows, psychds, readme, rows
from explorelab.study.export.analysed_files import analysed_files
from explorelab.study.export.cells import Table
from explorelab.study.export.export_folder import CHECKSUMS, new_folder
from explorelab.study.export.rows import Included, LeftOut, Played, snapshot
from explorelab.study.session.choice_fields import ALL, Cell
from explorelab.study.session.doubts import doubted as reasons_of
from explorelab.study.session.pages.exclusions import excluded as reasons_to_exclude
from explorelab.study.session.pages.exclusions import failed_checks
from explorelab.study.session.stages import Stage

type Pilots = Literal["without", "with", "only"]
type Doubted = Literal["without", "with"]
type Excluded = Literal["without", "with"]

IGNORED = ("choices.csv", "choices.toml", "doubted.csv", CHECKSUMS)
"""Files that Psych-DS validators should skip."""


class Exported(NamedTuple):
    """What was written."""

    out: Path
    choices: Path
    """The file for `explorelab check`, `fit` and `report`."""
    files: tuple[Path, ...]
    n_people: int
    n_blocks: int
    n_choices: int
    """All choices, training included."""
    n_task_choices: int
    """Those in `choices`."""
    n_short: int
    """Task blocks with choices, but fewer than planned."""
    n_events: int
    left_out: LeftOut
    pilots: Pilots
    n_doubted: int
    """People who may not have played by hand or in time, listed in doubted.csv."""
    doubted: Doubted
    n_excluded: int | None
    """People to whom the study's rules of exclusion apply; None if it states none."""
    excluded: Excluded

    def lines(self) -> list[str]:
        """The summary that is printed."""
        of_people = f"{counted(self.n_people, *readme.WHO[self.pilots])}, {counted(self.n_choices, 'choice')}"
        told = [f"{of_people} ({self.n_task_choices} in task blocks)."]
        out = self.left_out
        deleted = f"{out.withdrawn} withdrew or {plural(out.withdrawn, 'was', 'were')} deleted"
        told.append(f"Not included: {out.declined} declined, {deleted}, {out.undecided} did not answer.")
        if self.n_doubted:
            where = "Not in choices.csv" if self.doubted == "without" else "Included in choices.csv"
            some = counted(self.n_doubted, "person", "people")
            told.append(f"{where}: {some} who may not have played by hand or in time; see doubted.csv.")
        if self.n_excluded:
            what = "To be left out by the study's rules" if self.excluded == "without" else "Kept against the study's rules"
            told.append(f"{what}: {counted(self.n_excluded, *readme.WHO[self.pilots])}; the column excluded says why.")
        if self.pilots == "without" and out.pilots:
            only = "Only robots have taken part so far" if not self.n_people else "Robots are left out"
            told.append(f"{only} ({out.pilots}): export them with --pilots only or --pilots with.")
        if not self.n_task_choices:
            told.append("No task block has a choice yet, so choices.csv has nothing to analyse.")
        return told


def export_study(
    study: Study,
    engine: Engine,
    out: Path,
    *,
    pilots: Pilots = "without",
    doubted: Doubted = "without",
    excluded: Excluded = "without",
    progress: bool | None = None,
) -> Exported:
    """Write a study's data to a folder, from one state of the database, completely or not at all.

    Everyone who agreed to take part and did not ask for deletion is in it, under their random code; what platforms call
    people is not. `pilots` says what happens to robots, `doubted` whether people who may not have played by hand or in time
    are in choices.csv; they are in all other files. `excluded` says whether the files for analyses ask to leave out those to
    whom the study's rules apply; they are in these files in any case. An earlier export in `out` is replaced, nothing else.
    """
    checks.one_of("doubted", doubted, dict.fromkeys(["without", "with"], 0))
    checks.one_of("excluded", excluded, dict.fromkeys(["without", "with"], 0))
    checks.one_of("pilots", pilots, dict.fromkeys(["without", "with", "only"], 0))
    with new_folder(Path(out)) as folder, snapshot(engine) as connection:
        return _Export(study, connection, pilots, doubted, excluded, folder, progress).all(Path(out))


class _Export:
    """A running export."""

    def __init__(
        self, study: Study, connection: Connection, pilots: Pilots, doubted: Doubted, excluded: Excluded, folder: Path,
        shown: bool | None,
    ) -> None:  # fmt: skip
        self.study, self.connection, self.folder, self.shown = study, connection, folder, shown
        self.doubted, self.doubts = doubted, reasons_of(connection)
        self.excluded, self.why_excluded = excluded, reasons_to_exclude(connection, study.exclude)
        self.advice = rows.with_advice(connection, study)
        self.pilots, self.included = pilots, Included(pilots)
        self.own = [] if study.design is None else own_choices.files_of_choices(study.design)
        self.tables: dict[str, tuple[str, int]] = {}
        self.columns: list[str] = []

    def all(self, out: Path) -> Exported:
        """Write every file."""
        study, connection, included = self.study, self.connection, self.included
        (self.folder / "data").mkdir()
        (self.folder / "materials").mkdir()
        played = rows.played(connection, included)
        self._describe_tasks(played)
        n_all = {table.name: included.n(connection, table) for table in (choices, events)}
        with Progress("Exporting", sum(n_all.values()), self.shown) as bar:
            people = rows.participant_rows(connection, included, study, self.doubts)
            n_people = self._people(people)
            self._table("consents", rows.CONSENTS, rows.consent_rows(connection, included))
            n_short = self._blocks()
            n_task = self._choices(bar)
            n_events = self._table("events", rows.EVENTS, rows.event_rows(connection, included), bar)
            self._table("landscapes", rows.LANDSCAPES, rows.landscape_rows(study))
            if study.design is not None:
                self._table("arms", own_choices.ARMS, own_choices.arm_rows(study.design))
            self._pages()
        n_choices = self.tables["choices"][1]
        if n_choices != n_all["choices"]:
            without = n_all["choices"] - n_choices
            raise InputError(
                f"the database must hold the block of every choice, got {counted(without, 'choice')} without one."
            )
        left_out, n_doubted = rows.left_out(connection, included), self._doubted()
        n_excluded = self._n_excluded()
        self._words(played, n_people, n_task, n_short, n_doubted, n_excluded, left_out)
        files = sorted(path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return Exported(
            out, out / "choices.csv", tuple(out / path for path in [*files, Path(CHECKSUMS)]), n_people,
            self.tables["blocks"][1], n_choices, n_task, n_short, n_events, left_out, self.pilots,
            n_doubted, self.doubted, n_excluded, self.excluded,
        )  # fmt: skip

    def _open(self, name: str, columns: tuple[str, ...]) -> Table:
        file = psychds.data_name(self.study.name, name)
        self.tables[name] = (file, 0)
        self.columns += columns
        return Table(self.folder / "data" / file, columns)

    def _table(
        self, name: str, columns: tuple[str, ...], rows: Iterable[tuple[Cell, ...]], bar: Progress | None = None
    ) -> int:
        with self._open(name, columns) as table:
            for row in rows:
                table.add(row)
                if bar is not None:
                    bar.advance()
        self.tables[name] = (table.path.name, table.n)
        return table.n

    def _describe_tasks(self, played: Played) -> None:
        """Write what is known of the arms, beside each file of choices."""
        study, pilots = self.study, self.included.pilots
        for own in self.own:
            self._text(f"{own.stem}.toml", own_choices.task_toml(study, own, pilots))
        if study.design is None:
            self._text("choices.toml", choices_file.task_toml(study, played, pilots))

    def _people(self, people: Iterator[tuple[Cell, ...]]) -> int:
        """Write the table of people; with what they did on pages, and why they are to be left out."""
        pages, rules = page_rows.with_pages(self.connection, self.study), self.study.exclude is not None
        columns = (*rows.PARTICIPANTS, *(["failed_checks"] if pages else []), *([page_rows.EXCLUDED] if rules else []))
        failed = rows.by_code(self.connection, failed_checks(self.connection))
        why = rows.by_code(self.connection, self.why_excluded)
        more = (
            (
                *row,
                *([failed.get(str(row[0]), 0)] if pages else []),
                *([" ".join(why.get(str(row[0]), ()))] if rules else []),
            )
            for row in people
        )
        return self._table("participants", columns, more)

    def _blocks(self) -> int:
        """Write the table of blocks; returns how many task blocks have choices, but fewer than planned."""
        kind, n_choices, n_trials = (rows.BLOCKS.index(name) for name in ("kind", "n_choices", "n_trials"))
        n_short = 0
        with self._open("blocks", rows.block_columns(self.advice, self.study.design)) as table:
            for row in rows.block_rows(self.connection, self.included, self.study, self.advice):
                table.add(row)
                n_short += row[kind] == "task" and 0 < row[n_choices] < row[n_trials]
        self.tables["blocks"] = (table.path.name, table.n)
        return n_short

    def _choices(self, bar: Progress) -> int:
        """Write every choice to the complete table, and task choices to choices.csv; returns how many of the latter."""
        every = rows.choice_columns(self.advice, self.study.design)
        cells = rows.cells_of(every, ALL, self.study.design)
        without = self.doubts if self.doubted == "without" else {}
        analysed = analysed_files(self.study, self.own, self.folder, self.included.pilots, self.advice)
        self.columns += analysed.columns
        with self._open("choices", every) as complete, analysed:
            for choice in rows.choices_of(self.connection, self.included, self.study):
                complete.add(cells(choice))
                if choice.block is not None and choice.row.person not in without:
                    analysed.add(choice)
                bar.advance()
        self.tables["choices"] = (complete.path.name, complete.n)
        return analysed.n

    def _pages(self) -> None:
        """Write what people did on the study's own pages, and who is to be left out of analyses."""
        study, connection, included = self.study, self.connection, self.included
        if page_rows.with_pages(connection, study):
            self._table("pages", page_rows.PAGES, page_rows.page_rows(connection, included))
            self._table("answers", page_rows.ANSWERS, page_rows.answer_rows(connection, included, study))
            self._table("questions", page_rows.QUESTIONS, page_rows.question_rows(study))
        if study.exclude is not None:
            why = rows.by_code(connection, self.why_excluded)
            page_rows.add_exclusions(self.folder, why, self.excluded == "without")
            self.columns.append(page_rows.EXCLUDED)

    def _n_excluded(self) -> int | None:
        """How many of the people in the export are to be left out; None without rules."""
        if self.study.exclude is None:
            return None
        return rows.n_among(self.connection, self.included, self.why_excluded)

    def _doubted(self) -> int:
        """Write the list of doubted people; returns how many there are."""
        with Table(self.folder / "doubted.csv", rows.DOUBTED) as table:
            for row in rows.doubted_rows(self.connection, self.included, self.doubts):
                table.add(row)
        return table.n

    def _words(
        self,
        played: Played,
        n_people: int,
        n_task: int,
        n_short: int,
        n_doubted: int,
        n_excluded: int | None,
        left_out: LeftOut,
    ) -> None:
        """Write the texts that people read, and the description of the files."""
        study, pilots = self.study, self.pilots
        tasks = [study.landscapes[name] for name in played.landscapes if name in study.landscapes]
        told = readme.description(study, n_people, pilots, choices_file.notes(tasks, played, pilots))
        about = readme.about(study, told, rows.period(self.connection, self.included))
        own = {} if study.design is None else psychds.own_variables(study.design)
        self._text("dataset_description.json", psychds.description_json(about, self.columns, own))
        doubts = readme.doubts_told(n_doubted, self.doubted)
        if study.exclude is not None:
            doubts = f"{doubts}\n\n{readme.exclusions_told(n_excluded or 0, self.excluded)}"
        self._text("README.md", readme.readme(study, told, self.tables, n_task, n_short, left_out, pilots, doubts))
        more = [f"{file.stem}{end}" for file in self.own for end in (".csv", ".toml", "-means.csv")]
        ignored = [*IGNORED, *(name for name in more if name not in IGNORED and (self.folder / name).exists())]
        self._text(".psychdsignore", "".join(f"{name}\n" for name in ignored))
        for version, text in rows.consent_texts(self.connection, self.included):
            self._text(rows.text_file(version), text)
        for language, spoken in (study.versions or {"": study}).items():
            (self.folder / "materials" / language).mkdir(exist_ok=True)
            for name, text in sorted(spoken.texts.pages.items()):
                if name != Stage.CONSENT and text:
                    self._text(str(Path("materials", language, f"{name}.md")), text)
        for name, data in sorted(study.files.items()):
            file = self.folder / "materials" / "study" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)

    def _text(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8", newline="")

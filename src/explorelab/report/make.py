"""Make a report: from choices to one page, all or nothing."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from explorelab._support.door import door
from explorelab._support.progress import steps
from explorelab._support.whole_folders import nearest_folder, workshop
from explorelab._support.work.units import long_work
from explorelab.agents import Agent
from explorelab.agents.own.neighbours import neighbours
from explorelab.agents.own.saved import origin_of, written
from explorelab.choices.reading import CheckReport, check_choices
from explorelab.choices.table import Choices
from explorelab.choices.task_file import AnyTask
from explorelab.errors import InputError
from explorelab.plots.style import save, style
from explorelab.report import repeat
from explorelab.report.analysis import STEPS, Analysis, analysed
from explorelab.report.methods import methods
from explorelab.report.place import Place, place_for, put
from explorelab.report.report_page import Shown, render
from explorelab.report.report_settings import settings_for
from explorelab.report.section import Section


@door
@long_work
def write_report(
    choices: Choices | str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: Path | str = "report.html",
    *,
    task: AnyTask = None,
    agents: Sequence[str | Agent] | None = None,
    agent: str | Agent | None = None,
    method: str = "map",
    within: str | None = None,
    effects: str | Mapping[str, str] | None = None,
    n_starts: int = 10,
    seed: int = 0,
    quick: bool = False,
    figures: Path | str | None = None,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Path:
    """Write a report on people's choices as one self-contained HTML file and return its path.

    Every figure is also written as SVG, PNG and CSV, along with the tables of all people. Nothing is written until
    everything is done.

    Parameters
    ----------
    choices
        File of choices, several of them, or choices that have been read.
    out
        HTML file to write.
    task
        Description of the task if `choices` is a file, as in `read_choices`.
    agents
        Agents to compare, or their names, which may fix parameters ("stochastic-ucl:length_scale=0") and name a file of your
        own ("my_model.py:two_rates").
    agent
        The one of `agents` whose parameters are reported; by default the one with the most evidence.
    method
        Method of the fit: "map" or "em".
    within
        Name of a condition: predict each left-out block only from blocks of the same condition.
    effects
        How parameters of the reported agent depend on conditions, as in "temperature ~ group" (see `fit`); estimated by "em"
        whatever the method. By default, the agent with the most evidence among those that have these parameters is reported.
    n_starts
        Number of starting points per person.
    seed
        Same seed, same result.
    quick
        Use few starts and simulations: a preview, not a result.
    figures
        Folder for figures and tables; by default the page's name plus _files.
    progress
        Whether to show progress; by default only on a terminal.
    executor
        Where the work is done: any object with the interface of `concurrent.futures`, such as `xl.workers(4)` or a Dask
        client's `get_executor()`; by default here. The result does not depend on it.
    resume
        Folder for what is finished, from which a run that was stopped goes on; by default nothing is kept.
    """
    place = place_for(out, figures)
    read, check, paths = _read(choices, task)
    settings = settings_for(read, agents, agent, method, within, n_starts, seed, quick, effects)
    step = steps(STEPS + 1, progress)
    found = analysed(read, settings, check, step, progress)
    step("Page and figures")
    compared, reported = ",".join(map(written, settings.asked.values())), None if agent is None else written(agent)
    given = {
        "task": _task_name(task), "agents": compared, "agent": reported, "method": method, "within": within,
        "effects": settings.effects, "starts": n_starts, "seed": seed, "quick": quick,
        "figures": None if figures is None else place.link("").rstrip("/"),
    }  # fmt: skip
    told = repeat.command(paths, place.page, given)
    files = {name: sha for path in paths for name, sha in _fingerprints(path, task).items()}
    _write(found, place, told, files | _model_files(settings.models.values()))
    return place.page


def _read(choices: object, task: AnyTask) -> tuple[Choices, CheckReport | None, tuple[Path, ...]]:
    if isinstance(choices, Choices):
        return choices, None, ()
    given = choices if isinstance(choices, list | tuple) else [choices]
    several = [one for one in given if isinstance(one, str | os.PathLike)]
    if not several or len(several) < len(given):
        raise InputError(f"choices must be a file or the result of read_choices, got {type(choices).__name__}.")
    check = check_choices(several, task)
    if check.choices is None:
        raise InputError(check.message())
    paths = tuple(Path(one) for one in several)
    return replace(check.choices, source=", ".join(path.name for path in paths)), check, paths


def _task_name(task: AnyTask) -> str | None:
    return Path(task).name if isinstance(task, str | os.PathLike) else None


def _fingerprints(path: Path, task: AnyTask) -> dict[str, str]:
    """The SHA-256 of each file that was read, by name."""
    beside = Path(task) if isinstance(task, str | os.PathLike) else path.with_suffix(".toml")
    if not beside.is_file():
        return {path.name: repeat.fingerprint(path)} if path.is_file() else {}
    named = tomllib.loads(beside.read_text(encoding="utf-8-sig")).get("task", {})
    more = [beside.parent / named[key] for key in ("means", "coordinates") if isinstance(named.get(key), str)]
    return {each.name: repeat.fingerprint(each) for each in (path, beside, *more) if each.is_file()}


def _model_files(agents: Iterable[Agent]) -> dict[str, str]:
    """The SHA-256 of each file with an agent of the user's own, and of those that it imports beside it."""
    files = {Path(origin.partition(".py:")[0] + ".py") for each in agents if (origin := origin_of(each))}
    files |= {beside for file in files for beside in neighbours(file)}
    return {file.name: repeat.fingerprint(file) for file in sorted(files) if file.is_file()}


def _write(found: Analysis, place: Place, told: str, files: dict[str, str]) -> None:
    has = repeat.versions()
    with style():
        sections = [*sections_of(found), repeat.repeat_section(found, told, files, has)]
    with workshop(place.folder, "report", within=nearest_folder(place.folder)) as aside:
        shown = []
        for section in sections:
            saved = {each.name: save(each.drawing.figure, each.drawing.data, aside / each.name) for each in section.pictures}
            for name, table in section.files.items():
                table.to_csv(aside / f"{name}.csv", index=False, float_format="%.8g")
            shown.append(Shown(section, saved))
        page = render(found, shown, methods(found, has), place)
        put(aside, place, page)


def sections_of(found: Analysis) -> list[Section]:
    """The sections on data, people and models, in the order of the report."""
    from explorelab.report.sections.advice_section import advice_section
    from explorelab.report.sections.comparison_section import comparison_section
    from explorelab.report.sections.conditions_section import conditions_section
    from explorelab.report.sections.data_section import data_section
    from explorelab.report.sections.effects_section import effects_section
    from explorelab.report.sections.fits_section import fits_section
    from explorelab.report.sections.prediction_section import prediction_section
    from explorelab.report.sections.recovery_section import recovery_section
    from explorelab.report.sections.regret_section import regret_section

    makers = (
        data_section, regret_section, advice_section, fits_section, comparison_section, conditions_section, effects_section,
        recovery_section, prediction_section,
    )  # fmt: skip
    return [section for section in (make(found) for make in makers) if section is not None]

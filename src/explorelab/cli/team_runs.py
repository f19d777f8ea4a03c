"""The work behind the command team: read, call one function, write and print."""

from __future__ import annotations

import json
from pathlib import Path

import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted
from explorelab._support.files import write_whole
from explorelab.cli.tables.terminal_table import print_table
from explorelab.companions.team import simulate_team, team_summary
from explorelab.errors import InputError
from explorelab.fitting.fit_people import load_fit
from explorelab.plots.style import write_figure
from explorelab.plots.team_figure import draw_team
from explorelab.simulation.run_file import build_task, read_spec
from explorelab.tasks import Task, landscape, profile

PAPER = {"landscape": landscape, "profile": profile}
"""The paper's tasks, by the word before the colon."""


def task_named(text: str) -> Task:
    """The task: one of the paper's, as in landscape:B, or that of a TOML file."""
    kind, colon, name = text.partition(":")
    if colon and kind in PAPER:
        return PAPER[kind](name)
    if not Path(text).is_file():
        raise InputError(f"--task must be one of the paper's tasks, such as landscape:B, or a TOML file, got {text!r}.")
    return build_task(read_spec(Path(text)).task)


def simulated(
    task: Task,
    people: Path | None,
    group: Path | None,
    policies: str,
    follow: str,
    n: int,
    horizon: int,
    seed: int,
) -> xr.Dataset:
    """The teams' regrets."""
    return simulate_team(
        task,
        people=None if people is None else load_fit(people),
        group=None if group is None else load_fit(group),
        policies=[name.strip() for name in policies.split(",") if name.strip()],
        follow=[_chance(each) for each in follow.split(",")],
        n_people=n,
        horizon=horizon,
        seed=seed,
    )


def _chance(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--follow must be numbers from 0 to 1, separated by commas, got {text!r}.") from None


def deliver(result: xr.Dataset, out: Path | None, figure: Path | None, as_json: bool) -> None:
    """Write the requested files and print the result."""
    if out is not None:
        write_whole(out, lambda path: result.to_netcdf(path, engine="h5netcdf"))
    if figure is not None:
        write_figure(lambda: draw_team(result), figure)
    if as_json:
        print(json.dumps(team_summary(result), allow_nan=False))
    else:
        _show(result)


def _show(result: xr.Dataset) -> None:
    """Print a row for each kind of person, probability of following and policy."""
    headings = (
        "person",
        "follows",
        "advice",
        "regret",
        "SE",
        "against none, %",
        "95 %",
        "against impersonal, %",
        "95 %",
        "silent, %",
    )
    rows = []
    for team in team_summary(result)["teams"]:
        cells = [
            team["kind"],
            f"{team['follow']:g}",
            team["policy"],
            f"{team['regret']:.0f}",
            f"{team['standard_error']:.0f}",
        ]
        for base in ("none", "impersonal"):
            found = team.get(f"vs_{base}")
            cells += ["", ""] if found is None else [f"{found[0]:+.1f}", f"{found[1]:+.1f} to {found[2]:+.1f}"]
        rows.append([*cells, f"{100 * team['silent']:.0f}"])
    console = Console(highlight=False)
    print_table(console, headings, rows, words=(0, 2), plain=True)
    about = result.attrs
    console.print(
        f"{counted(about['n'], 'person', 'people')} of each kind, {counted(about['horizon'], 'choice')} on {about['task']}; "
        f"the adviser alone: {float(result.expert_alone.mean()):.0f}. The oracle knows the best arm and always suggests it.",
        soft_wrap=True,
    )

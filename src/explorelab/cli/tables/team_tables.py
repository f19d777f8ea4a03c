"""Table of simulated teams."""

from __future__ import annotations

import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted
from explorelab.cli.tables.terminal_table import print_table
from explorelab.companions.team.team_result import team_summary


def show_team(result: xr.Dataset) -> None:
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

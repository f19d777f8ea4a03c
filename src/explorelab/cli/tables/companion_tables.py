"""Tables on assessments and forecasts."""

from __future__ import annotations

import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted
from explorelab._support.written_numbers import JsonObject, finite_or_none
from explorelab.cli.tables.terminal_table import percent, print_table
from explorelab.companions.assessment.assess import assessment_summary

KNOWING = {"": "the person too", "_group": "the group alone", "_table": "how far others moved"}
"""What forecasts know, by the ending of their attributes."""


def forecast_summary(found: xr.Dataset) -> JsonObject:
    """What `--json` prints: nats a choice, R2 and the number of people first."""
    first = ("nats_per_choice", "r2", "n_people")
    order = (*first, *(name for name in found.attrs if name not in first))
    return {name: finite_or_none(value) if isinstance(value := found.attrs[name], float) else value for name in order}


def show_forecast(found: xr.Dataset) -> None:
    """Print how well choices were predicted, by what was known."""
    told, console = found.attrs, Console()
    people, folds = counted(told["n_people"], "person", "people"), told["n_folds"]
    console.print(f"[bold]{told['agent']}[/bold], {people} in {folds} folds, {counted(told['n_choices'], 'choice')}",
                  highlight=False)  # fmt: skip
    rows = [
        [
            name,
            f"{told[f'nats_per_choice{ending}']:.3f}",
            f"{told[f'nats_standard_error{ending}']:.3f}",
            f"{told[f'r2{ending}']:.3f}",
        ]
        for ending, name in KNOWING.items()
    ]
    print_table(console, ("predicted from", "nats a choice", "s.e.", "R²"), rows)


def show_assessment(found: xr.Dataset) -> None:
    """Print who loses how, and the weaknesses of the group."""
    told, console = assessment_summary(found), Console()
    people, blocks = counted(told["n_people"], "person", "people"), counted(told["n_blocks"], "block")
    console.print(f"[bold]{told['agent']}[/bold], {people}, {blocks}, {told['nats_per_choice']:.3f} nats a choice",
                  highlight=False)  # fmt: skip
    forms = ", ".join(f"{form} {n}" for form, n in told["forms"].items())
    console.print(f"Regret at the end of a block: {forms}.", highlight=False)
    rows = [
        [name, percent(one["share"]), "" if one["mean_cost"] is None else f"{one['mean_cost']:.0f}"]
        for name, one in told["weaknesses"].items()
    ]
    if rows:
        print_table(
            console, ("weakness", "people", "costs in a block"), rows, caption="costs: mean over those who probably have it."
        )

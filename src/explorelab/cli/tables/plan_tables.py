"""Tables of a plan."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted
from explorelab.cli.tables.terminal_table import percent, print_table


def show_plan(result: xr.Dataset) -> None:
    """Print a row for each design, the powers that were found, and the sentences for a preregistration."""
    console = Console(highlight=False)
    headings, rows = _answers(result)
    print_table(console, headings, rows, plain=True)
    people = result["people"].values
    powers = []
    for d, name in enumerate(result["design"].values):
        one = result.isel(design=d)
        for n in people[np.isfinite(one["power"].values)]:
            at = one.sel(people=n)
            powers.append([str(name), f"{n:.0f}", percent(at["power"].item()), _range(at, "power"),
                           f"{at['studies'].item():.4g}"])  # fmt: skip
    what = "power: share of studies that succeed"
    worth = "worth: independent studies that it is worth" if result.attrs["purpose"] != "effect" else ""
    print_table(console, ("design", "people", "power", "95 %", "studies"), powers, plain=True)
    console.print("; ".join(part for part in (what, worth) if part) + ".", soft_wrap=True)
    for sentence in result["sentence"].values:
        console.print()
        console.print(str(sentence), soft_wrap=True, markup=False)


def _answers(result: xr.Dataset) -> tuple[list[str], list[list[str]]]:
    """The main table: what each design needs and finds."""
    purpose = result.attrs["purpose"]
    columns = {
        "effect": [("false alarms", "false_alarms", True)],
        "recover": [("ρ", "rank_correlation", False), ("coverage", "coverage", True), ("width", "width", False)],
        "agents": [("identified", "correct_all", True)],
    }[purpose]
    shown = [column for column in columns if column[1] in result]
    headings = ["design", "choices", f"people for {100 * result.attrs['power']:g} %", "95 %"]
    for title, *_ in shown:
        headings += [title, "95 %"]
    generated = [str(name) for name in result["generated"].values] if purpose == "agents" else []
    headings += generated
    rows = []
    for d, name in enumerate(result["design"].values):
        one = result.isel(design=d)
        row = [str(name), counted(one["n_choices"].item(), "choice").split()[0], _people(one["needed"].item()), _needed(one)]
        for _, variable, in_percent in shown:
            value = one[variable].item()
            row += [percent(value) if in_percent else f"{value:.2f}", _range(one, variable, in_percent)]
        rows.append([*row, *(percent(one["correct"].sel(generated=g).item()) for g in generated)])
    return headings, rows


def _people(value: float) -> str:
    return "" if np.isnan(value) else "more" if np.isinf(value) else f"{value:.0f}"


def _needed(one: xr.Dataset) -> str:
    low, high = one["needed_low"].item(), one["needed_high"].item()
    return "" if np.isnan(low) else f"{_people(low)} – {_people(high)}"


def _range(one: xr.Dataset, name: str, in_percent: bool = True) -> str:
    low, high = one[f"{name}_low"].item(), one[f"{name}_high"].item()
    if np.isnan(low):
        return ""
    return f"{100 * low:.0f} – {100 * high:.0f} %" if in_percent else f"{low:.2f} – {high:.2f}"

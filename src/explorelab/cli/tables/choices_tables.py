"""Tables on a file of choices and its phenotypes."""

from __future__ import annotations

import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted, plural
from explorelab.choices.reading import CheckReport
from explorelab.cli.tables.terminal_table import percent, print_table, short
from explorelab.regret import paper_people
from explorelab.regret.phenotype_summary import beside_paper, summary, why_none

COUNTED = {
    "participants": "participant", "blocks": "block", "trials": "trial", "scored": "", "missed": "", "forced": "",
    "arms": "arm", "advised": "", "followed": "",
}  # fmt: skip
"""The counts shown for a file that has them, with their singular where it differs."""
MOST_SHOWN = 20


def show_report(report: CheckReport) -> None:
    """Print counts, then problems, warnings, exclusions and notes, each with its location."""
    console = Console()

    def line(text: str, style: str = "") -> None:
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    line(f"{report.source}: {_verdict(report)}", "bold")
    if report.counts:
        found = {name: report.counts[name] for name in COUNTED if name in report.counts}
        told = ((n, plural(n, COUNTED[name] or name, name)) for name, n in found.items())
        line("  " + ", ".join(f"{n:,} {word}".replace(",", " ") for n, word in told))
    for problem in report.problems:
        line(f"  problem: {problem}", "red")
    for warning in report.warnings:
        line(f"  warning: {warning}", "yellow")
    for exclusion in report.exclusions[:MOST_SHOWN]:
        who = f"participant {exclusion.participant}" + (f", block {exclusion.block}" if exclusion.block else "")
        line(f"  excluded: {who} ({counted(exclusion.n_trials, 'trial')}): {exclusion.reason}")
    if len(report.exclusions) > MOST_SHOWN:
        line(
            f"  excluded: and {len(report.exclusions) - MOST_SHOWN} more, {len(report.exclusions)} in all; --json lists them"
        )
    for note in report.notes:
        line(f"  note: {note}", "dim")


def _verdict(report: CheckReport) -> str:
    found = [counted(len(report.problems), "problem")] if report.problems else ["fine"]
    found += [counted(len(report.warnings), "warning")] if report.warnings else []
    return ", ".join(found)


def show_phenotypes(result: xr.Dataset) -> None:
    """Print the summary as a table."""
    beside = beside_paper(result)
    headings, cells = ("form", "n", "share", "95 %", "sure", *(["paper"] if beside else []), "a", "b", "R²"), []
    for form, found in summary(result)["forms"].items():
        low, high = found["share_95"]
        sure, mean = found["label_probability_mean"], found["mean_curve"]
        ends = "" if low is None else f"{100 * low:.1f} – {100 * high:.1f} %"
        ours = (str(found["n"]), percent(found["share"], 1) or "–", ends)
        papers = [percent(found["paper_share"], 1)] if beside else []
        cells.append([form, *ours, percent(sure), *papers, *map(short, mean.values())])
    console = Console(highlight=False)
    print_table(console, headings, cells, plain=True)
    about = summary(result)
    rows = "people" if about["by"] == "participant" else "blocks"
    console.print(f"{about['n_rows']} {rows}; power law fitted {about['power']}; a, b, R²: fits of the mean curve, best "
                  f"{about['mean_curve_label']}.", soft_wrap=True)  # fmt: skip
    if beside:
        console.print(f"paper: {paper_people.NAME}, {paper_people.PEOPLE} people.", soft_wrap=True)
    if about["bootstrap"]:
        console.print("sure: how often curves keep this label when their losses are resampled.", soft_wrap=True)
    if about["n_unlabelled"]:
        console.print(f"{about['n_unlabelled']} without a form: {why_none(result)}.", soft_wrap=True)
    if about["note"]:
        console.print(f"Note: {about['note']}", soft_wrap=True, markup=False)

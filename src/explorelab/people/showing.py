"""What the command line prints about a file of choices."""

from __future__ import annotations

from rich.console import Console

from explorelab.counted import counted, plural
from explorelab.people.reading import CheckReport

COUNTED = {
    "participants": "participant", "blocks": "block", "trials": "trial", "scored": "", "missed": "", "forced": "",
    "arms": "arm",
}  # fmt: skip
"""What is told of a file, and the word for one of it where that is another."""
MOST_SHOWN = 20


def show_report(report: CheckReport) -> None:
    """Print what was found: counts, then problems, warnings, exclusions and notes, each with where it stands."""
    console = Console()

    def line(text: str, style: str = "") -> None:
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    line(f"{report.source}: {_verdict(report)}", "bold")
    if report.counts:
        told = ((report.counts[name], plural(report.counts[name], one or name, name)) for name, one in COUNTED.items())
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

"""Tables on fits and comparisons."""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.console import Console

from explorelab._support.counted import counted
from explorelab.cli.tables.terminal_table import print_table
from explorelab.fitting.bayes.convergence import FAILED
from explorelab.fitting.effects.effects_table import effects
from explorelab.fitting.fit_summary import fit_summary, silent_people


def _of_silent(names: list[str]) -> str:
    who = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"No estimates for people who never chose among several arms: {who}."


def show_fit(tree: xr.DataTree) -> None:
    """Print a fit."""
    told, console = fit_summary(tree), Console()
    people = counted(told["participants"], "person", "people")
    console.print(
        f"[bold]{told['agent']}[/bold] by {told['method']}: {people}, {counted(told['choices'], 'choice')}, "
        f"log-likelihood {told['log_likelihood']:,.1f}, mean R² {told['mean_pseudo_r2']:.3f}",
        highlight=False,
    )
    if told["without_information"]:
        console.print(_of_silent(told["without_information"]), highlight=False, markup=False)
    if str(told["convergence"]).startswith(FAILED):
        console.print(f"convergence {told['convergence']}", style="bold red", highlight=False, markup=False)
    for reason, count in told["not_converged"].items():
        console.print(f"[bold red]{count} of {people} {reason}[/bold red]", highlight=False)
    if "group" in tree.children and not bool(tree["group"].to_dataset().get("converged", True)):
        console.print(
            "[bold red]the group had not settled when the rounds ended: increase rounds[/bold red]", highlight=False
        )
    headings, rows = ("parameter", "median", "quartiles", "median s.e.", "identified", "why not"), []
    for name, one in told["parameters"].items():
        why = "; ".join(f"{reason}: {count}" for reason, count in one["reasons"].items())
        low, high = one["quartiles"]
        rows.append([name, f"{one['median']:.4g}", f"{low:.4g} – {high:.4g}", f"{one['median_standard_error']:.2g}",
                     f"{one['identified']} of {told['participants']}", why])  # fmt: skip
    print_table(console, headings, rows, words=(0, 5))
    if "effects" in tree.children:
        show_effects(tree)
    if told["note"]:
        console.print(told["note"], highlight=False, markup=False)


def show_effects(tree: xr.DataTree) -> None:
    """Print the effects of conditions."""
    console, table = Console(), effects(tree)
    test = "above" if "above" in table else "p"
    headings = ("effect", "estimate", "95 %", {"p": "p", "above": "P(> 0)"}[test], "size", "natural", "is")
    rows = []
    for one in table.itertuples():
        size = "" if np.isnan(one.size) else f"{one.size:+.2f}"
        natural = f"{one.natural:.3g} ({one.natural_low:.3g} – {one.natural_high:.3g})"
        rows.append([f"{one.parameter}: {one.effect}", f"{one.estimate:+.3f}", f"{one.low:+.3f} – {one.high:+.3f}",
                     f"{getattr(one, test):.3g}", size, natural, one.natural_is])  # fmt: skip
    print_table(console, headings, rows, title="effects in standard units, and in natural ones", words=(0, 6))


def show_comparison(tree: xr.DataTree) -> None:
    """Print a comparison, best model first."""
    models, console = tree["models"].to_dataset(), Console()
    left_out = "total_nll" in models
    headings = ["model", "parameters", "best for", "frequency", "pxp", "BIC", *(["left-out nLL", "R²"] if left_out else [])]
    rows = []
    for name in models["model"].values[np.argsort(-models["lost_evidence"].values)]:
        one = models.sel(model=name)
        cells = [str(name), str(int(one["n_parameters"])), str(int(one["n_best"])), f"{float(one['frequency']):.3f}",
                 f"{float(one['protected_exceedance']):.4g}", f"{float(one['total_bic']):,.1f}"]  # fmt: skip
        cells += [f"{float(one['total_nll']):,.1f}", f"{float(one['mean_r2']):.3f}"] if left_out else []
        rows.append(cells)
    print_table(console, headings, rows, title=f"by {_criterion(tree.attrs['criterion'])}")
    console.print(
        "frequency: estimated share of people; pxp: protected probability of being the most frequent "
        f"(Rigoux et al. 2014), chance risk {float(models['omnibus_risk']):.2g}.",
        highlight=False,
    )
    if silent_people(tree):
        console.print(_of_silent(silent_people(tree)), highlight=False, markup=False)


def _criterion(name: str) -> str:
    return {"cv": "left-out blocks", "bic": "BIC", "aic": "AIC"}[name]

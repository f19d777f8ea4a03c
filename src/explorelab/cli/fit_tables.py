"""What the command line prints of fits and comparisons."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.console import Console

from explorelab.cli.terminal_table import print_table
from explorelab.fitting.identified import SILENT


def summary(tree: xr.DataTree) -> dict[str, Any]:
    """A fit in one JSON object: the group of estimates, how well it describes, and what to be careful about."""
    estimates = tree["estimates"].to_dataset()
    return {
        **{name: tree.attrs[name] for name in ("agent", "method", "free", "source") if name in tree.attrs},
        "participants": estimates.sizes["participant"],
        "choices": int(estimates["n_choices"].sum()),
        "log_likelihood": float(estimates["log_likelihood"].sum()),
        "mean_pseudo_r2": _number(estimates["pseudo_r2"].mean()),
        "without_information": _named(tree),
        "converged": int(estimates["converged"].sum()) if "converged" in estimates else None,
        "not_converged": _reasons(estimates),
        "parameters": {str(name): parameter_summary(estimates, str(name)) for name in estimates["parameter"].values},
        "convergence": tree.attrs.get("convergence", "passed" if tree.attrs.get("method") == "nuts" else ""),
    }


def _reasons(estimates: xr.Dataset) -> dict[str, int]:
    """Why people's fits did not converge, and how many of each."""
    if "status" not in estimates:
        return {}
    told = estimates["status"].values[~estimates["converged"].values.astype(bool)]
    reasons, counts = np.unique(told.astype(str), return_counts=True)
    return dict(zip(reasons.tolist(), counts.tolist(), strict=True))


def _number(value: Any) -> float | None:
    """A number that JSON has, or None."""
    number = float(value)
    return number if np.isfinite(number) else None


def _named(tree: xr.DataTree) -> list[str]:
    """Who made no choice that says anything."""
    return [str(who) for who in json.loads(tree.attrs.get("without_information", "[]"))]


def _of_silent(names: list[str]) -> str:
    who = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"No choice among several arms, so that nothing is known of: {who}."


def parameter_summary(table: xr.Dataset, name: str) -> dict[str, Any]:
    """Median and quartiles over people, how certain they are, and how many are at a bound or not identified.

    People of whom the choices say nothing are counted as not identified, and left out of the rest.
    """
    one = table.sel(parameter=name)
    one = one.where(one["remark"] != SILENT, drop=True) if (one["remark"] == SILENT).any() else one
    low, middle, high = np.quantile(one["estimate"].values, [0.25, 0.5, 0.75]).tolist()
    remarks = table["remark"].sel(parameter=name).values.tolist()
    reasons, counts = np.unique([_kind(text) for text in remarks if text], return_counts=True)
    return {
        "median": middle,
        "quartiles": [low, high],
        "median_standard_error": float(np.median(one["standard_error"].values)),
        "at_bound": int(one["at_bound"].sum()),
        "identified": int(one["identified"].sum()),
        "reasons": dict(zip(reasons.tolist(), counts.tolist(), strict=True)),
    }


def _kind(remark: str) -> str:
    return remark.split(" (")[0].split(", ")[0]


def table(tree: xr.DataTree) -> pd.DataFrame:
    """A row for every person and parameter: estimate, uncertainty, remark; and how well the person is described."""
    estimates = tree["estimates"].to_dataset()
    of_parameters = ["estimate", "standard_error", "low", "high", "at_bound", "identified", "remark", "variance_left"]
    of_people = [
        name for name in ("log_likelihood", "n_choices", "aic", "bic", "pseudo_r2", "converged") if name in estimates
    ]
    frame = estimates[of_parameters].to_dataframe().reset_index()
    return frame.merge(estimates[of_people].to_dataframe().reset_index(), on="participant")


def show_fit(tree: xr.DataTree) -> None:
    """Print a fit."""
    told, console = summary(tree), Console()
    console.print(
        f"[bold]{told['agent']}[/bold] by {told['method']}: {told['participants']} people, {told['choices']} choices, "
        f"log-likelihood {told['log_likelihood']:,.1f}, mean R² {told['mean_pseudo_r2']:.3f}",
        highlight=False,
    )
    if told["without_information"]:
        console.print(_of_silent(told["without_information"]), highlight=False, markup=False)
    if str(told["convergence"]).startswith("failed"):
        console.print(f"convergence {told['convergence']}", style="bold red", highlight=False, markup=False)
    for reason, count in told["not_converged"].items():
        console.print(f"[bold red]{count} of {told['participants']} people {reason}[/bold red]", highlight=False)
    if "group" in tree.children and not bool(tree["group"].to_dataset().get("converged", True)):
        console.print("[bold red]the group was still moving when the rounds ended: raise rounds[/bold red]", highlight=False)
    headings, rows = ("parameter", "median", "quartiles", "median s.e.", "identified", "why not"), []
    for name, one in told["parameters"].items():
        why = "; ".join(f"{reason}: {count}" for reason, count in one["reasons"].items())
        low, high = one["quartiles"]
        rows.append([name, f"{one['median']:.4g}", f"{low:.4g} – {high:.4g}", f"{one['median_standard_error']:.2g}",
                     f"{one['identified']} of {told['participants']}", why])  # fmt: skip
    print_table(console, headings, rows, words=(0, 5))


def comparison_summary(tree: xr.DataTree) -> dict[str, Any]:
    """A comparison in one JSON object."""
    models = tree["models"].to_dataset()
    return {
        "criterion": tree.attrs["criterion"],
        "without_information": _named(tree),
        "omnibus_risk": float(models["omnibus_risk"]),
        "models": {
            str(name): {
                str(key): value.item() for key, value in models.sel(model=name).data_vars.items() if key != "omnibus_risk"
            }
            for name in models["model"].values
        },
        "best": dict(
            zip(
                map(str, tree["people"].to_dataset()["participant"].values.tolist()),
                map(str, tree["people"].to_dataset()["best"].values.tolist()),
                strict=True,
            )
        ),
    }


def show_comparison(tree: xr.DataTree) -> None:
    """Print a comparison, the best model first."""
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
    if _named(tree):
        console.print(_of_silent(_named(tree)), highlight=False, markup=False)


def _criterion(name: str) -> str:
    return {"cv": "left-out blocks", "bic": "BIC", "aic": "AIC"}[name]

"""Convergence of chains: the diagnostics, their thresholds, and the error when chains fail them.

Rank-normalised split R-hat and the effective sample sizes of bulk and tails (Vehtari et al. 2021, Bayesian Analysis 16),
divergences and saturated trees of the sampler, and the energy's fraction of missing information (Betancourt 2016).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from explorelab._support.counted import counted
from explorelab.errors import ExplorelabError

MOST_R_HAT = 1.01
LEAST_ESS_PER_CHAIN = 100
LEAST_BFMI = 0.3
MOST_DIVERGING = 0.0
"""Share of draws that may diverge: none, because a divergence marks a region that the chains could not enter."""
LEAST_ACCEPTED = 0.2
"""Share of emulated draws that the likelihood should accept; with fewer, the emulator is why chains do not converge."""
MOST_SATURATED = 0.01
"""Share of trees that may be cut off at the largest depth: a truncated tree makes a step inefficient, not wrong."""
FAILED = "failed: "
"""Prefix of the attribute `convergence` of a fit whose chains have not converged."""
NAMED = 3
"""How many parameters a message names; the rest are only counted."""


class ConvergenceError(ExplorelabError):
    """The chains have not converged, so their draws cannot be summarised; the message says where and what to do."""

    def __init__(self, what: str, fit: xr.DataTree) -> None:
        super().__init__(f"{what}; or keep the draws as they are, with on_failure='warn'.")
        self.what = what
        self.fit = fit
        """All draws, marked as failed: for diagnosis, not for reporting."""


class ConvergenceWarning(UserWarning):
    """The chains have not converged, but the draws were requested anyway."""


class Failure(NamedTuple):
    """One convergence criterion that the chains did not meet."""

    what: str
    remedy: str


class Report(NamedTuple):
    """The convergence diagnostics of the chains."""

    failures: tuple[Failure, ...]
    measures: xr.Dataset
    """For every variable of the posterior: r_hat, ess_bulk and ess_tail along `measure`."""
    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    bfmi: float
    saturated: int

    @property
    def told(self) -> str:
        """One line: "passed: ..." with the worst numbers, or "failed: ..." with all that failed."""
        if self.failures:
            return FAILED + "; ".join(failure.what for failure in self.failures)
        return (
            f"passed: R-hat at most {self.r_hat:.4f}, effective draws at least {min(self.ess_bulk, self.ess_tail):.0f}, "
            f"{counted(self.divergences, 'divergence')}"
        )

    @property
    def advice(self) -> str:
        """What to do about the failures."""
        return "; ".join(dict.fromkeys(failure.remedy for failure in self.failures))


def warning_of(fit: xr.DataTree) -> str:
    """The warning to attach to results from a fit that has not converged; empty if it has."""
    estimates = fit["estimates"].to_dataset() if "estimates" in fit.children else xr.Dataset()
    told, found = str(fit.attrs.get("convergence", "")), []
    if told.startswith(FAILED):
        found.append(told.removeprefix(FAILED))
    if "group" in fit.children and not bool(fit["group"].to_dataset().get("converged", True)):
        found.append("the group had not settled when the rounds ended")
    if "status" in estimates:
        bad = int(np.char.startswith(estimates["status"].values.astype(str), "not converged").sum())
        found += [f"{bad} of {counted(estimates.sizes['participant'], 'person', 'people')}"] if bad else []
    return f"The fit has not converged ({'; '.join(found)}), so results made from it cannot be trusted." if found else ""


def warn_if_failed(fit: xr.DataTree) -> None:
    """Warn if the fit's chains were kept although they have not converged."""
    if str(fit.attrs.get("convergence", "")).startswith(FAILED):
        warnings.warn(warning_of(fit), ConvergenceWarning, skip_file_prefixes=(str(Path(__file__).parents[2]),))


def examined(posterior: xr.Dataset, stats: xr.Dataset, max_tree_depth: int = 10) -> Report:
    """The diagnostics of a posterior's chains (ArviZ's groups `posterior` and `sample_stats`)."""
    measures = measured(posterior)
    n_chains = posterior.sizes["chain"]
    least = LEAST_ESS_PER_CHAIN * n_chains
    more = "draw more (double draws and warmup)"
    failures = []
    for name, label, good in (
        ("r_hat", f"R-hat above {MOST_R_HAT}", lambda x: x <= MOST_R_HAT),
        ("ess_bulk", f"fewer than {least} effective draws", lambda x: x >= least),
        ("ess_tail", f"fewer than {least} effective draws of the tails", lambda x: x >= least),
    ):
        # NaN counts as a failure.
        bad = [(value, which) for which, value in _each(measures.sel(measure=name)) if not good(value)]
        if bad:
            failures.append(Failure(f"{label}: {_listed(bad, name)}", more))
    return _with_sampler(Report(tuple(failures), measures, *_worst(measures), 0, 0.0, 0), stats, max_tree_depth)


def measured(posterior: xr.Dataset) -> xr.Dataset:
    """R-hat and effective sample sizes of every variable, along `measure`."""
    from arviz_stats.sampling_diagnostics import ess, rhat

    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [rhat(posterior), ess(posterior, method="bulk"), ess(posterior, method="tail")]
    return xr.concat(parts, xr.Variable("measure", ["r_hat", "ess_bulk", "ess_tail"]))


def people_converged(measures: xr.Dataset, n_chains: int, participants: list[str]) -> np.ndarray:
    """For each participant, whether all of their parameters meet the criteria for R-hat and effective sample size."""
    good = np.ones(len(participants), bool)
    for variable in measures.data_vars.values():
        if variable.dims == ("measure", "participant"):
            at = variable.sel(participant=participants)
            ess = np.minimum(at.sel(measure="ess_bulk"), at.sel(measure="ess_tail"))
            good &= ((at.sel(measure="r_hat") <= MOST_R_HAT) & (ess >= LEAST_ESS_PER_CHAIN * n_chains)).values
    return good


def _with_sampler(report: Report, stats: xr.Dataset, max_tree_depth: int) -> Report:
    """The report with the sampler's own diagnostics added: divergences, E-BFMI and saturated trees."""
    from arviz_stats.sampling_diagnostics import bfmi as missing_information

    diverging = int(stats["diverging"].sum())
    bfmi = np.atleast_1d(missing_information(stats["energy"]).values)
    saturated = int((stats["tree_depth"] >= max_tree_depth).sum())
    n_draws = stats["diverging"].size
    failures = list(report.failures)
    if diverging > MOST_DIVERGING * n_draws:
        where = ", ".join(str(int(n)) for n in stats["diverging"].sum("draw").values)
        failures.append(
            Failure(
                f"{diverging} of {n_draws} draws diverged (by chain: {where})",
                "raise target_accept towards 0.99, or fix a parameter that trades off with another",
            )
        )
    if not bfmi.min() >= LEAST_BFMI:
        chain = int(np.nanargmin(np.where(np.isnan(bfmi), -np.inf, bfmi)))
        failures.append(
            Failure(f"E-BFMI {bfmi[chain]:.2f} in chain {chain}, below {LEAST_BFMI}", "raise warmup, or fix a parameter")
        )
    if saturated > MOST_SATURATED * n_draws:
        failures.append(
            Failure(
                f"{saturated} of {n_draws} trees were cut off at depth {max_tree_depth}",
                f"raise max_tree_depth above {max_tree_depth}",
            )
        )
    if failures and "accepted" in stats and not stats["accepted"].mean() >= LEAST_ACCEPTED:
        share = float(stats["accepted"].mean())
        told = f"the likelihood accepted only {share:.0%} of what was emulated"
        failures.append(Failure(told, "use method 'nuts', which emulates nothing"))
    return report._replace(failures=tuple(failures), divergences=diverging, bfmi=float(bfmi.min()), saturated=saturated)


def _worst(measures: xr.Dataset) -> tuple[float, float, float]:
    """The largest R-hat and the smallest effective sample sizes; NaN if any value is NaN."""
    every = {name: [value for _, value in _each(measures.sel(measure=name))] for name in ("r_hat", "ess_bulk", "ess_tail")}
    return float(np.max(every["r_hat"])), float(np.min(every["ess_bulk"])), float(np.min(every["ess_tail"]))


def _each(measure: xr.Dataset) -> Iterator[tuple[str, float]]:
    """Every number with a label of what it belongs to: "temperature of anna", "group_sd of temperature"."""
    for name, variable in measure.data_vars.items():
        for at in np.ndindex(variable.shape):
            if variable.dims == ("parameter", "parameter_2") and at[0] >= at[1]:
                # A correlation matrix has ones on its diagonal and every other entry twice.
                continue
            labels = [str(variable[dim].values[i]) for dim, i in zip(variable.dims, at, strict=True)]
            yield f"{name} of {', '.join(labels)}" if labels else str(name), float(variable.values[at])


def _listed(bad: list[tuple[float, str]], name: str) -> str:
    """The worst few by name, and how many more there are."""
    sign = -1 if name == "r_hat" else 1
    ordered = sorted(bad, key=lambda each: sign * each[0] if np.isfinite(each[0]) else -np.inf)
    shown = [f"{which} ({value:.3f})" if name == "r_hat" else f"{which} ({value:.0f})" for value, which in ordered[:NAMED]]
    others = len(ordered) - len(shown)
    return ", ".join(shown) + (f" and {others} more" if others else "")

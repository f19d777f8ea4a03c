"""The work behind the commands recover, predict and latent: read, call one function, write and print."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import xarray as xr

from explorelab._support.files import write_whole
from explorelab._support.written_numbers import JsonObject
from explorelab.agents.agent_names import labelled
from explorelab.choices.table import Choices
from explorelab.cli.tables import recovery_tables
from explorelab.errors import InputError
from explorelab.fitting.bayes.convergence import ConvergenceWarning
from explorelab.fitting.fit_people import load_fit
from explorelab.plots import predictive_figure, recovery_figures
from explorelab.plots.style import Drawing, write_figure
from explorelab.recovery import latent, recovery_summary
from explorelab.recovery.model_recovery import recover_models
from explorelab.recovery.parameter_recovery import recover_parameters
from explorelab.recovery.predictive import predictive_check


class Found(NamedTuple):
    """A result, and how to draw it, summarise it as JSON and print it."""

    result: xr.Dataset
    draw: Callable[[xr.Dataset], Drawing]
    summary: Callable[[xr.Dataset], JsonObject]
    show: Callable[[xr.Dataset], None]


class Refit(TypedDict):
    """How people are simulated, and agents fitted to them, and who does it."""

    n_starts: int
    noise: str
    seed: int
    executor: Executor | None
    resume: Path | None


class Simulated(TypedDict):
    """How people are simulated."""

    noise: str
    seed: int


def loaded(path: Path | None) -> xr.DataTree | None:
    """The fit saved in the file, or None if no file is given."""
    return None if path is None else load_fit(path)


def source_of(fit: xr.DataTree | None) -> list[Path]:
    """The file of choices that the fit was made from, or several, if they still exist."""
    source = "" if fit is None else str(fit.attrs.get("source", ""))
    if not source:
        raise InputError(
            "recovery needs choices whose blocks simulated people can play: give --data, or --like with a saved fit."
        )
    files = [Path(source)] if Path(source).exists() else [Path(part) for part in source.split(", ")]
    for file in files:
        if not file.exists():
            raise InputError(f"{file}, which the fit was made from, no longer exists: give --data.")
    return files


@contextmanager
def _said_with_the_result() -> Iterator[None]:
    """Silence warnings about the fit: the result carries them, and they are printed with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@_said_with_the_result()
def recover(
    choices: Choices, agent: str | None, fit: xr.DataTree | None, n: int, method: str | None, **how: Unpack[Refit]
) -> Found:
    """Recover an agent's parameters."""
    result = recover_parameters(choices, agent, fit, n, method, **how)
    return Found(
        result, recovery_figures.draw_recovery, recovery_summary.parameters_summary, recovery_tables.show_parameters
    )


@_said_with_the_result()
def models(
    choices: Choices,
    agents: list[str],
    fit: xr.DataTree | None,
    n: int,
    method: str | None,
    criterion: str,
    **how: Unpack[Refit],
) -> Found:
    """Recover models; a given fit is used for its own agent, and its method for the others."""
    names = list(labelled(agents))
    fits = {} if fit is None else {str(fit.attrs["agent"]): fit}
    if fit is not None and fit.attrs["agent"] not in names:
        raise InputError(f"the fit is of {fit.attrs['agent']}, which is not among the agents {', '.join(names)}.")
    method = method or ("map" if fit is None else str(fit.attrs["method"]))
    result = recover_models(choices, agents, fits, n, criterion=criterion, method=method, **how)
    return Found(result, recovery_figures.draw_models, recovery_summary.models_summary, recovery_tables.show_models)


@_said_with_the_result()
def predict(choices: Choices, agent: str | None, fit: xr.DataTree | None, copies: int, **how: Unpack[Simulated]) -> Found:
    """Run the predictive check of a fit."""
    assert fit is not None
    result = predictive_check(choices, agent, fit, copies, **how)
    return Found(
        result, predictive_figure.draw_predictive, recovery_summary.predictive_summary, recovery_tables.show_predictive
    )


@_said_with_the_result()
def leave_out(choices: Choices, fit: xr.DataTree | None, unit: str, seed: int, out: Path | None, as_json: bool) -> None:
    """Leave out one choice, block or person at a time; write and print the result."""
    from explorelab.comparison.loo import loo

    assert fit is not None
    result = loo(fit, choices, unit, seed=seed)
    if out is not None:
        write_whole(out, lambda path: result.to_netcdf(path, engine="h5netcdf"))
    if as_json:
        print(json.dumps(recovery_summary.loo_summary(result), allow_nan=False))
    else:
        recovery_tables.show_loo(result)
        recovery_tables.show_warning(result)


@_said_with_the_result()
def write_latent(choices: Choices, agent: str | None, fit: xr.DataTree | None, out: Path) -> None:
    """Write the latent variables of a fit; per arm only if the file format holds them."""
    assert fit is not None
    latent.check_ending(out)
    found = latent.latent_variables(choices, agent, fit, arms=out.suffix != ".csv")
    latent.write_latent(found, out)
    recovery_tables.show_warning(found)


def deliver(found: Found, out: Path | None, figure: Path | None, as_json: bool) -> None:
    """Write the requested files and print the result."""
    if out is not None:
        write_whole(out, lambda path: found.result.to_netcdf(path, engine="h5netcdf"))
    if figure is not None:
        write_figure(lambda: found.draw(found.result), figure)
    if as_json:
        print(json.dumps(found.summary(found.result), allow_nan=False))
    else:
        found.show(found.result)
        recovery_tables.show_warning(found.result)

"""All results of a report, computed step by step; results that cannot be computed are listed with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypedDict

import numpy as np
import xarray as xr

from explorelab._support.counted import counted
from explorelab._support.work import units
from explorelab.agents import Agent
from explorelab.choices.conditions import Sorted, sorted_columns
from explorelab.choices.reading import CheckReport
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.criteria import informative
from explorelab.regret.advice_effect import AdviceEffect
from explorelab.report.condition_results import ConditionResults, condition_results, map_fit
from explorelab.report.report_agents import free_of
from explorelab.report.report_settings import FEW_PEOPLE, Settings

type Step = Callable[[str], None]

LEFT_OUT = "map"
"""How left-out blocks are predicted, whatever the fitting method: agents without parameters have no group to learn."""
STEPS = 7
"""Number of steps that `analysed` announces."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """The choices, the settings and the results."""

    choices: Choices
    settings: Settings
    check: CheckReport | None
    """The check of the file, if the choices came from one."""
    comparison: xr.DataTree
    main: str
    """The agent whose parameters are reported."""
    fit: xr.DataTree
    phenotypes: xr.Dataset | None = None
    other_phenotypes: xr.Dataset | None = None
    """The same with the power law fitted the other way."""
    advice: AdviceEffect | None = None
    """The effect of advice; None if there was none."""
    recovery: xr.Dataset | None = None
    models: xr.Dataset | None = None
    predictive: xr.Dataset | None = None
    """Everyone simulated with draws from their own posterior."""
    at_estimates: xr.Dataset | None = None
    """Everyone simulated at their estimates."""
    columns: Sorted = field(default_factory=Sorted)
    """Which further columns are conditions, and which covariates."""
    by_condition: ConditionResults | None = None
    """What differs between conditions; None without any."""
    effects: xr.DataTree | None = None
    """The reported agent with effects of conditions, if formulas were given."""
    missing: dict[str, str] = field(default_factory=dict)
    """Why a result is missing, by its name."""

    @property
    def agent(self) -> Agent:
        """The agent whose parameters are reported."""
        return self.settings.models[self.main]

    @property
    def estimates(self) -> xr.Dataset:
        """Everyone's estimates."""
        return self.fit["estimates"].to_dataset()

    @property
    def compared(self) -> xr.Dataset:
        """Totals and frequencies of the agents."""
        return self.comparison["models"].to_dataset()

    @property
    def people(self) -> xr.Dataset:
        """The criteria for every person and agent."""
        return self.comparison["people"].to_dataset()

    @property
    def few(self) -> bool:
        """Whether there are too few people for their estimates to serve as true parameters in recovery."""
        return self.choices.n_participants < FEW_PEOPLE


class Refit(TypedDict):
    """How agents are fitted."""

    n_starts: int
    seed: int
    progress: bool | None


class SimulateAndRefit(TypedDict):
    """How people are simulated, and agents fitted to them."""

    n_starts: int
    seed: int
    progress: bool | None
    noise: str


def analysed(
    choices: Choices, settings: Settings, check: CheckReport | None, step: Step, progress: bool | None = None
) -> Analysis:
    """Compute all results, announcing each step."""
    missing: dict[str, str] = {}

    def attempt[Result](name: str, work: Callable[[], Result]) -> Result | None:
        try:
            return work()
        except InputError as error:
            missing[name] = str(error)
            return None

    how: Refit = {"n_starts": settings.starts, "seed": settings.seed, "progress": progress}
    step("Regret and phenotypes")
    both = attempt("phenotypes", lambda: _phenotypes(choices, settings, progress))
    found = both or (None, None)
    advice = attempt("advice", lambda: _advice(choices, found[0]))
    step(f"Comparison of {counted(len(settings.models), 'agent')}")
    comparison = _compared(choices, settings, how)
    main = settings.agent or best_of(choices, settings, comparison)
    step(f"Fit of {main}")
    fit = _fitted(choices, settings, main, how)
    columns = sorted_columns(choices)
    step("Conditions")
    by_condition, effects = None, None
    if columns.conditions or columns.covariates:
        again = map_fit(settings.models[main], **how)
        by_condition = attempt("conditions", lambda: condition_results(choices, columns, both, comparison, fit, again))
    if settings.effects is not None:
        effects = _with_effects(choices, settings, main, how)
    step("Recovery of parameters")
    simulating: SimulateAndRefit = {**how, "noise": settings.noise}
    recovery = attempt("recovery", lambda: _recovered(choices, settings, main, fit, simulating))
    step("Recovery of models")
    models = attempt("models", lambda: _models(choices, settings, comparison, simulating))
    step("Predictive checks")
    predicted = attempt("predictive", lambda: _predicted(choices, settings, main, fit, progress)) or (None, None)
    return Analysis(
        choices, settings, check, comparison, main, fit, phenotypes=found[0], other_phenotypes=found[1], advice=advice,
        recovery=recovery, models=models, predictive=predicted[0], at_estimates=predicted[1], columns=columns,
        by_condition=by_condition, effects=effects, missing=missing,
    )  # fmt: skip


def _phenotypes(choices: Choices, settings: Settings, progress: bool | None) -> tuple[xr.Dataset, xr.Dataset]:
    from explorelab.regret.phenotypes import label_phenotypes

    label = partial(units.once, label_phenotypes, choices)
    raw = label("raw", settings.n_bootstrap, seed=settings.seed, progress=progress)
    return raw, label("log-log", settings.n_bootstrap, seed=settings.seed, progress=progress)


def _advice(choices: Choices, phenotypes: xr.Dataset | None) -> AdviceEffect | None:
    from explorelab.regret.advice_effect import advice_effect, has_advice

    if not has_advice(choices):
        return None
    if phenotypes is None:
        raise InputError("The effect of advice needs regret, which is missing above.")
    return advice_effect(choices, phenotypes)


def _compared(choices: Choices, settings: Settings, how: Refit) -> xr.DataTree:
    from explorelab.comparison.compare import compare

    within = settings.within if settings.criterion == "cv" else None
    # As asked for, not as they were built from all choices: what nobody gave must follow each fold's own training blocks.
    return compare(choices, settings.asked, criterion=settings.criterion, method=LEFT_OUT, within=within, **how)


def best_of(choices: Choices, settings: Settings, comparison: xr.DataTree) -> str:
    """The agent with the most evidence over all choices among those with free parameters, and those that formulas need."""
    lost = comparison["models"].to_dataset()["lost_evidence"]
    free = [name for name, agent in settings.models.items() if settings.needed <= {*free_of(choices, agent)} != set()]
    return max(free, key=lambda name: float(lost.sel(model=name)))


def _fitted(choices: Choices, settings: Settings, main: str, how: Refit) -> xr.DataTree:
    from explorelab.fitting.fit_people import fit

    return fit(choices, settings.models[main], settings.method, **how)  # type: ignore[arg-type]  # checked before


def _with_effects(choices: Choices, settings: Settings, main: str, how: Refit) -> xr.DataTree:
    from explorelab.fitting.fit_people import fit

    return fit(choices, settings.models[main], "em", effects=settings.effects, **how)


def _recovered(choices: Choices, settings: Settings, main: str, fit: xr.DataTree, how: SimulateAndRefit) -> xr.Dataset:
    from explorelab.recovery.parameter_recovery import recover_parameters

    truth = None if choices.n_participants < FEW_PEOPLE else fit
    return recover_parameters(choices, settings.models[main], truth, settings.n_recovered, settings.method, **how)


def _models(choices: Choices, settings: Settings, comparison: xr.DataTree, how: SimulateAndRefit) -> xr.Dataset:
    from explorelab.recovery.model_recovery import recover_models

    fits = {name: _fit_in(comparison, name) for name in settings.models}
    agents = list(settings.models.values())
    # The same people as in the comparison, which these fits come from.
    return recover_models(
        informative(choices), agents, fits, settings.n_data_sets, 1, settings.criterion, method=LEFT_OUT, **how
    )


def _fit_in(comparison: xr.DataTree, name: str) -> xr.DataTree:
    """A comparison's fit of one agent, as a tree of its own."""
    groups = {group: node.to_dataset() for group, node in comparison[f"fits/{name}"].children.items()}
    root = xr.Dataset(attrs={"agent": name, "method": "ml"})
    return xr.DataTree.from_dict({"/": root, **{f"/{group}": table for group, table in groups.items()}})


def _predicted(
    choices: Choices, settings: Settings, main: str, fit: xr.DataTree, progress: bool | None
) -> tuple[xr.Dataset, xr.Dataset]:
    from explorelab.recovery.predictive import predictive_check

    check = partial(
        units.once, predictive_check, choices, settings.models[main], fit, settings.n_copies, settings.seed,
        noise=settings.noise, progress=progress,
    )  # fmt: skip
    return check(), check(uncertain=False)


def most_evidence(models: xr.Dataset) -> str:
    """The agent with the most evidence over all choices."""
    return str(models["model"].values[int(models["lost_evidence"].values.argmax())])


def lead_of_best(people: xr.Dataset, criterion: str) -> np.ndarray:
    """The log evidence by which each person's best agent leads the second best."""
    from explorelab.comparison.compare import evidence

    values = np.sort(evidence(people, criterion).transpose("participant", "model").values, axis=1)
    return values[:, -1] - values[:, -2]

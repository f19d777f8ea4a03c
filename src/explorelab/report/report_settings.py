"""The settings of a report, checked before any work starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorelab._support import checks
from explorelab.agents import Agent
from explorelab.agents.agent_names import label_of
from explorelab.choices.table import NOWHERE, Choices
from explorelab.comparison.left_out_blocks import check_within
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.effects.attach import with_effects
from explorelab.fitting.effects.formulas import Effects, Formulas, parsed
from explorelab.fitting.model import prepare
from explorelab.regret.observed import mean_of_arms
from explorelab.report.report_agents import asked_for, free_of, models_of
from explorelab.tasks.noise import NOISES

METHODS = ("map", "em")
FEW_PEOPLE = 10
"""With fewer people, true parameters for recovery are drawn from the prior: their own would hardly vary."""


@dataclass(frozen=True)
class Settings:
    """How everything in a report is computed."""

    models: Mapping[str, Agent]
    """The agents that are compared, ready to be fitted to all choices."""
    asked: Mapping[str, str | Agent]
    """The same as they were asked for."""
    agent: str | None
    """The agent whose parameters are reported; None for the best by the criterion."""
    criterion: str
    """cv (left-out blocks) if everyone has several blocks; otherwise bic."""
    method: str
    within: str | None
    starts: int
    seed: int
    quick: bool
    noise: str
    """Noise of simulated rewards: gaussian or integer."""
    effects: str | None = None
    """Formulas of effects of conditions on parameters."""
    needed: frozenset[str] = frozenset()
    """Parameters that the formulas are about."""

    def effort(self, full: int, quick: int) -> int:
        """The full amount, or the small one for a quick report."""
        return quick if self.quick else full

    @property
    def n_recovered(self) -> int:
        """Number of simulated people in parameter recovery."""
        return self.effort(60, 8)

    @property
    def n_data_sets(self) -> int:
        """Number of simulated people per agent in model recovery; fewer if each is fitted once per block."""
        return self.effort(20 if self.criterion == "bic" else 10, 3)

    @property
    def n_copies(self) -> int:
        """Number of simulated groups in predictive checks."""
        return self.effort(100, 20)

    @property
    def n_bootstrap(self) -> int:
        """Number of resampled curves for the probability of a phenotype."""
        return self.effort(1000, 50)


def settings_for(
    choices: Choices,
    agents: Sequence[str | Agent] | None,
    agent: str | Agent | None,
    method: str,
    within: str | None,
    starts: int,
    seed: int,
    quick: bool,
    effects: Effects | None = None,
) -> Settings:
    """The settings, checked against the choices."""
    checks.one_of("method of a report", method, dict.fromkeys(METHODS, 0))
    if method == "em" and choices.n_participants < 2:
        raise InputError("method em learns from a group, but there is only one participant: use method map.")
    n_blocks = np.bincount(choices.participant, minlength=choices.n_participants)
    several = bool((n_blocks > 1).all())
    if within is not None:
        _check_within(choices, within, several)
    models = models_of(choices, agents)
    if agent is not None:
        agent = label_of(agent)
        if agent not in models:
            raise InputError(f"agent must be one of those compared ({', '.join(models)}), got {agent!r}.")
        if not free_of(choices, models[agent]):
            raise InputError(f"{agent} has no free parameters to report: choose another of the agents compared.")
    if not any(free_of(choices, each) for each in models.values()):
        raise InputError(f"a report needs an agent with free parameters among those compared, got {', '.join(models)}.")
    formulas = None if effects is None else _checked(choices, effects, models if agent is None else {agent: models[agent]})
    return Settings(
        models=models,
        asked=asked_for(choices, agents),
        agent=agent,
        criterion="cv" if several else "bic",
        method=method,
        within=within,
        starts=min(checks.whole("n_starts", starts, at_least=1, at_most=checks.MANY), 2 if quick else starts),
        seed=checks.whole("seed", seed, at_least=0),
        quick=bool(quick),
        noise=noise_of(choices),
        effects=None if formulas is None else formulas.text,
        needed=frozenset(() if formulas is None else names_of(formulas)),
    )


def names_of(formulas: Formulas) -> set[str]:
    """The parameters that formulas are about."""
    return {*formulas.of, *(each.parameter for each in formulas.held)}


def _checked(choices: Choices, effects: Effects, models: Mapping[str, Agent]) -> Formulas:
    """The formulas, checked against the choices and the agents that may be reported."""
    formulas = parsed(effects)
    able = [each for each in models.values() if names_of(formulas) <= {*free_of(choices, each)}]
    if not able:
        known = dict.fromkeys(name for each in models.values() for name in free_of(choices, each))
        for name in sorted(names_of(formulas)):
            if name not in known:
                raise unknown_name("free parameter in effects", name, list(known))
        raise InputError(f"effects need an agent with the free parameters {', '.join(sorted(names_of(formulas)))}.")
    for each in able:
        with_effects(choices, prepare(choices, each), formulas.text, None)
    return formulas


def _check_within(choices: Choices, within: str, several: bool) -> None:
    check_within(choices, within)
    kinds = np.unique(np.asarray(choices.conditions[within]), return_inverse=True)[1].reshape(-1)
    counts = np.zeros((choices.n_participants, kinds.max() + 1), int)
    np.add.at(counts, (choices.participant, kinds), 1)
    lacking = ~(counts > 1).any(1)
    if not several or lacking.any():
        who = choices.participants[int(lacking.argmax())]
        raise InputError(
            f"within {within} needs everyone to have 2 blocks of one condition, but participant {who} does not: "
            "omit --within."
        )


def noise_of(choices: Choices) -> str:
    """Whole-number noise where rewards are whole numbers about whole-number means, of a variance such noise can have."""
    var = choices.layout.noise_var
    if var is None or choices.means is None or not choices.observed.any():
        return "gaussian"
    at = choices.observed & (choices.arm != NOWHERE)
    off = (choices.reward - mean_of_arms(choices, np.maximum(choices.arm, 0)))[at]
    if np.isfinite(off).all() and (np.abs(off - np.rint(off)) < 1e-9).all():
        for kind in NOISES.values():
            largest = kind.scale_of_var(var) if kind.whole else None
            if largest and np.abs(off).max() <= largest + 1e-9:
                return kind.name
    return "gaussian"

"""The settings of a report, checked before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from explorelab._support import checks
from explorelab.agents import Agent
from explorelab.choices.table import NOWHERE, Choices
from explorelab.errors import InputError
from explorelab.report.report_agents import free_of, models_of
from explorelab.tasks.noise import NOISES

METHODS = ("map", "em")
FEW_PEOPLE = 10
"""With fewer people, true parameters for recovery are drawn from the prior: theirs would hardly vary."""


@dataclass(frozen=True)
class Settings:
    """How everything in a report is computed."""

    models: Mapping[str, Agent]
    agent: str | None
    """Whose parameters are reported; None: the best by the criterion."""
    criterion: str
    """cv, left-out blocks, where everyone has several; otherwise bic."""
    method: str
    within: str | None
    starts: int
    seed: int
    quick: bool
    noise: str
    """Of simulated rewards: gaussian or integer."""

    def effort(self, full: int, quick: int) -> int:
        """So much of something, or little of it when there is no time."""
        return quick if self.quick else full

    @property
    def n_recovered(self) -> int:
        """Simulated people whose parameters are recovered."""
        return self.effort(60, 8)

    @property
    def n_data_sets(self) -> int:
        """Simulated people for each agent in model recovery; fewer where each is fitted once for every block."""
        return self.effort(20 if self.criterion == "bic" else 10, 3)

    @property
    def n_copies(self) -> int:
        """How often the group is simulated for predictive checks."""
        return self.effort(100, 20)

    @property
    def n_bootstrap(self) -> int:
        """Resampled curves for the probability of a phenotype."""
        return self.effort(1000, 50)


def settings_for(
    choices: Choices,
    agents: Sequence[str] | None,
    agent: str | None,
    method: str,
    within: str | None,
    starts: int,
    seed: int,
    quick: bool,
) -> Settings:
    """The settings, checked against the choices."""
    checks.one_of("method of a report", method, dict.fromkeys(METHODS, 0))
    if method == "em" and choices.n_participants < 2:
        raise InputError("method em learns from a group, and there is one participant: use method map.")
    n_blocks = np.bincount(choices.participant, minlength=choices.n_participants)
    several = bool((n_blocks > 1).all())
    if within is not None:
        _check_within(choices, within, several)
    models = models_of(choices, agents)
    if agent is not None:
        checks.one_of("agent among those compared:", agent, models)
        if not free_of(choices, models[agent]):
            raise InputError(f"{agent} has no free parameter to report: name another of the agents compared.")
    if not any(free_of(choices, each) for each in models.values()):
        raise InputError(f"a report needs an agent with free parameters among those compared, got {', '.join(models)}.")
    return Settings(
        models=models,
        agent=agent,
        criterion="cv" if several else "bic",
        method=method,
        within=within,
        starts=min(checks.whole("starts", starts, at_least=1, at_most=checks.MANY), 2 if quick else starts),
        seed=checks.whole("seed", seed, at_least=0),
        quick=bool(quick),
        noise=noise_of(choices),
    )


def _check_within(choices: Choices, within: str, several: bool) -> None:
    if within not in choices.conditions:
        known = ", ".join(choices.conditions) or "none"
        raise InputError(f"within must be a condition of the choices, got {within!r}; known are {known}.")
    kinds = np.unique(np.asarray(choices.conditions[within]), return_inverse=True)[1].reshape(-1)
    counts = np.zeros((choices.n_participants, kinds.max() + 1), int)
    np.add.at(counts, (choices.participant, kinds), 1)
    lacking = ~(counts > 1).any(1)
    if not several or lacking.any():
        who = choices.participants[int(lacking.argmax())]
        raise InputError(
            f"within {within} needs everyone to have 2 blocks of one condition, which participant {who} has not: "
            "leave --within out."
        )


def noise_of(choices: Choices) -> str:
    """Whole-number noise where rewards are whole numbers about whole-number means, of a variance such noise can have."""
    var = choices.layout.noise_var
    if var is None or choices.means is None or not choices.observed.any():
        return "gaussian"
    at = choices.observed & (choices.arm != NOWHERE)
    off = (choices.reward - np.take_along_axis(choices.means, np.maximum(choices.arm, 0), axis=1))[at]
    if np.isfinite(off).all() and (np.abs(off - np.rint(off)) < 1e-9).all():
        for kind in NOISES.values():
            largest = kind.scale_of_var(var) if kind.whole else None
            if largest and np.abs(off).max() <= largest + 1e-9:
                return kind.name
    return "gaussian"

"""A fit with effects by empirical Bayes, as the groups of a tree."""

from __future__ import annotations

import numpy as np
import xarray as xr

from explorelab.choices.table import Choices
from explorelab.fitting.effects.effect_parts import conditions_dataset, effects_dataset
from explorelab.fitting.effects.people import blocks_table, group_table, own_means, person_points, row_points, within_sd
from explorelab.fitting.effects.rounds import EffectsFit
from explorelab.fitting.model import Fitted
from explorelab.fitting.results import covariances, estimates


def effects_groups(choices: Choices, fitted: Fitted, found: EffectsFit) -> dict[str, xr.Dataset]:
    """Estimates of people, the group, the effects, and the conditions that they are about."""
    design, person = fitted.design, choices.participant
    assert design is not None
    covariance, observed = covariances(found.ending.hessian, found.best.information)
    best = found.best._replace(z=person_points(fitted, found.best.z, person))
    if design.moving:
        means = own_means(design, person)
        covariance = means @ covariance @ np.swapaxes(means, 1, 2)
    sd = within_sd(design, found.group.spread, person)
    groups = {
        "estimates": estimates(
            choices, fitted, best, found.ending, np.where(sd > 0, sd, np.inf), uncertainty=(covariance, observed)
        ),
        "group": group_table(fitted, found.group, person).assign(
            converged=((), found.settled, {"long_name": "whether the group stopped moving within the rounds"}),
            moved=("round", found.steps),
        ),
        "effects": effects_dataset(fitted, found.group, found.sensitivity, sd),
        "conditions": conditions_dataset(choices, design),
    }
    if design.moving:
        groups["blocks"] = blocks_table(fitted, row_points(fitted, found.best.z, person), choices)
    return groups

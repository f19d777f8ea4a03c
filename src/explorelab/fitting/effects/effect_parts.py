"""Effects and conditions as parts of a fit's tree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support.checks import Variables
from explorelab.choices.table import Choices
from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.effects.formulas import conditions_table, parsed, variables_of
from explorelab.fitting.effects.freedom import Sensitivity
from explorelab.fitting.effects.group_step import Around
from explorelab.fitting.model import Fitted


def effects_dataset(fitted: Fitted, group: Around, sensitivity: Sensitivity | None, sd: np.ndarray) -> xr.Dataset:
    """Every effect in standard units, with the covariance of all, how it depends on the spread, and people's spread."""
    design = fitted.design
    assert design is not None
    back = design.back
    covariance = back @ group.covariance @ back.T
    return xr.Dataset(
        {
            "estimate": ("effect", back @ group.effects, {"long_name": "effect, standard units"}),
            "covariance": (("effect", "effect_2"), covariance, {"long_name": "covariance of the effects"}),
            **_about(fitted, design, sd),
            **(_of_freedom(back, sensitivity) if sensitivity is not None else {}),
            "spread": (("latent", "latent_2"), group.spread, {"long_name": "covariance of people around their conditions"}),
        },
        coords={"latent": list(design.latents), "latent_2": list(design.latents)},
        attrs={"formulas": design.text},
    )


def _of_freedom(back: np.ndarray, known: Sensitivity) -> Variables:
    slopes = back @ known.slopes @ back.T
    return {
        "covariance_slope": (("entry", "effect", "effect_2"), slopes, {"long_name": "d covariance / d entry of spread"}),
        "entry_covariance": (("entry", "entry_2"), known.covariance, {"long_name": "covariance of the entries of spread"}),
    }


def _about(fitted: Fitted, design: Design, sd: np.ndarray) -> Variables:
    names = np.array([dimension.name for dimension in fitted.space])
    return {
        "of": ("effect", names[design.parameter], {"long_name": "parameter"}),
        "column": ("effect", np.array(design.names)),
        "term": ("effect", np.array(design.terms)),
        "within": ("effect", design.within, {"long_name": "whether it changes within people"}),
        "freedom": ("effect", design.freedom, {"long_name": "degrees of freedom"}),
        "sd": ("effect", sd[design.parameter], {"long_name": "sd of people in the same conditions, standard units"}),
    }


def posterior_effects(fitted: Fitted, draws: np.ndarray, sd: np.ndarray) -> xr.Dataset:
    """The same from draws of the posterior (draw x effect), and of people's sd (draw x parameter)."""
    design = fitted.design
    assert design is not None
    return xr.Dataset(
        {
            "estimate": ("effect", draws.mean(0), {"long_name": "posterior mean, standard units"}),
            "covariance": (("effect", "effect_2"), np.atleast_2d(np.cov(draws.T)), {"long_name": "posterior covariance"}),
            **_about(fitted, design, np.median(sd, axis=0)),
        },
        attrs={"formulas": design.text},
    )


def conditions_dataset(choices: Choices, design: Design) -> xr.Dataset:
    """The conditions of every block that the formulas are about, for contrasts."""
    table = conditions_table(choices)
    formulas = parsed(design.text, None) if design.text else None
    used = sorted({name for p, right in (formulas.of if formulas else {}).items() for name in variables_of(p, right)})
    who = np.array(choices.participants)[choices.participant]
    return xr.Dataset({name: ("row", _plain(table[name])) for name in used}, {"row_participant": ("row", who)})


def _plain(column: pd.Series) -> np.ndarray:
    return column.to_numpy() if pd.api.types.is_numeric_dtype(column.dtype) else column.astype(str).to_numpy(object)

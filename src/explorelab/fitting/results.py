"""Estimates as labelled data: values, uncertainty and remarks."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import jax
import numpy as np
import xarray as xr
from scipy.stats import norm

import explorelab
from explorelab.agents.own.saved import as_attributes
from explorelab.agents.scales import SCALES
from explorelab.choices.table import Choices
from explorelab.fitting.criteria import aic, bic, chance_nll, share_foreseen, without_information
from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.best import Best
from explorelab.fitting.search.identified import correlations, identified
from explorelab.fitting.search.optimise import REASONS, Status
from explorelab.fitting.search.solve import Ending
from explorelab.fitting.spaces import Space


def on_natural_scale(space: Space, z: np.ndarray) -> np.ndarray:
    """Points in standard units (parameters last) as natural values."""
    columns = []
    with jax.enable_x64(True):
        for i, dimension in enumerate(space):
            scale = SCALES[dimension.scale]
            columns.append(np.asarray(scale.from_line(scale.to_line(dimension.centre) + dimension.spread * z[..., i])))
    return np.stack(columns, axis=-1) if columns else np.zeros((*z.shape[:-1], 0))


def covariances(hessian: np.ndarray, information: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of the observed information, or of the expected one where that is not positive definite; and which."""
    n, p = hessian.shape[:2]
    symmetric = (hessian + np.swapaxes(hessian, 1, 2)) / 2
    usable = np.isfinite(symmetric).all((1, 2)) & (_least(symmetric) > 1e-8)
    chosen = np.where(usable[:, None, None], symmetric, np.where(np.isfinite(information), information, 0.0))
    # A direction in which nothing changes gets a huge variance rather than an error.
    values, vectors = np.linalg.eigh(chosen)
    inverse = 1 / np.maximum(values, 1e-6)
    return np.einsum("nij,nj,nkj->nik", vectors, inverse, vectors) if p else np.zeros((n, 0, 0)), usable


def _least(matrices: np.ndarray) -> np.ndarray:
    if not matrices.shape[1]:
        return np.ones(len(matrices))
    finite = np.where(np.isfinite(matrices).all((1, 2), keepdims=True), matrices, 0.0)
    return np.linalg.eigvalsh(finite)[:, 0]


UNDEFINED = {"long_name": "not defined under a prior: see compare, which fits by maximum likelihood"}


def estimates(
    choices: Choices,
    fitted: Fitted,
    best: Best,
    ending: Ending,
    prior_sd: np.ndarray | float = 1.0,
    likelihood_alone: bool = False,
    uncertainty: tuple[np.ndarray, np.ndarray] | None = None,
) -> xr.Dataset:
    """Every participant's estimates with standard errors, 95 % intervals, information criteria and remarks.

    AIC and BIC need the maximum of the likelihood, so they are given only if `likelihood_alone` was maximised (or no
    parameter was free, so that no prior mattered); otherwise they are NaN. `uncertainty` replaces the covariances that
    follow from the ending, and says of each whether it is from the observed information.
    """
    space, silent = fitted.space, without_information(choices)
    names = [dimension.name for dimension in space]
    covariance, observed = covariances(ending.hessian, best.information) if uncertainty is None else uncertainty
    se = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    natural = on_natural_scale(space, best.z)
    half = norm.ppf(0.975) * se
    with np.errstate(over="ignore"):
        low, high = (on_natural_scale(space, best.z + sign * half) for sign in (-1, 1))
    status = judged_status(best, ending)
    judged = identified(fitted, best.z, covariance, prior_sd)
    not_estimated = np.isin(status, (Status.NOT_FINITE, Status.FLAT))
    judged = judged._replace(remark=np.where(not_estimated[:, None], "not estimated: see status", judged.remark))
    judged = judged.without(np.isin(choices.participants, silent))
    n, k = choices.n_scored, len(space)
    ll = ending.log_likelihood
    at_maximum = likelihood_alone or not k
    nothing = ("participant", np.full(len(ll), np.nan), UNDEFINED)
    per_parameter, pair = ("participant", "parameter"), ("participant", "parameter", "parameter_2")
    return xr.Dataset(
        {
            "estimate": (per_parameter, natural, {"long_name": "estimate, natural units"}),
            "standard_error": (per_parameter, np.abs(slope(space, best.z)) * se, {"long_name": "standard error"}),
            "low": (per_parameter, low, {"long_name": "95 % interval, lower end"}),
            "high": (per_parameter, high, {"long_name": "95 % interval, upper end"}),
            "z": (per_parameter, best.z, {"long_name": "estimate, standard units"}),
            "z_covariance": (pair, covariance, {"long_name": "covariance of the estimates, standard units"}),
            "correlation": (pair, correlations(covariance)),
            **judged.table(),
            "observed_information": ("participant", observed),
            "log_likelihood": ("participant", ll),
            "n_choices": ("participant", n),
            "aic": ("participant", aic(ll, k)) if at_maximum else nothing,
            "bic": ("participant", bic(ll, k, np.maximum(n, 1))) if at_maximum else nothing,
            "pseudo_r2": ("participant", share_foreseen(-ll, chance_nll(choices))),
            "converged": ("participant", status == Status.CONVERGED),
            "status": ("participant", [REASONS[Status(each)] for each in status]),
            "n_steps": ("participant", best.n_steps),
            "start_loss": (("participant", "start"), best.start_values - best.value[:, None]),
            "starts_at_best": ("participant", np.mean(best.start_values < best.value[:, None] + 0.1, axis=1)),
        },
        coords={
            "participant": list(choices.participants),
            "parameter": names,
            "parameter_2": names,
            "start": np.arange(best.start_values.shape[1]),
        },
    )


NOTICEABLY = 2e-3
"""In units of log-likelihood: if a nearby point is lower by more than this, the minimum is not accepted."""


def judged_status(best: Best, ending: Ending) -> np.ndarray:
    """How every fit ended, taking into account what was found at its end and nearby."""
    beaten = (best.status == Status.CONVERGED) & (ending.lower_nearby > NOTICEABLY)
    status = np.where(beaten, Status.NOT_LOWEST, best.status)
    return np.where(np.isfinite(ending.log_likelihood), status, Status.NOT_FINITE)


def slope(space: Space, z: np.ndarray) -> np.ndarray:
    """d natural / d z, for standard errors in natural units."""
    step = 1e-5
    return (on_natural_scale(space, z + step) - on_natural_scale(space, z - step)) / (2 * step)


def space_table(space: Space) -> xr.Dataset:
    """Scale, centre, spread and bounds of every free parameter."""
    fields = ("scale", "centre", "spread", "low", "high")
    return xr.Dataset(
        {field: ("parameter", [getattr(dimension, field) for dimension in space]) for field in fields},
        coords={"parameter": [dimension.name for dimension in space]},
    )


def as_tree(
    groups: Mapping[str, xr.Dataset], choices: Choices, fitted: Fitted, settings: Mapping[str, object]
) -> xr.DataTree:
    """A tree of the groups; its root says what was fitted to what, how, and with which versions."""
    if "estimates" in groups and (note := _note(settings, fitted.design)):
        groups = {**groups, "estimates": groups["estimates"].assign_attrs(note=note)}
    root = xr.Dataset(attrs={
        **as_attributes(fitted.agent),
        "free": ", ".join(dimension.name for dimension in fitted.space),
        "fixed": json.dumps({name: np.asarray(value).tolist() for name, value in fitted.data.fixed.items()}),
        "source": choices.source,
        "n_participants": choices.n_participants,
        "n_arms": choices.layout.n_arms,
        "places": choices.layout.digest,
        "without_information": json.dumps(without_information(choices)),
        **_told_of(fitted.design),
        **{name: value for name, value in settings.items() if value is not None},
        "versions": json.dumps(versions()),
    })  # fmt: skip
    return xr.DataTree.from_dict({"/": root, **{f"/{name}": group for name, group in groups.items()}})


SAMPLED = ("bayes", "nuts")
"""Methods that sample the hierarchical posterior: the same one, so that what is made of the one is made of the other."""
OF_A_GROUP = ("em", *SAMPLED)
"""Methods that learn what people are like."""

SHRUNKEN = (
    "These estimates are drawn towards the group: tests that compare them between conditions are wrong. "
    "Fit with effects, such as 'temperature ~ group', instead."
)
"""What to know before comparing estimates by empirical or hierarchical Bayes."""
TOWARDS_CONDITIONS = (
    "These estimates are drawn towards what each person's conditions predict: tests that compare them between conditions "
    "are wrong. `effects` tests the conditions."
)


def _note(settings: Mapping[str, object], design: Design | None) -> str:
    """What to know before comparing estimates; empty where they are not drawn towards a group."""
    if settings.get("method") not in OF_A_GROUP:
        return ""
    return TOWARDS_CONDITIONS if design is not None and design.text else SHRUNKEN


def _told_of(design: Design | None) -> dict[str, object]:
    """What the root says about effects: the formulas, who shares what, and whether parameters change within people."""
    if design is None:
        return {}
    shared = dict.fromkeys(
        name.partition(":")[0] for name, random in zip(design.latents, design.random, strict=True) if not random
    )
    return {"effects": design.text, "shared": ", ".join(shared), "changes_within_people": int(design.moving)}


def versions() -> dict[str, str]:
    """Versions of the packages behind a fit; those not installed are left out (only NUTS needs NumPyro)."""
    found = {"explorelab": explorelab.__version__, "python": platform.python_version()}
    for package in ("jax", "numpy", "scipy", "numpyro", "arviz-stats", "xarray"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found

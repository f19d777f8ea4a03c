"""Leave-one-out from the draws of a hierarchical fit, leaving out one choice, one block or one person at a time.

What is left out decides what is asked. By choice: how well is a choice predicted by everything else that the person did,
later choices included? By block: a block from the person's other blocks? By person: somebody new, of whom nothing is known
but the population? The last two differ by what is known of the person, and a person's only block is a whole person.
"""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int
from scipy.special import logsumexp

from explorelab._support import checks
from explorelab._support.counted import counted, plural
from explorelab._support.door import door
from explorelab._support.extras import needs
from explorelab.agents.factors import Params, Ways
from explorelab.choices.table import Choices
from explorelab.comparison.person_left_out import integrated
from explorelab.comparison.psis import LEAST_DRAWS, check_draws, loo_by_block, smoothed
from explorelab.errors import InputError
from explorelab.fitting.bayes.convergence import warning_of
from explorelab.fitting.bayes.prior_units import change_without
from explorelab.fitting.known import fitted_of, known_from_fit, same_people
from explorelab.fitting.likelihood import Block, log_likelihoods
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Model
from explorelab.fitting.search.batches import in_calls, mapped

UNITS = {
    "choice": "each choice from all others",
    "block": "each block from all others",
    "person": "each person from all others",
}
"""What is left out at a time."""
LEAST_EFFECTIVE = 30
"""Points that an integral over a person's parameters must rest on, at the median draw."""


@door
def loo(
    fit: xr.DataTree,
    choices: Choices | None = None,
    unit: str = "block",
    *,
    draws: int = 1000,
    points: int = 1000,
    seed: int = 0,
    progress: bool | None = None,
) -> xr.Dataset:
    """How well an agent predicts what it has not seen, from the draws of a hierarchical fit (PSIS-LOO).

    For each unit (a choice: over `row` and `trial`; a block: over `row`; a person: over `participant`): `elpd` (expected log
    predictive density), `p_loo` (effective number of parameters), `pareto_k` and `bad` (k too large to trust). By person
    also `effective`, the number of points that the integral over the person's parameters rests on. Totals: `elpd_total`,
    `standard_error`, `p_loo_total`, `n_bad_total`. The attributes hold `unit`, `good_k`, `convergence` and `warning`, which
    is empty if all is well.

    Parameters
    ----------
    fit
        Result of `fit` by a method that draws from the hierarchical posterior.
    choices
        The choices that were fitted; needed by choice and by person.
    unit
        "choice", "block" or "person". By person, a person's own parameters are integrated out over the population.
    draws
        By choice and person: at most so many of the posterior's draws, evenly spaced.
    points
        By person: points at which the integral over a person's parameters is evaluated.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    needs("bayes", "loo")
    checks.one_of("unit", unit, UNITS)
    draws = checks.whole("draws", draws, at_least=LEAST_DRAWS, at_most=checks.MANY)
    points = checks.whole("points", points, at_least=LEAST_DRAWS, at_most=checks.MANY)
    seed = checks.whole("seed", seed, at_least=0)
    check_draws(fit, "loo")
    if unit == "block":
        found = loo_by_block(fit)
        return found.assign_attrs(unit=unit)
    if choices is None:
        raise InputError(f"loo by {unit} needs the choices that were fitted: loo(fit, choices, unit={unit!r}).")
    same_people(choices, fit)
    fitted = fitted_of(choices, known_from_fit(fit))
    posterior = _thinned(fit["posterior"].to_dataset(), draws)
    if unit == "choice":
        result = _by_choice(choices, fitted, posterior, progress)
    else:
        result = _by_person(choices, fitted, posterior, points, seed, progress)
    warning = " ".join(part for part in (_of_bad(result, unit), warning_of(fit)) if part)
    told = {"unit": unit, "convergence": str(fit.attrs.get("convergence", "")), "warning": warning}
    return result.assign_attrs(told)


def _thinned(posterior: xr.Dataset, draws: int) -> xr.Dataset:
    """At most so many draws over all chains, evenly spaced."""
    each = max(1, draws // posterior.sizes["chain"])
    step = -(-posterior.sizes["draw"] // each)
    return posterior.isel(draw=slice(step - 1, None, step))


# By choice ------------------------------------------------------------------------------------------------------------


@partial(jax.jit, static_argnames="model")
def _of_draws(
    model: Model, fixed: Params, ways: Ways, argument: tuple[Block, Params], count: Int[Array, ""]
) -> Float[Array, "row draw trial"]:
    """Log-likelihood of every choice of a block at each of several points."""

    def one(each: tuple[Block, Params]) -> Float[Array, "draw trial"]:
        block, params = each
        at = partial(log_likelihoods, model.rule, ways=ways, n_arms=model.n_arms, block=block)
        return jax.lax.map(lambda own: at({**fixed, **own}), params)

    return mapped(one, argument, count)


def _by_choice(choices: Choices, fitted: Fitted, posterior: xr.Dataset, progress: bool | None) -> xr.Dataset:
    names = [dimension.name for dimension in fitted.space]
    n_chains, n_draws = posterior.sizes["chain"], posterior.sizes["draw"]
    params = {}
    for name in names:
        values = posterior[name].transpose("participant", "chain", "draw").values
        params[name] = values.reshape(len(values), -1)[choices.participant]

    def call(part: tuple[Block, Params], count: np.int32) -> Float[Array, "row draw trial"]:
        return _of_draws(fitted.model, fitted.data.fixed, fitted.data.ways, part, count)

    of_trial = in_calls(call, (fitted.data.blocks, params), "choices", progress)
    scored = np.asarray(choices.scored)
    # Choices in one axis, as `smoothed` takes units.
    flat = np.moveaxis(np.asarray(of_trial), 1, -1)[scored]
    over = ("chain", "draw", "row")
    drawn = xr.DataArray(np.moveaxis(flat.reshape(-1, n_chains, n_draws), 0, -1), dims=over, name="block")
    elpd, k, good_k = smoothed(posterior, drawn, xr.zeros_like(drawn))
    p_loo = logsumexp(drawn.values, axis=(0, 1)) - np.log(n_chains * n_draws) - elpd

    def placed(values: np.ndarray) -> tuple[tuple[str, str], np.ndarray]:
        table = np.full(scored.shape, np.nan)
        table[scored] = values
        return ("row", "trial"), table

    who = np.array(choices.participants)[choices.participant]
    of_person = choices.participant[np.nonzero(scored)[0]]
    bad = ~(k <= good_k)
    result = xr.Dataset(
        {
            "elpd": placed(elpd),
            "p_loo": placed(p_loo),
            "pareto_k": placed(k),
            "bad": (("row", "trial"), np.nan_to_num(placed(bad.astype(float))[1]).astype(bool)),
            "participant_elpd": ("participant", np.bincount(of_person, elpd, choices.n_participants)),
        },
        {
            "row_participant": ("row", who),
            "row_block": ("row", choices.block.astype(str)),
            "trial": np.arange(1, choices.n_trials + 1),
            "participant": list(choices.participants),
        },
        {"good_k": good_k},
    )
    return result.assign(_totals(elpd, p_loo, bad))


# By person ------------------------------------------------------------------------------------------------------------


def _by_person(
    choices: Choices, fitted: Fitted, posterior: xr.Dataset, points: int, seed: int, progress: bool | None
) -> xr.Dataset:
    found = integrated(choices, fitted, posterior, points, seed, progress)
    n_chains, n_draws = posterior.sizes["chain"], posterior.sizes["draw"]
    over = ("chain", "draw", "row")
    drawn = xr.DataArray(found.log_likelihood.reshape(n_chains, n_draws, -1), dims=over, name="block")
    mean, sd = (posterior[name].transpose("chain", "draw", "parameter").values for name in ("group_mean", "group_sd"))
    rows = [np.nonzero(choices.participant != who)[0] for who in range(choices.n_participants)]
    change = np.stack([change_without(choices, fitted, mean, sd, kept) for kept in rows], axis=-1)
    elpd, k, good_k = smoothed(posterior, drawn, xr.DataArray(change, dims=over))
    p_loo = logsumexp(drawn.values, axis=(0, 1)) - np.log(n_chains * n_draws) - elpd
    effective = np.median(found.effective, axis=0)
    bad = ~(k <= good_k) | (effective < LEAST_EFFECTIVE)
    result = xr.Dataset(
        {
            "elpd": ("participant", elpd, {"long_name": "expected log predictive density of all the person's choices"}),
            "p_loo": ("participant", p_loo),
            "pareto_k": ("participant", k),
            "effective": ("participant", effective, {"long_name": "points that the integral rests on"}),
            "bad": ("participant", bad),
        },
        {"participant": list(choices.participants)},
        {"good_k": good_k},
    )
    return result.assign(_totals(elpd, p_loo, bad))


def _totals(elpd: np.ndarray, p_loo: np.ndarray, bad: np.ndarray) -> dict[str, float]:
    return {
        "elpd_total": float(elpd.sum()),
        "standard_error": float(np.sqrt(len(elpd) * elpd.var())),
        "p_loo_total": float(p_loo.sum()),
        "n_bad_total": int(bad.sum()),
    }


def _of_bad(result: xr.Dataset, unit: str) -> str:
    """The sentence on units whose elpd cannot be trusted."""
    n, each = int(result["n_bad_total"]), int(np.isfinite(result["elpd"].values).sum())
    if not n:
        return ""
    total = counted(each, "person", "people") if unit == "person" else counted(each, unit)
    why = f"a Pareto k above {result.attrs['good_k']:.2f}"
    if unit == "person":
        few = int((result["effective"].values < LEAST_EFFECTIVE).sum())
        why += f", or an integral over fewer than {LEAST_EFFECTIVE} points ({few})"
        remedy = "draw more, give more points, or refit without them"
    else:
        remedy = "draw more, or leave whole blocks out with cross_validate"
    return f"{n} of {total} {plural(n, 'has', 'have')} {why}, so that the elpd cannot be trusted: {remedy}."

"""Leave-one-block-out without refitting, by reweighting the posterior's draws (PSIS-LOO by block).

Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry 2017; Vehtari et al. 2024) estimates how well each block would
have been predicted by a posterior that had not seen it. If a block was too influential (the Pareto shape k is above 0.7, as
is usual for someone's only block), the estimate cannot be trusted, and the result says so.

The population's prior is in units of the rewards, including the block's. So draws are reweighted twice: for the block's
likelihood, and for the prior in units of all other blocks (`prior_change`). Bounds, and fixed values that depend on the
rewards, stay as they were.
"""

from __future__ import annotations

import warnings

import numpy as np
import xarray as xr
from scipy.special import logsumexp

from explorelab._support.counted import counted, plural
from explorelab._support.door import door
from explorelab._support.extras import needs
from explorelab.errors import InputError
from explorelab.fitting.bayes.convergence import warning_of

LEAST_DRAWS = 100
"""With fewer draws there is no tail to smooth."""


@door
def loo_by_block(tree: xr.DataTree) -> xr.Dataset:
    """How well each block is predicted from all others, from the draws of a hierarchical fit (`fit(method="bayes")`).

    Over `row`, labelled by `row_participant` and `row_block`: elpd (expected log predictive density), p_loo (effective
    number of parameters), pareto_k, and bad (k too large to trust). Over `participant`: participant_elpd, participant_p_loo,
    n_bad. Totals: elpd_total, standard_error, p_loo_total, n_bad_total. The attributes hold `good_k`, `convergence`, and
    `warning`, which is empty if all is well.

    Parameters
    ----------
    tree
        Result of `fit` with method "bayes" or "nuts".
    """
    needs("bayes", "loo_by_block")
    check_draws(tree, "loo_by_block")
    draws = tree["log_likelihood"].to_dataset()["block"]
    n_draws = draws.sizes["chain"] * draws.sizes["draw"]
    change = tree["log_likelihood"].to_dataset().get("prior_change", xr.zeros_like(draws))
    elpd, k, good_k = smoothed(tree["posterior"].to_dataset(), draws, change)
    p_loo = logsumexp(draws.values, axis=(0, 1)) - np.log(n_draws) - elpd
    bad = ~(k <= good_k)
    who = draws["row_participant"].values
    people, of_row = _in_order(who)
    result = xr.Dataset(
        {
            "elpd": ("row", elpd, {"long_name": "expected log predictive density of the block"}),
            "p_loo": ("row", p_loo, {"long_name": "effective number of parameters"}),
            "pareto_k": ("row", k, {"long_name": "Pareto shape of the importance weights"}),
            "bad": ("row", bad),
            "participant_elpd": ("participant", np.bincount(of_row, elpd)),
            "participant_p_loo": ("participant", np.bincount(of_row, p_loo)),
            "n_bad": ("participant", np.bincount(of_row, bad).astype(int)),
            "elpd_total": elpd.sum(),
            "standard_error": np.sqrt(len(elpd) * elpd.var()),
            "p_loo_total": p_loo.sum(),
            "n_bad_total": int(bad.sum()),
        },
        coords={
            "row_participant": ("row", who),
            "row_block": ("row", draws["row_block"].values),
            "participant": people,
        },
    )
    warning = " ".join(part for part in (_of_bad(result, good_k), warning_of(tree)) if part)
    return result.assign_attrs(good_k=good_k, convergence=str(tree.attrs.get("convergence", "")), warning=warning)


def check_draws(tree: object, who: str) -> None:
    """Raise if this is not a hierarchical fit with enough draws to reweight."""
    if not isinstance(tree, xr.DataTree) or not {"log_likelihood", "posterior"} <= set(tree.children):
        raise InputError(f"{who} needs the draws of a hierarchical fit (method='bayes'), but this fit has none.")
    if tree.attrs.get("effects") or tree.attrs.get("shared"):
        raise InputError(f"{who} cannot judge a fit with effects of conditions yet: fit the agent without them.")
    sizes = tree["posterior"].to_dataset().sizes
    n_draws = sizes["chain"] * sizes["draw"]
    if n_draws < LEAST_DRAWS:
        raise InputError(f"{who} needs at least {LEAST_DRAWS} draws over all chains, got {n_draws}.")


def smoothed(posterior: xr.Dataset, draws: xr.DataArray, change: xr.DataArray) -> tuple[np.ndarray, np.ndarray, float]:
    """Expected log predictive density and Pareto k of every row, and the k above which it cannot be trusted."""
    from arviz_stats.loo import loo

    # A block without a scored choice has the same likelihood in every draw, so there is nothing to reweight.
    varies = np.ptp(draws.values, axis=(0, 1)) > 0
    elpd, k = draws.values[0, 0].astype(float), np.full(draws.sizes["row"], -np.inf)
    groups = {"posterior": posterior, "log_likelihood": (draws - change).isel(row=varies).to_dataset(name="block")}
    with warnings.catch_warnings():
        # The result holds what ArviZ would warn about.
        warnings.filterwarnings("ignore", message="Estimated shape parameter of Pareto", category=UserWarning)
        found = loo(xr.DataTree.from_dict(groups), pointwise=True, var_name="block")
    weights = found.log_weights.transpose("chain", "draw", "row").values
    elpd[varies] = logsumexp(weights + draws.values[..., varies], axis=(0, 1))
    k[varies] = found.pareto_k.values
    return elpd, k, float(found.good_k)


def _in_order(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels in order of appearance, and each label's index among them."""
    distinct, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return distinct[order], np.argsort(order)[codes]


def _of_bad(result: xr.Dataset, good_k: float) -> str:
    n = int(result["n_bad_total"])
    if not n:
        return ""
    k = result["pareto_k"].values
    worst = int(np.where(np.isnan(k), np.inf, k).argmax())
    return (
        f"{n} of {counted(result.sizes['row'], 'block')} {plural(n, 'has', 'have')} a Pareto k above {good_k:.2f}, the "
        f"largest {k[worst]:.2f} (block {result['row_block'].values[worst]} of {result['row_participant'].values[worst]}): "
        f"such an elpd is too optimistic to trust; really leave {plural(n, 'it', 'them')} out with cross_validate."
    ) + _of_only_blocks(result)


def _of_only_blocks(result: xr.Dataset) -> str:
    """What helps where a bad block is all that its person did."""
    who = result["row_participant"].values
    alone = np.isin(who, [name for name in result["participant"].values if (who == name).sum() == 1])
    if not (alone & result["bad"].values).any():
        return ""
    return " Someone's only block is all that is known of them: loo(fit, choices, unit='person') integrates over the rest."

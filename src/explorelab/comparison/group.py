"""Random-effects Bayesian model selection: which model people use, when they may use different ones.

Stephan, Penny, Daunizeau, Moran & Friston (2009), NeuroImage 46, 1004-1017: person n uses model k with probability r_k,
and r has a Dirichlet prior. Rigoux, Stephan, Friston & Daunizeau (2014), NeuroImage 84, 971-985: the risk that all r_k are
equal and the differences are due to chance, and exceedance probabilities protected against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xarray as xr
from scipy.special import betainc, digamma, expit, gammainc, gammaln, hyp1f1, log_softmax, logsumexp, polygamma, xlogy

from explorelab._support import checks
from explorelab._support.checks import Floats
from explorelab._support.counted import each_of
from explorelab._support.door import door
from explorelab.errors import ExplorelabError, InputError

MOST_STEPS = 10_000
_NEGLIGIBLE = 45.0  # nats below the peak at which an integrand is left out: a share of 3e-20
_N_POINTS = 1001
_FINEST = 0.04  # the step in log x that the upper end of the integrand needs, however wide the rest is
_LEAST_COUNT = 0.01
_MOST_COUNT = 1e9

type Evidence = npt.ArrayLike | xr.DataArray
"""Participant x model."""

type Counts = npt.ArrayLike
"""One number, or one for each model."""


class _Posterior(NamedTuple):
    """The approximate posterior: Dirichlet counts, each person's model probabilities, and the free energy."""

    alpha: Floats
    responsibility: Floats
    free_energy: float


@door
def group_selection(
    log_evidence: Evidence, names: Sequence[str] | None = None, prior: Counts = 1.0, tolerance: float = 1e-10
) -> xr.Dataset:
    """How frequent each model is in the population, and the probability that it is the most frequent.

    `alpha`                 counts of the Dirichlet posterior over frequencies
    `frequency`             its mean, alpha_k / sum(alpha)
    `exceedance`            P(r_k is the largest), exact to 1e-10 for up to a million people: no sampling
    `omnibus_risk`          P(all frequencies are equal | data), Rigoux's BOR = 1 / (1 + exp(F1 - F0))
    `protected_exceedance`  (1 - BOR) exceedance + BOR / K
    `responsibility`        participant x model: the probability that this person uses this model
    `free_energy`, `free_energy_equal`   F1 and F0, the log evidence of unequal (a lower bound) and of equal frequencies

    Adding a constant to all models of one person changes only the free energies.

    Parameters
    ----------
    log_evidence
        Array participant x model: log marginal likelihoods or a substitute (-BIC/2, or minus a cross-validated negative
        log-likelihood).
    names
        Names of the models.
    prior
        Counts of the Dirichlet prior: one number, or one per model.
    tolerance
        Stop updating the counts once they change by less than this share of their sum.
    """
    evidence, labels, people = _table(log_evidence, names)
    counts = _prior(prior, evidence.shape[1])
    checks.scalar("tolerance", tolerance, above=0, below=1)
    best = evidence.max(1, keepdims=True)
    relative = evidence - best
    found = _converged(relative, counts, tolerance)
    equal = float((logsumexp(relative, axis=1) - np.log(len(labels))).sum())
    risk = float(expit(equal - found.free_energy))
    exceedance = exceedance_probability(found.alpha)
    variables = {
        "alpha": ("model", found.alpha),
        "frequency": ("model", found.alpha / found.alpha.sum()),
        "exceedance": ("model", exceedance),
        "protected_exceedance": ("model", (1 - risk) * exceedance + risk / len(labels)),
        "responsibility": (("participant", "model"), found.responsibility),
        "omnibus_risk": ((), risk),
        "free_energy": ((), found.free_energy + best.sum()),
        "free_energy_equal": ((), equal + best.sum()),
    }
    return xr.Dataset(variables, {"model": labels, "participant": people}, {"tolerance": tolerance})


def exceedance_probability(alpha: npt.ArrayLike) -> Floats:
    """P(r_k is the largest) for every k, where r has a Dirichlet distribution with these counts.

    For two models it is the tail of a beta distribution. For more, r_k are gamma variables over their sum, so
    P = E[prod_j F_j(X_k)] with X_k ~ Gamma(alpha_k) and F_j the distribution function of Gamma(alpha_j): one integral over
    log X_k. The integrand is log-concave; its support is found in log space, where the trapezoidal rule converges
    geometrically.
    """
    alpha = checks.real("alpha", alpha, at_least=_LEAST_COUNT)
    if alpha.ndim != 1 or not alpha.size:
        raise InputError(f"alpha must have one count per model, got an array of shape {alpha.shape}.")
    if alpha.size == 1:
        return np.ones(1)
    if alpha.size == 2:
        return np.asarray(betainc(alpha[::-1], alpha, 0.5))
    return np.array([_largest(alpha, k) for k in range(alpha.size)])


def _table(log_evidence: Evidence, names: Sequence[str] | None) -> tuple[Floats, list[str], np.ndarray]:
    """The evidence as participant x model, with the labels of both."""
    people = None
    if isinstance(log_evidence, xr.DataArray):
        if log_evidence.ndim != 2 or "model" not in log_evidence.dims:
            raise InputError(f"log_evidence must be participant x model, got the dimensions {log_evidence.dims}.")
        log_evidence = log_evidence.transpose(..., "model")
        names = [str(name) for name in log_evidence["model"].values] if names is None else names
        people = log_evidence[log_evidence.dims[0]].values
    evidence = checks.numbers("log_evidence", log_evidence)
    if evidence.ndim != 2 or not evidence.size:
        raise InputError(f"log_evidence must be a table participant x model, got an array of shape {evidence.shape}.")
    labels = [f"model {k + 1}" for k in range(evidence.shape[1])] if names is None else [str(name) for name in names]
    if len(labels) != evidence.shape[1]:
        raise InputError(f"names must have one for {each_of(evidence.shape[1], 'model')}, got {len(labels)}.")
    if len(set(labels)) < len(labels):
        raise InputError(f"names must differ from each other, got {checks.shown(labels)}.")
    return evidence, labels, np.arange(evidence.shape[0]) if people is None else people


def _prior(prior: Counts, n_models: int) -> Floats:
    counts = checks.real("prior", prior, at_least=_LEAST_COUNT, at_most=_MOST_COUNT)
    if counts.ndim == 1 and counts.size != n_models:
        raise InputError(f"prior must be one number, or one for {each_of(n_models, 'model')}, got {counts.size}.")
    return np.broadcast_to(counts, n_models).astype(np.float64)


def _posterior(evidence: Floats, prior: Floats, alpha: Floats) -> _Posterior:
    """The responsibilities that these counts imply, and the free energy of both (Rigoux 2014, appendix A)."""
    log_r = digamma(alpha) - digamma(alpha.sum())
    g = np.exp(log_softmax(evidence + log_r, axis=1))
    joint = (g * (evidence + log_r)).sum() + gammaln(prior.sum()) - gammaln(prior).sum() + ((prior - 1) * log_r).sum()
    entropy = gammaln(alpha).sum() - gammaln(alpha.sum()) - ((alpha - 1) * log_r).sum() - xlogy(g, g).sum()
    return _Posterior(alpha, g, float(joint + entropy))


def _converged(evidence: Floats, prior: Floats, tolerance: float) -> _Posterior:
    """The fixed point of Stephan's updates, g from alpha and alpha = prior + sum of g, starting from the prior.

    If models hardly differ, the plain update creeps by a share K / 2N of the way at a time; Newton's step to the fixed
    point is taken instead whenever it has the better free energy.
    """
    now = _posterior(evidence, prior, prior)
    for _ in range(MOST_STEPS):
        updated = prior + now.responsibility.sum(0)
        if np.abs(updated - now.alpha).max() <= tolerance * updated.sum():
            # counts and responsibilities must match exactly, whichever was updated last
            return _posterior(evidence, prior, updated)
        steps = [updated, *_newton(now, updated, prior)]
        now = max((_posterior(evidence, prior, alpha) for alpha in steps), key=lambda each: each.free_energy)
    raise ExplorelabError(f"model selection did not settle within {MOST_STEPS} updates; increase the tolerance.")


def _newton(now: _Posterior, updated: Floats, prior: Floats) -> list[Floats]:
    """Newton's step to alpha = prior + sum of g(alpha), if it leads to valid counts."""
    g = now.responsibility
    slope = (np.diag(g.sum(0)) - g.T @ g) * polygamma(1, now.alpha)
    try:
        alpha = now.alpha + np.linalg.solve(np.eye(prior.size) - slope, updated - now.alpha)
    except np.linalg.LinAlgError:
        return []
    return [alpha] if (alpha >= prior).all() else []


def _largest(alpha: Floats, k: int) -> float:
    """The integral over y = log x of the density of log X_k times the others' distribution functions."""
    others, top = np.delete(alpha, k), alpha.max()
    left, right = _NEGLIGIBLE / alpha[k], (_NEGLIGIBLE + alpha.size) / top
    low = np.log(alpha[k]) - np.sqrt(2 * left) - left  # beyond d = sqrt(2 s) + s, exp(-d) - 1 + d exceeds s
    high = np.log(top) + np.log1p(np.sqrt(2 * right) + right)  # and exp(d) - 1 - d beyond this d

    def log_integrand(y: Floats) -> Floats:
        z = y - np.log(alpha[k])  # relative to the peak of the density, so that large counts lose no digits
        return alpha[k] * (z - np.expm1(z)) - _log_gamma_excess(alpha[k]) + sum(_log_gamma_cdf(a, y) for a in others)

    for _ in range(3):  # a narrow peak in a wide range: look closer at what counts
        y = np.linspace(low, high, _N_POINTS)
        value = log_integrand(y)
        counts = np.flatnonzero(value > value.max() - _NEGLIGIBLE)
        low, high = y[max(counts[0] - 1, 0)], y[min(counts[-1] + 1, y.size - 1)]
    y = np.linspace(low, high, max(_N_POINTS, int((high - low) / _FINEST)))
    return float(min(np.exp(logsumexp(log_integrand(y))) * (y[1] - y[0]), 1.0))


def _log_gamma_excess(a: float) -> float:
    """log Gamma(a) - a log a + a; by Stirling's series for large a, where the difference would lose digits."""
    if a > 100:
        return float(0.5 * np.log(2 * np.pi / a) + 1 / (12 * a) - 1 / (360 * a**3))
    return float(gammaln(a) - a * np.log(a) + a)


def _log_gamma_cdf(a: float, log_x: Floats) -> Floats:
    """log of the regularised lower incomplete gamma function, even where the function itself underflows."""
    cdf = gammainc(a, np.exp(log_x))
    tiny = cdf < 1e-290
    log_cdf = np.log(np.where(tiny, 1.0, cdf))
    x = np.exp(log_x[tiny])
    log_cdf[tiny] = a * log_x[tiny] - x - gammaln(a + 1) + np.log(hyp1f1(1.0, a + 1, x))
    return log_cdf

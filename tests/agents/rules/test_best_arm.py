"""The probability of being the best of several arms, against adaptive quadrature, down to log-probabilities of thousands."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, logsumexp

from explorelab.agents.rules.best_arm import log_probs_of_best
from tests.support.beliefs import QUICKLY
from tests.support.siblings import slow

CASES = {
    "twentyfold": ([0.0, 1.0, 0.5], [1.0, 0.05, 0.2]),
    "hundredfold": ([0.0, 0.1, -0.2, 0.3], [1.0, 0.01, 0.1, 0.5]),
    "a broad arm behind a narrow one": ([0.0, 21.4], [1.0, 0.05]),
    "a narrow arm behind a broad one": ([0.0, 10.0], [0.01, 1.0]),
    "two alike far apart": ([0.0, 30.0], [1.0, 1.0]),
    "a certain arm": ([0.5, 1.0, 0.8], [0.0, 1.0, 0.01]),
    "far from zero": ([1e6, 1e6 + 1, 1e6 + 0.5], [1.0, 0.05, 0.2]),
    "far behind": ([-10.0, 0.0, 1.0], [0.1, 1.0, 3.0]),
    "behind a step that hides what lies beyond": ([-1.0, -0.785, -0.29, 0.0], [0.026, 1e-9, 0.003, 0.05]),
}


def reference(mean, sd):
    """Log-probabilities by SciPy's adaptive quadrature in many pieces, about the integrand's peak on a fine grid."""
    return np.array([_reference_of(i, np.array(mean), np.array(sd)) for i in range(len(mean))])


def _reference_of(i, mean, sd):
    others = [j for j in range(len(mean)) if j != i and sd[j] > 0]
    if sd[i] == 0:
        return sum(log_ndtr((mean[i] - mean[j]) / sd[j]) for j in others)
    least = max([m for m, s in zip(mean, sd, strict=True) if s == 0], default=-np.inf)

    def log_integrand(x):
        return -0.5 * ((x - mean[i]) / sd[i]) ** 2 + sum(log_ndtr((x - mean[j]) / sd[j]) for j in others)

    low, high = max(mean[i], least), max((mean + 10 * sd).max(), least + 10 * sd[i])
    for _ in range(120):
        third = (high - low) / 3
        low, high = (low + third, high) if log_integrand(low + third) < log_integrand(high - third) else (low, high - third)
    peak = log_integrand(low)
    ends = {low, *(m + c * s for m, s in zip(mean, sd, strict=True) for c in np.arange(-9, 10))}
    ends = sorted(e for e in ends | {low + sign * 9 * sd[i] / 2**k for k in range(16) for sign in (-1, 1)} if e >= least)
    pieces = pairwise(ends)
    total = sum(
        quad(lambda x: np.exp(log_integrand(x) - peak), a, b, epsabs=1e-13, epsrel=1e-9)[0] for a, b in pieces if b > a
    )
    return np.log(total) + peak - np.log(sd[i]) - 0.5 * np.log(2 * np.pi)


_LEGENDRE = np.polynomial.legendre.leggauss(20)


def dense(mean, sd):
    """Log-probabilities by 20 points in each of hundreds of pieces, in logarithms throughout; quick for many arms."""
    return np.array([_dense_of(i, mean, sd) for i in range(len(mean))])


def _dense_of(i, mean, sd):
    others = np.arange(len(mean)) != i

    def log_integrand(x):
        return -0.5 * ((x - mean[i]) / sd[i]) ** 2 + log_ndtr((x[:, None] - mean[others]) / sd[others]).sum(1)

    low, high = mean[i], (mean + 12 * sd).max()
    for _ in range(200):
        x = np.array([(2 * low + high) / 3, (low + 2 * high) / 3])
        left, right = log_integrand(x)
        low, high = (x[0], high) if left < right else (low, x[1])
    ends = [_depth(log_integrand, low, sign * 10 * sd[i]) for sign in (-1, 1)]
    near = np.geomspace(1e-9, 1, 120) * (ends[1] - ends[0])
    all_ends = [np.linspace(*ends, 60), ends[0] + near, low + near, low - near]
    all_ends = np.unique(np.concatenate([*all_ends, (mean + sd * np.arange(-9, 9.1, 0.5)[:, None]).ravel()]))
    pieces = all_ends[(all_ends >= ends[0]) & (all_ends <= ends[1])]
    half = np.diff(pieces)[:, None] / 2
    x = (pieces[1:] + pieces[:-1])[:, None] / 2 + half * _LEGENDRE[0]
    total = logsumexp(log_integrand(x.ravel()) + np.log(half * _LEGENDRE[1]).ravel())
    return total - np.log(sd[i]) - 0.5 * np.log(2 * np.pi)


def _depth(log_integrand, peak, far):
    """Where the integrand is 45 nats below its peak, on one side."""
    low, high, top = 0.0, 1.0, log_integrand(np.array([peak]))[0]
    for _ in range(200):
        middle = (low + high) / 2
        deep = log_integrand(np.array([peak + far * middle]))[0] < top - 45
        low, high = (low, middle) if deep else (middle, high)
    return peak + far * high


_log_probs = jax.jit(log_probs_of_best, compiler_options=QUICKLY)
_slopes = jax.jit(jax.jacrev(log_probs_of_best, argnums=(0, 1)), compiler_options=QUICKLY)
_score_slopes = jax.jit(jax.jacfwd(log_probs_of_best, argnums=(0, 1)), compiler_options=QUICKLY)


def log_probs(mean, sd, available=None, dtype="float64"):
    with jax.enable_x64(True):
        allowed = None if available is None else jnp.asarray(available)
        return np.asarray(_log_probs(jnp.asarray(mean, dtype), jnp.asarray(sd, dtype), allowed))


def scores(mean, sd, available=None):
    """What a likelihood is given for each arm chosen, one row each."""
    with jax.enable_x64(True):
        allowed = None if available is None else jnp.asarray(available)
        return np.array([_log_probs(jnp.asarray(mean), jnp.asarray(sd), allowed, i) for i in range(len(mean))])


SETTINGS = {
    "thousandfold": lambda rng, n: (rng.normal(0, 1, n), 10 ** rng.uniform(-3, 0, n)),
    "thousandfold, far apart": lambda rng, n: (rng.normal(0, 5, n), 10 ** rng.uniform(-3, 0, n)),
    "hundredfold": lambda rng, n: (rng.normal(0, 0.5, n), rng.choice([1.0, 0.01], n)),
    "ties": lambda rng, n: (rng.choice([0.0, 1.0], n), rng.choice([0.5, 0.02], n)),
    "equal": lambda rng, n: (np.zeros(n), np.ones(n)),
    "one certain": lambda rng, n: (rng.normal(0, 1, n), np.where(np.arange(n) == 0, 1e-8, 10 ** rng.uniform(-2, 0, n))),
    "learnt": lambda rng, n: _learnt(rng, n),
}
"""Random means and sds."""


def _learnt(rng, n):
    """Some arms seen a few times each, the others not."""
    seen = rng.integers(0, 12, n) * (rng.random(n) < 0.4)
    return np.where(seen > 0, rng.uniform(0, 100, n), 50.0), 1 / np.sqrt(1 / 400 + seen / 100)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("n", [30, *slow(2, 5, 100)])
def test_random_beliefs_have_the_probabilities_of_dense_quadrature(setting, n):
    rng = np.random.default_rng(n)
    for _ in range(6 if n < 30 else 1):
        mean, sd = SETTINGS[setting](rng, n)
        wanted, found, scored = dense(mean, sd), log_probs(mean, sd), scores(mean, sd)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(np.diagonal(scored), wanted, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(np.exp(scored), np.exp(np.tile(wanted, (n, 1))), atol=1e-7)


@pytest.mark.parametrize("n", [30, *slow(5)])
def test_scores_have_the_slopes_of_log_probs_for_the_arm_scored_and_those_that_matter(n):
    rng = np.random.default_rng(n)
    mean, sd = SETTINGS["thousandfold"](rng, n)
    sd[1] = sd[0]
    with jax.enable_x64(True):
        wanted = _score_slopes(jnp.asarray(mean), jnp.asarray(sd), None)
        for arm in (0, int(np.argmax(mean)), int(np.argmin(mean))):
            found = _score_slopes(jnp.asarray(mean), jnp.asarray(sd), None, arm)
            share = np.exp(log_probs(mean, sd))[:, None]
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one[arm], other[arm], rtol=1e-5, atol=1e-5)
                np.testing.assert_allclose(share * one, share * other, atol=1e-5)


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
@pytest.mark.parametrize("case", CASES)
def test_probabilities_are_those_of_adaptive_quadrature(case):
    got, wanted = log_probs(*CASES[case]), reference(*CASES[case])
    np.testing.assert_allclose(np.exp(got), np.exp(wanted), atol=1e-7)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.quick
def test_two_arms_have_the_probability_of_their_difference():
    gap = np.array([0.1, 3.0, 15.0, 40.0, 900.0])
    for sd in ([1.0, 1.0], [1.0, 0.05], [0.05, 1.0], [3.0, 0.0]):
        got = [log_probs([0.0, g], sd)[0] for g in gap]
        np.testing.assert_allclose(got, log_ndtr(-gap / np.hypot(*sd)), rtol=1e-6)


@pytest.mark.parametrize(
    ("mean", "sd", "available", "wanted"),
    [
        ([0, 0, 0], [0, 0, 0], None, [1 / 3] * 3),
        ([0, 1, 2], [np.inf, 1, np.inf], None, [0.5, 0, 0.5]),
        ([0, 1, 2], [np.inf, 1, np.inf], [False, True, False], [0, 1, 0]),
        ([0, 1, 1], [0, 0, 0], None, [0, 0.5, 0.5]),
        ([1], [3], None, [1]),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", *slow("float32")])
def test_arms_certain_unseen_or_not_on_offer(mean, sd, available, wanted, dtype):
    np.testing.assert_allclose(np.exp(log_probs(mean, sd, available, dtype)), wanted, atol=1e-6)


def test_slopes_are_those_of_finite_differences():
    mean, sd = np.array([0.0, 1.0, -6.0, 0.9]), np.array([1.0, 0.02, 0.5, 0.3])
    with jax.enable_x64(True):
        slopes = _slopes(jnp.asarray(mean), jnp.asarray(sd), None)
    for i in range(4):
        step = 1e-6 * np.eye(4)[i]
        by_mean = (log_probs(mean + step, sd) - log_probs(mean - step, sd)) / 2e-6
        by_sd = (log_probs(mean, sd + step) - log_probs(mean, sd - step)) / 2e-6
        np.testing.assert_allclose(slopes[0][:, i], by_mean, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(slopes[1][:, i], by_sd, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sd", [[0.0, 0.0, 0.0], [np.inf, 1.0, 0.0], [1e-9, 1.0, 1e3], [np.inf] * 3])
def test_slopes_are_finite_at_the_edges(sd):
    with jax.enable_x64(True):
        slopes = _slopes(jnp.asarray([0.0, 0.0, 5.0]), jnp.asarray(sd), None)
        scored = _score_slopes(jnp.asarray([0.0, 0.0, 5.0]), jnp.asarray(sd), None, 0)
        assert all(np.isfinite(x).all() for x in (*slopes, *scored))


@pytest.mark.slow
def test_curvature_is_that_of_differences_of_slopes():
    mean, sd = np.array([0.0, 1.0, -3.0, 0.9]), np.array([1.0, 0.05, 0.5, 0.3])

    def along(x, arm):
        return log_probs_of_best(jnp.asarray(mean) + x[:4], jnp.asarray(sd) + x[4:], None, arm)[arm]

    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(along), compiler_options=QUICKLY)
        hessian = jax.jit(jax.jacfwd(jax.grad(along)), compiler_options=QUICKLY)
        for arm in (0, 2):
            found, step = np.asarray(hessian(jnp.zeros(8), arm)), 1e-5 * np.eye(8)
            wanted = [(gradient(jnp.asarray(v), arm) - gradient(jnp.asarray(-v), arm)) / 2e-5 for v in step]
            np.testing.assert_allclose(found, np.array(wanted), rtol=1e-4, atol=1e-3 * np.abs(found).max())

"""What weighed points add to parabolas, and degrees of freedom, against what is known exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm, qmc, ttest_ind

from explorelab.fitting.effects.effect_design import design_of
from explorelab.fitting.effects.formulas import Columns
from explorelab.fitting.effects.freedom import degrees_of_freedom, kenward_roger
from explorelab.fitting.effects.group_step import Parabolas, effects_at, squares
from explorelab.fitting.effects.weighing import POINTS, TAILS, WIDER, Points, excess

pytestmark = pytest.mark.quick
N = 24
SECOND = np.repeat([0.0, 1.0], N // 2)


def two_groups(first: int = N // 2) -> Any:
    second = (np.arange(N) >= first).astype(float)
    columns = Columns(("Intercept", "second"), ("1", "second"), np.column_stack([np.ones(N), second]))
    return design_of("", ["p"], [columns], np.arange(N), None, (np.array([-9.0]), np.array([9.0])), set())


def test_moments_of_a_skewed_posterior_are_found() -> None:
    """Poisson-like likelihoods exp(k u - e^u) under a normal prior, against sums over a fine grid."""
    counts, mean, sd = np.array([0.0, 1.0, 4.0]), 0.5, 0.8
    grid = np.linspace(-8, 8, 4001)
    weight = np.exp(counts[:, None] * grid - np.exp(grid) - 0.5 * ((grid - mean) / sd) ** 2)
    weight /= weight.sum(1, keepdims=True)
    true_mean = weight @ grid
    true_var = weight @ grid**2 - true_mean**2
    mode = grid[weight.argmax(1)]
    information = np.exp(mode)
    pull = counts - information + information * mode
    sobol = np.clip(qmc.Sobol(2, seed=0).random(4 * POINTS)[: 3 * POINTS], 1e-6, 1 - 1e-6).reshape(3, POINTS, 2)
    spread = norm.ppf(sobol[..., 1]) * np.sqrt(TAILS / chi2.ppf(sobol[..., 0], TAILS))
    around = 1 / np.sqrt(information + sd**-2)
    at = mode[:, None] + WIDER * around[:, None] * spread
    density = (TAILS + 1) / 2 * np.log1p(spread**2 / TAILS)
    points = Points(at[..., None], counts[:, None] * at - np.exp(at), density)
    missed = excess(points, information[:, None, None], pull[:, None], np.full((3, 1), mean), np.array([[sd**2]]))
    parabola_mean = (pull + mean / sd**2) / (information + sd**-2)
    np.testing.assert_allclose(parabola_mean + missed.mean[:, 0], true_mean, atol=0.005)
    np.testing.assert_allclose(around**2 + missed.covariance[:, 0, 0], true_var, atol=0.005)
    assert np.abs(parabola_mean - true_mean).max() > 0.05
    assert missed.effective.min() > 0.5


def test_with_perfect_knowledge_of_everyone_it_is_a_t_test() -> None:
    design = two_groups()
    values = np.random.default_rng(3).normal(SECOND, 0.5)
    information = np.full((N, 1, 1), 1e8)
    at = Parabolas(information, information[:, :, 0] * values[:, None])
    spread = np.eye(1)
    for _ in range(50):
        effects, total = squares(design.of_person, at, spread)
        spread = total / N
    _, plain, reach = effects_at(design.of_person, at, spread)
    covariance, known = kenward_roger(design.of_person, reach @ information, plain, design.random, plain)
    written = design.back[1]
    variance = written @ covariance @ written
    classic = ttest_ind(values[SECOND == 1], values[SECOND == 0])
    assert written @ effects / np.sqrt(variance) == pytest.approx(classic.statistic, rel=1e-4)
    assert degrees_of_freedom(written[None], covariance, known)[0] == pytest.approx(N - 2, rel=1e-4)


def test_freedom_follows_those_who_are_known_well() -> None:
    """Where half of the people tell little, the spread is known from the other half, and the variance is larger for it."""
    design = two_groups(6)
    freedom, added = [], []
    for little in (1e6, 0.5):
        information = np.where(np.arange(N) % 2, 1e6, little)[:, None, None]
        at = Parabolas(information, np.zeros((N, 1)))
        _, plain, reach = effects_at(design.of_person, at, np.eye(1) * 0.3)
        covariance, known = kenward_roger(design.of_person, reach @ information, plain, design.random, plain)
        freedom.append(degrees_of_freedom(design.back[1:], covariance, known)[0])
        added.append((design.back[1] @ covariance @ design.back[1]) / (design.back[1] @ plain @ design.back[1]) - 1)
    assert freedom[0] == pytest.approx(N - 2, rel=1e-3)
    assert freedom[1] < 15
    assert added[0] == pytest.approx(0, abs=1e-3)
    assert 0.001 < added[1] < 0.1

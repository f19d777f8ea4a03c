"""Chains that have not converged are found, named, and told what to do about."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from explorelab.fitting.bayes.convergence import examined, people_converged

pytestmark = pytest.mark.quick

CHAINS, DRAWS = 4, 1000
PEOPLE = ["anna", "ben", "carl"]


def chains(seed: int = 0) -> tuple[xr.Dataset, xr.Dataset]:
    """Independent draws: as good as it gets."""
    rng = np.random.default_rng(seed)
    coords = {
        "chain": np.arange(CHAINS),
        "draw": np.arange(DRAWS),
        "participant": PEOPLE,
        "parameter": ["temperature", "bonus"],
    }
    posterior = xr.Dataset(
        {
            "temperature": (("chain", "draw", "participant"), rng.normal(size=(CHAINS, DRAWS, 3))),
            "bonus": (("chain", "draw", "participant"), rng.normal(size=(CHAINS, DRAWS, 3))),
            "group_sd": (("chain", "draw", "parameter"), np.exp(rng.normal(size=(CHAINS, DRAWS, 2)))),
        },
        coords,
    )
    stats = xr.Dataset(
        {
            "diverging": (("chain", "draw"), np.zeros((CHAINS, DRAWS), bool)),
            "energy": (("chain", "draw"), rng.normal(size=(CHAINS, DRAWS))),
            "tree_depth": (("chain", "draw"), np.full((CHAINS, DRAWS), 3)),
        },
        {name: coords[name] for name in ("chain", "draw")},
    )
    return posterior, stats


def test_independent_draws_pass() -> None:
    report = examined(*chains())
    assert report.failures == ()
    assert report.told.startswith("passed: R-hat at most 1.00")
    assert report.r_hat < 1.01
    assert report.ess_bulk > 3000


def test_a_chain_elsewhere_is_named() -> None:
    posterior, stats = chains()
    posterior["bonus"].values[2, :, 1] += 1
    report = examined(posterior, stats)
    assert "R-hat above 1.01: bonus of ben (1." in report.told
    assert "anna" not in report.told
    assert "double draws" in report.advice
    np.testing.assert_array_equal(people_converged(report.measures, CHAINS, PEOPLE), [True, False, True])


def test_chains_that_differ_in_spread_alone_are_found() -> None:
    posterior, stats = chains()
    posterior["group_sd"].values[0, :, 0] **= 3
    assert "group_sd of temperature" in examined(posterior, stats).told


def test_slow_chains_have_too_few_effective_draws() -> None:
    posterior, stats = chains()
    slow = posterior["temperature"].values[:, :, 0]
    for t in range(1, DRAWS):
        slow[:, t] = 0.98 * slow[:, t - 1] + np.sqrt(1 - 0.98**2) * slow[:, t]
    report = examined(posterior, stats)
    assert "fewer than 400 effective draws: temperature of anna (" in report.told


def test_a_drift_is_found_within_chains() -> None:
    posterior, stats = chains()
    posterior["temperature"].values[..., 2] += np.linspace(0, 2, DRAWS)
    assert "temperature of carl" in examined(posterior, stats).told


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_chain_that_never_moves_is_not_passed(value: float) -> None:
    posterior, stats = chains()
    posterior["bonus"].values[..., 0] = value
    report = examined(posterior, stats)
    assert "bonus of anna (nan)" in report.told


def test_one_divergence_is_one_too_many() -> None:
    posterior, stats = chains()
    stats["diverging"].values[3, 17] = True
    report = examined(posterior, stats)
    assert report.told == "failed: 1 of 4000 draws diverged (by chain: 0, 0, 0, 1)"
    assert "target_accept" in report.advice


def test_energy_that_hardly_changes_is_found() -> None:
    posterior, stats = chains()
    stats["energy"].values[1] = np.cumsum(stats["energy"].values[1])
    report = examined(posterior, stats)
    assert "in chain 1, below 0.3" in report.told


def test_cut_trees_are_found() -> None:
    posterior, stats = chains()
    stats["tree_depth"].values[0, :100] = 8
    assert not examined(posterior, stats, max_tree_depth=10).failures
    report = examined(posterior, stats, max_tree_depth=8)
    assert "100 of 4000 trees were cut off at depth 8" in report.told
    assert "raise max_tree_depth above 8" in report.advice


def test_many_failures_are_counted() -> None:
    posterior, stats = chains()
    for name in ("temperature", "bonus"):
        posterior[name].values[0] += 2
    assert "and 3 more" in examined(posterior, stats).told


def test_an_emulator_that_is_rarely_right_is_told_of_where_chains_fail() -> None:
    posterior, stats = chains()
    stats["accepted"] = (("chain", "draw"), np.random.default_rng(0).random((CHAINS, DRAWS)) < 0.05)
    assert examined(posterior, stats).failures == ()
    posterior["bonus"].values[2, :, 1] += 1
    report = examined(posterior, stats)
    assert "accepted only 5% of what was emulated" in report.told
    assert "use method 'nuts'" in report.advice

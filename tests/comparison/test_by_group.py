"""Frequencies of agents by condition, and whether groups share them."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.special import expit, gammaln

from explorelab.choices.conditions import BETWEEN, MISSING, WITHIN, Condition
from explorelab.comparison.by_group import frequencies_by_group, same_frequencies
from explorelab.comparison.group import group_selection

pytestmark = pytest.mark.quick


def certain(counts: list[int]) -> np.ndarray:
    """Evidence of people who each use one model beyond doubt."""
    return 1000.0 * np.repeat(np.eye(len(counts)), counts, axis=0)


def log_beta(alpha: np.ndarray) -> float:
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))


def test_groups_share_frequencies_with_the_probability_of_counts_from_one_urn_or_two() -> None:
    a, b = np.array([9, 1, 0]), np.array([2, 5, 3])
    evidence = np.concatenate([certain(a.tolist()), certain(b.tolist())])
    one = log_beta(1.0 + a + b) - log_beta(np.ones(3))
    two = sum(log_beta(1.0 + each) - log_beta(np.ones(3)) for each in (a, b))
    assert same_frequencies(evidence, np.repeat([0, 1], 10)) == pytest.approx(expit(one - two), rel=1e-6)


def test_groups_that_differ_do_not_share_them_and_halves_of_one_group_do() -> None:
    assert same_frequencies(np.concatenate([certain([10, 0]), certain([0, 10])]), np.repeat([0, 1], 10)) < 1e-3
    assert same_frequencies(np.concatenate([certain([8, 2]), certain([8, 2])]), np.repeat([0, 1], 10)) > 0.7
    unclear = np.random.default_rng(0).normal(size=(20, 2)) * 1e-3
    assert same_frequencies(unclear, np.repeat([0, 1], 10)) == pytest.approx(0.5, abs=0.2)


class Blocks:
    """As much of choices as is needed: four people with two blocks each."""

    participants = ("p", "q", "r", "s")
    participant = np.repeat(np.arange(4), 2)
    block = np.array(["1", "2"] * 4)
    n_rows = 8


def comparison(criterion: str) -> xr.DataTree:
    """Everyone uses the first agent in the first block and the second in the second, but for the last person."""
    nll = np.array([[0, 50], [50, 0]] * 3 + [[0, 50], [0, 50]], float)
    people = xr.Dataset(
        {"nll": (("participant", "model"), nll.reshape(4, 2, 2).sum(1)), "bic": (("participant", "model"), 2 * nll[::2])},
        {"participant": list("pqrs"), "model": ["x", "y"]},
    )
    order = [3, 1, 0, 2, 7, 6, 5, 4]
    labels = {
        "participant": ("fold", np.repeat(list("pqrs"), 2)[order]),
        "block": ("fold", np.tile(["1", "2"], 4)[order]),
    }
    folds = {f"/folds/{name}": xr.Dataset({"nll": ("fold", nll[order, k]), **labels}) for k, name in enumerate("xy")}
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs={"criterion": criterion}), "/people": people, **folds})


def test_within_people_the_blocks_of_a_level_count() -> None:
    session = Condition("session", ("1", "2"), np.tile([0, 1], 4), WITHIN)
    found = frequencies_by_group(comparison("cv"), Blocks(), [session])  # type: ignore[arg-type]
    table = found.table.set_index(["level", "model"])
    assert table.loc[("1", "x"), "n_best"] == 4
    assert table.loc[("2", "y"), "n_best"] == 3
    expected = group_selection(-50.0 * (1 - np.eye(2)[[0] * 4]))
    assert table.loc[("1", "x"), "frequency"] == pytest.approx(float(expected["frequency"][0]))
    assert not found.same
    assert (table["low"] < table["frequency"]).all()


def test_whole_people_cannot_be_divided_and_groups_of_one_are_left_out() -> None:
    group = Condition("group", ("a", "b", "c"), np.array([0, 0, 0, 0, 1, 1, MISSING, MISSING]), BETWEEN)
    session = Condition("session", ("1", "2"), np.tile([0, 1], 4), WITHIN)
    found = frequencies_by_group(comparison("bic"), Blocks(), [group, session])  # type: ignore[arg-type]
    assert found.without == ("session",)
    table = found.table.set_index(["level", "model"])
    assert table.loc[("a", "x"), "n_people"] == 2
    assert np.isnan(table.loc[("b", "x"), "frequency"])
    assert not found.same

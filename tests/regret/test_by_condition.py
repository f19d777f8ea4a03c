"""Comparisons between conditions: intervals with people as the units, adjusted for the other conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from explorelab.choices.conditions import BETWEEN, MISSING, MIXED, WITHIN, Condition, Covariate, Sorted
from explorelab.regret.by_condition import by_cell, compared
from explorelab.regret.clustered_regression import contrast, estimable, regression
from explorelab.regret.differences import difference, per_person

pytestmark = pytest.mark.quick


def condition(name: str, level: np.ndarray, design: str, levels: tuple[str, ...] = ()) -> Condition:
    return Condition(name, levels or tuple("abcdef"[: level.max() + 1]), level, design)


def dense(design: np.ndarray, values: np.ndarray, who: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Standard error and degrees of freedom as the formulas read, with all matrices written out."""
    inverse = np.linalg.inv(design.T @ design)
    left = np.eye(len(values)) - design @ inverse @ design.T
    residuals = left @ values
    g = []
    variance = 0.0
    for person in np.unique(who):
        at = who == person
        values_, vectors = np.linalg.eigh(left[np.ix_(at, at)])
        root = vectors @ np.diag(np.where(values_ > 1e-8, 1 / np.sqrt(np.maximum(values_, 1e-8)), 0.0)) @ vectors.T
        side = root @ design[at] @ inverse @ weights
        variance += float(side @ residuals[at]) ** 2
        g.append(left[:, at] @ side)
    products = np.array(g) @ np.array(g).T
    return float(np.sqrt(variance)), float(np.trace(products) ** 2 / (products**2).sum())


def test_the_regression_is_the_one_whose_formulas_it_gives() -> None:
    rng = np.random.default_rng(1)
    who = rng.permutation(np.repeat(np.arange(9), [1, 2, 3, 4, 2, 2, 3, 1, 5]))
    design = np.column_stack([np.ones(len(who)), rng.integers(0, 2, len(who)), rng.normal(size=len(who)), who < 5])
    values, weights = rng.normal(size=len(who)) + who, np.array([0.0, 1.0, 0.0, -1.0])
    told = contrast(regression(design.astype(float), values, who), weights)
    error, freedom = dense(design.astype(float), values, who, weights)
    assert (told.high - told.low) / 2 == pytest.approx(stats.t.ppf(0.975, freedom) * error, rel=1e-8)
    assert told.value == pytest.approx(weights @ np.linalg.lstsq(design.astype(float), values, rcond=None)[0])


def test_two_groups_have_the_error_of_welch_and_pairs_that_of_paired_differences() -> None:
    rng = np.random.default_rng(2)
    values, level = rng.normal(size=30), (np.arange(30) >= 18).astype(int)
    columns = Sorted((condition("group", level, BETWEEN),))
    row = compared(values, np.arange(30), columns).differences.iloc[0]
    groups = values[level == 1], values[level == 0]
    error = np.sqrt(sum(one.var(ddof=1) / len(one) for one in groups))
    fitted = regression(np.column_stack([np.ones(30), level]), values, np.arange(30))
    assert np.sqrt(((fitted.scores @ fitted.inverse @ [0, 1]) ** 2).sum()) == pytest.approx(error)
    assert row["difference"] == pytest.approx(groups[0].mean() - groups[1].mean())
    who, session = np.repeat(np.arange(15), 2), np.tile([0, 1], 15)
    told = compared(values, who, Sorted((condition("session", session, WITHIN),))).differences.iloc[0]
    paired = stats.ttest_rel(values[1::2], values[::2]).confidence_interval()
    assert (told["low"], told["high"]) == pytest.approx((paired.low, paired.high))


def test_somebody_with_many_blocks_counts_once() -> None:
    who = np.array([0, 0, 0, 0, 1, 2, 3])
    values = np.array([1.0, 2.0, 3.0, 4.0, 1.0, 5.0, 6.0])
    level = np.array([0, 0, 0, 0, 0, 1, 1])
    found = compared(values, who, Sorted((condition("group", level, BETWEEN),)))
    assert found.levels["mean"].tolist() == [1.75, 5.5]
    assert found.levels["n_people"].tolist() == [2, 2]
    assert found.levels["n_blocks"].tolist() == [5, 2]
    assert found.differences["difference"].iloc[0] == pytest.approx(3.75)


def design_of_the_study(n: int, rng: np.random.Generator) -> tuple[np.ndarray, Sorted]:
    """Two blocks each: timing and landscape switch, and the dynamics are two of three."""
    first = np.stack([rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 2, n)], axis=1)
    second = np.stack([1 - first[:, 0], (first[:, 1] + rng.integers(1, 3, n)) % 3, 1 - first[:, 2]], axis=1)
    levels = np.stack([first, second], axis=1).reshape(-1, 3)
    names = ("timing", "dynamic", "landscape")
    return np.repeat(np.arange(n), 2), Sorted(tuple(condition(name, levels[:, k], MIXED) for k, name in enumerate(names)))


@pytest.mark.parametrize("n", [12, 40])
def test_intervals_of_the_studys_design_cover_the_truth_as_often_as_they_say(n: int) -> None:
    """People differ, more so at one level; 95 % of 250 intervals hold the truth, give or take 3 standard errors."""
    rng = np.random.default_rng(3)
    covered, wide, alone = [], [], []
    for _ in range(250):
        who, columns = design_of_the_study(n, rng)
        timing, dynamic, landscape = (each.level for each in columns.conditions)
        person = 20 * rng.normal(size=n)
        values = (
            person[who] * (1 + timing) + 10 * timing + 60 * (dynamic == 1) - 30 * landscape + 10 * rng.normal(size=2 * n)
        )
        row = compared(values, who, columns).differences.iloc[0]
        if not np.isfinite(row["low"]) or row["adjusted_for"] == "":
            continue
        covered.append(row["low"] <= 10 <= row["high"])
        wide.append(row["high"] - row["low"])
        at = [per_person(values[timing == k], who[timing == k], n) for k in (1, 0)]
        one = difference(*at)
        alone.append(one.high - one.low)
    assert len(covered) > 240
    error = np.sqrt(0.05 * 0.95 / len(covered))
    assert abs(np.mean(covered) - 0.95) < 3 * error + 0.01
    assert np.mean(wide) < 0.9 * np.mean(alone)


def test_what_cannot_be_told_apart_is_compared_alone_and_said_to_be() -> None:
    rng = np.random.default_rng(4)
    who, level = np.arange(20), (np.arange(20) >= 10).astype(int)
    nested = np.where(level == 0, 0, 1 + np.arange(20) % 2)
    other = np.arange(20) % 2
    columns = Sorted(
        (condition("group", level, BETWEEN), condition("kind", nested, BETWEEN), condition("hand", other, BETWEEN))
    )
    found = compared(rng.normal(size=20) + level, who, columns).differences.set_index(["condition", "level", "against"])
    group = found.loc["group", "b", "a"]
    assert group["adjusted_for"] == ""
    assert group["not_apart_from"] == "kind"
    assert found.loc["hand"]["not_apart_from"].tolist() == ["kind"] or found.loc["hand"]["adjusted_for"].iloc[0] != ""
    assert np.isfinite(found["low"]).all()


def test_a_level_with_one_person_or_nobody_gets_no_interval() -> None:
    values, who = np.arange(8.0), np.arange(8)
    level = np.array([0, 0, 0, 0, 1, 1, 1, 2])
    found = compared(values, who, Sorted((condition("group", level, BETWEEN, ("a", "b", "c", "d")),)))
    rows = found.differences.set_index(["level", "against"])
    assert np.isfinite(rows.loc["b", "a"]["low"])
    assert rows.loc["c", "a"]["difference"] == pytest.approx(5.5)
    assert np.isnan(rows.loc["c", "a"]["low"])
    assert "d" not in rows.index.get_level_values(0)
    assert found.levels["n_people"].tolist() == [4, 3, 1, 0]


def test_missing_values_count_nowhere_and_equal_values_have_no_difference() -> None:
    level = np.array([0, 1, 0, 1, MISSING, 0, 1, MISSING])
    values = np.array([0.3, 0.3, 0.3, 0.3, 99.0, 0.3, np.nan, 5.0])
    found = compared(values, np.arange(8), Sorted((condition("group", level, BETWEEN),)))
    assert found.levels["n_people"].tolist() == [3, 2]
    row = found.differences.iloc[0]
    assert (row["difference"], row["low"], row["high"]) == (0, 0, 0)


def test_the_slope_of_a_covariate_is_for_one_standard_deviation_and_adjusted() -> None:
    rng = np.random.default_rng(5)
    level = np.repeat([0, 1], 30)
    age = 30 + 10 * level + rng.normal(size=60)
    values = 100 * level + 2 * age
    lacking = np.where(np.arange(60) % 10 == 0, np.nan, age)
    columns = Sorted((condition("group", level, BETWEEN),), (Covariate("age", lacking),))
    row = compared(values, np.arange(60), columns).slopes.iloc[0]
    assert row["n_people"] == 54
    assert row["difference"] == pytest.approx(2 * row["sd"])
    assert row["adjusted_for"] == "group"


def test_cells_hold_those_who_played_there() -> None:
    rng = np.random.default_rng(6)
    who, columns = design_of_the_study(30, rng)
    cells = by_cell(who.astype(float), who, columns)
    assert len(cells) <= 12
    assert cells["n_blocks"].sum() == 60
    one = cells.iloc[0]
    at = np.all([each.level == each.levels.index(one[each.name]) for each in columns.conditions], axis=0)
    assert one["mean"] == pytest.approx(who[at].mean())


def test_sums_that_the_data_do_not_determine_are_known() -> None:
    design = np.column_stack([np.ones(6), [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]).astype(float)
    fitted = regression(design, np.arange(6.0), np.arange(6))
    assert not estimable(fitted, np.array([0.0, 1.0, 0.0]))
    assert estimable(fitted, np.array([0.0, 1.0, -1.0]))

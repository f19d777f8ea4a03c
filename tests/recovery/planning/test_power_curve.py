"""The number of people needed, learned from simulated studies: against the t-test's own formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nct
from scipy.stats import t as t_distribution

from explorelab._support.work import units
from explorelab.recovery.planning import effect_power
from explorelab.recovery.planning.effect_power import Goal, Planned, powers
from explorelab.recovery.planning.effect_studies import Effect
from explorelab.recovery.planning.power_curve import Tried, learned_curve

pytestmark = pytest.mark.quick


def power_of_t_test(n: float, d: float, alpha: float = 0.05) -> float:
    """Of two groups of n / 2 people each, whose means differ by d standard deviations."""
    freedom = n - 2
    critical, centre = t_distribution.isf(alpha / 2, freedom), d * np.sqrt(n) / 2
    return float(nct.sf(critical, freedom, centre) + nct.cdf(-critical, freedom, centre))


def needed_by_t_test(d: float, target: float = 0.8) -> float:
    n = np.arange(6, 3000, 2)
    return float(n[next(i for i, each in enumerate(n) if power_of_t_test(each, d) >= target)])


def search(
    monkeypatch: pytest.MonkeyPatch, d: float, seed: int, n: int = 100, at: list[int] | None = None, size: float = 1.0
):
    """A plan whose studies are t-tests of a normal parameter that is known without error."""

    def p_value(design: str, people: object, effect: Effect, starts: int, n_people: int, seed: int, number: int) -> float:
        rng = np.random.default_rng([seed, number])
        values = rng.standard_normal(n_people)
        values[1::2] += d * effect.size
        a, b = values[::2], values[1::2]
        se = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2 * 4 / n_people)
        return float(2 * t_distribution.sf(abs(b.mean() - a.mean()) / se, n_people - 2))

    monkeypatch.setattr(effect_power, "p_value", p_value)
    monkeypatch.setattr(units, "results", lambda function, each, *_, **__: (function(*one) for one in each))
    goal = Goal(0.05, 0.8, 8, 400, n, seed, False)
    return powers(Planned(["a"], None, Effect("x", size, False, 0.0), 1, goal), at, True)  # type: ignore[list-item, arg-type]


@pytest.mark.parametrize("d", [0.4, 0.8, 1.5])
def test_it_finds_what_the_t_tests_formula_says(d: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty plans: the true number lies in 95 % of their intervals, and their medians are about the truth."""
    truth = needed_by_t_test(d)
    plans = [search(monkeypatch, d, seed)[0] for seed in range(40)]
    found = np.array([one.curve.required() for one in plans])
    assert ((found[:, 0] <= truth + 1) & (truth - 1 <= found[:, 2])).mean() >= 0.85
    assert np.median(found[:, 1]) == pytest.approx(truth, rel=0.08)
    assert np.median(found[:, 2] / found[:, 0]) < 1.7
    # Power is told at a number of people that may be the one needed: a first guess that proves wrong is not left at that.
    assert np.mean([low <= one.answer <= high for one, (low, _, high) in zip(plans, found, strict=True)]) > 0.9


def test_the_power_that_it_tells_is_the_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    one = search(monkeypatch, 0.8, 1, n=400)[0]
    most = max(one.tried, key=lambda each: each.studies)
    expected = power_of_t_test(most.people, 0.8)
    assert abs(most.hits / most.studies - expected) < 4 * np.sqrt(expected * (1 - expected) / most.studies)
    assert one.alarms is not None
    assert one.alarms.people == one.answer
    assert abs(one.alarms.hits / one.alarms.studies - 0.05) < 4 * np.sqrt(0.05 * 0.95 / one.alarms.studies)


def test_the_band_holds_the_formulas_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    number = np.array([20, 40, 60, 100])
    truth = np.array([power_of_t_test(n, 0.7) for n in number])
    held = []
    for seed in range(30):
        low, _, high = search(monkeypatch, 0.7, seed)[0].curve.power(number).T
        held.append((low <= truth + 0.01) & (truth - 0.01 <= high))
    assert np.mean(held) > 0.85


def test_few_studies_are_spent_far_from_the_target(monkeypatch: pytest.MonkeyPatch) -> None:
    one = search(monkeypatch, 0.8, 3, n=200, at=[8, 50, 300])[0]
    studies = {each.people: each.studies for each in one.tried}
    assert studies == {8: 50, 50: 200, 300: 50}


def test_without_an_effect_every_number_of_people_is_tried_and_the_share_is_alpha(monkeypatch: pytest.MonkeyPatch) -> None:
    one = search(monkeypatch, 0.8, 3, n=400, at=[20, 60], size=0.0)[0]
    assert [each.studies for each in one.tried] == [400, 400]
    assert one.alarms is None
    assert all(abs(each.hits / each.studies - 0.05) < 0.044 for each in one.tried)


@pytest.mark.parametrize("hits", [0, 30])
def test_studies_that_all_fail_or_all_succeed_bound_the_number(hits: int) -> None:
    low, middle, high = learned_curve([Tried(40, hits, 30)], 0.05, 0.8).required()
    assert np.isfinite([low, middle, high]).all()
    assert low < middle < high
    assert high < 45 if hits else low > 70

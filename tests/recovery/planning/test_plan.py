"""`plan`: the people it simulates, what it finds about parameters and agents, and what it refuses."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab._support.work.digests import digest
from explorelab.comparison.compare import evidence
from explorelab.errors import InputError
from explorelab.recovery.planning.effect_studies import Effect, study
from explorelab.recovery.planning.plan_designs import designs_of
from explorelab.recovery.planning.plan_people import population_of
from explorelab.recovery.planning.plan_result import evidence_of
from explorelab.recovery.planning.plan_summary import plan_summary
from explorelab.recovery.planning.pooled_power import crossing, found_by_group, power_of, rank_correlations
from tests.recovery.planning.test_power_curve import power_of_t_test

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.bandit([0.0, 0.7, 1.4], noise_var=1.0)
AGENT = "win-stay-lose-shift"
PLAIN: dict[str, Any] = {"n_starts": 1, "seed": 1, "progress": False}
PEOPLE = {"win_stay": (0.8, 0.8), "lose_shift": (0.5, 0.8)}


@cache
def recovered() -> xr.Dataset:
    return xl.plan(
        TASK, AGENT, recover="win_stay", horizon=[10, 60], typical=PEOPLE, n_simulations=96, accuracy=0.01, **PLAIN
    )


@cache
def told_apart() -> xr.Dataset:
    return xl.plan(TASK, agents=["random-choice", AGENT], horizon=[3, 30], typical=PEOPLE, n_simulations=48, **PLAIN)


@cache
def effect() -> xr.Dataset:
    how: dict[str, Any] = {"effect": "win_stay", "size": 2.5, "people": [8, 24], "n_simulations": 12}
    return xl.plan(TASK, AGENT, horizon=30, typical=PEOPLE, **how, **PLAIN)


# Who plays ------------------------------------------------------------------------------------------------------------


def one_study(n_people: int, horizon: int = 20, size: float = 1.0, within: bool = False, number: int = 0) -> xl.Choices:
    [design] = designs_of(TASK, horizon, 2 if within else 1)
    people = population_of(design.blank(1, 0), AGENT, None, PEOPLE)
    return study(design, people, Effect("win_stay", size, within, 0.0), n_people, 3, number)


def test_the_first_people_of_a_study_are_the_same_however_many_there_are() -> None:
    few, many = one_study(6), one_study(20)
    assert (few.arm == many.arm[:6]).all()
    assert (few.conditions["condition"] == many.conditions["condition"][:6]).all()
    assert (one_study(6, number=1).arm != few.arm).any()


def test_people_are_the_same_in_every_design_and_without_an_effect() -> None:
    short, long = designs_of(TASK, [20, 40], None)
    people = population_of(short.blank(1, 0), AGENT, None, PEOPLE)
    other = population_of(long.blank(1, 0), AGENT, None, PEOPLE)
    drawn, again = people.natural(people.drawn(9, 4)), other.natural(other.drawn(9, 4))
    assert all(np.allclose(drawn[name], again[name]) for name in PEOPLE)
    # The same chance too: the same person begins a longer block as a shorter one.
    assert (one_study(6, 20).arm == one_study(6, 40).arm[:, :20]).all()


def test_effects_move_half_of_the_people_or_half_of_everyones_blocks() -> None:
    between, within = one_study(40, 60, 4.0), one_study(40, 60, 4.0, within=True)
    for choices in (between, within):
        stays = (choices.arm[:, 1:] == choices.arm[:, :-1]).mean(1)
        second = choices.conditions["condition"] == "b"
        assert second.mean() == 0.5
        assert stays[second].mean() > stays[~second].mean() + 0.1
    assert [set(within.conditions["condition"][within.participant == i]) for i in range(40)] == [{"a", "b"}] * 40
    firsts = within.conditions["condition"][within.block == "1"]
    assert (firsts == "a").mean() == 0.5  # every second person begins with the other condition


def test_people_are_as_given_or_as_in_a_fits_group() -> None:
    [design] = designs_of(TASK, 20, 1)
    blank = design.blank(1, 0)
    given = population_of(blank, AGENT, None, PEOPLE)
    values = given.natural(given.drawn(4000, 1))["win_stay"]
    logits = np.log(values / (1 - values))
    assert np.median(values) == pytest.approx(0.8, abs=0.01)
    assert logits.std() == pytest.approx(0.8, abs=0.03)
    choices = xl.simulate_choices(xl.blank_choices(TASK, 12, 1, 20), AGENT, progress=False)
    fit = xl.fit(choices, AGENT, "em", n_starts=1, progress=False)
    drawn = population_of(blank, None, fit, None)
    assert drawn.mean == pytest.approx(fit["group"]["z_mean"].values)
    assert drawn.covariance == pytest.approx(fit["group"]["z_covariance"].values)
    with pytest.raises(InputError, match="a plan draws people from a fit by em, bayes or nuts, got one by map"):
        population_of(blank, None, xl.fit(choices, AGENT, "map", n_starts=1, progress=False), None)


# What is found --------------------------------------------------------------------------------------------------------


def test_longer_blocks_recover_a_parameter_better() -> None:
    found = recovered()
    short, long = (found.isel(design=d) for d in (0, 1))
    assert list(found["design"].values) == ["10 choices", "60 choices"]
    assert short["rank_correlation"] < long["rank_correlation_low"]
    assert long["width"] < short["width"]
    assert (found["coverage_high"] > 0.85).all()
    assert (found["simulated"] == 96).all()


def test_no_more_people_are_simulated_than_needed() -> None:
    rough = xl.plan(TASK, AGENT, recover="win_stay", horizon=60, typical=PEOPLE, n_simulations=96, accuracy=0.3, **PLAIN)
    assert rough["simulated"].item() < 96
    assert (rough["rank_correlation_high"] - rough["rank_correlation_low"]).item() <= 0.6


@pytest.mark.slow
def test_agents_are_told_apart_with_more_choices() -> None:
    found = told_apart()
    short, long = (found.isel(design=d) for d in (0, 1))
    assert long["correct_all"] > short["correct_all"]
    assert long["needed"] <= short["needed"]
    assert found["confusion"].sum("fitted").values == pytest.approx(1)
    assert (found["power_low"] <= found["power"] + 1e-9).where(found["power"].notnull(), True).all()


def test_the_power_of_an_effect_grows_with_people() -> None:
    found = effect().isel(design=0)
    power = found["power"].values
    assert power[0] < power[1]
    assert (found["power_low"] <= found["power"] + 1e-9).all()
    assert (np.diff(found["curve"]) >= -1e-9).all()
    assert found["needed_low"] <= found["needed"] <= found["needed_high"]
    assert found["false_alarms"] < 0.5


@pytest.mark.slow
def test_where_a_parameter_is_known_almost_without_error_the_power_is_the_t_tests() -> None:
    """With 600 choices, estimates have hardly any error: 34 people find a difference of one standard deviation in 80 %."""
    how: dict[str, Any] = {"effect": "win_stay", "size": 1.0, "people": [34], "n_simulations": 150}
    found = xl.plan(TASK, AGENT, horizon=600, typical=PEOPLE, **how, **PLAIN).isel(design=0)
    by_formula = power_of_t_test(34, 1.0)
    power, studies = found["power"].item(), found["studies"].item()
    assert studies == 150
    assert abs(power - by_formula) < 3 * np.sqrt(by_formula * (1 - by_formula) / studies)
    assert found["false_alarms_low"] <= 0.05 <= found["false_alarms_high"]


@pytest.mark.quick
def test_ranks_are_correlated_study_by_study() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    studies = rng.standard_normal((5, 12, 2)).cumsum(2).round(1)
    assert rank_correlations(studies) == pytest.approx([spearmanr(*each.T).statistic for each in studies])
    assert rank_correlations(np.ones((1, 4, 2)))[0] == 0


@pytest.mark.quick
def test_a_pool_makes_studies_whose_interval_holds_the_truth() -> None:
    """Studies of 10 people whose mean is above 0.2: dealt from a pool of 120, over 200 pools."""
    from scipy.stats import norm

    truth = norm.sf(0.2 * np.sqrt(10))

    def succeeds(studies: np.ndarray) -> np.ndarray:
        return studies.mean(1) >= 0.2

    found = [power_of(np.random.default_rng(seed).standard_normal(120), [10], succeeds, 300, seed) for seed in range(200)]
    held = [(each.low <= truth) & (truth <= each.high) for each in found]
    assert np.mean(held) >= 0.95
    assert np.mean([each.power for each in found]) == pytest.approx(truth, abs=0.02)


@pytest.mark.quick
def test_where_a_curve_crosses_the_target() -> None:
    people = np.array([4, 16, 36])
    assert crossing(people, np.array([0.2, 0.6, 1.0]), 0.8) == pytest.approx(25)
    assert crossing(people, np.array([0.9, 0.95, 1.0]), 0.8) == 4
    assert crossing(people, np.array([0.1, 0.2, 0.3]), 0.8) == np.inf
    assert crossing(people, np.array([0.5, 0.9, 0.7]), 0.8) == pytest.approx(16)  # a curve that never falls


@pytest.mark.quick
def test_groups_are_named_by_what_everyone_uses() -> None:
    evidence = np.zeros((2, 12, 2))
    evidence[0, :, 1] = 5.0
    assert found_by_group(evidence, 1, 0.95).tolist() == [True, False]
    assert found_by_group(evidence, 0, 0.95).tolist() == [False, False]


@pytest.mark.quick
@pytest.mark.parametrize(("criterion", "name"), [("bic", "bic"), ("aic", "aic"), ("cv", "nll")])
def test_groups_are_judged_by_the_evidence_that_compare_has(criterion: str, name: str) -> None:
    values = np.arange(6.0).reshape(3, 2)
    people = xr.Dataset({name: (("participant", "model"), values)})
    assert (evidence_of(values, criterion) == evidence(people, criterion).values).all()


# What is told ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [recovered, told_apart, effect])
def test_results_are_told_in_json_tables_sentences_and_a_figure(made: Any, tmp_path: Any, capsys: Any) -> None:
    from explorelab.cli.tables.plan_tables import show_plan
    from explorelab.plots.plan_figure import draw_plan
    from explorelab.plots.style import style

    result = made()
    told = json.loads(json.dumps(plan_summary(result), allow_nan=False))
    assert list(told["designs"]) == result["design"].values.tolist()
    show_plan(result)
    assert str(result["sentence"].values[0]).split(".")[0] in capsys.readouterr().out
    result.to_netcdf(tmp_path / "plan.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "plan.nc", engine="h5netcdf") as again:
        assert again["sentence"].values.tolist() == result["sentence"].values.tolist()
    with style():
        drawn = draw_plan(result).data
    assert {"low", "high", "line"} <= set(drawn["part"])


def test_a_sentence_says_all_that_a_reviewer_asks() -> None:
    said = str(effect()["sentence"].values[0])
    for part in (AGENT, "win_stay", "alpha = 0.05", "95 % interval", "simulated studies", "seed 1", "explorelab 0.",
                 "win_stay 0.8 (SD of the log-odds 0.8)", "between two groups", "Without an effect"):  # fmt: skip
        assert part in said


def test_what_a_changed_model_file_had_finished_is_not_used(tmp_path: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text((Path(__file__).parents[2] / "support" / "my_models.py").read_text(encoding="utf-8"), encoding="utf-8")
    [design] = designs_of(TASK, 8, None)

    def of_file() -> str:
        return digest(population_of(design.blank(1, 0), f"{file}:two_rates", None, None))

    before = of_file()
    assert of_file() == before
    file.write_text(file.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert of_file() != before


# What is refused ------------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing asked": ({}, "one of effect, recover and agents, got none"),
    "two things asked": ({"effect": "win_stay", "recover": "win_stay"}, "got effect and recover"),
    "another parameter": ({"effect": "temperature"}, "unknown free parameter 'temperature'"),
    "nobody": ({"effect": "win_stay", "people": []}, "people must be a whole number or several, got none"),
    "half a person": ({"effect": "win_stay", "people": [4.5]}, "people must be a whole number"),
    "no size": ({"effect": "win_stay", "size": 0}, "an effect of size 0 is never found but by chance: give people"),
    "a ratio below 0": ({"effect": "win_stay", "size": -1, "unit": "natural"}, "odds ratio and must be above 0"),
    "one block within": ({"effect": "win_stay", "within": True}, "needs at least 2 blocks, got 1"),
    "one agent": ({"agents": [AGENT], "agent": None}, "at least 2 of them"),
    "an agent too many": ({"agents": [AGENT, "random-choice"]}, "leave agent out"),
    "cv of one block": ({"agents": [AGENT, "random-choice"], "agent": None, "criterion": "cv"}, "at least 2 blocks"),
    "people unlike the agent": ({"recover": "win_stay", "typical": {"bonus": 1}}, "unknown free parameter 'bonus'"),
    "people out of bounds": ({"recover": "win_stay", "typical": {"win_stay": 2}}, "win_stay must be from"),
    "a method for groups": ({"recover": "win_stay", "method": "em"}, "unknown method 'em'"),
    "the same horizon twice": ({"recover": "win_stay", "horizon": [5, 5]}, "each number once"),
    "at_least for an effect": ({"effect": "win_stay", "at_least": 0.9}, "leave it out"),
    "alike in it": ({"effect": "win_stay", "typical": {"win_stay": (0.8, 0)}}, "people do not differ in win_stay"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_planned_is_refused_in_a_sentence(name: str) -> None:
    arguments, said = WRONG[name]
    with pytest.raises(InputError, match=said):
        xl.plan(TASK, **{"agent": AGENT, "horizon": 5, **PLAIN, **arguments})

"""Simulated people: what is generated has the probabilities that it is scored with, and fits find again what was put in."""

from __future__ import annotations

import json
from dataclasses import replace

import jax
import numpy as np
import pytest
import xarray as xr
from scipy.stats import chi2
from typer.testing import CliRunner

import explorelab as xl
from explorelab.agents.factors import Agent
from explorelab.choices.table import NOWHERE, Choices
from explorelab.choices.writing import write_choices
from explorelab.cli.tables.recovery_tables import scales_note
from explorelab.comparison.compare import compare
from explorelab.errors import InputError
from explorelab.fitting.fit_people import fit, save_fit
from explorelab.fitting.likelihood import replay
from explorelab.fitting.model import prepare
from explorelab.recovery.designs import blank_choices, repeated
from explorelab.recovery.latent import arm_table, latent_variables, trial_table, write_latent
from explorelab.recovery.model_recovery import Setting, judged, recover_models, tables
from explorelab.recovery.parameter_recovery import rank_interval, recover_parameters
from explorelab.recovery.predictive import compared, predictive_check
from explorelab.recovery.score import score_test, scores
from explorelab.recovery.simulated_choices import FREE, KEPT, NOTHING, REPEATED, _kinds, simulate_choices
from explorelab.recovery.truth import known_of, true_parameters
from tests.support.beliefs import QUICKLY
from tests.support.siblings import slow_but

pytestmark = pytest.mark.quick_programs

GRID = xl.tasks.grid([[1.0, 3.0, 8.0], [2.0, 5.0, 9.0], [0.0, 4.0, 6.0]], noise_var=4.0)


def small(n: int = 200, horizon: int = 10, blocks: int = 1) -> Choices:
    return blank_choices(GRID, n, blocks, horizon)


def to_fit(n: int, blocks: int = 1) -> Choices:
    """As many trials for every fit of "win-stay-lose-shift": another number is another program."""
    return small(n, 60, blocks)


AGENTS: dict[str, Agent] = {
    "independent": xl.agents.stochastic_ucl(prior_mean=6, prior_var=9, temperature=2),
    "correlated": xl.agents.stochastic_ucl(prior_mean=6, prior_var=9, length_scale=1.5, temperature=2),
    "situated": xl.agents.situated_ucl(
        prior_mean=6, prior_var=9, length_scale=1.5, temperature=2, stickiness=0.5, travel_cost=1, novelty=0.5, lapse=0.1
    ),
    "kalman-ucb": xl.agents.kalman_ucb(bonus=0.5, temperature=2, prior_mean=4, prior_var=9),
    "delta-rule": xl.agents.delta_rule(learning_rate=0.4, temperature=2, prior_mean=4),
    "win-stay-lose-shift": xl.agents.win_stay_lose_shift(win_stay=0.7, lose_shift=0.6),
    "frames": xl.agents.with_habits(
        xl.agents.stochastic_ucl(prior_mean=6, prior_var=9, temperature=2, commitment="frames"), "lapse"
    ),
}


SLOW = ("independent", "kalman-ucb", "correlated")
"""Whose parameters are all among those of the others."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in AGENTS if name != "frames"]
)
def test_the_mean_score_at_the_true_parameters_is_zero(name: str) -> None:
    agent = AGENTS[name]
    each = scores(simulate_choices(small(), agent, seed=1), agent)
    assert each.shape == (200, len(agent.free))
    found = score_test(each)
    assert (found["standard_error"] > 0).all()
    assert (np.abs(found["z"]) < 4).all(), found["z"]
    assert found["p"] > 1e-4


def test_the_mean_score_is_zero_when_everyone_has_their_own_parameters_and_several_blocks() -> None:
    agent, rng = AGENTS["correlated"], np.random.default_rng(0)
    own = {"temperature": rng.uniform(1, 4, 100), "prior_mean": rng.uniform(2, 9, 100)}
    people = simulate_choices(small(100, blocks=2), agent, own, seed=2)
    assert score_test(scores(people, agent, own))["p"] > 1e-4
    assert score_test(scores(people, agent, {**own, "temperature": 1.0}))["p"] < 1e-4


def test_the_mean_score_at_other_parameters_is_not() -> None:
    agent = AGENTS["correlated"]
    people = simulate_choices(small(), agent, seed=1)
    assert score_test(scores(people, agent, {"temperature": 3.0}))["p"] < 1e-6
    assert score_test(scores(people, agent, {"prior_mean": 9.0}))["p"] < 1e-6


def odd_design(n: int = 400, horizon: int = 8) -> Choices:
    """Blocks with a forced arm at first, arms that are not on offer, and a missed trial."""
    plain = small(n, horizon)
    arm, observed, scored = plain.arm.copy(), plain.observed.copy(), plain.scored.copy()
    reward = plain.reward.copy()
    arm[:, 0], reward[:, 0], scored[:, 0] = 4, 5.5, False
    observed[:, 3] = scored[:, 3] = False
    available = np.ones((n, horizon, 9), bool)
    available[:, 2, 2] = available[:, 5, 5:] = False
    return replace(plain, arm=arm, reward=reward, observed=observed, scored=scored, available=available)


@pytest.mark.parametrize("name", slow_but(("situated", "frames"), AGENTS))
def test_choices_are_as_frequent_as_they_are_probable(name: str) -> None:
    agent = AGENTS[name]
    people = simulate_choices(odd_design(), agent, seed=3)
    ready = prepare(people, agent, free=())
    with jax.enable_x64(True):
        each = jax.vmap(lambda block: replay(agent.rule, ready.data.fixed, ready.data.ways, 9, block).log_probs)
        told = jax.jit(each, compiler_options=QUICKLY)
        p = np.exp(np.asarray(told(ready.data.blocks)))
    chosen = people.arm[:, :, None] == np.arange(9)
    off = (chosen - p)[people.scored]
    assert p[people.scored].sum(1) == pytest.approx(1)
    assert not off[chosen[people.scored] & (p[people.scored] == 0)].size
    # At each trial and arm, how far frequency and mean probability are apart, in standard errors.
    scored = people.scored[0]
    z = (chosen - p)[:, scored].sum(0) / np.sqrt(np.maximum((p * (1 - p))[:, scored].sum(0), 1e-12))
    z = z[(p * (1 - p))[:, scored].sum(0) > 1]
    assert chi2.sf((z**2).sum(), z.size) > 1e-4
    assert np.abs(z).max() < 4.5


def test_forced_missed_and_unavailable_trials_stay_as_they_were() -> None:
    people = simulate_choices(odd_design(50), AGENTS["correlated"], seed=0)
    assert (people.arm[:, 0] == 4).all()
    assert (people.reward[:, 0] == 5.5).all()
    assert (people.arm[:, 3] == NOWHERE).all()
    assert (people.reward[:, 3] == 0).all()
    assert (people.arm[:, 2] != 2).all()
    assert (people.arm[:, 5] < 5).all()
    assert people.arm[:, 1].min() >= 0


def test_an_arm_that_was_repeated_for_want_of_an_answer_is_the_simulated_persons_own() -> None:
    plain = simulate_choices(small(40, 6), AGENTS["independent"], seed=5)
    arm, scored = plain.arm.copy(), plain.scored.copy()
    arm[:, 3], scored[:, 3] = arm[:, 2], False
    scored[:, 0] = False
    missed = replace(plain, arm=arm, scored=scored, missed=np.arange(6) == np.full((40, 1), 3))
    assert (_kinds(missed)[0] == [KEPT, FREE, FREE, REPEATED, FREE, FREE]).all()
    assert (_kinds(odd_design(1))[0] == [KEPT, FREE, FREE, NOTHING, *[FREE] * 4]).all()
    people = simulate_choices(missed, AGENTS["independent"], seed=6)
    assert (people.arm[:, 3] == people.arm[:, 2]).all()
    assert (people.arm[:, 2] != missed.arm[:, 2]).any()
    assert (people.reward[:, 3] != people.reward[:, 2]).all()


def test_the_same_seed_gives_the_same_choices_however_many_play() -> None:
    agent = AGENTS["correlated"]
    many, few = simulate_choices(small(30), agent, seed=7), simulate_choices(small(9), agent, seed=7)
    assert (many.arm[:9] == few.arm).all()
    assert (many.reward[:9] == few.reward).all()
    assert (simulate_choices(small(9), agent, seed=8).arm != few.arm).any()
    copies = simulate_choices(small(10), agent, seed=7, n_copies=3)
    assert copies.n_participants == 30
    assert (copies.arm == many.arm).all()


@pytest.mark.quick
def test_everyone_has_their_own_parameters() -> None:
    stay = np.repeat([0.0, 1.0], 50)
    people = simulate_choices(
        small(100), xl.agents.win_stay_lose_shift(), {"win_stay": stay, "lose_shift": 1 - stay}, seed=0
    )
    same = people.arm[:, 1:] == people.arm[:, :-1]
    assert same[50:].all()
    assert not same[:50, 0].any()  # the first reward is a win


def test_rewards_have_the_noise_that_was_asked_for() -> None:
    people = simulate_choices(
        blank_choices(xl.tasks.landscape("B"), 100, horizon=30), xl.agents.random_choice(), noise="integer"
    )
    off = people.reward - np.take_along_axis(people.means, people.arm, 1)
    assert set(np.unique(off)) == set(range(-5, 6))
    people = simulate_choices(small(500), xl.agents.random_choice())
    off = people.reward - np.take_along_axis(people.means, people.arm, 1)
    assert off.var() == pytest.approx(4, abs=4 * 4 * np.sqrt(2 / off.size))
    unknown = replace(people, layout=replace(people.layout, noise_var=None))
    again = simulate_choices(unknown, xl.agents.random_choice(), seed=1)
    off = again.reward - np.take_along_axis(again.means, again.arm, 1)
    assert off.var() == pytest.approx(4, abs=0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: simulate_choices(replace(d, means=None), AGENTS["correlated"]), "add means"),
        (lambda d: simulate_choices(d, AGENTS["correlated"], {"tempreature": 1}), "did you mean 'temperature'"),
        (lambda d: simulate_choices(d, AGENTS["correlated"], {"temperature": [1, 2]}), "one for each of the 3 participants"),
        (lambda d: simulate_choices(d, AGENTS["situated"], {"lapse": 2.0}), "lapse must be"),
        (
            lambda d: simulate_choices(blank_choices(xl.tasks.bandit([1, 2], 5.0)), AGENTS["independent"], noise="integer"),
            "h \\(h \\+ 1\\) / 3",
        ),
        (lambda d: simulate_choices(d, AGENTS["correlated"], noise="uniform"), "noise"),
        (lambda d: blank_choices(xl.tasks.on_graph(GRID)), "graph of moves"),
        (lambda d: blank_choices([GRID, xl.tasks.landscape("A")]), "must share arms"),
        (lambda d: recover_parameters(d, xl.agents.random_choice()), "no free parameters"),
        (lambda d: recover_parameters(d, "stochastic-ucl", within={"length_scale": (0, 4)}), "is searched from"),
        (lambda d: recover_models(d, ["delta-rule"]), "at least 2 agents"),
        (lambda d: recover_models(d, ["delta-rule", "random-choice"], criterion="dic"), "criterion"),
        (lambda d: recover_models(d, ["delta-rule", "random-choice"], criterion="cv"), "at least 2 blocks"),
    ],
)
def test_bad_input_is_one_clear_sentence(change: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        change(small(3))  # type: ignore[operator]


def test_true_parameters_are_everyones_estimates_with_their_own_blocks() -> None:
    people = simulate_choices(to_fit(6), xl.agents.win_stay_lose_shift(), {"win_stay": np.linspace(0.1, 0.9, 6)}, seed=0)
    tree = fit(people, "win-stay-lose-shift", n_starts=1)
    truth = true_parameters(known_of(people, None, tree), people, 15, seed=0)
    found = tree["estimates"]["estimate"].sel(parameter="win_stay").values
    assert (truth.params["win_stay"] == found[truth.who]).all()
    assert np.bincount(truth.who).min() >= 2
    ranged = true_parameters(known_of(people, None, tree), people, 500, 0, {"win_stay": (0.2, 0.4, "real")})
    assert 0.2 <= ranged.params["win_stay"].min() < 0.21 < 0.39 < ranged.params["win_stay"].max() <= 0.4
    assert (repeated(people, [2, 2]).arm == people.arm[[2, 2]]).all()


def test_a_fit_of_fewer_or_more_people_lends_its_estimates() -> None:
    """As with `recover --like fit.nc --data other.csv`: estimates are those of the fit, blocks those of the choices."""
    tree = fit(simulate_choices(to_fit(5), xl.agents.win_stay_lose_shift(), seed=0), "win-stay-lose-shift", n_starts=1)
    found = tree["estimates"]["estimate"].sel(parameter="win_stay").values
    for n_people in (3, 8):
        others = simulate_choices(to_fit(n_people), xl.agents.win_stay_lose_shift(), seed=1)
        truth = true_parameters(known_of(others, None, tree), others, 20, seed=0)
        assert set(truth.params["win_stay"]) == set(found)
        assert set(truth.who) == set(range(n_people))


@pytest.fixture(scope="module")
def recovery() -> xr.Dataset:
    return recover_parameters(
        to_fit(1), "win-stay-lose-shift", n_people=120, within={"win_stay": (0.05, 0.95)}, n_starts=1, seed=4
    )


def test_parameters_that_can_be_recovered_are(recovery: xr.Dataset) -> None:
    assert (recovery["rank_correlation"] > 0.7).all()
    assert (recovery["rank_low"] < recovery["rank_correlation"]).all()
    se = np.sqrt(0.95 * 0.05 / 120)
    assert (np.abs(recovery["coverage"] - 0.95) < 4 * se).all()
    assert (recovery["rmse"] > np.abs(recovery["bias"])).all()
    inside = (recovery["low"] <= recovery["true"]) & (recovery["true"] <= recovery["high"])
    assert (inside.mean("person") == recovery["coverage"]).all()
    assert np.diag(recovery["estimate_correlation"]) == pytest.approx(1)
    assert np.diag(recovery["cross_correlation"]) == pytest.approx(recovery["rank_correlation"].values)


def test_a_parameter_that_leaves_no_trace_is_not_recovered() -> None:
    # One arm on offer: whatever the parameters are, the choice is the same.
    plain = small(1, 12)
    only = np.zeros((1, 12, 9), bool)
    only[:, :, 3] = True
    only[:, 0] = True
    result = recover_parameters(replace(plain, available=only), "win-stay-lose-shift", n_people=60, n_starts=1, seed=0)
    assert (result["rank_correlation"].fillna(0) < 0.4).all()
    assert (result["share_identified"] < 1).all() or (result["rmse"] > 0.8).all()


def test_bias_and_error_are_told_in_the_units_of_each_scale() -> None:
    """A logit is not called a logarithm, nor a parameter on its own scale anything."""
    said = scales_note({"lapse": "logit", "temperature": "log", "bonus": "real", "win_stay": "logit"})
    assert said == " (bias and RMSE of temperature in logarithms, of lapse, win_stay in logits (log-odds))"
    assert scales_note({"bonus": "real"}) == ""


@pytest.mark.quick
def test_the_interval_of_a_rank_correlation() -> None:
    low, high = rank_interval([0.0, 0.9], 103)
    assert high[0] == pytest.approx(np.tanh(1.959964 / 10), abs=1e-6)
    assert low[0] == -high[0]
    assert np.arctanh(high[1]) - np.arctanh(0.9) == pytest.approx(0.1959964 * np.sqrt(1 + 0.81 / 2), abs=1e-6)


@pytest.mark.quick
def test_confusion_and_inversion_of_known_counts() -> None:
    result = tables(np.array([[9, 1, 0], [5, 5, 0], [0, 0, 0]]), ["a", "b", "c"])
    assert result["confusion"].sel(generated="a").values == pytest.approx([0.9, 0.1, 0])
    assert result["inversion"].sel(fitted="a").values == pytest.approx([9 / 14, 5 / 14, 0])
    assert np.isnan(result["inversion"].sel(fitted="c")).all()
    assert (result["confusion_low"] <= result["confusion"]).sel(generated=["a", "b"]).all()


@pytest.mark.parametrize("criterion", ["bic", "cv"])
def test_models_that_differ_are_told_apart(criterion: str) -> None:
    agents = [xl.agents.win_stay_lose_shift(), xl.agents.random_choice()]
    ranges = {"win-stay-lose-shift": {"win_stay": (0.8, 0.95), "lose_shift": (0.4, 0.6)}}
    how = {"within": ranges, "criterion": criterion, "n_starts": 1, "seed": 2}
    result = recover_models(to_fit(1, blocks=2 if criterion == "cv" else 1), agents, n_data_sets=20, **how)
    assert (np.diag(result["confusion"]) > 0.7).all()
    assert result["confusion"].sum("fitted").values == pytest.approx(1)
    assert result["inversion"].sum("generated").values == pytest.approx(1)
    assert (result["count"].sum("fitted") == 20).all()


@pytest.mark.parametrize("method", ["ml", "map", "em"])
@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_models_are_judged_at_the_estimates_that_compare_judges_them_at(method: str, criterion: str) -> None:
    """By maximum likelihood, whatever the method: the same criterion, to the last digit."""
    simulated = simulate_choices(to_fit(3), xl.agents.win_stay_lose_shift(), seed=1)
    model = known_of(simulated, "win-stay-lose-shift")
    found = judged(simulated, model, Setting(method, criterion, 1, 0, None))
    there = compare(simulated, ["win-stay-lose-shift", "random-choice"], criterion="bic", n_starts=1)["people"][criterion]
    np.testing.assert_allclose(found, there.sel(model="win-stay-lose-shift"), rtol=1e-9)


@pytest.fixture(scope="module")
def people() -> Choices:
    return simulate_choices(small(40, 20, blocks=1), AGENTS["situated"], seed=11)


@pytest.fixture(scope="module")
def fitted(people: Choices) -> xr.DataTree:
    return fit(people, "local-search", n_starts=1)


def test_a_predictive_check_of_the_agent_that_chose_finds_nothing() -> None:
    agent = AGENTS["independent"]
    people = simulate_choices(small(40, 20), agent, seed=13)
    # Empirical Bayes: a prior that does not suit would pull everyone's estimates aside, and simulated people with them.
    tree = fit(people, agent, "em", n_starts=1, free=("temperature",))
    result = predictive_check(people, agent, tree, n_copies=60, seed=1)
    assert (result["p"] > 0.05).all()
    inside = (result["regret_low"] <= result["regret_human"]) & (result["regret_human"] <= result["regret_high"])
    assert inside.mean() > 0.7


def test_a_predictive_check_of_another_agent_finds_what_it_does_not_do(people: Choices, fitted: xr.DataTree) -> None:
    result = predictive_check(people, None, fitted, n_copies=60, seed=1)
    p = result["p"].to_series()
    assert p["mean reward"] == pytest.approx(2 / 61)  # it does not learn
    assert p["final regret"] == pytest.approx(2 / 61)
    assert p["mean travel"] > 0.05  # it was fitted to how far people walk
    assert float(result["simulated"].sel(statistic="mean reward")) < float(result["human"].sel(statistic="mean reward"))
    shares = result.sel(statistic=[f"phenotype {form}" for form in ("linear", "power", "log")])
    assert float(shares["human"].sum()) == pytest.approx(1)
    assert float(result["walk_human"].sum()) == pytest.approx(1)
    assert float(result["repeat_human"].mean()) == pytest.approx(float(result["human"].sel(statistic="mean repeat")))


@pytest.mark.quick
def test_a_predictive_p_counts_both_sides() -> None:
    copies = [np.array([float(k)]) for k in range(99)]
    assert compared(np.array([49.0]), copies)["p"][0] == 1
    assert compared(np.array([200.0]), copies)["p"][0] == pytest.approx(2 / 100)
    assert compared(np.array([97.0]), copies)["p"][0] == pytest.approx(2 * 3 / 100)


def test_latent_variables_are_those_of_the_fit(people: Choices) -> None:
    agent = AGENTS["independent"]
    tree = fit(people, agent, n_starts=1, free=("temperature",))
    latent = latent_variables(people, agent, tree)
    log_p = np.log(latent["chosen_probability"]).sum("trial")
    assert log_p.values == pytest.approx(tree["estimates"]["log_likelihood"].values)
    assert latent["probability"].sum("arm").values == pytest.approx(1)
    assert (latent["limit"] - latent["mean"]).values == pytest.approx(latent["bonus"].values)
    first = latent.isel(trial=0)
    assert first["mean"].values == pytest.approx(6)
    assert first["sd"].values == pytest.approx(3)
    assert first["prediction_error"].values == pytest.approx(people.reward[:, 0] - 6)
    p = latent["probability"].values
    assert latent["entropy"].values == pytest.approx(-(p * np.log(p)).sum(2))
    assert len(trial_table(latent)) == people.n_rows * people.n_trials
    table = arm_table(latent)
    assert len(table) == people.n_rows * people.n_trials * 9
    assert table["chosen"].sum() == people.n_rows * people.n_trials


def test_latent_variables_of_odd_blocks_are_written_and_read_back(tmp_path: object) -> None:
    import pandas as pd

    odd = simulate_choices(odd_design(5, 20), AGENTS["independent"], seed=0)
    # Fitted as if every arm had been on offer, with a program that other tests need too: any estimates will do.
    tree = fit(replace(odd, available=None), AGENTS["independent"], n_starts=1, free=("temperature",))
    latent = latent_variables(odd, None, tree)
    assert np.isnan(latent["chosen_probability"].values[:, [0, 3]]).all()
    assert (latent["probability"].values[:, 2, 2] == 0).all()
    for ending in ("csv", "parquet", "nc"):
        write_latent(latent, tmp_path / f"latent.{ending}")  # type: ignore[operator]
    table = pd.read_csv(tmp_path / "latent.csv")  # type: ignore[operator]
    assert table["entropy"].to_numpy() == pytest.approx(latent["entropy"].values.ravel())
    assert len(pd.read_parquet(tmp_path / "latent.parquet")) == 5 * 20 * 9  # type: ignore[operator]
    with xr.open_dataset(tmp_path / "latent.nc", engine="h5netcdf") as again:  # type: ignore[operator]
        assert again["limit"].values == pytest.approx(latent["limit"].values)
    with pytest.raises(InputError, match=r"\.csv, \.parquet or \.nc"):
        write_latent(latent, tmp_path / "latent.txt")  # type: ignore[operator]


def test_a_fit_of_other_people_or_another_agent_is_an_error(people: Choices, fitted: xr.DataTree) -> None:
    with pytest.raises(InputError, match="other people"):
        latent_variables(people.rows(np.arange(5)), None, fitted)
    with pytest.raises(InputError, match="the fit is of local-search"):
        latent_variables(people, "delta-rule", fitted)


def test_the_figures_draw_what_was_found(recovery: xr.Dataset, people: Choices, fitted: xr.DataTree) -> None:
    from explorelab.plots.predictive_figure import draw_predictive
    from explorelab.plots.recovery_figures import draw_models, draw_recovery
    from explorelab.plots.style import style

    with style():
        drawn = draw_recovery(recovery).data
        points = drawn[(drawn["part"] == "point") & drawn["curve"].isin(["covered", "not covered"])]
        assert len(points) == recovery["true"].size
        drawn = draw_models(tables(np.array([[9, 1], [0, 0]]), ["a", "b"])).data
        assert drawn.loc[drawn["part"] == "cell", "y"].max() == 100
        drawn = draw_predictive(predictive_check(people, None, fitted, n_copies=5)).data
        assert {"Regret, people", "walks, people"} <= set(drawn["curve"])


def test_the_commands(tmp_path: object, people: Choices, fitted: xr.DataTree) -> None:
    from explorelab.cli.app import app

    folder = tmp_path
    data, tree, out, figure = (folder / name for name in ("people.csv", "fit.nc", "out.nc", "f.svg"))  # type: ignore[operator]
    write_choices(people, data)
    save_fit(fitted, tree)
    run = CliRunner()

    def told(*arguments: object) -> dict[str, object]:
        result = run.invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout) if "--json" in arguments else {}

    both = ("--data", data, "--like", tree, "--n", 12, "--starts", 1, "--out", out, "--figure", figure)
    found = told("recover", *both, "--json")
    assert found["agent"] == "local-search"
    assert found["n"] == 12
    assert figure.exists()
    with xr.open_dataset(out, engine="h5netcdf") as result:
        assert result.sizes["person"] == 12
    told("recover", *both)
    models = told("recover", *both, "--agents", "local-search,random-choice", "--json")
    assert models["models"] == ["local-search", "random-choice"]
    told("predict", data, "--fit", tree, "--copies", 5, "--figure", figure, "--out", out)
    latent = folder / "latent.csv"  # type: ignore[operator]
    told("latent", data, "--fit", tree, "--out", latent)
    assert latent.exists()

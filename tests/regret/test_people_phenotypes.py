"""Regret and phenotypes of people: labels and means against `fit_forms`, known shapes, intervals, errors, the command."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import explorelab as xl
from explorelab.choices.table import NOWHERE, Choices, Layout
from explorelab.cli.app import app
from explorelab.cli.tables.choices_tables import show_phenotypes
from explorelab.plots.phenotype_figure import draw_phenotypes
from explorelab.plots.style import write_figure
from explorelab.regret import paper_people
from explorelab.regret.clusters import clustered_share, mean_band, wilson
from explorelab.regret.forms import FORMS, NONE, fit_regret_curves, fitted_regret
from explorelab.regret.forms_fast import best_forms
from explorelab.regret.label_bootstrap import block_length, draws, label_probabilities
from explorelab.regret.observed import observed_regret
from explorelab.regret.phenotype_summary import labels_table, summary
from explorelab.regret.phenotypes import label_phenotypes

pytestmark = pytest.mark.quick_programs

T = np.arange(1, 91)
SHAPES = {"linear": 40 + 25 * T, "power": 60 * T**0.6, "log": 30 + 150 * np.log(T)}


def _choices(curves, blocks_each=1, conditions=None, lengths=None):
    """Choices whose observed regret is these curves: one arm of mean 0, and what was lost as negative rewards."""
    curves = np.atleast_2d(np.asarray(curves, float))
    n_rows, n_trials = curves.shape
    present = T[:n_trials] <= (np.full(n_rows, n_trials) if lengths is None else np.asarray(lengths))[:, None]
    who = np.arange(n_rows) // blocks_each
    return Choices(
        Layout(1),
        tuple(f"p{i}" for i in range(who[-1] + 1)),
        who,
        np.array([str(i % blocks_each) for i in range(n_rows)]),
        np.where(present, 0, NOWHERE).astype(np.int32),
        np.where(present, -np.diff(curves, axis=1, prepend=0.0), 0.0),
        *(present,) * 3,
        means=np.zeros((n_rows, 1)),
        conditions=conditions or {},
    )


def _noisy(n_each=4, sd=3.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([shape + rng.normal(0, sd, (n_each, 90)).cumsum(1) for shape in SHAPES.values()])


@pytest.fixture(scope="module")
def simulated():
    """Two blocks each of 12 log agents, on the paper's landscapes, as people; with what simulate says of their regret."""
    agent = xl.agents.stochastic_ucl(prior_mean=200, prior_var=10, length_scale=4, temperature=1)
    tasks = [xl.tasks.landscape(name) for name in "AB"]
    runs = [xl.simulate(agent, task, 90, 12, seed=2, keep="trajectories", progress=False) for task in tasks]
    yes = np.ones((24, 90), bool)
    choices = Choices(
        Layout(100),
        tuple(f"p{i}" for i in range(12)),
        np.tile(np.arange(12), 2),
        np.repeat(["A", "B"], 12),
        np.concatenate([run["choice"].values for run in runs]).astype(np.int32),
        np.concatenate([run["reward"].values for run in runs]).astype(float),
        *(yes,) * 3,
        means=np.repeat([task.means for task in tasks], 12, axis=0),
        conditions={"landscape": np.repeat(["A", "B"], 12), "time": np.repeat([1, 2], 12)},
    )
    return choices, np.concatenate([run["observed_regret"].values for run in runs])


# regret


def test_regret_is_what_simulate_calls_so(simulated):
    choices, known = simulated
    np.testing.assert_allclose(observed_regret(choices), known, rtol=1e-6)


def test_regret_has_labels_of_rows_and_conditions(simulated):
    regret = observed_regret(simulated[0])
    assert regret.dims == ("row", "time")
    assert regret["participant"].values[[0, 13]].tolist() == ["p0", "p1"]
    assert regret["landscape"].values[[0, 13]].tolist() == ["A", "B"]
    assert regret["time_"].values[[0, 13]].tolist() == [1, 2]


def _small(**changed):
    yes = np.ones((1, 3), bool)
    given = {"arm": np.array([[0, NOWHERE, 1]], np.int32), "reward": np.array([[4.0, 0.0, 9.0]]), "means": [[5.0, 10.0]]}
    given |= {"observed": np.array([[True, False, True]]), "scored": yes, "present": yes} | changed
    means = given.pop("means")
    means = None if means is None else np.array(means)
    return Choices(Layout(2), ("p",), np.zeros(1, int), np.array(["b"]), means=means, **given)


def test_a_missed_trial_loses_the_whole_best_mean():
    assert observed_regret(_small()).values.tolist() == [[6, 16, 17]]


def test_an_arms_mean_stands_for_a_reward_that_is_not_known():
    choices = _small(arm=np.array([[0, 0, 1]], np.int32))
    assert observed_regret(choices).values.tolist() == [[6, 11, 12]]


def test_regret_ends_with_its_block():
    regret = observed_regret(_choices([SHAPES["linear"], SHAPES["log"]], lengths=[90, 30]))
    assert np.isfinite(regret[0]).all()
    assert np.isfinite(regret[1]).sum() == 30


def test_a_known_best_mean_is_enough_for_observed_regret():
    assert observed_regret(_small(means=None), best_mean=20).values.tolist() == [[16, 36, 47]]
    assert observed_regret(_small(means=[[np.nan, np.nan]]), best_mean=[20]).values.tolist() == [[16, 36, 47]]
    assert observed_regret(_small(), best_mean=20).values.tolist() == [[6, 16, 17]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: observed_regret(_small(means=None)), "add means .* to the table .task. of the task file"),
        (lambda: observed_regret(_small(means=[[np.nan, np.nan]])), "all blocks are not known"),
        (
            lambda: observed_regret(_small(arm=np.array([[0, 0, 1]], np.int32), means=[[np.nan, 10.0]])),
            "mean of every chosen arm",
        ),
        (lambda: observed_regret(_small(means=None), best_mean=[1, 2]), "one for the one row"),
        (lambda: observed_regret(_small(present=np.array([[True, False, True]]))), "lacks some before its last one"),
    ],
)
def test_regret_that_cannot_be_known_is_refused_with_what_to_do(call, message):
    with pytest.raises(xl.InputError, match=message):
        call()


# labels


@pytest.mark.parametrize("power", ["raw", "log-log"])
def test_labels_and_fits_are_those_of_fit_forms(power):
    curves = _noisy(sd=20)
    found, fits = label_phenotypes(_choices(curves), power, bootstrap=0), fit_regret_curves(curves, power=power)
    assert found["label"].values.tolist() == fits["label"].values.tolist()
    for name in ("a", "b", "ssr"):
        np.testing.assert_allclose(found[name], fits[name])
    np.testing.assert_allclose(found["exponent"], fits["b"].sel(form="power"))
    assert np.isnan(found["label_probability"]).all()


@pytest.mark.parametrize("power", ["raw", "log-log"])
@pytest.mark.parametrize("form", FORMS)
def test_a_known_shape_has_its_label_almost_surely(form, power):
    curves = SHAPES[form] + np.random.default_rng(1).normal(0, 1, (5, 90)).cumsum(1)
    found = label_phenotypes(_choices([SHAPES[form], *curves]), power, bootstrap=200)
    assert (found["label"] == form).all()
    assert (found["label_probability"].sel(form=form) > 0.97).all()
    np.testing.assert_allclose(found["label_probability"].sum("form"), 1)


def test_a_walk_without_a_shape_is_unsure():
    curve = np.random.default_rng(5).normal(3, 40, (20, 90)).cumsum(1)
    assert label_phenotypes(_choices(curve), bootstrap=200)["label_probability"].max("form").mean() < 0.9


@pytest.mark.parametrize("power", ["raw", "log-log"])
def test_fast_labels_are_those_of_fit_forms(power):
    rng = np.random.default_rng(2)
    drifting = rng.normal(rng.uniform(0, 30, (2000, 1)), 15, (2000, 90)).cumsum(1)
    for curves in (drifting, drifting[:, :3], drifting[:, :20] - 100, np.zeros((2, 9)), 7.0 * np.tile(T, (2, 1))):
        with np.errstate(over="ignore"):
            expected = fit_regret_curves(curves, power=power)["label"].values
        assert np.asarray((*FORMS, NONE))[best_forms(curves, power)].tolist() == expected.tolist()


def test_resampled_increments_come_from_nearby_in_blocks():
    at, length = draws(90, 500, seed=3), block_length(90)
    assert at.shape == (500, 90)
    assert (np.abs(at - np.arange(90)) <= 2 * length).all()
    inside = np.arange(1, 90) % length != 0
    assert (np.diff(at, axis=1)[:, inside] == 1).all()


def test_label_probabilities_are_those_of_resampling_written_out():
    curves = _noisy(2, sd=40)
    fits = fit_regret_curves(curves)
    own = np.stack([
        fitted_regret(fits.isel(curve=row), T).sel(form=label).values for row, label in enumerate(fits["label"].values)
    ])  # fmt: skip
    found = label_probabilities(curves, own, "raw", 60, seed=4)
    for row, (curve, form) in enumerate(zip(curves, own, strict=True)):
        losses = np.diff(curve - form, prepend=0.0)
        labels = [fit_regret_curves(form + losses[at].cumsum())["label"].item() for at in draws(90, 60, seed=4)]
        assert found[row].tolist() == [labels.count(name) / 60 for name in FORMS]


def test_the_same_seed_gives_the_same_answer_whichever_rows_are_there():
    curves = _noisy(sd=20)
    first, again, other = (label_phenotypes(_choices(curves), bootstrap=50, seed=seed) for seed in (1, 1, 2))
    assert first.identical(again)
    assert not np.array_equal(first["label_probability"], other["label_probability"])
    alone = label_phenotypes(_choices(curves[3:5]), bootstrap=50, seed=1)
    np.testing.assert_array_equal(alone["label_probability"], first["label_probability"][3:5])


# means and shares


def test_mean_curves_are_means_of_the_rows_with_each_label():
    curves = _noisy(5)
    found = label_phenotypes(_choices(curves), bootstrap=0)
    np.testing.assert_allclose(found["mean_regret"], curves.mean(0))
    for form in FORMS:
        own = curves[found["label"].values == form]
        one = found.sel(form=form)
        np.testing.assert_allclose(one["phenotype_mean"], own.mean(0))
        half = (one["phenotype_high"] - one["phenotype_low"]) / 2
        np.testing.assert_allclose(half, 2.776445 * own.std(0, ddof=1) / np.sqrt(5), rtol=1e-6)
    fits = fit_regret_curves(curves.mean(0))
    np.testing.assert_allclose(found["mean_b"], fits["b"])
    residuals = 1 - fits["ssr"] / ((curves.mean(0) - curves.mean()) ** 2).sum()
    np.testing.assert_allclose(found["mean_r2"], residuals)
    assert found["mean_label"].item() == fits["label"].item()


def test_blocks_of_other_lengths_are_labelled_but_kept_out_of_means_they_do_not_reach():
    curves = np.stack([SHAPES["linear"], SHAPES["linear"], SHAPES["log"], SHAPES["log"]])
    found = label_phenotypes(_choices(curves, lengths=[90, 90, 30, 2]), bootstrap=20)
    assert found["label"].values.tolist() == ["linear", "linear", "log", "none"]
    np.testing.assert_allclose(found["mean_regret"], SHAPES["linear"])
    np.testing.assert_allclose(found["ssr"][2], fit_regret_curves(SHAPES["log"][:30])["ssr"], atol=1e-6)
    assert np.isnan(found["label_probability"][3]).all()
    assert found["n_rows"].values.tolist() == [2, 0, 1]
    assert np.isnan(found["phenotype_mean"].sel(form="power")).all()


def test_participants_mean_over_their_blocks():
    curves = _noisy(4)
    kind, block = np.repeat([1, 2], 6), np.tile([1, 2], 6)
    found = label_phenotypes(_choices(curves, 2, {"kind": kind, "order": block}), bootstrap=0, by="participant")
    np.testing.assert_allclose(found["regret"], curves.reshape(-1, 2, 90).mean(1))
    assert found["participant"].values.tolist() == [f"p{i}" for i in range(6)]
    assert found["kind"].values.tolist() == [1, 1, 1, 2, 2, 2]
    assert "order" not in found.coords


def test_shares_stand_beside_the_papers_where_the_task_is_the_papers(simulated, capsys):
    found = label_phenotypes(simulated[0], bootstrap=0)
    assert dict(zip(FORMS, found["paper_share"].values.tolist(), strict=True)) == paper_people.SHARES
    assert sum(paper_people.SHARES.values()) == pytest.approx(1)
    assert summary(found)["paper"] == "Reverdy, Srivastava & Leonard (2014)"
    show_phenotypes(found)
    assert "paper: Reverdy, Srivastava & Leonard (2014), 326 people." in capsys.readouterr().out
    data = draw_phenotypes(found).data
    assert data[data["curve"] == "linear, paper, 326 people"]["x"].tolist() == pytest.approx([59.2])


@pytest.mark.parametrize("other", ["arms", "means", "trials"])
def test_no_other_task_is_held_against_the_paper(simulated, capsys, other):
    choices = simulated[0]
    if other == "arms":
        choices = _choices(_noisy(3))
    elif other == "means":
        choices = replace(choices, means=choices.means + 1)
    else:
        cut = {name: getattr(choices, name)[:, :60] for name in ("arm", "reward", "observed", "scored", "present")}
        choices = replace(choices, **cut)
    found = label_phenotypes(choices, bootstrap=0)
    about = summary(found)
    assert "paper" not in about
    assert {about["forms"][form]["paper_share"] for form in FORMS} == {None}
    show_phenotypes(found)
    assert "paper" not in capsys.readouterr().out
    assert not draw_phenotypes(found).data["curve"].str.contains("paper").any()


@pytest.mark.parametrize("by", ["block", "participant"])
@pytest.mark.parametrize("power", ["raw", "log-log"])
def test_curves_without_a_form_are_told_apart_everywhere(power, by, tmp_path, capsys):
    """Nothing lost, everything at once, too short: no label, no probability, no share of any form."""
    flat = np.stack([np.zeros(90), np.full(90, 5.0), SHAPES["log"], SHAPES["linear"], SHAPES["log"]])
    found = label_phenotypes(_choices(flat, lengths=[90, 90, 90, 90, 2]), power, 20, by=by)
    assert found["label"].values.tolist()[:2] == ["none", "none"]
    assert found["label"].values[4] == "none"
    assert np.isnan(found["label_probability"].values[[0, 1, 4]]).all()
    assert np.isnan(found["exponent"].values).tolist() == [True, True, False, False, True]
    np.testing.assert_allclose(found["share"].sum(), 1)
    assert int(found["n_rows"].sum()) == 2
    about = summary(found)
    assert (about["n_unlabelled"], about["n_too_short"]) == (3, 1)
    show_phenotypes(found)
    assert "3 without a form: 1 too short, 2 with constant regret." in capsys.readouterr().out
    write_figure(lambda: draw_phenotypes(found), tmp_path / "figure.svg")


def test_a_curve_of_zeros_has_no_exponent_at_the_end_of_the_search():
    assert fit_regret_curves(np.zeros(30))["b"].values.tolist() == [0.0, 0.0, 0.0]


def test_nobody_who_loses_anything_is_no_reason_to_stop(tmp_path, capsys):
    found = label_phenotypes(_choices(np.zeros((3, 30))), bootstrap=20)
    assert set(found["label"].values) == {"none"}
    assert found["mean_label"].item() == "none"
    assert np.isnan(found["share"]).all()
    json.dumps(summary(found), allow_nan=False)
    show_phenotypes(found)
    assert "3 without a form" in capsys.readouterr().out
    write_figure(lambda: draw_phenotypes(found), tmp_path / "figure.svg")
    assert "no curve has a form" in (tmp_path / "figure.svg").read_text()


@pytest.mark.parametrize("best", [0.3, 1e-9, 1e9])
def test_a_loss_that_is_rounding_is_none(best):
    """A reward that adds up to the best mean but for the last bit loses nothing."""
    choices = _choices(np.zeros((1, 30)))
    almost = replace(choices, reward=np.full((1, 30), best / 3 + best / 3 * 2), means=np.full((1, 1), best))
    assert label_phenotypes(almost, bootstrap=0)["label"].item() == "none"


def test_shares_have_intervals():
    found = label_phenotypes(_choices(_noisy(3)), bootstrap=0)
    np.testing.assert_allclose(found["share"], 1 / 3)
    assert (found["share_low"] < found["share"]).all()
    assert (found["share"] < found["share_high"]).all()


def test_the_interval_is_wider_when_a_persons_blocks_agree():
    agree = np.repeat(np.arange(40) < 12, 2)
    clustered = clustered_share(agree, np.repeat(np.arange(40), 2))
    alone = clustered_share(agree, np.arange(80))
    np.testing.assert_allclose(alone, wilson(0.3, 79), atol=1e-9)
    np.testing.assert_allclose(clustered, wilson(0.3, 39), atol=1e-9)


def test_the_interval_of_none_or_all_is_not_a_point():
    low, high = clustered_share(np.zeros(20, bool), np.repeat(np.arange(10), 2))
    assert low == 0
    assert high == pytest.approx(wilson(0, 10)[1])
    assert clustered_share(np.ones(4, bool), np.zeros(4, int))[0] < 0.5


def test_intervals_of_shares_and_means_cover_as_often_as_they_say():
    rng, n, people = np.random.default_rng(6), 1000, np.repeat(np.arange(40), 2)
    hits, hits_mean, naive = 0, 0, 0
    for _ in range(n):
        inclined = rng.beta(0.3, 0.7, 40)
        is_one = rng.random((40, 2)) < inclined[:, None]
        low, high = clustered_share(is_one.ravel(), people)
        hits += low <= 0.3 <= high
        low, high = wilson(is_one.mean(), 80)
        naive += low <= 0.3 <= high
        band = mean_band((rng.normal(0, 1, (40, 1)) + rng.normal(0, 1, (40, 2))).reshape(-1, 1), people)
        hits_mean += bool(band.low[0] <= 0 <= band.high[0])
    standard_error = np.sqrt(0.95 * 0.05 / n)
    assert abs(hits / n - 0.95) < 3 * standard_error
    assert abs(hits_mean / n - 0.95) < 3 * standard_error
    assert naive / n < 0.92


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": "loglog"}, "did you mean 'log-log'"),
        ({"by": "person"}, "unknown setting of by"),
        ({"bootstrap": -1}, "at least 0"),
        ({"seed": 0.5}, "whole number"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(options, message):
    with pytest.raises(xl.InputError, match=message):
        label_phenotypes(_choices(SHAPES["log"]), **options)


def test_blocks_too_short_for_any_label_are_refused():
    with pytest.raises(xl.InputError, match="at least 3 trials"):
        label_phenotypes(_choices(SHAPES["log"][:2]))


# what is shown


def test_tables_and_summaries_hold_what_was_found():
    found = label_phenotypes(_choices(_noisy(3), 1, {"label": np.arange(9)}), bootstrap=20)
    table, about = labels_table(found), summary(found)
    assert table["label"].tolist() == found["label"].values.tolist()
    assert table["label_"].tolist() == list(range(9))
    assert table["b_log"].tolist() == found["b"].sel(form="log").values.tolist()
    assert about["forms"]["log"]["n"] == 3
    json.dumps(about, allow_nan=False)


def test_the_figure_records_what_it_draws(tmp_path):
    found = label_phenotypes(_choices(_noisy(3)), bootstrap=0)
    data = draw_phenotypes(found).data
    shown = data[(data["curve"] == "log, mean") & (data["part"] == "line")]
    np.testing.assert_allclose(shown["y"], found["phenotype_mean"].sel(form="log"))
    write_figure(lambda: draw_phenotypes(found), tmp_path / "figure.svg")
    assert "these 9 blocks" in (tmp_path / "figure.svg").read_text()


def test_figures_of_one_curve_and_of_several_lengths_can_be_drawn(tmp_path):
    write_figure(lambda: draw_phenotypes(label_phenotypes(_choices(SHAPES["log"]), bootstrap=0)), tmp_path / "figure.png")
    several = _choices(_noisy(2), lengths=[30, 30, 30, 30, 30, 90])
    write_figure(lambda: draw_phenotypes(label_phenotypes(several, bootstrap=0)), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 0


@pytest.fixture
def files(tmp_path, simulated):
    """The simulated people's choices as a file, with their task beside."""
    choices, _ = simulated
    row, trial = np.indices(choices.arm.shape).reshape(2, -1)
    frame = pd.DataFrame({"participant": choices.participant[row], "block": choices.block[row], "trial": trial + 1,
                          "arm": choices.arm.ravel(), "reward": choices.reward.ravel()})  # fmt: skip
    frame.to_csv(tmp_path / "choices.csv", index=False)
    means = "\n".join(f"{name} = {xl.tasks.landscape(name).means.tolist()}" for name in "AB")
    (tmp_path / "choices.toml").write_text(f'[task]\ngrid = [10, 10]\nmeans_by = "block"\n[task.means]\n{means}\n')
    return tmp_path


def test_the_command_reports_draws_and_writes(files, simulated):
    out = [str(files / name) for name in ("choices.csv", "labels.csv", "figure.png")]
    how = ["--bootstrap", "30", "--seed", "3", "--json"]
    ran = CliRunner().invoke(app, ["phenotypes", out[0], "--csv", out[1], "--figure", out[2], *how])
    assert ran.exit_code == 0, ran.output
    expected = label_phenotypes(simulated[0], bootstrap=30, seed=3)
    about = json.loads(ran.stdout)
    assert [about["forms"][form]["n"] for form in FORMS] == expected["n_rows"].values.tolist()
    table = pd.read_csv(out[1])
    assert len(table) == 24
    assert (files / "figure.png").stat().st_size > 0
    shown = CliRunner().invoke(app, ["phenotypes", out[0], "--bootstrap", "0"])
    assert "24 blocks" in shown.stdout


def test_the_command_says_what_to_add_where_means_are_not_known(files):
    (files / "choices.toml").write_text("[task]\ngrid = [10, 10]\n")
    ran = CliRunner().invoke(app, ["phenotypes", str(files / "choices.csv")])
    assert isinstance(ran.exception, xl.InputError)
    assert "add means" in str(ran.exception)

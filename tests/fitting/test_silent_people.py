"""People whose choices say nothing, and choices that cannot be: named, and nobody else is stopped or changed."""

from dataclasses import replace

import numpy as np
import pytest

import explorelab as xl
from explorelab.cli.tables.fit_tables import show_comparison, show_fit
from explorelab.comparison.compare import compare
from explorelab.comparison.left_out_blocks import cross_validate
from explorelab.errors import InputError
from explorelab.fitting.criteria import without_information
from explorelab.fitting.fit_people import fit
from explorelab.fitting.fit_summary import fit_summary
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.parameter_recovery import recover_parameters
from explorelab.recovery.predictive import predictive_check
from explorelab.recovery.simulated_choices import simulate_choices

pytestmark = pytest.mark.quick_programs

AGENT = "win-stay-lose-shift"
SILENT = 1


@pytest.fixture(scope="module")
def people():
    blank = blank_choices(xl.tasks.bandit([0.0, 1.0, 2.0], 1.0), 4, 2, 12)
    blank = replace(blank, participants=("ann", "ben, jr.", "cleo", "dan"))
    return simulate_choices(blank, xl.agents.win_stay_lose_shift(), {"win_stay": [0.6, 0.7, 0.8, 0.9]}, seed=0)


def one_arm(choices, own):
    available = np.ones((*choices.arm.shape, choices.layout.n_arms), bool)
    available[own] = np.arange(choices.layout.n_arms) == choices.arm[own][..., None]
    return replace(choices, available=available)


def missed(choices, own):
    arm, observed, scored = choices.arm.copy(), choices.observed.copy(), choices.scored.copy()
    arm[own], observed[own], scored[own] = -1, False, False
    return replace(choices, arm=arm, observed=observed, scored=scored)


def forced(choices, own):
    return replace(choices, scored=choices.scored & ~own[:, None])


WAYS = {"one arm on offer": one_arm, "all missed": missed, "all forced": forced}


@pytest.fixture(params=WAYS)
def with_silent(people, request):
    return WAYS[request.param](people, people.participant == SILENT)


@pytest.mark.parametrize("method", ["ml", "map", "em"])
def test_someone_without_a_choice_is_named_and_stops_nobody(people, with_silent, method, capsys):
    assert without_information(with_silent) == ("ben, jr.",)
    tree = fit(with_silent, AGENT, method, n_starts=1)
    table = tree["estimates"].to_dataset()
    assert np.isnan(table["pseudo_r2"]).values.tolist() == [False, True, False, False]
    assert table["n_choices"].values.tolist() == [24, 0, 24, 24]
    assert not table["identified"].isel(participant=SILENT).any()
    assert set(table["remark"].isel(participant=SILENT).values) == {"no choice among several arms"}
    assert fit_summary(tree)["without_information"] == ["ben, jr."]
    show_fit(tree)
    assert "who never chose among several arms: ben, jr.." in capsys.readouterr().out
    if method != "em":
        space = {
            d: {k: v.item() for k, v in tree["space"].sel(parameter=d).data_vars.items()} for d in table.parameter.values
        }
        alone = fit(people, AGENT, method, n_starts=1, space=space)["estimates"].to_dataset()
        others = [0, 2, 3]
        np.testing.assert_array_equal(table["estimate"][others], alone["estimate"][others])


def test_someone_without_a_choice_weighs_for_no_agent(with_silent, capsys):
    tree = compare(with_silent, [AGENT, "random-choice"], n_starts=1)
    assert tree["people"]["participant"].values.tolist() == ["ann", "cleo", "dan"]
    assert float(tree["models"]["alpha"].sum()) == pytest.approx(2 + 3)
    show_comparison(tree)
    assert "ben, jr." in capsys.readouterr().out


def test_left_out_blocks_recovery_and_prediction_go_on_without_them(with_silent):
    folds = cross_validate(with_silent, AGENT, n_starts=1, draws=2)["folds"].to_dataset()
    assert np.isnan(folds["r2"]).sum() == 2
    tree = fit(with_silent, AGENT, n_starts=1)
    found = recover_parameters(with_silent, AGENT, tree, 6, n_starts=1)
    assert np.isfinite(found["estimate"]).all()
    checked = predictive_check(with_silent, AGENT, tree, 3)
    assert np.isfinite(checked["human"].sel(statistic="mean reward"))


@pytest.mark.slow
def test_someone_without_a_choice_has_the_populations_posterior(people):
    quiet = one_arm(people, people.participant == SILENT)
    with pytest.warns(UserWarning, match="not converged"):
        tree = fit(quiet, AGENT, "nuts", chains=2, draws=100, warmup=100, n_starts=1, on_failure="warn")
    table = tree["estimates"].to_dataset()
    assert np.isnan(table["pseudo_r2"]).values.tolist() == [False, True, False, False]
    assert set(table["remark"].isel(participant=SILENT).values) == {"no choice among several arms"}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    "call",
    [
        lambda choices: fit(choices, AGENT),
        lambda choices: cross_validate(choices, AGENT),
        lambda choices: compare(choices, [AGENT, "random-choice"]),
    ],
    ids=["fit", "cross_validate", "compare"],
)
def test_nobody_with_a_choice_is_told_in_a_sentence(people, way, call):
    with pytest.raises(InputError, match="none of 4 participants made one"):
        call(way(people, np.ones(people.n_rows, bool)))


def test_one_choice_is_little_but_no_reason_to_stop(people):
    own = people.participant == SILENT
    once = replace(people, scored=people.scored & (~own[:, None] | (np.arange(12) == 3)))
    table = fit(once, AGENT, n_starts=1)["estimates"].to_dataset()
    assert table["n_choices"].values.tolist() == [24, 2, 24, 24]
    assert not table["identified"].isel(participant=SILENT).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: {"reward": np.where(c.participant[:, None] == 2, np.nan, c.reward)}, r"finite.* nan \(participant cleo"),
        (lambda c: {"reward": np.where(c.participant[:, None] == 2, np.inf, c.reward)}, r"finite.* inf \(participant cleo"),
        (
            lambda c: {"arm": np.where(c.participant[:, None] == 3, 3, c.arm)},
            r"0 to 2, got 3 \(participant dan, block 1, tri",
        ),
        (lambda c: {"arm": np.where(c.participant[:, None] == 3, -1, c.arm)}, r"0 to 2, got -1 \(participant dan"),
        (lambda c: {"available": np.arange(3) != c.arm[..., None]}, r"on offer, got \d \(participant ann"),
    ],
)
@pytest.mark.parametrize("call", [fit, cross_validate])
def test_choices_that_cannot_be_are_refused_by_name(people, change, message, call):
    with pytest.raises(InputError, match=message):
        call(replace(people, **change(people)), AGENT)

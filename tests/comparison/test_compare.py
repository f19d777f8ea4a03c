"""Comparison: the model that made the choices wins, by each criterion, and the command line says the same."""

import json
from dataclasses import replace

import numpy as np
import pytest

import explorelab as xl
from explorelab.choices.reading import read_choices
from explorelab.choices.writing import write_choices
from explorelab.comparison.compare import best_model, compare, evidence
from explorelab.comparison.group import group_selection
from explorelab.errors import InputError
from explorelab.recovery.designs import repeated
from tests.support.command_line import explorelab, interrupted
from tests.support.people import population

pytestmark = pytest.mark.quick_programs

MODELS = ["random-choice", "win-stay-lose-shift", "delta-rule"]


@pytest.fixture(scope="module")
def people():
    made = xl.agents.delta_rule(learning_rate=0.4, temperature=0.8, prior_mean=1.0)
    return population(made, n=10, blocks=2, seed=3)


@pytest.fixture(scope="module")
def compared(people):
    return compare(people, MODELS, n_starts=2)


def test_the_model_that_made_the_choices_wins(compared):
    models = compared["models"].to_dataset()
    assert int(models.n_best.sel(model="delta-rule")) >= 8
    assert float(models.protected_exceedance.sel(model="delta-rule")) > 0.9
    assert float(models.mean_r2.sel(model="random-choice")) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("criterion", ["cv", "bic", "aic"])
def test_the_best_model_has_the_most_evidence(compared, criterion):
    people = compared["people"].to_dataset()
    wanted = evidence(people, criterion).values.argmax(1)
    assert [MODELS[i] for i in wanted] == best_model(people, criterion).values.tolist()


def test_the_group_is_selected_on_the_criterion(compared):
    people, models = (compared[name].to_dataset() for name in ("people", "models"))
    again = group_selection(-people["nll"].values, MODELS)
    np.testing.assert_allclose(models.protected_exceedance, again.protected_exceedance)


def test_a_tie_goes_to_fewer_parameters(compared):
    people = compared["people"].to_dataset().copy(deep=True)
    people["bic"][:] = 1.0
    assert set(best_model(people, "bic").values.tolist()) == {"random-choice"}


def test_one_block_is_compared_by_bic(people):
    first = people.rows(people.block == "1")
    with pytest.raises(InputError, match="people with only one block"):
        compare(first, MODELS[:2], criterion="cv")
    assert compare(first, MODELS[:2], n_starts=1).attrs["criterion"] == "bic"


@pytest.mark.quick
def test_a_condition_to_stay_within_is_checked_whatever_the_criterion(people):
    first = people.rows(people.block == "1")
    with pytest.raises(InputError, match="within must be a condition of the choices, got 'mood'"):
        compare(first, MODELS[:2], within="mood")
    known = replace(first, conditions={"mood": np.array(["good"] * first.n_rows)})
    with pytest.raises(InputError, match="within is for predicting left-out blocks"):
        compare(known, MODELS[:2], within="mood")


@pytest.mark.quick
def test_one_model_is_no_comparison(people):
    with pytest.raises(InputError, match="at least 2 different agents"):
        compare(people, ["delta-rule"])
    with pytest.raises(InputError, match="delta-rule is given 2 times"):
        compare(people, ["delta-rule", "delta-rule"])


# The command line -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("people")
    write_choices(people, path / "choices.csv")
    return path


def test_fit_from_the_command_line(folder, people):
    done = explorelab(
        "fit", "choices.csv", "--agent", "delta-rule", "--starts", "2", "--csv", "est.csv", "--json", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["participants"] == 10
    assert set(told["parameters"]) == {"prior_mean", "learning_rate", "temperature"}
    assert (folder / "fit.nc").is_file()
    assert (folder / "est.csv").read_text().count("\n") == 1 + 10 * 3
    ours = xl.fit(read_choices(folder / "choices.csv"), "delta-rule", n_starts=2)["estimates"].to_dataset()
    assert told["log_likelihood"] == pytest.approx(float(ours.log_likelihood.sum()), abs=1e-6)


def test_compare_from_the_command_line(folder):
    done = explorelab(
        "compare", "choices.csv", "--agents", "random-choice,win-stay-lose-shift", "--starts", "1", "--json", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["criterion"] == "cv"
    assert set(told["models"]) == {"random-choice", "win-stay-lose-shift"}
    assert len(told["best"]) == 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fit", "nowhere.csv"], "nowhere.csv"),
        (["fit", "choices.csv", "--agent", "stochastic-ucx"], "did you mean 'stochastic-ucl'"),
        (["fit", "choices.csv", "--method", "guess"], "unknown method 'guess'"),
        (["fit", "choices.csv", "--draws", "10"], "--draws needs --method bayes or nuts"),
        (["fit", "choices.csv", "--out", "nowhere/fit.nc"], "there is no folder nowhere"),
        (["fit", "choices.csv", "--free", "bonus"], "bonus cannot be free"),
        (["fit", "choices.csv", "--set", "temperature=hot"], "temperature must be a number"),
        (["compare", "choices.csv", "--agents", "delta-rule"], "at least 2 different agents"),
        (["compare", "choices.csv", "--within", "colour"], "within must be a condition"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(folder, arguments, said):
    before = sorted(folder.iterdir())
    done = explorelab(*arguments, cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_an_interrupted_fit_leaves_what_it_had_finished_and_nothing_else(people, tmp_path):
    write_choices(repeated(people, np.tile(np.arange(10), 40)), tmp_path / "choices.csv")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = interrupted("fit", "choices.csv", "--agent", "win-stay-lose-shift", "--starts", "60", cwd=tmp_path)
    assert done.returncode == 130
    left = [path.name for path in tmp_path.iterdir() if path.name not in before]
    assert left in ([], ["fit.nc.parts"])
    assert done.stderr.strip().endswith("--resume continues from there." if left else "interrupted; nothing was written.")

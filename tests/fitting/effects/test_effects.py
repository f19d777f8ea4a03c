"""Effects of conditions: found where they are, the same however they are written, and kept in the fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import explorelab as xl
from explorelab.fitting.fit_summary import estimates_table
from tests.support.command_line import in_turn
from tests.support.conditions import AGENT, SPACE, in_conditions
from tests.support.siblings import slow

pytestmark = pytest.mark.quick_programs
SETTINGS = {"space": SPACE, "n_starts": 2, "progress": False}


@pytest.fixture(scope="module")
def people() -> xl.Choices:
    return in_conditions(24, sessions=2, horizon=40)


@pytest.fixture(scope="module")
def between(people: xl.Choices) -> xr.DataTree:
    return xl.fit(people, AGENT, "em", effects="temperature ~ group; learning_rate ~ age", **SETTINGS)


@pytest.fixture(scope="module")
def within(people: xl.Choices) -> xr.DataTree:
    return xl.fit(people, AGENT, "em", effects="temperature ~ group * C(session)", **SETTINGS)


def told(fit: xr.DataTree, contrasts=None) -> pd.DataFrame:
    return xl.effects(fit, contrasts).set_index(["parameter", "effect"])


def test_an_effect_is_found_and_no_effect_is_not(between: xr.DataTree) -> None:
    group, age = told(between).loc[("temperature", "group[T.b]")], told(between).loc[("learning_rate", "age")]
    assert group.low < 0.8 < group.high
    assert group.p < 0.01
    assert age.low < 0 < age.high
    assert group.natural == pytest.approx(np.exp(group.estimate))
    assert group.natural_is == "ratio"
    assert group["size"] == pytest.approx(group.estimate / between["effects"]["sd"].values[-1])


def test_codings_of_the_same_conditions_give_the_same_answer(people: xl.Choices, between: xr.DataTree) -> None:
    cells = xl.fit(people, AGENT, "em", effects={"temperature": "0 + group", "learning_rate": "age"}, **SETTINGS)
    pair = told(cells, "group").loc[("temperature", "group: b against a")]
    other = told(between).loc[("temperature", "group[T.b]")]
    # The group settles to a hundredth of a standard unit.
    np.testing.assert_allclose([pair.estimate, pair.standard_error], [other.estimate, other.standard_error], atol=5e-3)
    assert list(xl.effects(cells).query("parameter == 'temperature'").natural_is) == ["value", "value"]


@pytest.mark.slow
def test_contrasts_are_means_and_differences_of_levels(within: xr.DataTree) -> None:
    table = told(within, ["group", "session"])
    a, b, difference = (table.loc[("temperature", f"group: {name}")] for name in ("a", "b", "b against a"))
    assert difference.estimate == pytest.approx(b.estimate - a.estimate)
    assert difference.level == "between people"
    assert table.loc[("temperature", "session: 2 against 1")].level == "within people"
    weighted = told(within, {"group": {"b": 1, "a": -1}}).iloc[0]
    assert weighted.estimate == pytest.approx(difference.estimate)
    with pytest.raises(xl.InputError, match="did you mean 'group'"):
        xl.effects(within, "grop")
    with pytest.raises(xl.InputError, match="unknown level of group 'c'"):
        xl.effects(within, {"group": {"c": 1, "a": -1}})
    with pytest.raises(xl.InputError, match="add up to 0"):
        xl.effects(within, {"group": {"b": 1, "a": 1}})


def test_effects_within_people_have_slopes_of_their_own(within: xr.DataTree, people: xl.Choices) -> None:
    table = told(within)
    assert list(table.level) == ["between people", "between people", "between people", "within people", "within people"]
    assert within["effects"]["spread"].shape == (3, 3)
    blocks = within["blocks"].to_dataset()
    assert blocks.sizes["row"] == people.n_rows
    z = blocks["z"].sel(parameter="temperature").values.reshape(-1, 2)
    np.testing.assert_allclose(z.mean(1), within["estimates"]["z"].sel(parameter="temperature").values)
    with pytest.raises(xl.InputError, match="change between their blocks"):
        xl.latent_variables(people, None, within)


def test_a_saved_fit_has_the_same_effects(within: xr.DataTree, tmp_path) -> None:
    xl.save_fit(within, tmp_path / "fit.nc")
    again = xl.load_fit(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(xl.effects(again), xl.effects(within))
    pd.testing.assert_frame_equal(xl.effects(again, "group"), xl.effects(within, "group"))


def test_the_group_over_all_conditions_is_a_prior_for_somebody_new(within: xr.DataTree, people: xl.Choices) -> None:
    group = within["group"].to_dataset()
    assert np.linalg.eigvalsh(group["z_covariance"].values).min() > 0
    mind = xl.companion(group=within, task=xl.tasks.bandit([0.0, 0.6, 1.2], noise_var=1.0), horizon=10)
    assert mind.observe(arm=1, reward=0.5) is not None


def test_what_is_shared_is_the_same_for_everyone(people: xl.Choices) -> None:
    fit = xl.fit(people, AGENT, "em", effects="temperature ~ group", shared=["learning_rate"], **SETTINGS)
    assert np.ptp(fit["estimates"]["estimate"].sel(parameter="learning_rate").values) < 1e-12
    assert np.ptp(fit["estimates"]["estimate"].sel(parameter="temperature").values) > 0.1
    assert fit.attrs["shared"] == "learning_rate"


@pytest.mark.slow
def test_a_parameter_can_be_held_in_one_condition(people: xl.Choices) -> None:
    fit = xl.fit(people, AGENT, "em", effects="temperature = 0.35 if group == 'a'", **SETTINGS)
    values = fit["estimates"]["estimate"].sel(parameter="temperature").values
    first = people.conditions["group"][np.unique(people.participant, return_index=True)[1]] == "a"
    np.testing.assert_allclose(values[first], 0.35)
    assert np.ptp(values[~first]) > 0.05
    assert told(fit).loc[("temperature", "Intercept")].freedom == 11


def test_people_without_information_learn_from_their_conditions(people: xl.Choices) -> None:
    silent = replace(people, scored=people.scored & (people.participant != 0)[:, None])
    fit = xl.fit(silent, AGENT, "em", effects="temperature ~ group", **SETTINGS)
    mean = told(fit, "group").loc[("temperature", "group: a")].estimate
    assert fit["estimates"]["z"].values[0, 1] == pytest.approx(mean, abs=1e-3)


def test_no_effects_say_where_to_find_them(people: xl.Choices) -> None:
    with pytest.raises(xl.InputError, match="this fit has no effects"):
        xl.effects(xl.fit(people, "random-choice", "map", progress=False))


def test_who_is_about_to_compare_shrunken_estimates_is_warned(people: xl.Choices, between: xr.DataTree) -> None:
    alone = xl.fit(people, AGENT, "em", **SETTINGS)
    weak = xl.fit(people, AGENT, "map", **SETTINGS)
    for fit, towards, said in ((alone, "group", "drawn towards the group"), (weak, "prior", None),
                               (between, "conditions", "drawn towards what each person's conditions predict")):  # fmt: skip
        assert set(estimates_table(fit).drawn_towards) == {towards}
        note = fit["estimates"].attrs.get("note")
        assert (said in note and "tests that compare them" in note) if said else note is None


def test_the_answer_does_not_depend_on_what_steadies_the_search(
    people: xl.Choices, between: xr.DataTree, monkeypatch
) -> None:
    monkeypatch.setattr("explorelab.fitting.effects.group_step.LEAST_SD", 0.5)
    other = xl.fit(people, AGENT, "em", effects="temperature ~ group; learning_rate ~ age", **SETTINGS)
    a, b = told(between), told(other)
    assert (np.abs(b.estimate - a.estimate) < 0.1 * a.standard_error).all()
    np.testing.assert_allclose(b.standard_error, a.standard_error, rtol=0.05)


@pytest.mark.parametrize("held", slow("learning_rate = 1 if group == 'a'", "learning_rate = 0 if group == 'a'"))
def test_a_parameter_can_be_held_at_the_end_of_its_scale(people: xl.Choices, held: str) -> None:
    fit = xl.fit(people, AGENT, "em", effects=held, **SETTINGS)
    values = fit["estimates"]["estimate"].sel(parameter="learning_rate").values
    first = people.conditions["group"][np.unique(people.participant, return_index=True)[1]] == "a"
    np.testing.assert_allclose(values[first], float(held.split()[2]))
    assert np.isfinite(xl.effects(fit).standard_error).all()
    assert np.isfinite(fit["group"]["z_covariance"]).all()


@pytest.fixture
def file(people: xl.Choices, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    xl.write_choices(people, "choices.csv")
    return "choices.csv"


def test_the_command_line_prints_effects_and_warns_without_them(file: str) -> None:
    command = ("fit", file, "--agent", AGENT, "--method", "em", "--starts", "2")
    with_effects, without, wrong = in_turn([[*command, "--effects", "temperature ~ group"], [*command, "--csv", "all.csv"],
                                            [*command, "--effects", "temperature ~ grop", "--out", "new.nc"]])  # fmt: skip
    assert "temperature: group[T.b]" in with_effects.stdout
    assert "drawn towards the group" not in " ".join(with_effects.stdout.split())
    assert "drawn towards what each person's conditions predict" in " ".join(with_effects.stdout.split())
    assert "drawn towards the group" in " ".join(without.stdout.split())
    assert set(pd.read_csv("all.csv").drawn_towards) == {"group"}
    assert "did you mean 'group'?" in " ".join(wrong.stderr.split())
    assert wrong.returncode != 0
    assert not Path("new.nc").exists()

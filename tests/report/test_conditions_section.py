"""The report by condition: everything is compared, in tables, figures and sentences, or said to be left out."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from typer.testing import CliRunner

import explorelab as xl
from explorelab.choices.conditions import BETWEEN, Condition, Sorted
from explorelab.choices.table import Choices
from explorelab.choices.writing import write_choices
from explorelab.cli.app import app
from explorelab.errors import InputError
from explorelab.fitting.effects.effects_table import effects
from explorelab.fitting.effects.formulas import columns_with
from explorelab.report.make import write_report
from explorelab.report.sections.condition_parameters import effects_option
from tests.report.test_report import Page
from tests.support.conditions import AGENT, in_conditions

pytestmark = pytest.mark.quick_programs

AGENTS = (AGENT, "random-choice")
FORMULAS = "temperature ~ group + age; learning_rate ~ group"


def report(choices: Choices | Path, folder: Path, **how: object) -> Page:
    settings: dict[str, object] = {"agents": AGENTS, "quick": True, "progress": False, **how}
    return Page(write_report(choices, folder / "report.html", **settings))  # type: ignore[arg-type]


def table(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "report_files" / f"{name}.csv")


def section(page: Page, key: str) -> str:
    """The text of one section."""
    found = re.search(rf'<section id="{key}".*?</section>', page.source, re.DOTALL)
    assert found is not None, key
    plain = re.sub(r"<[^>]+>", " ", re.sub(r'(src|alt)="[^"]*"', "", found[0]))
    return re.sub(r"[\s\u00a0\u202f]+", " ", plain).replace("&#34;", '"')


@pytest.fixture(scope="module")
def people() -> Choices:
    """Twelve people in two groups and two sessions, with an age, a mood for each session, and one site."""
    return in_conditions(n=12, sessions=2, horizon=16)


@pytest.fixture(scope="module")
def between(people: Choices, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Page]:
    """A report on a file of groups and ages, by the command of the issue."""
    folder = tmp_path_factory.mktemp("between")
    rows = people.rows(people.conditions["session"] == 1)
    keep = {name: rows.conditions[name] for name in ("group", "age", "site")}
    path = write_choices(replace(rows, conditions=keep), folder / "choices.csv")
    given = ["report", str(path), "--out", str(folder / "report.html"), "--agents", ",".join(AGENTS), "--quick"]
    result = CliRunner().invoke(app, [*given, "--effects", FORMULAS])
    assert result.exit_code == 0, result.output
    return folder, Page(folder / "report.html")


@pytest.fixture(scope="module")
def within(people: Choices, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Page]:
    """A report on groups and sessions, by empirical Bayes."""
    folder = tmp_path_factory.mktemp("within")
    return folder, report(people, folder, method="em")


def test_effects_that_were_asked_for_are_in_the_report(between: tuple[Path, Page]) -> None:
    folder, page = between
    choices = xl.read_choices(folder / "choices.csv")
    fit = xl.fit(choices, AGENT, "em", effects=FORMULAS, n_starts=2, progress=False)
    ours, theirs = table(folder, "table_effects"), effects(fit)
    assert ours["effect"].tolist() == theirs["effect"].tolist()
    np.testing.assert_allclose(ours["estimate"], theirs["estimate"], rtol=1e-5)
    told = section(page, "effects")
    row = theirs[(theirs["parameter"] == "temperature") & theirs["effect"].str.contains("group")].iloc[0]
    assert f"{row['estimate']:.2f}".replace("-", "−") in told
    assert "temperature ~ group + age; learning_rate ~ group" in told
    assert (folder / "report_files" / "effects.svg").is_file()
    assert f"--effects '{FORMULAS}'" in page.text
    assert "restricted maximum likelihood" in page.text
    # what formulas cover is not compared a second time
    assert "Differences in the parameters" not in section(page, "conditions")


def test_groups_are_compared_and_ages_are_covariates(between: tuple[Path, Page]) -> None:
    folder, page = between
    told = section(page, "conditions")
    assert "The file has 1 condition: group (a and b; between people)." in told
    assert "of age" in told
    choices = xl.read_choices(folder / "choices.csv")
    final = xl.label_phenotypes(choices, bootstrap=0)["regret"].values[:, -1]
    group = choices.conditions["group"]
    levels = table(folder, "table_conditions").set_index(["outcome", "level"])
    for level in "ab":
        assert levels.loc[("final regret", level), "mean"] == pytest.approx(final[group == level].mean())
    gap = final[group == "b"].mean() - final[group == "a"].mean()
    pairs = table(folder, "table_condition_differences").set_index("outcome")
    assert pairs.loc["final regret", "difference"] == pytest.approx(gap)
    assert set(pairs.index) >= {"mean reward", "linear (raw)", "log (log-log)", "temperature (standard units)"}
    assert table(folder, "table_covariates")["covariate"].unique().tolist() == ["age"]
    assert "share the same frequencies of agents is" in told
    assert table(folder, "table_estimates").groupby("group")["participant"].nunique().to_dict() == {"a": 6, "b": 6}
    assert {"group", "age", "site"} <= set(table(folder, "table_comparison").columns)
    words = section(page, "data")
    assert "a (6 people, 6 blocks), b (6 people, 6 blocks)" in words
    assert "site constant here everywhere" in words
    assert "age covariate 20 to 31, median over people 25.5" in words


@pytest.mark.slow
def test_sessions_and_groups_are_adjusted_for_each_other(within: tuple[Path, Page]) -> None:
    folder, page = within
    told = section(page, "conditions")
    assert "group (a and b; between people) and session (1 and 2; within people)" in told
    pairs = table(folder, "table_condition_differences")
    one = pairs[(pairs["outcome"] == "final regret") & (pairs["condition"] == "session")].iloc[0]
    assert one["adjusted_for"] == "group"
    assert len(table(folder, "table_condition_cells")) == 4
    assert (folder / "report_files" / "conditions_cells.svg").is_file()
    frequencies = table(folder, "table_condition_frequencies")
    assert frequencies.groupby(["condition", "level"])["frequency"].sum().to_numpy() == pytest.approx(1)
    assert set(table(folder, "table_covariates")["covariate"]) == {"age", "mood"}
    assert "session 2 " in told


def test_shrunken_estimates_are_not_compared_and_a_reader_is_warned(within: tuple[Path, Page], people: Choices) -> None:
    folder, page = within
    assert "These estimates are drawn towards the group" in section(page, "fits")
    told = section(page, "conditions")
    assert 'repeat the report with --effects "temperature ~ group + C(session)"' in told
    # MAP fits of everybody in every cell, not the estimates of the fit by empirical Bayes
    from explorelab.choices.conditions import apart, sorted_columns

    units = apart(people, sorted_columns(people).cells())
    fit = xl.fit(units.choices, AGENT, "map", n_starts=2, progress=False)["estimates"].to_dataset()
    z = fit["z"].sel(parameter="temperature").values
    group = people.conditions["group"][units.row]
    levels = table(folder, "table_conditions")
    mean = levels[(levels["outcome"] == "temperature (standard units)") & (levels["level"] == "b")]["mean"].item()
    assert mean == pytest.approx(z[group == "b"].mean(), abs=1e-4)


@pytest.mark.slow
def test_odd_conditions_still_make_a_report(people: Choices, tmp_path: Path) -> None:
    """One person at a level, missing values, aliases, many levels, numbers for people, no true means."""
    who, n = people.participant, people.n_rows
    odd = {
        "lone": np.where(who == 0, "one", "rest").astype(object),
        "drug": np.where(who < 3, "", np.where(who % 2, "p", "q")).astype(object),
        "half": np.where(who < 6, "first", "second").astype(object),
        "fast": who < 6,
        "month": np.array([f"m{k % 9}" for k in range(n)], object),
        "code": np.array([f"person {k}" for k in who], object),
        "lab<1>": np.where(np.arange(n) % 2, "x & $y$", "$z^").astype(object),
    }
    page = report(replace(people, conditions=odd, means=None), tmp_path)
    told = section(page, "conditions")
    assert "mean reward" in told
    assert "half (first and second; between people; the same as fast)" in told
    assert "drug is missing in 6 blocks of 3 people" in told
    assert "code has too many values to be compared" in told
    assert not page.open
    rows = table(tmp_path, "table_condition_differences")
    lone = rows[(rows["outcome"] == "mean reward") & (rows["condition"] == "lone")].iloc[0]
    assert np.isfinite(lone["difference"])
    assert np.isnan(lone["low"])
    assert not (tmp_path / "report_files" / "conditions_cells.svg").exists()


@pytest.mark.parametrize(
    ("formulas", "words"),
    [
        ("temperature ~ mod", "unknown condition in 'temperature ~ mod'"),
        ("temprature ~ group", "unknown free parameter in effects 'temprature'"),
        ("temperature ~ site", "in every block, so it can have no effect"),
        ("temperature", "an effect must read like"),
    ],
)
def test_wrong_formulas_are_one_sentence_and_nothing_is_written(
    people: Choices, tmp_path: Path, formulas: str, words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as error:
        report(people, tmp_path, effects=formulas)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_the_agent_reported_is_one_that_has_the_parameters_of_the_formulas(people: Choices) -> None:
    from explorelab.report.analysis import best_of
    from explorelab.report.report_settings import settings_for

    agents = ["win-stay-lose-shift", AGENT, "random-choice"]
    settings = settings_for(people, agents, None, "map", None, 2, 0, True, "temperature ~ group")
    evidence = xr.Dataset({"lost_evidence": ("model", [0.0, -50.0, -90.0])}, {"model": agents})
    lost = xr.DataTree.from_dict({"/models": evidence})
    assert best_of(people, settings, lost) == AGENT
    assert best_of(people, replace(settings, effects=None, needed=frozenset()), lost) == "win-stay-lose-shift"


def test_formulas_without_an_intercept_are_told_by_their_differences() -> None:
    from explorelab.report.sections.effects_section import _differences

    table = pd.DataFrame({"parameter": ["x", "x", "y", "y"], "natural_is": ["value", "value", "value", "ratio"]})
    means = pd.DataFrame({"parameter": ["x", "x", "y"], "natural_is": ["value", "difference", "ratio"]})
    rows = _differences(table, means)
    assert rows[["parameter", "natural_is"]].to_numpy().tolist() == [["y", "ratio"], ["x", "difference"]]


NAMES = {
    "group": '--effects "temperature ~ group"',
    "per cent (%)": "--effects 'temperature ~ `per cent (%)`'",
    'it\'s "odd"': """--effects 'temperature ~ `it'"'"'s "odd"`'""",
    "two\nlines": '--effects "temperature ~ group"',
    "back`tick": '--effects "temperature ~ group"',
}


@pytest.mark.parametrize("name", NAMES)
def test_the_option_that_a_report_suggests_can_be_pasted(name: str) -> None:
    """A shell hands it on as one word, and it names the column."""
    columns = Sorted((Condition(name, ("a", "b"), np.array([0, 1]), BETWEEN),))
    results: Any = SimpleNamespace(columns=columns, parameters={"temperature": None})
    option = effects_option(results)
    assert option == NAMES[name]
    told = shlex.split(option)[1]
    if name in told:
        table = pd.DataFrame({name: ["a", "b", "a", "b"]})
        assert columns_with("temperature", told.partition("~")[2].strip(), table, table).shape == (4, 2)

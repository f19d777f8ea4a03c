"""A report on a task whose means change: phenotypes are left out, with the reason, and everything else is there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import explorelab as xl
from explorelab.choices.writing import write_choices
from explorelab.report.make import write_report
from explorelab.report.report_agents import asked_for
from tests.report.test_conditions_section import section
from tests.report.test_report import Page

pytestmark = pytest.mark.quick_programs


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Page]:
    folder = tmp_path_factory.mktemp("restless")
    blank = xl.blank_choices(xl.tasks.restless(3), 6, 2, 20, seed=1)
    choices = xl.simulate_choices(blank, "delta-rule:prior_mean=50:learning_rate=0.6:temperature=8", seed=2, progress=False)
    group = np.where(choices.participant < 3, "young", "old").astype(object)
    object.__setattr__(choices, "conditions", {**choices.conditions, "group": group})
    path = write_choices(choices, folder / "choices.csv")
    how = {"agents": ["delta-rule:prior_mean=50", "random-choice"], "quick": True, "progress": False}
    return folder, Page(write_report(path, folder / "report.html", **how))


def test_regret_is_against_the_best_arm_of_each_moment_and_has_no_form(made: tuple[Path, Page]) -> None:
    folder, page = made
    told = section(page, "regret")
    choices = xl.read_choices(folder / "choices.csv")
    assert choices.means_change
    lost = (choices.means.max(2) - choices.reward).sum(1).mean()
    assert f"against the best arm of each moment was {lost:.0f}" in told
    assert "Phenotypes are therefore left out" in told
    rows = pd.read_csv(folder / "report_files" / "table_regret.csv")
    assert rows["regret"].mean() == pytest.approx(lost)
    assert (folder / "report_files" / "regret.svg").is_file()
    assert not (folder / "report_files" / "phenotypes.svg").exists()


@pytest.mark.parametrize("key", ["prediction", "methods", "conditions", "data"])
def test_no_section_speaks_of_forms(made: tuple[Path, Page], key: str) -> None:
    told = section(made[1], key)
    for word in ("linear", "power", "logarithmic regret", "m*", "phenotypes,"):
        assert word not in told, word


def test_conditions_are_compared_there_too(made: tuple[Path, Page]) -> None:
    told = section(made[1], "conditions")
    assert "regret after 20 choices" in told.lower()
    assert "Phenotypes are not compared" in told


def test_agents_that_expect_change_are_compared_by_default(made: tuple[Path, Page]) -> None:
    choices = xl.read_choices(made[0] / "choices.csv")
    assert "restless-kalman" in asked_for(choices, None)

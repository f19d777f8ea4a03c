"""The report's section on advice: from an export that robots made, for every design, and absent where there is no advice."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import explorelab as xl
from explorelab.choices.reading import choices_from_frame, read_choices
from explorelab.choices.table import Choices
from explorelab.choices.writing import frame_of
from explorelab.cli.app import app
from explorelab.errors import InputError
from explorelab.plots.style import style
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.simulated_choices import simulate_choices
from explorelab.regret.advice_effect import HAPPENED
from explorelab.regret.phenotypes import label_phenotypes
from explorelab.report.analysis import _advice
from explorelab.report.make import write_report
from explorelab.report.methods import _advice as methods_of
from explorelab.report.section import Section
from explorelab.report.sections.advice_section import advice_section
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import engine_for, remembered
from explorelab.study.export.write_export import export_study
from explorelab.study.robots.pilot import run_pilot
from explorelab.study.server.serve import serving
from tests.support.study.server import write_study

pytestmark = pytest.mark.quick_programs

GRID = xl.tasks.grid([[1.0, 3.0, 8.0], [2.0, 5.0, 9.0], [0.0, 4.0, 6.0]], noise_var=4.0)
BEST = 5
ARMS = ("none", "impersonal", "personal")


def advised(arm_of_row, n: int = 9, blocks: int = 2) -> Choices:
    """People of whom those with advice are shown the best arm at every second choice, and take it."""
    agent = xl.agents.stochastic_ucl(prior_mean=6, prior_var=9, temperature=1.5)
    made = simulate_choices(blank_choices(GRID, n, blocks, 16), agent, seed=3, progress=False)
    frame = frame_of(made)
    row, column = np.nonzero(made.present)
    frame["advice_arm"] = np.array([arm_of_row(int(made.participant[r]), r % blocks) for r in range(made.n_rows)])[row]
    shown = (frame["advice_arm"] != "none").to_numpy() & (column % 2 == 0)
    frame["advised"] = pd.array(np.where(shown, BEST, 0), "Int64")
    frame.loc[~shown, "advised"] = pd.NA
    frame["advice_shown"] = shown.astype(int)
    frame.loc[shown, "arm"], frame.loc[shown, "reward"] = BEST, 9.0
    return choices_from_frame(frame, {"grid": [3, 3], "noise_var": 4.0, "means": GRID.means.tolist()})


def section_of(choices: Choices) -> Section | None:
    phenotypes = label_phenotypes(choices, bootstrap=0)
    with style():
        return advice_section(SimpleNamespace(advice=_advice(choices, phenotypes), missing={}))


DESIGNS = {
    "between people": (lambda person, block: ARMS[person % 3], {}, "are not the same kind of people"),
    "within people": (lambda person, block: ARMS[block], {"blocks": 3}, "someone who lost much in it by chance"),
    "a block to spare": (lambda person, block: ("none", "none", "personal")[block], {"blocks": 3}, "is left out of the"),
    "one person in an arm": (lambda person, block: "personal" if person == 0 else "none", {}, "too few people"),
    "no arm without advice": (lambda person, block: ARMS[1 + person % 2], {}, "Against impersonal|against impersonal"),
    "one arm": (lambda person, block: "personal", {}, "without another arm, nothing can be said"),
    "one person": (lambda person, block: ARMS[block], {"n": 1}, "too few people for an interval"),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_has_sentences_figure_and_tables_without_a_stray_number(design: str) -> None:
    arm_of_row, how, said = DESIGNS[design]
    section = section_of(advised(arm_of_row, **how))
    assert section is not None
    text = " ".join([*section.lead, section.short, *section.notes, *(each.alt for each in section.pictures)])
    assert re.search(said, f"{text} {section.tables[1].headings}")
    words = f"{text} {[table.rows for table in section.tables]}"
    assert not re.search(r"\bnan\b|\binf\b|\bNone\b", words)
    assert all(len(row) == len(table.headings) for table in section.tables for row in table.rows)
    assert len(section.pictures[0].drawing.data)


def test_advice_that_helps_is_said_to() -> None:
    section = section_of(advised(DESIGNS["between people"][0]))
    assert section is not None
    assert "50\u202f% of 96 choices" in section.lead[0]
    assert "was followed 100\u202f% of the time" in section.lead[0]
    assert re.search(r"personal advice it was [\d.]+, [\d.]+ less", section.lead[1])


def test_without_advice_there_is_no_section_and_without_regret_it_says_why() -> None:
    agent = xl.agents.stochastic_ucl(prior_mean=6, prior_var=9, temperature=1.5)
    plain = simulate_choices(blank_choices(GRID, 3, 1, 16), agent, seed=3, progress=False)
    assert section_of(plain) is None
    assert section_of(advised(lambda person, block: "none")) is None
    with pytest.raises(InputError, match="needs regret"):
        _advice(advised(lambda person, block: ARMS[block]), None)
    left_out = advice_section(SimpleNamespace(advice=None, missing={"advice": "Why."}))
    assert left_out is not None
    assert left_out.lead == ["Left out: why."]


@pytest.mark.parametrize("design", DESIGNS)
def test_methods_say_what_was_compared(design: str) -> None:
    arm_of_row, how, _ = DESIGNS[design]
    choices = advised(arm_of_row, **how)
    effect = _advice(choices, label_phenotypes(choices, bootstrap=0))
    said = methods_of(SimpleNamespace(advice=effect))
    assert bool(said) == (design != "one arm")
    assert ("paired" in said) == (bool(said) and effect.within)


@pytest.mark.slow
def test_an_export_that_robots_made_is_reported(tmp_path: Path) -> None:
    """From the study to the page: what is on it is what the database holds."""
    folder, follow = tmp_path / "study", 0.7
    write_study(
        folder, "sqlite:///study.db", fast_ms=500, slow_ms=500, training=(), n_trials=8, dynamics=("standard",),
        advice='arms = ["none", "impersonal"]\nwithin_ms = 3000\nfrom_choice = 2',
    )  # fmt: skip
    study = load_study(folder)
    with serving(folder, with_advice=True) as url:
        engine = engine_for(study.database, folder)
        with engine.begin() as connection:
            key = remembered(connection, "pilot_key")
        agents = ["random-choice"]
        run_pilot(url, study, people=8, seed=1, pilot_key=key, agents=agents, follow=follow, progress=False)
    done = export_study(study, engine, tmp_path / "data", pilots="only", progress=False)
    engine.dispose()
    choices = read_choices(done.choices)
    assert choices.advice is not None
    on = np.asarray(choices.conditions["advice_arm"]) == "impersonal"
    assert choices.advice.not_asked[on][:, 0].all()  # advice begins with the second choice
    assert not choices.advice.shown[~on].any()
    result = CliRunner().invoke(app, ["check", str(done.choices)])
    assert f"{choices.advice.shown.sum()} advised, {choices.advice.followed.sum()} followed" in result.output
    page = write_report(
        done.choices, tmp_path / "report.html", agents=("random-choice", "delta-rule:learning_rate=0.5"), quick=True,
        progress=False,
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert '<section id="advice"' in text
    table = pd.read_csv(tmp_path / "report_files" / "table_advice_given.csv").set_index("arm").loc["impersonal"]
    assert table["n_shown"] == choices.advice.shown.sum()
    assert table["followed_low"] < follow < table["followed_high"]
    np.testing.assert_allclose(sum(table[what] for what in HAPPENED if what != "followed"), 1.0)

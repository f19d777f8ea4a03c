"""What a report says of those who played, of the paper, and of differences where nothing varies."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab._support.rounding import flat, spread
from explorelab.agents import AGENTS
from explorelab.choices.reading import read_choices
from explorelab.choices.writing import frame_of, write_choices
from explorelab.plots.predictive_figure import draw_predictive
from explorelab.plots.words import who_played, with_paper_named
from explorelab.recovery.behaviour import of_each
from explorelab.recovery.designs import blank_choices
from explorelab.recovery.parameter_recovery import correlated
from explorelab.recovery.predictive import _beside, _summaries, compared
from explorelab.recovery.score import score_test
from explorelab.recovery.simulated_choices import simulate_choices
from explorelab.regret.paper_people import NAME
from explorelab.report.report_agents import described
from explorelab.report.report_page import _note, _title
from explorelab.report.sections.prediction_section import _away, _sds
from explorelab.report.sections.regret_section import regret_section

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def played():
    """Every block visits both arms."""
    return simulate_choices(blank_choices(xl.tasks.bandit([0.0, 0.1], 1.0), 6, 2, 40), "random-choice", seed=1)


def found_of(choices):
    return SimpleNamespace(choices=choices)


# Who played


@pytest.mark.parametrize(
    ("players", "said"), [("people", "6 people"), ("robots", "6 robots"), ("simulated", "6 simulated people")]
)
def test_the_title_says_who_played(played, players, said, tmp_path):
    """Also once the choices were written and read."""
    choices = replace(played, players=players)
    again = read_choices(write_choices(choices, tmp_path / "choices.csv"))
    for each in (choices, again):
        assert _title(found_of(each)) == f"How {said} explored"
        assert ("where it says people" in _note(found_of(each))) == (players != "people")
    assert "people" not in _title(found_of(replace(played, players="robots")))


@pytest.mark.parametrize("pilot", [[True, False], ["True", "False"], [1, 0], ["true", "false"]])
def test_robots_among_people_are_counted_apart(played, pilot):
    is_robot = np.where(played.participant < 2, pilot[0], pilot[1])
    mixed = replace(played, players="people", conditions={"pilot": is_robot})
    assert who_played(mixed) == "4 people and 2 robots"


def test_what_agents_and_simulations_play_is_called_simulated(played):
    assert played.players == "simulated"
    runs = xl.simulate(xl.agents.random_choice(), xl.tasks.bandit([0.0, 1.0]), 5, 2, keep="trajectories")
    assert xl.choices_from_runs(runs, xl.tasks.bandit([0.0, 1.0])).players == "simulated"


def test_unknown_players_are_refused(played):
    with pytest.raises(xl.InputError, match="did you mean 'robots'"):
        xl.choices_from_frame(frame_of(played), {"arms": 2, "players": "robot"})


# The paper


def test_the_paper_is_named_in_full_where_it_is_first_spoken_of():
    said = with_paper_named("Landscape of the paper's description; the paper's values.")
    assert said == "Landscape of Reverdy, Srivastava & Leonard's (2014) description; the paper's values."
    assert with_paper_named(f"{NAME}: the paper's.") == f"{NAME}: the paper's."


@pytest.mark.parametrize("name", AGENTS)
def test_no_agent_is_described_by_a_paper_without_a_name(name):
    about = described(name).lower()
    assert "the paper" not in about.split("leonard", maxsplit=1)[0]


# Differences where nothing varies


def test_a_statistic_that_every_block_shares_has_no_standard_deviations_to_be_off_by(played):
    """Of 40 choices among 2 arms the share of new arms is 2 / 40 in every block, but for rounding."""
    each = of_each(played).numbers
    names = list(each)
    human = np.array([np.nanmean(each[name]) for name in names])
    off = human + np.where(np.array(names) == "share of new arms", 1e-3, 0.1)
    result = xr.Dataset({"human": ("statistic", human), "simulated": ("statistic", off)}, {"statistic": names})
    away = _away(found_of(played), result)
    assert np.isnan(away["share of new arms"])
    assert _sds(away["share of new arms"]) == "no variation"
    assert all(abs(value) < 100 for name, value in away.items() if np.isfinite(value))


@pytest.mark.parametrize("value", [0.05, 1 / 3, 1e-12, 1e300, 0.0])
def test_rounding_is_no_spread(value):
    noisy = value * (1 + 1e-15 * np.random.default_rng(0).standard_normal(50))
    assert spread(noisy) == 0
    assert flat(noisy)
    assert np.isnan(correlated(noisy, np.arange(50.0)))
    assert spread([value, np.nan]) == 0
    assert spread([]) == 0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_what_varies_has_a_spread_whatever_its_units(scale):
    values = scale * np.array([1.0, 2.0, 4.0])
    assert spread(values) == pytest.approx(scale * np.std([1.0, 2.0, 4.0]))
    assert correlated(values, -values) == pytest.approx(-1)


def test_people_who_agree_but_for_rounding_lie_within():
    human = np.array([0.1 + 0.2])
    found = compared(human, [np.array([0.3])] * 20)
    assert found["low"] == found["high"] == human
    assert found["p"] == 1


def test_a_score_that_never_varies_has_no_z():
    values = np.stack([np.full(30, 0.1), np.random.default_rng(0).standard_normal(30)], axis=1)
    each = xr.DataArray(values, {"parameter": ["a", "b"]}, ("participant", "parameter"))
    assert np.isnan(score_test(each)["z"]).values.tolist() == [True, False]


# Regret without a form


def section_of(choices):
    found = SimpleNamespace(choices=choices, missing={})
    found.phenotypes, found.other_phenotypes = (xl.label_phenotypes(choices, power, 10) for power in ("raw", "log-log"))
    return regret_section(found)


def said_in(section):
    tables = [cell for table in section.tables for row in table.rows for cell in row]
    return " ".join([*section.lead, section.short, *section.notes, *(p.caption + p.alt for p in section.pictures), *tables])


@pytest.mark.parametrize("n_rows", [1, 12])
def test_a_report_on_people_who_lose_nothing_names_no_form(played, n_rows):
    nothing = replace(played, reward=np.full_like(played.reward, 0.1)).rows(np.arange(n_rows))
    said = said_in(section_of(nothing))
    assert "has a form" in said
    assert "nan" not in said
    assert "constant regret" in said


def test_one_block_is_told_of_as_one(played):
    section = section_of(played.rows([0]))
    assert "The only block with a label is" in said_in(section)
    assert "100.0" not in section.short


@pytest.mark.parametrize("own_task", [True, False])
def test_a_report_names_the_paper_where_the_task_is_the_papers_and_nowhere_else(own_task):
    task = xl.tasks.landscape("B") if own_task else xl.tasks.grid(np.arange(100.0).reshape(10, 10))
    section = section_of(simulate_choices(blank_choices(task, 3, 1, 90), "random-choice", seed=1))
    said = said_in(section)
    assert (NAME in said) == own_task
    assert ("paper" in said) == own_task
    if own_task:
        assert NAME in section.short.split("paper")[0]


def test_a_check_of_people_who_lose_nothing_can_be_drawn(played):
    nothing = replace(played, reward=np.full_like(played.reward, 0.1))
    human, copy = (_summaries(of_each(each), 1, np.zeros(1))[0] for each in (nothing, played))
    draw_predictive(_beside(human, [copy], np.zeros(1)))

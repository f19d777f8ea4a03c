"""Simulated teams: the same chance for every adviser, bounds that hold, and numbers that can be checked by hand."""

import json

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab.companions.advice import POLICIES
from explorelab.companions.team.team_people import PLACES
from explorelab.companions.team.team_result import team_summary
from explorelab.errors import InputError

pytestmark = pytest.mark.quick_programs

SMALL = xl.tasks.grid([[1.0, 3.0, 9.0], [2.0, 4.0, 12.0]], noise_var=1.0)


@pytest.fixture(scope="module")
def small() -> xr.Dataset:
    return xl.simulate_team(SMALL, policies=list(POLICIES), follow=(0.0, 0.5, 1.0), n_people=3, horizon=8, n_points=16)


def test_teams_are_the_same_for_the_same_seed():
    how = {"policies": ["none", "personal"], "follow": (0.5,), "n_people": 2, "horizon": 4, "n_points": 16}
    xr.testing.assert_identical(xl.simulate_team(SMALL, **how), xl.simulate_team(SMALL, **how))


def test_advice_that_nobody_follows_changes_nothing(small):
    ignored = small.regret.sel(follow=0.0)
    np.testing.assert_allclose(ignored, ignored.sel(policy="none").broadcast_like(ignored), rtol=1e-12)


def test_an_oracle_that_everybody_follows_loses_nothing(small):
    assert (small.regret.sel(policy="oracle", follow=1.0) == 0).all()


def test_impersonal_advice_that_everybody_follows_is_the_expert_alone(small):
    followed = small.regret.sel(policy="impersonal", follow=1.0, kind=next(iter(PLACES)))
    np.testing.assert_allclose(followed, small.expert_alone)


def test_differences_are_those_of_the_means_and_paired(small):
    here = small.sel(kind="log", follow=0.5)
    regret, base = here.regret.sel(policy="personal").values, here.regret.sel(policy="impersonal").values
    ratio = regret.mean() / base.mean()
    error = (regret - ratio * base).std(ddof=1) / np.sqrt(3) / base.mean()
    found = here.sel(policy="personal")
    assert float(found.vs_impersonal) == pytest.approx(100 * (ratio - 1))
    assert float(found.vs_impersonal_high - found.vs_impersonal) == pytest.approx(196 * error, rel=1e-3)


def test_the_summary_is_plain_json_with_a_row_for_each_team(small):
    summary = json.loads(json.dumps(team_summary(small), allow_nan=False))
    assert len(summary["teams"]) == small["mean"].size


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"policies": ["loud"]}, "advice policy"),
        ({"follow": [1.5]}, "follow"),
        ({"task": xl.tasks.on_graph(SMALL)}, "graph"),
        ({"task": xl.tasks.bandit([0.0, 1.0])}, "places"),
    ],
)
def test_what_cannot_be_played_is_refused(changed, said):
    with pytest.raises(InputError, match=said):
        xl.simulate_team(**{"task": SMALL, "n_people": 2, "horizon": 2} | changed)


@pytest.mark.slow
def test_personal_advice_helps_linear_people_on_landscape_b():
    found = xl.simulate_team(xl.tasks.landscape("B"), follow=(0.6,), n_people=3, horizon=60, n_points=32)
    linear = found.sel(kind="linear", follow=0.6, policy="personal")
    assert float(linear.vs_none_high) < -30
    assert float(linear.vs_impersonal) < 0

"""Left-out blocks stay out: nothing of a fold's fit depends on what somebody did or earned in the block it predicts."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from explorelab.agents import AGENTS
from explorelab.agents.rules.habits import HABITS
from explorelab.comparison.left_out_blocks import cross_validate
from explorelab.errors import InputError
from explorelab.fitting.bayes.posterior_groups import prior_change
from explorelab.fitting.model import prepare
from tests.support.people import population
from tests.support.siblings import slow

pytestmark = pytest.mark.quick_programs

SPOILT = 4
"""The row that is spoilt: the second block of the second person."""


def unknown_noise(choices):
    """The same choices of people of whom nothing is told but what they chose and saw."""
    return replace(choices, layout=replace(choices.layout, noise_var=None))


@pytest.fixture(scope="module")
def several():
    return unknown_noise(population(n=3, blocks=3, seed=2))


def spoilt(choices, how):
    reward, arm = choices.reward.copy(), choices.arm.copy()
    observed, scored = choices.observed.copy(), choices.scored.copy()
    if how == "moved":
        reward[SPOILT] += 500
    elif how == "stretched":
        reward[SPOILT] *= -40
    elif how == "permuted":
        order = np.random.default_rng(1).permutation(choices.n_trials)
        reward[SPOILT], arm[SPOILT] = reward[SPOILT, order], arm[SPOILT, order]
    else:
        observed[SPOILT], scored[SPOILT] = False, False
    return replace(choices, reward=reward, arm=arm, observed=observed, scored=scored)


@pytest.mark.parametrize("method", ["map", "em", *slow("ml")])
@pytest.mark.parametrize("name", ["delta-rule", *slow("kalman-ucb")])
def test_a_left_out_block_moves_no_number_of_its_own_fold(several, name, method):
    """Whatever the block holds, its fold's estimates and training likelihood stay the same to the last bit."""
    settings = {"n_starts": 2, "draws": 4}
    before = cross_validate(several, name, method, **settings)["folds"].to_dataset()
    own = int(np.flatnonzero(before["row"].values == SPOILT)[0])
    for how in ("moved", "stretched", "permuted", "missed"):
        after = cross_validate(spoilt(several, how), name, method, **settings)["folds"].to_dataset()
        np.testing.assert_array_equal(after["estimate"][own], before["estimate"][own], err_msg=how)
        assert float(after["train_nll"][own]) == float(before["train_nll"][own]), how
        if how == "moved":
            assert (after["estimate"].values != before["estimate"].values).any()


@pytest.mark.parametrize("name", [*AGENTS, *(f"delta-rule+{habit}" for habit in HABITS)])
def test_what_an_agent_is_given_follows_the_blocks_that_are_seen_alone(several, name):
    """For every agent: where it seeks parameters and what it holds fixed, with one block unseen and its rewards moved."""
    seen = np.delete(np.arange(several.n_rows), SPOILT)
    before, after = (prepare(choices, name, seen=seen) for choices in (several, spoilt(several, "moved")))
    assert before.space == after.space
    for value, other in zip(before.data.fixed.values(), after.data.fixed.values(), strict=True):
        np.testing.assert_array_equal(value, other)
    assert before.agent.given == after.agent.given


def test_each_set_of_folds_says_where_it_sought(several):
    space = cross_validate(several, "delta-rule", "map", n_starts=1, draws=0)["space"].to_dataset()
    assert space.sizes["set"] == 3
    assert len(np.unique(space["centre"].sel(parameter="temperature"))) == 3


def test_a_set_of_folds_with_one_person_has_no_group_to_learn(several):
    """One person has a block more than the others: the fold that leaves it out is fitted by MAP."""
    fewer = several.rows(np.delete(np.arange(several.n_rows), [2, 5]))
    folds = {m: cross_validate(fewer, "delta-rule", m, n_starts=1, draws=0)["folds"].to_dataset() for m in ("em", "map")}
    alone = folds["em"]["set"].values == 2
    assert alone.sum() == 1
    np.testing.assert_array_equal(folds["em"]["estimate"][alone], folds["map"]["estimate"][alone])


@pytest.mark.quick
def test_one_person_alone_is_no_group_for_left_out_blocks_either(several):
    with pytest.raises(InputError, match="at least 2 participants"):
        cross_validate(several.rows(several.participant == 0), "delta-rule", "em")


# Without refitting: the posterior's draws, reweighted


def test_draws_are_reweighted_to_the_prior_in_units_of_all_other_blocks(several):
    """Against the densities of the population's mean and spread, written out on each parameter's own line."""
    fitted = prepare(several, "delta-rule")
    rng = np.random.default_rng(0)
    shape = (2, 5, len(fitted.space))
    drawn = SimpleNamespace(mean=rng.standard_normal(shape), sd=rng.uniform(0.2, 2, shape))
    change = prior_change(several, fitted, drawn, None)

    def log_prior(origin):
        here = fitted.data.origin
        mean, sd = here.middle + here.spread * drawn.mean, here.spread * drawn.sd
        return (norm.logpdf(mean, origin.middle, origin.spread) + halfnorm.logpdf(sd, scale=origin.spread)).sum(-1)

    for row in range(several.n_rows):
        others = prepare(several, "delta-rule", seen=np.delete(np.arange(several.n_rows), row))
        expected = log_prior(others.data.origin) - log_prior(fitted.data.origin)
        np.testing.assert_allclose(change[..., row], expected, atol=1e-9)
    assert np.abs(change).max() > 1e-4


@pytest.mark.quick
def test_a_prior_that_was_given_is_not_reweighted(several):
    fitted = prepare(several, "delta-rule")
    given = {d.name: {"centre": d.centre, "spread": d.spread, "low": d.low, "high": d.high} for d in fitted.space}
    drawn = SimpleNamespace(mean=np.ones((1, 2, 3)), sd=np.ones((1, 2, 3)))
    np.testing.assert_allclose(prior_change(several, fitted, drawn, given), 0, atol=1e-12)

"""Fits: the optimum is the optimum, the uncertainty is right, and what cannot be known is said."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

import explorelab as xl
from explorelab.agents.parameters import searchable
from explorelab.comparison import left_out_blocks
from explorelab.errors import InputError
from explorelab.fitting.fit_people import fit, load_fit, save_fit
from explorelab.fitting.model import prepare
from explorelab.fitting.objective import Curvature, block_log_likelihoods
from explorelab.fitting.search import batches
from explorelab.fitting.search.best import rows_of_each
from explorelab.fitting.search.optimise import minimise
from explorelab.fitting.search.solve import _ended, _minimised, _screened
from explorelab.fitting.spaces import axes_of, natural, origin_of, space_for, standard, units_of
from tests.support.beliefs import QUICKLY
from tests.support.people import population

pytestmark = pytest.mark.quick_programs

INDEPENDENT = {"length_scale": 0.0}
STARTS = 4
"""The same for all, as are agents and trials: each combination is compiled anew."""


@pytest.fixture(scope="module")
def people():
    return population(n=10)


@pytest.fixture(scope="module")
def by_map(people):
    return fit(people, "stochastic-ucl", "map", fixed=INDEPENDENT, n_starts=STARTS)


@pytest.fixture(scope="module")
def by_em(people):
    return fit(people, "stochastic-ucl", "em", fixed=INDEPENDENT, n_starts=STARTS)


def estimates(tree):
    return tree["estimates"].to_dataset()


# Where parameters are sought ------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_every_scale_goes_there_and_back(people):
    space = space_for(tuple(searchable()), people)
    z = np.linspace(-1.5, 1.5, len(space))
    with jax.enable_x64(True):
        params = {name: float(value) for name, value in natural(axes_of(space), origin_of(space), jnp.asarray(z)).items()}
    np.testing.assert_allclose(standard(space, params), z, atol=1e-9)


@pytest.mark.quick
def test_every_parameter_is_plausible_within_its_bounds(people):
    for dimension in space_for(tuple(searchable()), people):
        low, high = dimension.limits
        assert low < -1 < 1 < high, dimension


def test_a_change_of_units_changes_nothing_but_units(people, by_map):
    """Rewards in other units: the same choices, the same likelihood, estimates in the new units."""
    scaled = replace(
        people, reward=np.where(people.observed, 100 * people.reward + 7, 0.0), layout=replace(people.layout, noise_var=1e4)
    )
    one, other = estimates(by_map), estimates(fit(scaled, "stochastic-ucl", fixed=INDEPENDENT, n_starts=STARTS))
    np.testing.assert_allclose(other.log_likelihood, one.log_likelihood, atol=1e-4)
    np.testing.assert_allclose(other.estimate.sel(parameter="temperature"), 100 * one.estimate.sel(parameter="temperature"),
                               rtol=1e-2)  # fmt: skip
    assert units_of(scaled).reward_sd == pytest.approx(100 * units_of(people).reward_sd)


# The minimiser --------------------------------------------------------------------------------------------------------


def bowl(centre, bend):
    def objective(z):
        away = z - centre
        return Curvature(0.5 * away @ bend @ away, bend @ away, bend)

    return objective


@pytest.mark.quick
def test_a_bowl_is_minimised_and_bounds_are_kept():
    with jax.enable_x64(True):
        bend = jnp.array([[2.0, 1.2], [1.2, 1.0]])
        wide = jnp.array([10.0, 10.0])
        free = minimise(bowl(jnp.array([1.0, -2.0]), bend), jnp.zeros(2), -wide, wide)
        np.testing.assert_allclose(free.z, [1.0, -2.0], atol=5e-3)
        # With z_0 held at 0.5, the best z_1 solves bend[1] (z - centre) = 0.
        held = minimise(bowl(jnp.array([1.0, -2.0]), bend), jnp.zeros(2), -wide, jnp.array([0.5, 10.0]))
        np.testing.assert_allclose(held.z, [0.5, -2.0 + 1.2 * 0.5], atol=5e-3)
        assert bool(free.converged)


@pytest.mark.parametrize(
    "name", ["stochastic-ucl", "delta-rule", pytest.param("kalman-ucb+stay+lapse", marks=pytest.mark.slow)]
)
def test_no_general_minimiser_finds_a_better_optimum(people, name):
    tree = fit(people, name, "map", n_starts=STARTS, fixed=INDEPENDENT if name == "stochastic-ucl" else None)
    fitted = prepare(people, name, fixed=INDEPENDENT if name == "stochastic-ucl" else None)
    ours = estimates(tree)
    with jax.enable_x64(True):

        def objective(z, row):
            return -block_log_likelihoods(fitted.model, fitted.data, jnp.asarray([row]), z)[0] + 0.5 * z @ z

        value = jax.jit(jax.value_and_grad(objective), compiler_options=QUICKLY)
        for who in (0, 3, 7):
            best = min(
                minimize(lambda z, who=who: [np.asarray(x, float) for x in value(jnp.asarray(z), who)], start, jac=True).fun
                for start in np.random.default_rng(who).standard_normal((6, len(fitted.space)))
            )  # fmt: skip
            found = float(value(jnp.asarray(ours.z.values[who]), who)[0])
            assert found < best + 1e-3, (who, found, best)


# Uncertainty ----------------------------------------------------------------------------------------------------------


@pytest.mark.quick
def test_standard_errors_come_from_the_curvature(people, by_map):
    fitted = prepare(people, "stochastic-ucl", fixed=INDEPENDENT)
    table = estimates(by_map)
    with jax.enable_x64(True):

        def objective(z):
            return -block_log_likelihoods(fitted.model, fitted.data, jnp.asarray([0]), z)[0] + 0.5 * z @ z

        bend = jax.jit(jax.hessian(objective), compiler_options=QUICKLY)(jnp.asarray(table.z.values[0]))
    np.testing.assert_allclose(table.z_covariance.values[0], np.linalg.inv(bend), rtol=1e-4)
    se = np.sqrt(np.diag(np.linalg.inv(bend)))
    at = list(table.parameter.values).index("temperature")
    spread = fitted.space[at].spread
    np.testing.assert_allclose(table.standard_error.values[0, at], table.estimate.values[0, at] * spread * se[at], rtol=1e-3)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """Temperature of 60 people with 100 choices each: 95 % intervals hold 0.6 in most cases (binomial, 3 s.e.)."""
    many = population(n=60, horizon=100, seed=5)
    table = estimates(fit(many, "stochastic-ucl", "ml", fixed={"length_scale": 0.0, "prior_mean": 2.0, "prior_var": 4.0},
                          n_starts=2)).sel(parameter="temperature")  # fmt: skip
    held = float(((table.low < 0.6) & (table.high > 0.6)).mean())
    assert abs(held - 0.95) < 3 * np.sqrt(0.95 * 0.05 / 60)
    assert float(table.estimate.mean()) == pytest.approx(0.6, abs=3 * float(table.estimate.std()) / np.sqrt(60) + 0.02)


@pytest.mark.quick
def test_likelihood_and_starts_are_reported(people, by_map):
    table = estimates(by_map)
    np.testing.assert_allclose(table.pseudo_r2, 1 + table.log_likelihood / (30 * np.log(5)))
    assert table.start_loss.shape == (10, STARTS)
    assert float(table.start_loss.min()) == 0
    assert (table.converged).all()


@pytest.mark.parametrize("method", ["ml", "map", "em"])
def test_criteria_are_those_of_maximum_likelihood_and_of_nothing_else(people, method):
    """At a posterior's mode the likelihood is not at its maximum: there AIC and BIC are not numbers."""
    table = estimates(fit(people, "delta-rule", method, n_starts=STARTS))
    k = table.sizes["parameter"]
    aic, bic = 2 * k - 2 * table.log_likelihood, k * np.log(30) - 2 * table.log_likelihood
    np.testing.assert_allclose(table.aic, aic if method == "ml" else np.full(10, np.nan))
    np.testing.assert_allclose(table.bic, bic if method == "ml" else np.full(10, np.nan))


# What cannot be known -------------------------------------------------------------------------------------------------


def test_a_parameter_at_its_bound_is_said_to_be():
    alike = population(xl.agents.random_choice(), n=4)
    fitted = estimates(fit(alike, "delta-rule", "ml", n_starts=STARTS, space={"temperature": {"high": 0.5}}))
    table = fitted.sel(parameter="temperature")
    at_bound = table.at_bound.values
    assert at_bound.any()
    assert "upper bound" in str(table.remark.values[at_bound.argmax()])
    assert not table.identified.values[at_bound.argmax()]


def test_parameters_that_trade_off_are_named(people):
    """Whoever expects little and is unsure of it chooses as somebody who expects more and is surer."""
    table = estimates(fit(people, "stochastic-ucl", "ml", fixed=INDEPENDENT, n_starts=STARTS))
    assert "trades off with" in " ".join(map(str, table.remark.values.ravel()))


def test_estimates_shrunk_to_the_group_are_not_called_identified(by_em):
    """Ten people of one kind: what single estimates say is mostly what the group says, though they look precise."""
    table, sd = estimates(by_em), by_em["group"].to_dataset()["z_sd"].values
    se = np.sqrt(np.diagonal(table.z_covariance.values, axis1=1, axis2=2))
    np.testing.assert_allclose(table.variance_left.values, (se / sd) ** 2)
    shrunk = (table.variance_left.values > 0.5) & (se < 0.5)  # precise in standard units, and still nothing of their own
    assert shrunk.any()
    assert not table.identified.values[shrunk].any()
    assert all(str(text) for text in table.remark.values[shrunk])


@pytest.mark.parametrize("name", ["delta-rule", pytest.param("delta-rule+stay", marks=pytest.mark.slow)])
def test_somebody_who_always_does_the_same_is_fitted_all_the_same(people, name):
    stuck = replace(people, arm=np.where(people.present, 2, people.arm))
    table = estimates(fit(stuck, name, n_starts=STARTS))
    assert np.isfinite(table.log_likelihood).all()
    assert np.isfinite(table.estimate).all()


@pytest.mark.parametrize("reward", [0.0, 1 / 3, 1e9, -7.0])
def test_rewards_that_never_vary_are_no_reason_to_stop(people, reward):
    table = estimates(fit(replace(people, reward=np.full_like(people.reward, reward)), "delta-rule", n_starts=STARTS))
    assert np.isfinite(table.estimate).all()
    assert np.isfinite(table.log_likelihood).all()


def test_other_people_in_other_units_need_no_new_program():
    few, many = population(n=3, seed=1), population(n=13, seed=2)
    many = replace(many, reward=10 * many.reward + 5)
    fit(few, "delta-rule", n_starts=STARTS)
    compiled = [_minimised._cache_size(), _screened._cache_size(), _ended._cache_size()]
    fit(many, "delta-rule", n_starts=STARTS)
    assert [_minimised._cache_size(), _screened._cache_size(), _ended._cache_size()] == compiled


def test_an_agent_that_never_errs_has_no_likelihood(people):
    with pytest.raises(InputError, match=r"deterministic-ucl\+lapse"):
        fit(people, "deterministic-ucl")
    assert [d.name for d in prepare(people, "deterministic-ucl+lapse", fixed=INDEPENDENT).space] == ["lapse"]


@pytest.mark.quick
def test_an_agent_without_parameters_is_the_floor(people):
    table = estimates(fit(people, "random-choice"))
    np.testing.assert_allclose(table.log_likelihood, -30 * np.log(5))
    assert table.sizes["parameter"] == 0


# The group ------------------------------------------------------------------------------------------------------------


def test_the_group_prior_pulls_people_together(by_em, by_map):
    spread_em, spread_map = (estimates(t).z.std("participant") for t in (by_em, by_map))
    # Ten people who are all alike: the learned prior is narrower than the weak one.
    assert float(spread_em.sel(parameter="temperature")) < float(spread_map.sel(parameter="temperature"))
    group = by_em["group"].to_dataset()
    assert float(group["mean"].sel(parameter="temperature")) == pytest.approx(0.6, abs=0.2)
    assert float(group["moved"][-1]) < float(group["moved"][0])


@pytest.mark.quick
def test_one_person_is_no_group(people):
    with pytest.raises(InputError, match="at least 2 participants"):
        fit(people.rows(people.participant == 0), "delta-rule", "em")


# Left-out blocks ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def several():
    return population(n=4, blocks=3, seed=2)


@pytest.mark.quick
def test_a_fold_is_fitted_without_its_block(several):
    folds = left_out_blocks.folds_of(several)
    for row, training in zip(folds.left_out, folds.training, strict=True):
        assert row not in training
        assert set(several.participant[training]) == {several.participant[row]}
        assert len(training) == 2


def test_left_out_likelihood_is_that_of_a_fit_to_the_others(several):
    result = left_out_blocks.cross_validate(several, "delta-rule", "ml", n_starts=2)["folds"].to_dataset()
    first = result.isel(fold=0)
    others = several.rows((several.participant == 0) & (np.arange(several.n_rows) != int(first.row)))
    alone = estimates(fit(others, "delta-rule", "ml", n_starts=2, space=_same_space(several)))
    np.testing.assert_allclose(first.estimate, alone.estimate.isel(participant=0), rtol=2e-2)
    assert float(first.train_nll) == pytest.approx(-float(alone.log_likelihood[0]), abs=1e-3)


def _same_space(choices):
    dimensions = prepare(choices, "delta-rule").space
    return {d.name: {"centre": d.centre, "spread": d.spread, "low": d.low, "high": d.high} for d in dimensions}


def test_the_group_of_a_fold_has_never_seen_its_block(several):
    """Spoil one left-out block: the estimates of its own fold under empirical Bayes must not move."""
    folds = left_out_blocks.folds_of(several)
    spoiled = several.arm.copy()
    spoiled[folds.left_out[0]] = 0
    settings = {"method": "em", "n_starts": 2, "draws": 8, "space": _same_space(several)}
    before, after = (
        left_out_blocks.cross_validate(c, "delta-rule", **settings)["folds"].to_dataset()
        for c in (several, replace(several, arm=spoiled))
    )
    same_set = folds.sets == folds.sets[0]
    untouched = np.array([row not in (folds.left_out[0],) for row in folds.left_out]) & same_set
    np.testing.assert_allclose(before.estimate.values[0], after.estimate.values[0], rtol=1e-6)
    np.testing.assert_allclose(before.estimate.values[untouched], after.estimate.values[untouched], rtol=1e-6)
    assert float(before.nll[0]) != pytest.approx(float(after.nll[0]), abs=1e-3)


def test_people_with_one_block_have_none_to_leave_out(people):
    with pytest.raises(InputError, match="at least 2 blocks"):
        left_out_blocks.cross_validate(people, "delta-rule")


# Running --------------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_fit_whatever_the_number_of_problems_in_a_call(people, monkeypatch):
    few = people.rows(people.participant < 5)
    one = estimates(fit(few, "delta-rule", n_starts=STARTS))
    monkeypatch.setattr(batches, "PER_CALL", 2)
    other = estimates(fit(few, "delta-rule", n_starts=STARTS))
    np.testing.assert_array_equal(one.estimate, other.estimate)


def test_everyone_has_their_own_rows(several):
    assert [list(rows) for rows in rows_of_each(several)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


@pytest.mark.quick
def test_a_fit_can_be_written_and_read(by_map, tmp_path):
    save_fit(by_map, tmp_path / "fit.nc")
    again = load_fit(tmp_path / "fit.nc")
    np.testing.assert_array_equal(estimates(again).estimate, estimates(by_map).estimate)
    assert again.attrs["agent"] == "stochastic-ucl"
    assert set(estimates(again)["parameter"].values) == {"prior_mean", "prior_var", "temperature"}


def test_what_is_no_fit_is_refused(tmp_path):
    (tmp_path / "fit.nc").write_text("no")
    with pytest.raises(InputError, match="cannot be read as a fit"):
        load_fit(tmp_path / "fit.nc")


@pytest.mark.quick
def test_an_unknown_agent_suggests_the_nearest(people):
    with pytest.raises(InputError, match="did you mean 'stochastic-ucl'"):
        fit(people, "stochastic-ucb")
    with pytest.raises(InputError, match="unknown habit 'laps': did you mean 'lapse'"):
        fit(people, "stochastic-ucl+laps")

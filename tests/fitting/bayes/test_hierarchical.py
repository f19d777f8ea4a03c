"""Hierarchical Bayes by NUTS: against numerical integration, truth, empirical Bayes; and what a user can rely on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from explorelab.choices.table import Choices
from explorelab.comparison.psis import loo_by_block
from explorelab.errors import InputError
from explorelab.fitting.bayes import beginning, hierarchical, nuts
from explorelab.fitting.bayes.convergence import ConvergenceError, ConvergenceWarning
from explorelab.fitting.bayes.population import bounded, people, population_model, root_of, row_log_likelihoods
from explorelab.fitting.fit_people import fit, load_fit, save_fit
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.objective import block_log_likelihoods
from explorelab.fitting.spaces import standard
from tests.support.beliefs import QUICKLY
from tests.support.hierarchies import Exact, begun_quietly, delta_people
from tests.support.stopping import stopped_after_every

SETTINGS = {"warmup": 200, "seed": 0, "progress": False}

quickly = partial(jax.jit, compiler_options=QUICKLY)


@pytest.fixture(scope="module")
def two() -> tuple[Choices, dict[str, np.ndarray], xr.DataTree]:
    """Eight people, two parameters that may be correlated."""
    choices, true = delta_people(8, 2, seed=1)
    tree = fit(
        choices,
        "delta-rule",
        "nuts",
        free=["learning_rate", "temperature"],
        fixed={"prior_mean": 0.0},
        correlated=True,
        draws=800,
        **SETTINGS,
    )
    return choices, true, tree


@pytest.fixture(scope="module")
def one() -> tuple[Choices, Fitted, xr.DataTree, Exact]:
    """Six people with two blocks each, one parameter, and the same by numerical integration."""
    choices, _ = delta_people(6, 2, seed=5, learning_rate=0.3)
    fitted = prepare(choices, "delta-rule", ["temperature"], {"prior_mean": 0.0, "learning_rate": 0.3})
    tree = hierarchical.sample(choices, fitted, "nuts", draws=2000, **SETTINGS)
    return choices, fitted, tree, Exact(choices, fitted)


@pytest.mark.slow
def test_population_agrees_with_numerical_integration(one: Any) -> None:
    _, _, tree, exact = one
    posterior = tree["posterior"].to_dataset()
    for name, values in (
        ("group_mean", exact.mean[:, None] + 0 * exact.sd),
        ("group_sd", exact.sd + 0 * exact.mean[:, None]),
    ):
        mean, sd = exact.moments(values)
        draws = posterior[name].values
        error = sd / np.sqrt(float(tree["convergence"][name].sel(measure="ess_bulk").min()))
        assert abs(draws.mean() - mean) < 4 * error, name
        assert abs(draws.std() / sd - 1) < 0.1, name


@pytest.mark.slow
def test_everyone_agrees_with_numerical_integration(one: Any) -> None:
    choices, fitted, tree, exact = one
    for who, label in enumerate(choices.participants):
        mean, sd = exact.moments_of(who)
        draws = np.log(tree["posterior"]["temperature"].sel(participant=label).values)
        z = (draws - np.log(fitted.space[0].centre)) / fitted.space[0].spread
        ess = float(tree["convergence"]["temperature"].sel(measure="ess_bulk", participant=label))
        assert abs(z.mean() - mean) < 4 * sd / np.sqrt(ess), label
        assert abs(z.std() / sd - 1) < 0.1, label


@pytest.mark.slow
def test_agrees_with_empirical_bayes_within_uncertainty(one: Any) -> None:
    choices, _, tree, _ = one
    em = fit(
        choices, "delta-rule", "em", free=["temperature"], fixed={"prior_mean": 0.0, "learning_rate": 0.3}, progress=False
    )
    away = (em["estimates"]["z"] - tree["estimates"]["z"]).values[:, 0]
    sd = np.sqrt(tree["estimates"]["z_covariance"].values[:, 0, 0])
    assert np.abs(away / sd).max() < 0.5
    assert abs(float(em["group"]["z_mean"][0] - tree["group"]["z_mean"][0])) < float(tree["group"]["z_mean_se"][0])


@pytest.mark.slow
def test_loo_agrees_with_blocks_left_out_exactly(one: Any) -> None:
    _, _, tree, exact = one
    loo = loo_by_block(tree)
    truth = np.array([exact.elpd(row) for row in range(loo.sizes["row"])])
    good = ~loo["bad"].values
    assert good.sum() >= 6
    np.testing.assert_allclose(loo["elpd"].values[good], truth[good], atol=0.1)
    # Where ArviZ doubts itself, it is right to: the estimates are too high.
    assert (loo["elpd"].values[~good] > truth[~good] - 0.1).all()


def test_loo_adds_up_and_names_bad_blocks(two: Any) -> None:
    choices, _, tree = two
    loo = loo_by_block(tree)
    assert list(loo["participant"].values) == list(choices.participants)
    assert list(loo["row_block"].values) == list(choices.block)
    np.testing.assert_allclose(loo["participant_elpd"].sum(), loo["elpd_total"])
    np.testing.assert_allclose(loo["p_loo"].sum(), loo["p_loo_total"])
    np.testing.assert_array_equal(loo["bad"], loo["pareto_k"] > loo.attrs["good_k"])
    assert bool(loo.attrs["warning"]) == bool(loo["n_bad_total"])
    stretched = tree.copy(deep=True)
    stretched["log_likelihood"]["block"].values[..., 4] *= 30
    worse = loo_by_block(stretched)
    assert worse["bad"][4]
    assert f"block {choices.block[4]} of p2" in worse.attrs["warning"]


def test_loo_needs_draws(two: Any) -> None:
    with pytest.raises(InputError, match="method='bayes'"):
        loo_by_block(xr.DataTree.from_dict({"estimates": two[2]["estimates"].to_dataset()}))


def test_truth_lies_within_the_uncertainty(two: Any) -> None:
    _, true, tree = two
    table = tree["estimates"].to_dataset()
    truth = np.stack([true[str(name)] for name in table["parameter"].values], axis=1)
    covered = (table["low"] <= truth) & (truth <= table["high"])
    assert covered.mean() >= 13 / 16
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()
    ranks = np.corrcoef(np.log(table["estimate"].values[:, 1]), np.log(true["temperature"]))[0, 1]
    assert ranks > 0.6


def test_tree_has_the_groups_of_a_fit_and_of_arviz(two: Any) -> None:
    choices, _, tree = two
    assert {"estimates", "group", "space", "posterior", "sample_stats", "log_likelihood", "observed_data"} <= set(
        tree.children
    )
    assert tree["posterior"]["temperature"].dims == ("chain", "draw", "participant")
    assert tree["log_likelihood"]["block"].dims == ("chain", "draw", "row")
    assert tree.attrs["convergence"].startswith("passed: R-hat at most 1.0")
    assert tree["estimates"]["converged"].all()
    assert set(tree["estimates"]["parameter"].values) == {"learning_rate", "temperature"}
    assert (tree["estimates"]["n_choices"] == choices.n_scored).all()


def test_log_likelihoods_are_those_of_the_draws(two: Any) -> None:
    choices, _, tree = two
    fitted = prepare(choices, "delta-rule", ["learning_rate", "temperature"], {"prior_mean": 0.0})
    at = {name: tree["posterior"][name].values[2, 7, 1] for name in ("learning_rate", "temperature")}
    z = standard(fitted.space, at)
    row = int(np.nonzero(choices.participant == 1)[0][0])
    with jax.enable_x64(True):
        told = quickly(lambda at: block_log_likelihoods(fitted.model, fitted.data, jnp.array([row]), at))(z)
    np.testing.assert_allclose(told[0], tree["log_likelihood"]["block"].values[2, 7, row], rtol=1e-9)


def test_survives_being_written(two: Any, tmp_path: Any) -> None:
    save_fit(two[2], tmp_path / "fit.nc")
    again = load_fit(tmp_path / "fit.nc")
    assert again.attrs["convergence"] == two[2].attrs["convergence"]
    for group in two[2].children:
        xr.testing.assert_equal(again[group].to_dataset(), two[2][group].to_dataset())
    assert float(loo_by_block(again)["elpd_total"]) == float(loo_by_block(two[2])["elpd_total"])


def short(choices: Choices, **changes: Any) -> xr.DataTree:
    """Too few draws to converge, with the sampler that is compiled already."""
    settings = {
        **SETTINGS,
        "chains": 2,
        "draws": 8,
        "free": ["learning_rate", "temperature"],
        "fixed": {"prior_mean": 0.0},
        "correlated": True,
    } | changes
    return fit(choices, "delta-rule", "nuts", **settings)


def test_chains_that_have_not_converged_are_refused_by_name(two: Any) -> None:
    with pytest.raises(ConvergenceError, match=r"fewer than 200 effective draws: \w+ of \w+ .*double draws") as refused:
        short(two[0])
    assert "on_failure='warn'" in str(refused.value)


def test_chains_that_have_not_converged_are_marked_if_asked_for(two: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="have not converged"):
        tree = short(two[0], on_failure="warn")
    assert tree.attrs["convergence"].startswith("failed: ")
    assert not tree["estimates"]["converged"].any()
    # That a parameter correlates with itself is not doubted.
    assert "learning_rate, learning_rate" not in tree.attrs["convergence"]
    with pytest.raises(InputError, match="at least 100 draws over all chains, got 16"):
        loo_by_block(tree)


def test_loo_tells_of_chains_that_have_not_converged(two: Any) -> None:
    tree = two[2].copy()
    tree.attrs["convergence"] = "failed: R-hat"
    assert "The fit has not converged (R-hat" in loo_by_block(tree).attrs["warning"]


def test_loo_of_a_block_without_choices(two: Any) -> None:
    tree = two[2].copy(deep=True)
    tree["log_likelihood"]["block"].values[..., 3] = 0.0
    loo = loo_by_block(tree)
    assert loo["elpd"][3] == 0
    assert not loo["bad"][3]
    np.testing.assert_array_equal(np.delete(loo["elpd"], 3), np.delete(loo_by_block(two[2])["elpd"], 3))


@pytest.mark.filterwarnings("ignore::explorelab.fitting.bayes.convergence.ConvergenceWarning")
def test_same_seed_same_draws(two: Any) -> None:
    first, second = (short(two[0], on_failure="warn")["posterior"].to_dataset() for _ in range(2))
    xr.testing.assert_identical(first, second)
    other = short(two[0], on_failure="warn", seed=4)["posterior"].to_dataset()
    assert not np.array_equal(first["temperature"], other["temperature"])


@pytest.mark.filterwarnings("ignore::explorelab.fitting.bayes.convergence.ConvergenceWarning")
@pytest.mark.slow
def test_stopped_and_gone_on_with_the_draws_are_the_same_and_more_can_be_added(
    two: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(draws: int, **how: Any) -> xr.Dataset:
        return short(two[0], on_failure="warn", draws=draws, **how)["posterior"].to_dataset()

    parts = tmp_path / "parts"
    found, times = stopped_after_every(6, lambda: drawn(120, resume=parts))
    assert times > 2
    xr.testing.assert_identical(found, drawn(120))
    legs: list[object] = []
    go_on = nuts._leg
    monkeypatch.setattr(nuts, "_leg", lambda *given: legs.append(given) or go_on(*given))
    longer = drawn(230, resume=parts)
    assert len(legs) == 2  # one more of each chain
    xr.testing.assert_identical(longer, drawn(230))


@pytest.mark.slow
def test_chains_go_together_as_on_a_gpu(one: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    choices, fitted, alone, _ = one
    monkeypatch.setattr(nuts, "on_gpu", lambda: True)
    with pytest.warns(ConvergenceWarning):
        together = hierarchical.sample(
            choices, fitted, "nuts", chains=2, draws=100, on_failure="warn", **SETTINGS | {"warmup": 60}
        )
    ours, theirs = (np.log(tree["posterior"]["temperature"]) for tree in (together, alone))
    assert ours.shape == (2, 100, 6)
    away = (ours.mean(("chain", "draw")) - theirs.mean(("chain", "draw"))) / theirs.std(("chain", "draw"))
    assert np.abs(away.values).max() < 0.6


def test_other_data_need_no_new_sampler(two: Any) -> None:
    choices, _, _ = two
    fitted = prepare(choices, "delta-rule", ["learning_rate", "temperature"], {"prior_mean": 0.0})
    with jax.enable_x64(True):
        blocks = fitted.data.blocks._replace(reward=fitted.data.blocks.reward + 0.1)
    others = fitted._replace(data=fitted.data._replace(blocks=blocks))
    compiled = nuts.sampler(fitted.model, nuts.Settings(200, 0.9, 10, True), False)
    before = compiled.advance._cache_size()
    assert before >= 1
    with pytest.warns(ConvergenceWarning):
        hierarchical.sample(choices, others, "nuts", chains=2, draws=8, correlated=True, on_failure="warn", **SETTINGS)
    assert compiled.advance._cache_size() == before


def test_leaves_jax_as_it_was(two: Any) -> None:
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == jnp.float32


def test_an_interrupt_ends_every_chain(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Any, by: int = 1) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    monkeypatch.setattr(nuts.Progress, "advance", interrupt)
    fitted = prepare(two[0], "delta-rule", ["learning_rate", "temperature"], {"prior_mean": 0.0})
    begun, settings = begun_quietly(two[0], fitted), nuts.Settings(200, 0.9, 10, True)
    points = beginning.starting(begun, settings, 4, 0)
    with pytest.raises(KeyboardInterrupt):
        nuts.run_chains(fitted, begun.known, points, settings, 10**6, 0)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and "ThreadPool" in thread.name:
            thread.join(timeout=20)
    assert threading.active_count() <= before
    assert not jax.config.jax_enable_x64


def test_correlations_of_people_if_asked_for(two: Any) -> None:
    correlation = two[2]["posterior"]["group_correlation"].values
    np.testing.assert_allclose(np.diagonal(correlation, axis1=2, axis2=3), 1)
    assert 0.05 < correlation[..., 0, 1].std() < 0.7


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"chains": 1}, "chains must be at least 2"),
        ({"draws": 0}, "draws must be at least 4"),
        ({"target_accept": 1.0}, "target_accept must be"),
        ({"on_failure": "ignore"}, "unknown on_failure 'ignore'"),
        ({"max_tree_depth": 0}, "max_tree_depth must be at least 1"),
        ({"free": []}, "nothing to sample"),
    ],
)
def test_settings_are_checked_at_the_door(two: Any, setting: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        short(two[0], **setting)


@pytest.fixture
def known(two: Any) -> Iterator[Any]:
    """A model with made-up bends, in double precision."""
    fitted = prepare(two[0], "delta-rule", ["learning_rate", "temperature"], {"prior_mean": 0.0})
    plain = begun_quietly(two[0], fitted).known
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(8, 2, 2))
    with jax.enable_x64(True):
        bend = jnp.asarray(3 * roots @ np.swapaxes(roots, 1, 2))
        yield fitted, plain, plain._replace(bend=bend, pull=jnp.asarray(rng.normal(size=(8, 2))))


def test_coordinates_change_the_shape_of_the_posterior_and_not_the_posterior(known: Any) -> None:
    from numpyro.infer.util import potential_energy

    fitted, plain, informed = known
    rng = np.random.default_rng(1)
    mean, log_sd, x = jnp.asarray(rng.normal(size=2)), jnp.asarray(rng.normal(size=2)), jnp.asarray(rng.normal(size=(8, 2)))

    @quickly
    def log_density(at: Any, with_: Any) -> Any:
        point = {"mean": mean, "sd": log_sd, "x": at}
        return -potential_energy(population_model, (fitted.model, False, with_), {}, point)

    def flat(x: Any) -> Any:
        return people(informed, mean, root_of(jnp.exp(log_sd)), x.reshape(8, 2)).e.ravel()

    e, stretch = (quickly(of)(x.ravel()) for of in (flat, jax.jacfwd(flat)))
    e = e.reshape(8, 2)
    np.testing.assert_allclose(log_density(x, informed), log_density(e, plain) + np.linalg.slogdet(stretch)[1], rtol=1e-10)


def test_gradient_by_row_is_the_gradient(known: Any) -> None:
    fitted, plain, _ = known
    z = jnp.asarray(np.random.default_rng(2).normal(size=(16, 2)))

    def plainly(z: Any) -> Any:
        rows = jnp.arange(16)
        return jax.vmap(lambda row, at: block_log_likelihoods(fitted.model, fitted.data, row[None], at)[0])(rows, z)

    weight = jnp.linspace(-1, 1, 16)
    ours = quickly(jax.grad(lambda z: weight @ row_log_likelihoods(fitted.model, plain.data, z)))(z)
    np.testing.assert_allclose(ours, quickly(jax.grad(lambda z: weight @ plainly(z)))(z), rtol=1e-8, atol=1e-10)


def test_bounds_bend_and_are_never_crossed() -> None:
    with jax.enable_x64(True):
        z = jnp.linspace(-30, 30, 601)[:, None]
        inside = np.asarray(bounded(z, jnp.array([-1.0]), jnp.array([4.0])))
        np.testing.assert_array_equal(bounded(z, jnp.array([-jnp.inf]), jnp.array([jnp.inf])).round(9), z.round(9))
    assert inside.min() >= -1
    assert inside.max() <= 4
    assert (np.diff(inside[:, 0]) > -1e-12).all()
    middle = (np.asarray(z) > 0) & (np.asarray(z) < 3)
    np.testing.assert_allclose(inside[middle], np.asarray(z)[middle], atol=1e-5)

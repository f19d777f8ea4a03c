"""Hierarchical Bayes by an emulated likelihood: exact whatever the emulator, and the same bits again."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import xarray as xr

from explorelab.choices.table import Choices
from explorelab.comparison.psis import loo_by_block
from explorelab.fitting.bayes import beginning, emulated_chains, hierarchical, nuts
from explorelab.fitting.bayes.convergence import ConvergenceError, ConvergenceWarning
from explorelab.fitting.bayes.emulated_steps import programs
from explorelab.fitting.bayes.emulator import learned
from explorelab.fitting.fit_people import fit, load_fit, save_fit
from explorelab.fitting.model import Fitted, prepare
from explorelab.fitting.search.solve import predicted
from explorelab.fitting.spaces import standard
from tests.support.hierarchies import Exact, delta_people
from tests.support.stopping import stopped_after_every

pytestmark = pytest.mark.quick_programs

SETTINGS: dict[str, Any] = {"seed": 0, "progress": False, "warmup": 200, "starts": 2}


@pytest.fixture(scope="module")
def one() -> tuple[Choices, Fitted, xr.DataTree, Exact]:
    """Six people with two blocks each, one parameter, and the same by numerical integration."""
    choices, _ = delta_people(6, 2, seed=5, learning_rate=0.3)
    fitted = prepare(choices, "delta-rule", ["temperature"], {"prior_mean": 0.0, "learning_rate": 0.3})
    tree = hierarchical.sample(choices, fitted, draws=1000, **SETTINGS)
    return choices, fitted, tree, Exact(choices, fitted)


def check_exact(choices: Choices, fitted: Fitted, tree: xr.DataTree, exact: Exact) -> None:
    """The means and spreads of the population and of everyone are those of the numerical integration."""
    posterior, measures = tree["posterior"].to_dataset(), tree["convergence"].to_dataset().sel(measure="ess_bulk")
    found = {}
    for name, values in (
        ("group_mean", exact.mean[:, None] + 0 * exact.sd),
        ("group_sd", exact.sd + 0 * exact.mean[:, None]),
    ):
        found[name] = posterior[name].values, exact.moments(values), float(measures[name].min())
    z = standard(fitted.space, {"temperature": posterior["temperature"].values})[..., 0]
    for who, label in enumerate(choices.participants):
        ess = float(measures["temperature"].sel(participant=label))
        found[label] = z[..., who], exact.moments_of(who), ess
    for name, (draws, (mean, sd), ess) in found.items():
        assert abs(draws.mean() - mean) < 4 * sd / np.sqrt(ess), name
        assert abs(draws.std() / sd - 1) < max(0.1, 3 / np.sqrt(ess)), name


def test_everyone_and_the_population_agree_with_numerical_integration(one: Any) -> None:
    choices, fitted, tree, exact = one
    assert tree.attrs["convergence"].startswith("passed: ")
    assert float(tree["sample_stats"]["accepted"].mean()) > 0.9
    check_exact(choices, fitted, tree, exact)


@pytest.mark.filterwarnings("ignore::explorelab.fitting.bayes.convergence.ConvergenceWarning")
@pytest.mark.slow
def test_a_bad_emulator_costs_draws_and_nothing_else(one: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    choices, fitted, good, exact = one

    def misled(*given: Any) -> Any:
        right = learned(*given)
        return right._replace(weight=0.0 * right.weight, bend=0.6 * right.bend, pull=0.6 * right.pull + 0.3)

    monkeypatch.setattr(emulated_chains, "learned", misled)
    monkeypatch.setattr(emulated_chains, "MOST_TRIALS", 1)
    monkeypatch.setattr(hierarchical, "LEAST_ACCEPTED", 0.0)
    tree = hierarchical.sample(choices, fitted, draws=2000, on_failure="warn", **SETTINGS)
    accepted = float(tree["sample_stats"]["accepted"].mean())
    assert 0.02 < accepted < 0.8 < float(good["sample_stats"]["accepted"].mean())
    check_exact(choices, fitted, tree, exact)


@pytest.mark.slow
def test_where_hardly_anything_is_accepted_nuts_takes_over(one: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    choices, fitted, good, exact = one
    monkeypatch.setattr(hierarchical, "LEAST_ACCEPTED", 1.1)
    tree = hierarchical.sample(choices, fitted, draws=1000, **SETTINGS)
    assert (tree.attrs["emulated"], good.attrs["emulated"]) == (0, 1)
    assert "accepted" not in tree["sample_stats"]
    check_exact(choices, fitted, tree, exact)


def test_the_tree_is_that_of_nuts_and_can_be_kept(one: Any, tmp_path: Any) -> None:
    choices, fitted, tree, exact = one
    assert tree.attrs["method"] == "bayes"
    assert set(tree.children) == {
        "estimates", "group", "space", "posterior", "sample_stats", "log_likelihood", "observed_data", "convergence",
    }  # fmt: skip
    z = standard(fitted.space, {"temperature": tree["posterior"]["temperature"].values[1, 7]})
    told = predicted(fitted, np.arange(choices.n_rows), z[choices.participant][:, None], False)[:, 0]
    np.testing.assert_allclose(tree["log_likelihood"]["block"].values[1, 7], told, rtol=1e-9)
    save_fit(tree, tmp_path / "fit.nc")
    again = load_fit(tmp_path / "fit.nc")
    loo = loo_by_block(again)
    good = loo["pareto_k"].values < 0.5
    assert good.sum() >= 3
    truth = np.array([exact.elpd(row) for row in range(loo.sizes["row"])])
    np.testing.assert_allclose(loo["elpd"].values[good], truth[good], atol=0.15)


@pytest.mark.slow
def test_chains_go_on_until_they_have_converged(one: Any) -> None:
    choices, fitted, _, _ = one
    tree = hierarchical.sample(choices, fitted, draws=110, **SETTINGS)
    assert tree.attrs["convergence"].startswith("passed: ")
    assert tree.attrs["draws"] in (220, 330, 440)
    assert tree["posterior"].sizes["draw"] == tree.attrs["draws"]
    with pytest.raises(ConvergenceError, match="have not converged") as refused:
        hierarchical.sample(choices, fitted, draws=5, **SETTINGS)
    assert refused.value.fit["posterior"].sizes["draw"] == 5 * hierarchical.MOST_TIMES


@pytest.mark.filterwarnings("ignore::explorelab.fitting.bayes.convergence.ConvergenceWarning")
@pytest.mark.slow
def test_same_seed_same_draws(one: Any) -> None:
    choices, fitted, _, _ = one

    def short(seed: int) -> xr.Dataset:
        how = SETTINGS | {"seed": seed, "draws": 5, "on_failure": "warn"}
        return hierarchical.sample(choices, fitted, **how)["posterior"].to_dataset()

    first, second, other = short(1), short(1), short(2)
    xr.testing.assert_identical(first, second)
    assert not np.array_equal(first["temperature"], other["temperature"])


@pytest.mark.filterwarnings("ignore::explorelab.fitting.bayes.convergence.ConvergenceWarning")
def test_stopped_and_gone_on_with_the_draws_are_the_same_and_more_can_be_added(one: Any, tmp_path: Path) -> None:
    def drawn(draws: int, **how: Any) -> xr.Dataset:
        fixed = {"prior_mean": 0.0, "learning_rate": 0.3}
        how |= {"free": ["temperature"], "fixed": fixed, "n_starts": 2, "seed": 1, "progress": False, "on_failure": "warn"}
        return fit(one[0], "delta-rule", "bayes", draws=draws, warmup=200, **how)["posterior"].to_dataset()

    parts = tmp_path / "parts"
    found, times = stopped_after_every(6, lambda: drawn(30, resume=parts))
    assert times > 2
    xr.testing.assert_identical(found, drawn(30))
    xr.testing.assert_identical(drawn(120, resume=parts), drawn(120))


@pytest.mark.slow
def test_other_data_and_other_agents_need_no_new_programs(one: Any) -> None:
    choices, _, _, _ = one
    settings = nuts.Settings(SETTINGS["warmup"], 0.9, 10, False)
    compiled = programs(settings, False)
    before = compiled.propose._cache_size()  # type: ignore[attr-defined]
    other = prepare(choices, "kalman-value", ["temperature"])
    with pytest.warns(ConvergenceWarning):
        hierarchical.sample(choices, other, draws=5, on_failure="warn", **SETTINGS)
    assert compiled.propose._cache_size() == before  # type: ignore[attr-defined]


def test_an_interrupt_ends_every_chain(one: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    choices, fitted, _, _ = one

    def interrupt(self: Any, by: int = 1) -> None:
        raise KeyboardInterrupt

    begun, settings = beginning.begin(choices, fitted, 2, 0, False), nuts.Settings(SETTINGS["warmup"], 0.9, 10, False)
    points = beginning.starting(begun, settings, 4, 0)
    before = threading.active_count()
    monkeypatch.setattr(emulated_chains.Progress, "advance", interrupt)
    with pytest.raises(KeyboardInterrupt):
        emulated_chains.EmulatedChains(fitted, begun, points, settings, 0)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and "ThreadPool" in thread.name:
            thread.join(timeout=20)
    assert threading.active_count() <= before
    assert not jax.config.jax_enable_x64

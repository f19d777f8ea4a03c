"""Leave-one-out by choice, block and person, against integration over a grid of everything unknown."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy.special import logsumexp

import explorelab as xl
from explorelab.comparison import loo as loo_file
from explorelab.comparison.person_left_out import integrated
from explorelab.errors import InputError
from explorelab.fitting.known import fitted_of, known_from_fit
from explorelab.fitting.likelihood import log_likelihoods
from explorelab.fitting.spaces import natural
from tests.fitting.bayes.test_hierarchical import Exact, delta_people

pytestmark = pytest.mark.quick_programs

CHAINS, DRAWS = 4, 500
SETTING: dict[str, Any] = {"free": ["temperature"], "fixed": {"prior_mean": 0.0, "learning_rate": 0.3}}


def drawn(exact: Exact, n_people: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Independent draws from the posterior on the grid: means, spreads, and everyone's parameter in standard units."""
    joint = exact.log_joint()
    share = np.exp(joint - logsumexp(joint)).ravel()
    cells = rng.choice(share.size, CHAINS * DRAWS, p=share)
    at = np.unravel_index(cells, joint.shape)
    z = np.empty((len(cells), n_people))
    for who in range(n_people):
        inner = exact.person(who)[at] + exact.log_weight
        node = (inner + rng.gumbel(size=inner.shape)).argmax(1)
        z[:, who] = exact.z[(*at, node)]
    return exact.mean[at[0]], exact.sd[at[1]], z


def hierarchical(choices: xl.Choices, seed: int = 0) -> tuple[xr.DataTree, Exact]:
    """A fit with the groups of a hierarchical one, whose draws come from the grid."""
    tree = xl.fit(choices, "delta-rule", "map", n_starts=1, progress=False, **SETTING)
    fitted = fitted_of(choices, known_from_fit(tree))
    exact = Exact(choices, fitted)
    mean, sd, z = drawn(exact, choices.n_participants, np.random.default_rng(seed))
    space = fitted.space[0]
    over = ("chain", "draw")
    blocks = []
    for row in range(choices.n_rows):
        order = np.argsort(exact.z.ravel())[:: max(1, exact.z.size // 20_000)]
        known_z, known_value = exact.z.ravel()[order], exact.blocks[row].ravel()[order]
        blocks.append(np.interp(z[:, choices.participant[row]], known_z, known_value))
    posterior = xr.Dataset(
        {
            "temperature": ((*over, "participant"), (space.centre * np.exp(space.spread * z)).reshape(CHAINS, DRAWS, -1)),
            "group_mean": ((*over, "parameter"), mean.reshape(CHAINS, DRAWS, 1)),
            "group_sd": ((*over, "parameter"), sd.reshape(CHAINS, DRAWS, 1)),
        },
        {"participant": list(choices.participants), "parameter": ["temperature"]},
    )
    labels = {
        "row_participant": ("row", np.array(choices.participants)[choices.participant]),
        "row_block": ("row", choices.block.astype(str)),
    }
    likelihood = xr.Dataset({"block": ((*over, "row"), np.stack(blocks, -1).reshape(CHAINS, DRAWS, -1))}, labels)
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    attrs = {**tree.attrs, "convergence": "passed: exact draws"}
    result = xr.DataTree.from_dict(
        {"/": xr.Dataset(attrs=attrs), **groups, "posterior": posterior, "log_likelihood": likelihood}
    )
    return result, exact


@pytest.fixture(scope="module")
def two_blocks() -> tuple[xl.Choices, xr.DataTree, Exact]:
    choices, _ = delta_people(6, 2, seed=5, learning_rate=0.3)
    return choices, *hierarchical(choices)


@pytest.fixture(scope="module")
def one_block() -> tuple[xl.Choices, xr.DataTree, Exact]:
    choices, _ = delta_people(6, 1, seed=7, learning_rate=0.3)
    return choices, *hierarchical(choices)


@pytest.fixture(autouse=True)
def _units_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grid keeps the units of everyone's rewards."""
    monkeypatch.setattr(loo_file, "change_without", lambda choices, fitted, mean, sd, kept: np.zeros(mean.shape[:-1]))


def without_person(exact: Exact, who: int) -> float:
    """Log probability of somebody's choices given everyone else's."""
    each = [logsumexp(exact.person(i) + exact.log_weight, axis=-1) for i in np.unique(exact.participant) if i != who]
    return float(logsumexp(exact.log_joint()) - logsumexp(exact.log_prior + sum(each)))


@pytest.mark.parametrize("data", ["one_block", "two_blocks"])
def test_leaving_a_person_out_agrees_with_leaving_them_out_of_the_grid(data: str, request: pytest.FixtureRequest) -> None:
    choices, tree, exact = request.getfixturevalue(data)
    found = xl.loo(tree, choices, "person", progress=False)
    wanted = [without_person(exact, who) for who in range(choices.n_participants)]
    good = ~found["bad"].values
    assert good.sum() >= 4
    np.testing.assert_allclose(found["elpd"].values[good], np.array(wanted)[good], atol=0.08)
    assert (found["effective"] > 100).all()
    np.testing.assert_allclose(found["elpd_total"], found["elpd"].sum())
    assert bool(found.attrs["warning"]) == bool(found["n_bad_total"])


def test_the_integral_over_a_persons_parameters_is_that_of_the_grid(two_blocks: Any) -> None:
    choices, tree, exact = two_blocks
    fitted = fitted_of(choices, known_from_fit(tree))
    posterior = tree["posterior"].to_dataset().isel(draw=slice(0, 10))
    found = integrated(choices, fitted, posterior, 4000, 1, False)
    mean, sd = (posterior[name].values.ravel() for name in ("group_mean", "group_sd"))
    for who in range(choices.n_participants):
        grid = logsumexp(exact.person(who) + exact.log_weight, axis=-1)
        cells = np.searchsorted(exact.mean, mean - 1e-9), np.searchsorted(exact.sd, sd - 1e-9)
        np.testing.assert_allclose(found.log_likelihood[:, who], grid[cells], atol=0.06)


def test_leaving_a_block_out_is_loo_by_block(two_blocks: Any) -> None:
    choices, tree, exact = two_blocks
    found = xl.loo(tree, choices)
    xr.testing.assert_equal(found, xl.loo_by_block(tree))
    wanted = np.array([exact.elpd(row) for row in range(choices.n_rows)])
    good = ~found["bad"].values
    assert good.sum() >= 6
    np.testing.assert_allclose(found["elpd"].values[good], wanted[good], atol=0.15)


def test_leaving_a_choice_out_agrees_with_the_grid(two_blocks: Any) -> None:
    choices, tree, exact = two_blocks
    fitted = fitted_of(choices, known_from_fit(tree))
    found = xl.loo(tree, choices, "choice", draws=2000, progress=False)
    assert np.isnan(found["elpd"].values[~choices.scored]).all()
    z = np.linspace(exact.z.min(), exact.z.max(), 2001)
    data = fitted.data
    joint = exact.log_joint()
    for row, trial in ((0, 3), (5, 0), (11, 19)):
        block = jax.tree.map(lambda x, row=row: jnp.asarray(x)[row], data.blocks)

        def at(point: Any, block: Any = block) -> Any:
            params = {**data.fixed, **natural(fitted.model.axes, data.origin, point[None])}
            return log_likelihoods(fitted.model.rule, params, data.ways, fitted.model.n_arms, block)

        with jax.enable_x64(True):
            each = np.asarray(jax.jit(jax.vmap(at))(jnp.asarray(z)))[:, trial]
        own = np.interp(exact.z, z, each)
        inner = exact.person(int(choices.participant[row])) + exact.log_weight
        ratio = logsumexp(inner - own, axis=-1) - logsumexp(inner, axis=-1)
        wanted = -(logsumexp(joint + ratio) - logsumexp(joint))
        assert float(found["elpd"][row, trial]) == pytest.approx(wanted, abs=0.02)
    np.testing.assert_allclose(found["participant_elpd"].sum(), found["elpd_total"])


def test_draws_about_somebodys_only_block_say_what_helps(one_block: Any) -> None:
    choices, tree, _ = one_block
    stretched = tree.copy(deep=True)
    stretched["log_likelihood"]["block"].values[..., 2] *= 60
    found = xl.loo(stretched, choices, "block")
    assert found["bad"][2]
    assert "loo(fit, choices, unit='person')" in found.attrs["warning"]


def test_an_integral_on_few_points_is_not_trusted(one_block: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    choices, tree, _ = one_block
    monkeypatch.setattr(loo_file, "LEAST_EFFECTIVE", 10_000)
    found = xl.loo(tree, choices, "person", progress=False)
    assert found["bad"].all()
    assert "6 of 6 people have a Pareto k above" in found.attrs["warning"]


def test_the_same_seed_gives_the_same_numbers(one_block: Any) -> None:
    choices, tree, _ = one_block
    first, again, other = (xl.loo(tree, choices, "person", seed=seed, progress=False) for seed in (0, 0, 1))
    xr.testing.assert_identical(first, again)
    assert not np.array_equal(first["elpd"], other["elpd"])


def test_what_cannot_be_judged_is_refused(one_block: Any, two_blocks: Any) -> None:
    choices, tree, _ = one_block
    with pytest.raises(InputError, match="loo by person needs the choices that were fitted"):
        xl.loo(tree, unit="person")
    with pytest.raises(InputError, match="unit"):
        xl.loo(tree, choices, "trial")
    with pytest.raises(InputError, match="loo needs the draws of a hierarchical fit"):
        xl.loo(xr.DataTree.from_dict({"estimates": tree["estimates"].to_dataset()}), choices)
    with pytest.raises(InputError, match="other people"):
        xl.loo(tree, choices.rows(np.arange(3)), "choice")

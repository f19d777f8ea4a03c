"""Groups that a companion starts from: by em and nuts, without spread, not converged, and no group at all."""

import numpy as np
import pytest

import explorelab as xl
from explorelab.errors import InputError
from tests.support.people import MEANS, population

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.line(MEANS, 1.0)


@pytest.fixture(scope="module")
def em():
    return xl.fit(population(n=4, horizon=6), "win-stay-lose-shift", "em", n_starts=1, progress=False)


@pytest.fixture(scope="module")
def nuts():
    """Chains far too short to have converged, kept nevertheless."""
    with pytest.warns(xl.ConvergenceWarning):
        return xl.fit(
            population(n=4, horizon=6), "win-stay-lose-shift", "nuts", progress=False, draws=20, warmup=20, chains=2,
            on_failure="warn",
        )  # fmt: skip


def with_group(fit, covariance, mean=None):
    tree = fit.copy(deep=True)
    table = tree["group"].to_dataset()
    table["z_covariance"] = (table["z_covariance"].dims, np.asarray(covariance, float))
    if mean is not None:
        table["z_mean"] = (table["z_mean"].dims, np.asarray(mean, float))
    tree["group"] = table
    return tree


def after_three(group):
    mind = xl.companion(None, group, TASK, horizon=6, n_points=64)
    for arm, reward in ((1, 2.0), (1, 0.5), (3, 1.0)):
        mind = mind.observe(arm, reward)
    return mind


V = np.array([1.0, 2.0])
WITHOUT_SPREAD = {
    "in one direction": np.outer(V, V),
    "in one direction, negative to rounding": np.outer(V, V) - 1e-16,
    "at all": np.zeros((2, 2)),
    "in one parameter": np.diag([1.0, 0.0]),
}


@pytest.mark.parametrize("covariance", WITHOUT_SPREAD.values(), ids=WITHOUT_SPREAD)
def test_a_group_without_spread_is_kept_to(em, covariance, tmp_path):
    """Whatever is observed, people differ only as the group does."""
    mind = after_three(with_group(em, covariance))
    off = mind.estimates["z_mean"].values - em["group"]["z_mean"].values
    without = np.linalg.eigh(covariance)[1][:, np.linalg.eigvalsh(covariance) < 1e-9]
    np.testing.assert_allclose(without.T @ off, 0.0, atol=1e-4)
    np.testing.assert_allclose(mind.next_choice.sum(), 1.0)
    assert mind.advice().reason
    assert np.isfinite(mind.assessment().regret_to_come)
    xl.save_companion(mind, tmp_path / "mind.nc")
    np.testing.assert_array_equal(xl.load_companion(tmp_path / "mind.nc").next_choice, mind.next_choice)


@pytest.mark.parametrize(
    ("covariance", "mean", "said"),
    [
        (np.array([[1.0, 2.0], [2.0, 1.0]]), None, "no covariance"),
        (np.full((2, 2), np.nan), None, "not numbers"),
        (np.eye(2), [np.nan, 0.0], "not numbers"),
        (np.eye(2), [np.inf, 0.0], "not numbers"),
    ],
)
def test_what_is_no_group_is_refused_in_a_sentence(em, covariance, mean, said):
    with pytest.raises(InputError, match=said) as caught:
        xl.companion(None, with_group(em, covariance, mean), TASK)
    assert "\n" not in str(caught.value)


def test_an_ordinary_group_is_taken_to_the_bit(em):
    mind = xl.companion(None, em, TASK, n_points=8)
    np.testing.assert_array_equal(mind.scene.numbers.group.covariance, em["group"]["z_covariance"].values)


@pytest.mark.slow
def test_a_group_by_nuts_serves_and_warns_if_it_has_not_converged(nuts):
    with pytest.warns(xl.ConvergenceWarning):
        mind = after_three(nuts)
    np.testing.assert_allclose(mind.next_choice.sum(), 1.0)
    assert np.isfinite(mind.estimates["estimate"]).all()

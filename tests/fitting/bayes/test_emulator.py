"""The emulated log-likelihood: near where it learned it is right, beyond it falls, and what is impossible stays so."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from explorelab.fitting.bayes.emulator import Emulator, Training, emulated, learned

PEOPLE, PARAMETERS, POINTS = 3, 2, 120
BEND = np.tile(np.diag([4.0, 25.0]), (PEOPLE, 1, 1))
CENTRE = np.array([[0.0, 0.5], [1.0, -1.0], [0.2, 0.0]])
SPREAD = np.linalg.inv(BEND + np.eye(PARAMETERS))


def log_likelihood(z: np.ndarray) -> np.ndarray:
    """A peak that is skewed and bent, so that no parabola is right (person x point x parameter)."""
    x, y = 2 * (z[..., 0] - CENTRE[:, None, 0]), 5 * (z[..., 1] - CENTRE[:, None, 1])
    return -7 - 0.5 * x**2 - 0.5 * (y - 0.15 * x**2) ** 2 - 0.05 * np.exp(x)


def points(seed: int, wide: float, n: int = POINTS) -> np.ndarray:
    normal = np.random.default_rng(seed).standard_normal((PEOPLE, n, PARAMETERS))
    return CENTRE[:, None] + wide * np.einsum("nij,nmj->nmi", np.linalg.cholesky(SPREAD), normal)


def trained(z: np.ndarray, said: np.ndarray, room: int = POINTS) -> Emulator:
    pull = np.einsum("nij,nj->ni", BEND, CENTRE)
    training = Training(z, said, -0.5 * (z**2).sum(-1))
    return learned(training, BEND, pull, CENTRE, SPREAD, room)


def at(emulator: Emulator, z: np.ndarray) -> np.ndarray:
    """Everyone's emulated log-likelihood at each of their points."""
    with jax.enable_x64(True):
        return np.asarray(jax.vmap(emulated, (None, 1), 1)(emulator, jnp.asarray(z)))


def test_it_is_right_where_the_posterior_is() -> None:
    z, new = points(0, 1.5), points(1, 1.0)
    error = at(trained(z, log_likelihood(z)), new) - log_likelihood(new)
    assert np.abs(error).max() < 0.2
    parabola = at(trained(z, log_likelihood(z))._replace(weight=np.zeros((PEOPLE, POINTS))), new) - log_likelihood(new)
    assert np.abs(error).std() < np.abs(parabola).std() / 30


@pytest.mark.slow
def test_far_from_every_point_only_the_parabola_remains() -> None:
    z = points(0, 1.5)
    emulator = trained(z, log_likelihood(z))
    far = CENTRE[:, None] + np.array([[60.0, 0.0], [0.0, -40.0]])
    np.testing.assert_allclose(at(emulator, far), at(emulator._replace(weight=np.zeros((PEOPLE, POINTS))), far), rtol=1e-9)
    assert (at(emulator, far) < -1000).all()


@pytest.mark.parametrize("impossible", [-np.inf, -1e6, np.nan])
def test_where_choices_are_impossible_it_promises_less_than_the_parabola(impossible: float) -> None:
    z = points(0, 1.5)
    beyond = z[..., 0] > CENTRE[:, None, 0] + 0.6
    emulator = trained(z, np.where(beyond, impossible, log_likelihood(z)))
    assert np.isfinite(emulator.weight).all()
    there = CENTRE[:, None] + np.array([[1.0, 0.0]])
    parabola = at(emulator._replace(weight=np.zeros((PEOPLE, POINTS))), there)
    assert (at(emulator, there) < parabola).all()


def test_someone_without_any_possible_point_breaks_nothing() -> None:
    z = points(0, 1.5)
    said = log_likelihood(z)
    said[1] = -np.inf
    emulator, whole = trained(z, said), trained(z, log_likelihood(z))
    assert np.isfinite(emulator.weight).all()
    np.testing.assert_array_equal(emulator.weight[[0, 2]], whole.weight[[0, 2]])


def test_room_for_more_points_changes_nothing() -> None:
    z, new = points(0, 1.5), points(1, 1.0)
    roomy = trained(z, log_likelihood(z), room=POINTS + 50)
    assert roomy.weight.shape == (PEOPLE, POINTS + 50)
    np.testing.assert_allclose(at(roomy, new), at(trained(z, log_likelihood(z)), new), atol=1e-8)

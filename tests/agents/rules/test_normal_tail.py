"""log Phi, its slope and its bend, against SciPy and against each other, far into both tails."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erfcx, log_ndtr

from explorelab.agents.rules.normal_tail import bend, log_cdf_and_slope

Z = np.concatenate([np.linspace(-80, 9, 2001), -np.geomspace(1, 1e6, 200), [0.0]])


@pytest.fixture(scope="module")
def found():
    with jax.enable_x64(True):
        log_cdf, slope = log_cdf_and_slope(jnp.asarray(Z))
        return np.asarray(log_cdf), np.asarray(slope), np.asarray(bend(jnp.asarray(Z), slope))


@pytest.mark.quick
def test_the_logarithm_is_that_of_scipy(found):
    np.testing.assert_allclose(found[0], log_ndtr(Z), rtol=1e-11, atol=1e-12)


@pytest.mark.quick
def test_the_slope_is_that_of_scipy(found):
    wanted = np.sqrt(2 / np.pi) / erfcx(-np.minimum(Z, 0) / np.sqrt(2))
    density = np.exp(-(np.maximum(Z, 0) ** 2) / 2 - log_ndtr(np.maximum(Z, 0))) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(found[1], np.where(Z < 0, wanted, density), rtol=1e-11)


def test_the_bend_stays_between_0_and_1_and_has_no_step_where_the_series_begins(found):
    assert ((found[2] >= 0) & (found[2] <= 1)).all()
    near = np.array([-40.001, -39.999])
    with jax.enable_x64(True):
        left, right = bend(jnp.asarray(near), log_cdf_and_slope(jnp.asarray(near))[1])
    assert right - left == pytest.approx(-0.002 * 2 / 40**3, abs=2e-9)
    step = 1e-4
    middle = (np.abs(Z) < 10) & (Z < 5)
    with jax.enable_x64(True):
        ahead, behind = (np.asarray(log_cdf_and_slope(jnp.asarray(Z + s))[1]) for s in (step, -step))
    np.testing.assert_allclose(found[2][middle], (behind - ahead)[middle] / (2 * step), atol=1e-7)


def test_derivatives_are_the_slope_and_the_bend():
    with jax.enable_x64(True):
        for z in (-3000.0, -70.0, -2.0, 0.5, 6.0):
            (log_cdf, slope), (first, second) = jax.jvp(log_cdf_and_slope, (jnp.asarray(z),), (jnp.ones(()),))
            assert first == slope
            assert second == -bend(jnp.asarray(z), slope)
            assert np.isfinite(log_cdf)

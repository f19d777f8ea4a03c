"""Every noise of the table is what it says: the same mean and variance however it is drawn."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.errors import InputError
from explorelab.tasks import Noise
from explorelab.tasks.noise import NOISES, noise_kind, scale_for

pytestmark = pytest.mark.quick

SCALE, N = 3.0, 100_000
every_kind = pytest.mark.parametrize("kind", NOISES.values(), ids=NOISES)


@every_kind
def test_its_quantiles_have_mean_zero_and_its_variance(kind):
    with jax.enable_x64(True):
        off = np.asarray(kind.quantile(SCALE, (jnp.arange(N) + 0.5) / N))
    assert (np.diff(off) >= 0).all()
    np.testing.assert_allclose(off.mean(), 0, atol=1e-3)
    np.testing.assert_allclose(off.var(), kind.var_of_scale(SCALE), rtol=1e-3)


@every_kind
def test_draws_of_numpy_are_distributed_as_its_quantiles(kind):
    rng = np.random.default_rng(0)
    drawn = np.sort([kind.draw(SCALE, rng) for _ in range(10_000)])
    with jax.enable_x64(True):
        expected = np.asarray(kind.quantile(SCALE, (jnp.arange(10_000) + 0.5) / 10_000))
    # Kolmogorov's distance: 1.95 / sqrt(n) is exceeded once in a thousand.
    at = np.unique(np.concatenate([drawn, expected]))
    shares = [np.searchsorted(values, at, side="right") / 10_000 for values in (drawn, expected)]
    assert np.abs(shares[0] - shares[1]).max() < 1.95 / 100


@every_kind
def test_scale_and_variance_follow_from_each_other(kind):
    assert kind.scale_of_var(kind.var_of_scale(SCALE)) == pytest.approx(SCALE)
    assert Noise(kind.name, SCALE).var == kind.var_of_scale(SCALE)
    assert all(Noise(alias, SCALE) == Noise(kind.name, SCALE) for alias in kind.aliases)


@every_kind
def test_a_task_may_have_it_and_people_be_simulated_on_it(kind):
    task = xl.tasks.with_noise(xl.tasks.bandit([0.0, 1.0, 5.0]), Noise(kind.name, SCALE))
    made = xl.simulate_choices(xl.blank_choices(task, 2, 1, 5), xl.agents.random_choice(), noise=kind.name, progress=False)
    off = made.reward - task.means[made.arm]
    assert np.ptp(off) > 0
    assert not kind.whole or (off == np.rint(off)).all()


def test_a_variance_that_it_cannot_have_is_refused():
    assert scale_for("integer", 10.0) == 5
    with pytest.raises(InputError, match=r"variance h \(h \+ 1\) / 3, which 5 is not"):
        scale_for("integer", 5.0)
    with pytest.raises(InputError, match="unknown noise 'gausian': did you mean 'gaussian'"):
        noise_kind("gausian")


def test_rewards_of_a_study_are_drawn_without_jax():
    """A server that loads it would start seconds later and hold hundreds of megabytes more."""
    told = (
        "import sys, explorelab as xl; from explorelab.study.config.blocks.scenes import reward;"
        "reward(xl.tasks.landscape('A'), 0, 1), reward(xl.tasks.profile('B'), 0, 1); sys.exit('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0

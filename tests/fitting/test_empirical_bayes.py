"""The group learned in rounds on parabolas: it ends where plain rounds end, whoever cannot be learned from."""

import numpy as np
import pytest

from explorelab.fitting.empirical_bayes import fit_group, group_from
from explorelab.fitting.model import prepare
from explorelab.fitting.search.best import best_of_starts, rows_of_each, with_prior
from tests.support.companions import some_choices

pytestmark = pytest.mark.quick_programs

AGENTS = ("win-stay-lose-shift", "delta-rule", "local-search", "situated-ucl")


def people(agent, n=8):
    choices = some_choices(agent, n_people=n, n_blocks=2, horizon=20)
    return prepare(choices, agent), rows_of_each(choices)


def from_minima(fitted, rows, **settings):
    best = best_of_starts(fitted, with_prior(fitted, rows, prior=True), 2, 0, "", progress=False)
    return group_from(fitted, rows, best.z, progress=False, **settings)


def close(found, plain):
    """Within what the rounds of either may still move, in standard units."""
    mean, covariance, settled = found
    assert settled
    np.testing.assert_allclose(mean, plain.mean[0], atol=0.03)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), np.sqrt(np.diag(plain.covariance[0])), atol=0.03)
    scale = np.sqrt(np.outer(*[np.diag(plain.covariance[0])] * 2))
    np.testing.assert_allclose(covariance / scale, plain.covariance[0] / scale, atol=0.1)


@pytest.mark.parametrize(
    "agent", [AGENTS[1], *(pytest.param(name, marks=pytest.mark.slow) for name in (AGENTS[0], *AGENTS[2:]))]
)
def test_rounds_on_parabolas_end_where_plain_rounds_end(agent):
    fitted, rows = people(agent)
    plain = fit_group(fitted, rows, starts=2, rounds=400, tolerance=1e-4, progress=False)
    assert plain.settled
    close(from_minima(fitted, rows, rounds=400, tolerance=1e-4), plain)


@pytest.mark.parametrize("agent", ["delta-rule", "win-stay-lose-shift"])
def test_nothing_is_learned_from_whom_no_parameters_explain(agent):
    fitted, rows = people(agent)
    blocks = fitted.data.blocks
    available = np.array(blocks.available)
    available[rows[2]] = np.arange(9) != np.maximum(blocks.arm, 0)[rows[2], :, None]
    broken = fitted._replace(data=fitted.data._replace(blocks=blocks._replace(available=available)))
    best = best_of_starts(fitted, with_prior(fitted, rows, prior=True), 2, 0, "", progress=False)
    others = [i for i in range(len(rows)) if i != 2]
    found = group_from(broken, rows, best.z, rounds=400, tolerance=1e-4, progress=False)
    without = group_from(fitted, [rows[i] for i in others], best.z[others], rounds=400, tolerance=1e-4, progress=False)
    np.testing.assert_array_equal(found[0], without[0])
    np.testing.assert_array_equal(found[1], without[1])
    close(found, fit_group(broken, rows, starts=2, rounds=400, tolerance=1e-4, progress=False))


def test_rounds_that_run_out_say_so():
    fitted, rows = people("delta-rule")
    assert not from_minima(fitted, rows, rounds=1, tolerance=1e-9)[2]

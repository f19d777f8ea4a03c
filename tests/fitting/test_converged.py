"""`converged` means it: a fit that met something that is not a number, or did not move, does not say so."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import spearmanr

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.fitting import objective
from explorelab.fitting.fit_people import fit
from explorelab.fitting.objective import Curvature
from explorelab.fitting.search.optimise import Status, minimise
from tests.support.beliefs import QUICKLY
from tests.support.people import population

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.bandit([0.0, 1.0, 2.0, 3.5, 1.5], 1.0)
LAPSES = np.linspace(0.02, 0.6, 20)


def cooled(lapse):
    return xl.agents.with_habits(xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=4.0, cooling="feedback"), lapse=lapse)


@pytest.fixture(scope="module")
def lapsing():
    """Twenty people with feedback cooling who lapse more and more."""
    parts = [population(cooled(lapse), 1, 60, seed=i, task=TASK) for i, lapse in enumerate(LAPSES)]
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("arm", "reward", "observed", "scored", "present")
    }
    return Choices(**{
        **parts[0].__dict__, **joined, "participants": tuple(f"p{i}" for i in range(20)), "participant": np.arange(20),
        "block": np.array(["1"] * 20), "means": None,
    })  # fmt: skip


def estimates(tree):
    return tree["estimates"].to_dataset()


@pytest.mark.parametrize(
    "method", ["ml", pytest.param("map", marks=pytest.mark.slow), pytest.param("em", marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_a_fit_with_feedback_cooling_finds_how_often_people_lapse(lapsing, method):
    table = estimates(fit(lapsing, cooled(0.2), method, free=("lapse",), n_starts=1))
    assert spearmanr(LAPSES, table.estimate.values[:, 0]).statistic > 0.8
    assert table.converged.all()
    assert float(table.bic.sum()) < 2 * 20 * 60 * np.log(5)


# The minimiser --------------------------------------------------------------------------------------------------------


NOTHING = Curvature(0.0, np.zeros(2), np.zeros((2, 2)))
WHOLE = Curvature(1.0, np.ones(2), np.ones((2, 2)))


def ended(times=WHOLE, plus=NOTHING, start=(0.3, -0.2), bound=3.0):
    """How it ends in a bowl around (1, -1), each part of which is multiplied by a factor and has something added to it."""
    with jax.enable_x64(True):
        return Status(int(_ended(times, plus, np.array(start), np.full(2, bound))))


@partial(jax.jit, compiler_options=QUICKLY)
def _ended(times, plus, start, bound):
    def objective(z):
        away = z - jnp.array([1.0, -1.0])
        bowl = Curvature(0.5 * away @ away, away, jnp.eye(2))
        return jax.tree.map(lambda part, factor, more: factor * part + more, bowl, times, plus)

    return minimise(objective, start, -bound, bound).status


@pytest.mark.quick
@pytest.mark.parametrize(
    "spoiled",
    [
        {"gradient": np.full(2, np.nan)},
        {"gradient": np.array([0.0, np.inf])},
        {"value": np.nan},
        {"value": np.inf},
        {"information": np.diag([np.nan, 0.0])},
    ],
    ids=["NaN slope", "infinite slope", "NaN", "impossible", "NaN curvature"],
)
def test_what_is_not_finite_is_not_a_minimum(spoiled):
    assert ended(plus=NOTHING._replace(**spoiled)) == Status.NOT_FINITE


@pytest.mark.quick
def test_a_slope_that_points_the_wrong_way_is_not_a_minimum():
    assert ended(times=WHOLE._replace(gradient=-np.ones(2))) == Status.STUCK


def test_a_minimum_at_the_start_is_a_minimum():
    assert ended(start=(1.0, -1.0)) == Status.CONVERGED


def test_a_minimum_at_the_bounds_is_a_minimum():
    assert ended(bound=0.5) == Status.CONVERGED


def test_where_nothing_is_said_nothing_is_estimated():
    assert ended(times=NOTHING, plus=NOTHING._replace(value=3.0)) == Status.FLAT


# Fits -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def spoiled(monkeypatch):
    """An agent the slopes of whose likelihood are multiplied by this.

    By its name it is another agent than all others, so that no program that was compiled for it is used elsewhere.
    """
    whole = objective._log_probs_and_slopes

    def agent(factor):
        def wrong(*arguments):
            log_probs, slopes = whole(*arguments)
            return log_probs, factor * slopes

        monkeypatch.setattr(objective, "_log_probs_and_slopes", wrong)
        right = xl.agents.delta_rule()
        choice = replace(right.rule.choice, name=f"slopes times {factor}")
        return replace(right, rule=replace(right.rule, choice=choice))

    return agent


@pytest.fixture(scope="module")
def three():
    return population(n=3)


@pytest.mark.parametrize("method", ["ml", pytest.param("map", marks=pytest.mark.slow), "em"])
def test_a_fit_whose_slopes_are_not_numbers_is_not_converged(spoiled, three, method):
    table = estimates(fit(three, spoiled(np.nan), method, n_starts=1))
    assert not table.converged.any()
    assert all("not a finite number" in str(status) for status in table.status.values)
    assert not table.identified.any()


@pytest.mark.parametrize("method", ["ml", pytest.param("map", marks=pytest.mark.slow)])
def test_a_fit_whose_slopes_are_wrongly_zero_is_not_converged(spoiled, three, method):
    table = estimates(fit(three, spoiled(0.0), method, free=("temperature",), n_starts=1))
    assert not table.converged.any()


def test_chains_that_cannot_move_are_refused_by_name(spoiled, three):
    with pytest.raises(xl.InputError, match="the likelihood of 1, 2, 3, or its slope, is not finite"):
        fit(three, spoiled(np.nan), "nuts", n_starts=2)


@pytest.mark.parametrize("method", ["ml", pytest.param("map", marks=pytest.mark.slow), "em"])
def test_somebody_whose_choices_are_impossible_is_named(method):
    """Unseen arms come first under an uninformative prior; one person takes the same arm twice at once."""
    agent = xl.agents.boltzmann(temperature=0.6)
    people = population(agent, n=4)
    odd = people.arm.copy()
    odd[2, 1] = odd[2, 0]
    with pytest.raises(xl.InputError, match=f"participant {people.participants[2]} probability zero"):
        fit(replace(people, arm=odd), agent, method, free=("temperature",), n_starts=1)


def test_correlated_thompson_sampling_is_not_scored_by_counting(three):
    with pytest.raises(xl.InputError, match="cannot be fitted: the probability that an arm is the best"):
        fit(three, "thompson+lapse")

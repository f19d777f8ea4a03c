"""What simulated people are given stays as it was: forced arms with their rewards, whoever plays."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents import AGENTS
from explorelab.choices.reading import choices_from_frame
from explorelab.choices.table import NOWHERE, Choices
from explorelab.choices.writing import frame_of
from explorelab.errors import InputError
from explorelab.fitting.likelihood import log_likelihoods
from explorelab.fitting.model import prepare
from explorelab.recovery.designs import blank_choices, repeated
from explorelab.recovery.simulated_choices import simulate_choices
from tests.support.beliefs import choosing_and_committing, one_of_each

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.line([1.0, 3.0, 2.0], noise_var=1.0)


def random_design(seed: int, n: int = 30, horizon: int = 12) -> Choices:
    """Blocks with forced trials anywhere, often on the arm of before, missed ones with and without a sample."""
    rng = np.random.default_rng(seed)
    plain = blank_choices(TASK, n, 1, horizon)
    shape = plain.arm.shape
    kind = rng.choice(["free", "forced", "missed", "lost"], shape, p=[0.4, 0.4, 0.1, 0.1])
    kind[:10, 0], kind[10:, -1] = "forced", "free"
    available = rng.random((*shape, 3)) < 0.7
    available[kind != "free"] = True
    available[..., 1] |= ~available.any(-1)
    arm = rng.integers(0, 3, shape)
    for t in range(horizon):
        if t:  # half of what is given is the arm of before
            again = (rng.random(n) < 0.5) | (kind[:, t] == "missed")
            arm[:, t] = np.where(again, arm[:, t - 1], arm[:, t])
        arm[:, t] = np.where(available[np.arange(n), t, arm[:, t]], arm[:, t], available[:, t].argmax(-1))
    return replace(
        plain,
        arm=np.where(kind == "lost", NOWHERE, arm).astype(np.int32),
        reward=np.where(kind == "lost", 0.0, rng.normal(size=shape)),
        observed=kind != "lost",
        scored=kind == "free",
        missed=(kind == "missed") | (kind == "lost"),
        available=available,
        start=rng.integers(0, 3, n) if seed % 2 else None,
    )


def forced(choices: Choices) -> np.ndarray:
    return choices.observed & ~choices.scored & ~choices.missed


@pytest.mark.parametrize("name", one_of_each(choosing_and_committing, AGENTS))
def test_forced_trials_keep_their_arms_and_rewards_whoever_plays(name: str) -> None:
    given, agent = random_design(1), AGENTS[name]()
    try:
        made = simulate_choices(given, agent, seed=0)
    except InputError as error:
        pytest.skip(str(error))
    at = forced(given)
    assert (made.arm[at] == given.arm[at]).all()
    assert (made.reward[at] == given.reward[at]).all()
    assert (made.scored == given.scored).all()
    assert (made.observed == given.observed).all()
    on_offer = np.take_along_axis(given.available, np.maximum(made.arm, 0)[..., None], axis=2)[..., 0]
    assert on_offer[made.scored].all()


@pytest.mark.parametrize("seed", range(2, 12))
def test_forced_trials_keep_their_arms_and_rewards_in_any_design(seed: int) -> None:
    given = random_design(seed)
    made = simulate_choices(given, xl.agents.stochastic_ucl(prior_mean=2, prior_var=4, temperature=1), seed=seed, n_copies=2)
    twice = repeated(given, np.tile(np.arange(given.n_participants), 2))
    at = forced(twice)
    assert (made.arm[at] == twice.arm[at]).all()
    assert (made.reward[at] == twice.reward[at]).all()
    assert (made.arm[~twice.observed] == NOWHERE).all()


def test_a_missed_trial_is_played_on_the_simulated_persons_own_arm() -> None:
    given = random_design(3)
    made = simulate_choices(given, xl.agents.stochastic_ucl(prior_mean=2, prior_var=4, temperature=1), seed=0)
    before = np.roll(made.arm, 1, axis=1)
    same = given.missed & given.observed & np.roll(given.observed, 1, axis=1)
    same[:, 0] = False
    assert same.sum() > 10
    assert (made.arm[same] == before[same]).all()


def test_the_likelihood_counts_the_trials_that_were_chosen() -> None:
    given = random_design(5)
    agent = xl.agents.stochastic_ucl(prior_mean=2, prior_var=4, temperature=1)
    made = simulate_choices(given, agent, seed=0)
    ready = prepare(made, agent, free=())
    with jax.enable_x64(True):
        of_block = jax.jit(jax.vmap(lambda block: log_likelihoods(agent.rule, ready.data.fixed, ready.data.ways, 3, block)))
        scores = np.asarray(of_block(ready.data.blocks))
    several = given.available.sum(-1) > 1
    assert ((scores != 0) == (given.scored & several)).all()


def test_forced_and_missed_trials_come_back_from_a_file() -> None:
    given = simulate_choices(random_design(7), xl.agents.delta_rule(), seed=0)
    back = choices_from_frame(frame_of(given), TASK)
    assert (forced(back) == forced(given)).all()
    assert ((back.missed & back.observed) == (given.missed & given.observed)).all()

"""Parts that a user writes: a learner, a limit, a habit and a noise of one's own simulate, fit and play live like ours."""

import tomllib
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents import Agent, Learner, Rule
from explorelab.agents.rules import choice, commitment
from explorelab.agents.rules.habits import HABITS, Habit, add_habit
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.likelihood import blocks_of, replay, ways_of
from explorelab.simulation import chance
from explorelab.study.config.blocks.scenes import reward
from explorelab.study.export import choices_file
from explorelab.study.export.rows import Played
from explorelab.study.robots.minds import Mind
from explorelab.tasks import Noise, NoiseKind, add_noise
from tests.support.beliefs import QUICKLY
from tests.support.study.small_study import small_study

pytestmark = pytest.mark.quick_programs

# What the user writes -------------------------------------------------------------------------------------------------


class Fading(NamedTuple):
    """What is left of each arm's last rewards."""

    mean: Any
    sd: Any
    plays: Any


def before_any(params: Any, n_arms: int) -> Fading:
    zero = jnp.zeros(n_arms, jnp.asarray(params["prior_mean"]).dtype)
    return Fading(zero + params["prior_mean"], zero + 1, zero)


def after_one(params: Any, belief: Fading, arm: Any, got: Any) -> Fading:
    """All arms fade towards the prior mean, and the one that was chosen moves towards its reward."""
    faded = belief.mean + 0.05 * (params["prior_mean"] - belief.mean)
    moved = faded.at[arm].add(params["learning_rate"] * (got - faded[arm]))
    return Fading(moved, belief.sd, belief.plays.at[arm].add(1))


def rarely_seen(params: Any, belief: Fading, moment: Any) -> Any:
    """mu_i + bonus sqrt(log(1 + t) / (1 + n_i)), an index of one's own."""
    t = moment.t.astype(belief.mean.dtype)
    return belief.mean + params["bonus"] * jnp.sqrt(jnp.log1p(t) / (1 + belief.plays))


def rightward(params: Any, belief: Any, log_probs: Any, moment: Any, available: Any) -> Any:
    further = jnp.arange(log_probs.shape[0]) > moment.position
    return jax.nn.log_softmax(log_probs + jnp.where(further, params["rightward_pull"], 0.0))


COIN = NoiseKind(
    name="coin",
    words="noise of one size",
    var_of_scale=lambda scale: scale**2,
    scale_of_var=lambda var: var**0.5,
    quantile=lambda scale, u: jnp.where(u < 0.5, -scale, scale),
    draw=lambda scale, rng: float(rng.choice([-scale, scale])),
    key="coin_noise",
)
RIGHTWARD = Habit(rightward, "rightward_pull", 0.8)


@pytest.fixture(autouse=True, scope="module")
def in_the_tables() -> None:
    add_noise(COIN)
    add_habit("rightward", RIGHTWARD)


FADING = Learner("fading", lambda params, distances: params, before_any, after_one)
VALUES = {"prior_mean": 1.0, "learning_rate": 0.4, "bonus": 0.7, "temperature": 0.3}
COMMITMENTS = {"every step": commitment.every_step, "frames": commitment.frames}


@cache
def own_agent(binding: str) -> Agent:
    rule = Rule(FADING, rarely_seen, choice.softmax_constant, COMMITMENTS[binding])
    return xl.agents.with_habits(Agent("fading", rule, VALUES), "rightward", lapse=0.1)


# What becomes of it ---------------------------------------------------------------------------------------------------

SIZE, T = 1.5, 40


@pytest.fixture(scope="module")
def task(in_the_tables: None) -> xl.Task:
    return xl.tasks.with_noise(xl.tasks.grid([[0.0, 1.0, 2.0], [3.0, 1.5, 0.5]]), Noise("coin", SIZE))


both = pytest.mark.parametrize("binding", COMMITMENTS)


def log_probs_of_the_fit(agent: Agent, choices: Choices) -> np.ndarray:
    """Of every arm on every trial of every row."""
    n_arms = choices.layout.n_arms
    given = {"noise_var": choices.layout.noise_var, "horizon": choices.n_trials, "n_arms": n_arms, **agent.params}
    with jax.enable_x64(True):
        params = {name: jnp.asarray(value, jnp.float64) for name, value in given.items()}
        one = partial(replay, agent.rule, params, ways_of(choices.layout), n_arms)
        return np.asarray(jax.jit(jax.vmap(one), compiler_options=QUICKLY)(blocks_of(choices)).log_probs)


@both
def test_simulated_arms_are_drawn_from_the_log_probabilities_of_the_likelihood(binding, task):
    """The arm of every step is where the simulator's own uniform number falls among them."""
    agent, seed = own_agent(binding), 3
    runs = xl.simulate(agent, task, T, 16, seed, keep="trajectories", precision="double")
    log_probs = log_probs_of_the_fit(agent, xl.choices_from_runs(runs, task))
    with jax.enable_x64(True):

        def decision(replicate, t):
            bits = chance.bits_at(jnp.asarray(chance.keys_from(seed)), chance.REWARD_AND_CHOICE, replicate, t)[1]
            return chance.uniform(bits, jnp.dtype("float64"))

        times = jax.vmap(decision, (None, 0))
        uniform = jax.vmap(times, (0, None))(jnp.arange(16, dtype=jnp.uint32), jnp.arange(1, T + 1, dtype=jnp.uint32))
        drawn = jax.vmap(jax.vmap(choice.draw_from))(jnp.asarray(log_probs), uniform)
    np.testing.assert_array_equal(runs.choice.values, drawn)
    np.testing.assert_allclose(np.abs(runs.reward.values - task.means[runs.choice.values]), SIZE)


@both
def test_a_robot_chooses_with_the_log_probabilities_of_the_likelihood(binding, task):
    agent, rng = own_agent(binding), np.random.default_rng(1)
    mind = Mind(agent, small_study(width=2, height=3, landscapes={"B": task}))
    position, live, arms, rewards = -1, [], [], []
    mind.begin(T)
    for trial in range(T):
        live.append(mind.probabilities(trial, position, np.ones(6, bool)))
        position = int(rng.choice(6, p=live[-1] / live[-1].sum()))
        arms.append(position)
        rewards.append(reward(task, position, 2, trial))
        mind.learn(position, rewards[-1])
    made = replace(xl.blank_choices(task, 1, 1, T), arm=np.array([arms], np.int32), reward=np.array([rewards]))
    np.testing.assert_allclose(live, np.exp(log_probs_of_the_fit(agent, made)[0]), rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.array(rewards) - task.means[arms]), SIZE)


def test_a_study_exports_the_scale_of_its_noise(task):
    """Choices of such a study are described with the noise that they were played with."""
    study = small_study(width=2, height=3, landscapes={"B": task}, task_landscapes=("B",))
    told = tomllib.loads(choices_file.task_toml(study, Played(("B",), ("standard",), T), "without"))["task"]
    assert told["coin_noise"] == SIZE


def test_what_it_generates_can_be_fitted(task):
    agent = own_agent("frames")
    made = xl.simulate_choices(xl.blank_choices(task, 4, 2, T), agent, seed=1, noise="coin", progress=False)
    np.testing.assert_allclose(np.abs(made.reward - task.means[made.arm]), SIZE)
    found = xl.fit(made, agent, "map", free=("learning_rate", "bonus", "temperature"), n_starts=2, progress=False)[
        "estimates"
    ]
    chosen = np.take_along_axis(log_probs_of_the_fit(agent, made), made.arm[..., None], axis=2)[..., 0]
    at_truth = chosen.sum(axis=1).reshape(4, 2).sum(axis=1)
    assert np.isfinite(at_truth).all()
    # The estimate of three parameters is about as likely as the truth or more so; a prior may pull it a little.
    assert (found.log_likelihood.values > at_truth - 1).all()


def test_a_name_means_one_thing():
    add_noise(COIN)  # once more is no harm
    add_habit("rightward", RIGHTWARD)
    assert list(HABITS)[-2:] == ["rightward", "lapse"]
    with pytest.raises(InputError, match="there is already a noise named 'integer'"):
        add_noise(replace(COIN, name="other", aliases=("integer",)))
    with pytest.raises(InputError, match="there is already a habit 'stay'"):
        add_habit("stay", RIGHTWARD)
    with pytest.raises(InputError, match="there is already a habit with the parameter 'lapse'"):
        add_habit("other", RIGHTWARD._replace(parameter="lapse"))
    with pytest.raises(InputError, match="unknown noise 'coins': did you mean 'coin'"):
        Noise("coins", 1.0)

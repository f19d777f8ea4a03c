"""Each rival against its published formula, transcribed by hand, and against choosing at random."""

import itertools
import math
from functools import partial
from statistics import NormalDist

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

import explorelab as xl
from explorelab.agents.named import human
from explorelab.agents.rules import commitment
from tests.support import reference
from tests.support.beliefs import DISTANCES, HORIZON, NOISE_VAR, QUICKLY, belief_after, full_params, moment_after
from tests.support.quick_programs import compiled_quickly
from tests.support.siblings import slow_but

ALL_SEEN = [(i % 5, r) for i, r in enumerate([0.3, 1.1, 1.9, 0.8, 1.4, -0.2, 1.3, 2.2, 0.4, 1.2, 0.9])]
LONGER = [*ALL_SEEN, (2, 1.7), (2, 2.1), (4, 0.6), (2, 1.8), (1, 1.0)]
TWO_UNSEEN = [(0, 0.5), (3, 2.0), (3, 1.0), (1, -1.0)]

histories = pytest.mark.parametrize("history", [ALL_SEEN, LONGER, TWO_UNSEEN], ids=["all seen", "longer", "two unseen"])


@pytest.fixture(scope="module", autouse=True)
def _compiled_quickly():
    with compiled_quickly():
        yield


def index(agent, history):
    """The package's value of every arm, in double precision."""
    with jax.enable_x64(True):
        params = full_params(agent, dtype="float64")
        return np.asarray(_valued(agent.rule, params, belief_after(agent, params, history), moment_after(history)))


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _valued(rule, params, belief, moment):
    return rule.limit(params, belief, moment)


@partial(jax.jit, static_argnums=0, compiler_options=QUICKLY)
def _log_probs(rule, params, belief, moment):
    return rule.choice.log_probs(params, belief, rule.limit(params, belief, moment), moment, None)


def per_arm(history, formula):
    """formula(rewards) for each arm that has been seen; the others must come first."""
    rewards = [np.array([r for a, r in history if a == arm]) for arm in range(5)]
    return np.array([formula(seen) if len(seen) else math.inf for seen in rewards])


def normal_belief(history, arm, prior_mean, prior_var):
    """Mean and variance of an arm's mean, for known noise variance."""
    seen = [r for a, r in history if a == arm]
    precision = 1 / prior_var + len(seen) / NOISE_VAR
    return (prior_mean / prior_var + sum(seen) / NOISE_VAR) / precision, 1 / precision


# Indices --------------------------------------------------------------------------------------------------------------


@histories
def test_ucb1_index(history):
    """Auer, Cesa-Bianchi & Fischer (2002): mean + sqrt(2 ln n / n_j), stretched by the range of rewards."""
    n = len(history)
    expected = per_arm(history, lambda seen: seen.mean() + 3.0 * math.sqrt(2 * math.log(n) / len(seen)))
    np.testing.assert_allclose(index(xl.agents.ucb1(reward_range=3.0), history), expected)


def test_ucb2_index_at_the_end_of_epochs():
    """Auer et al. (2002): mean + sqrt((1 + alpha) ln(e n / tau(r)) / (2 tau(r))), tau(r) = ceil((1 + alpha)^r)."""
    # With alpha = 1/2 epochs end at 1, 2, 3, 4, 6, 8, ...: 3, 1, 6, 2 and 4 plays.
    history = [(arm, 0.1 * i) for i, arm in enumerate([0, 1, 2, 3, 4, 0, 0, 2, 2, 2, 2, 2, 3, 4, 4, 4])]
    n, alpha = len(history), 0.5

    def formula(seen):
        tau = len(seen)
        return seen.mean() + math.sqrt((1 + alpha) * math.log(math.e * n / tau) / (2 * tau))

    np.testing.assert_allclose(index(xl.agents.ucb2(alpha=alpha), history), per_arm(history, formula))


@histories
def test_ucb1_normal_index(history):
    """Auer et al. (2002): mean + sqrt(16 s^2 ln(n - 1) / n_j); a machine played under ceil(8 log n) times comes first."""
    many = history * 8
    n = len(many) + 1

    def formula(seen):
        if len(seen) < math.ceil(8 * math.log(n)):
            return math.inf
        return seen.mean() + math.sqrt(16 * seen.var(ddof=1) * math.log(n - 1) / len(seen))

    np.testing.assert_allclose(index(xl.agents.ucb1_normal(), many), per_arm(many, formula))


def test_ucb1_normal_index_is_finite_for_an_arm_played_enough():
    assert np.isfinite(index(xl.agents.ucb1_normal(), LONGER * 8)).any()


@histories
def test_ucb_v_index(history):
    """Audibert, Munos & Szepesvari (2009): mean + sqrt(2 V E / s) + 3 c b E / s, E = zeta log t, V with 1/s."""
    exploration = 1.3 * math.log(len(history) + 1)

    def formula(seen):
        s = len(seen)
        return seen.mean() + math.sqrt(2 * seen.var() * exploration / s) + 0.7 * 3 * 2.0 * exploration / s

    agent = xl.agents.ucb_v(exploration_rate=1.3, range_weight=0.7, reward_range=2.0)
    np.testing.assert_allclose(index(agent, history), per_arm(history, formula))


@histories
@pytest.mark.parametrize("c", [0.0, 3.0])
def test_kl_ucb_index_spends_the_budget_of_divergence(history, c):
    """Garivier & Cappe (2011): the largest q with n_j KL(mean, q) <= log t + c log log t, here found by bisection."""
    log_t = math.log(len(history) + 1)
    budget = log_t + c * math.log(log_t)

    def formula(seen):
        low, high = seen.mean(), seen.mean() + 1e3
        for _ in range(200):
            q = (low + high) / 2
            divergence = (q - seen.mean()) ** 2 / (2 * NOISE_VAR)
            low, high = (q, high) if len(seen) * divergence <= budget else (low, q)
        return low

    np.testing.assert_allclose(index(xl.agents.kl_ucb(log_power=c), history), per_arm(history, formula))


@histories
@pytest.mark.parametrize("c", [0.0, 5.0])
def test_bayes_ucb_index(history, c):
    """Kaufmann, Cappe & Garivier (2012): the quantile 1 - 1/(t (log n)^c) of the posterior."""
    alpha = 1 / ((len(history) + 1) * math.log(HORIZON) ** c)
    beliefs = (normal_belief(history, arm, 1.0, 4.0) for arm in range(5))
    expected = [NormalDist(m, math.sqrt(v)).inv_cdf(1 - alpha) for m, v in beliefs]
    agent = xl.agents.bayes_ucb(log_power=c, prior_mean=1.0, prior_var=4.0)
    np.testing.assert_allclose(index(agent, history), expected)


@histories
def test_gp_ucb_index(history):
    """Srinivas, Krause, Kakade & Seeger (2012): mean + sqrt(beta_t) sd, beta_t = 2 log(|D| t^2 pi^2 / (6 delta))."""
    cov = 4.0 * np.exp(-((DISTANCES / 1.5) ** 2) / 2)
    arms, rewards = zip(*history, strict=True)
    mean, sd = reference.conditioned(1.0, cov, NOISE_VAR)(list(arms), list(rewards))
    beta = 0.2 * 2 * math.log(5 * (len(history) + 1) ** 2 * math.pi**2 / (6 * 0.05))
    agent = xl.agents.gp_ucb(failure_probability=0.05, beta_scale=0.2, prior_mean=1.0, prior_var=4.0, length_scale=1.5)
    np.testing.assert_allclose(index(agent, history), mean + math.sqrt(beta) * sd, rtol=1e-6)


@histories
def test_knowledge_gradient_index(history):
    """Ryzhov, Powell & Frazier (2012): mean + (T - t) (E max of the means after one more look - max of them now)."""
    beliefs = [normal_belief(history, arm, 1.0, 4.0) for arm in range(5)]
    means = np.array([m for m, _ in beliefs])

    def gain(arm):
        var = beliefs[arm][1]
        others = np.delete(means, arm).max()
        change = stats.norm(scale=math.sqrt(var - 1 / (1 / var + 1 / NOISE_VAR)))
        kink = others - means[arm]  # above it the arm becomes the best
        above = integrate.quad(lambda x: (means[arm] + x) * change.pdf(x), kink, max(kink, 0) + 12, epsabs=1e-13)[0]
        return above + others * change.cdf(kink) - means.max()

    expected = [means[arm] + (HORIZON - len(history) - 1) * gain(arm) for arm in range(5)]
    agent = xl.agents.knowledge_gradient(prior_mean=1.0, prior_var=4.0)
    np.testing.assert_allclose(index(agent, history), expected, rtol=1e-7)


def test_the_knowledge_gradient_of_the_last_choice_is_the_mean():
    history = ALL_SEEN * 4 + LONGER[-5:]
    assert len(history) == HORIZON - 1
    expected = [normal_belief(history, arm, 1.0, 4.0)[0] for arm in range(5)]
    np.testing.assert_allclose(index(xl.agents.knowledge_gradient(prior_mean=1.0, prior_var=4.0), history), expected)


@pytest.mark.parametrize("history", [ALL_SEEN, LONGER * 40], ids=["early", "late"])
def test_epsilon_n_greedy_chooses_at_random_as_often_as_published(history):
    """Auer et al. (2002): epsilon_n = min(1, c K / (d^2 n)), else the highest average."""
    agent, n = xl.agents.epsilon_n_greedy(epsilon_rate=2.0, epsilon_gap=0.5), len(history) + 1
    params, moment = full_params(agent), moment_after(history)
    log_probs = _log_probs(agent.rule, params, belief_after(agent, params, history), moment)
    epsilon = min(1, 2.0 * 5 / (0.5**2 * n))
    averages = per_arm(history, np.mean)
    expected = epsilon / 5 + (1 - epsilon) * (averages == averages.max())
    np.testing.assert_allclose(np.exp(log_probs), expected, rtol=1e-5)


@pytest.mark.parametrize("history", [[(0, 1.0), (1, 2.0), (1, 0.4)], ALL_SEEN], ids=["informative", "all seen"])
def test_thompson_chooses_each_arm_as_often_as_it_is_the_best(history):
    agent = xl.agents.thompson(prior_mean=1.0, prior_var=4.0)
    params, moment = full_params(agent), moment_after(history)
    log_probs = _log_probs(agent.rule, params, belief_after(agent, params, history), moment)
    beliefs = [normal_belief(history, arm, 1.0, 4.0) for arm in range(5)]
    draws = np.random.default_rng(0).normal([m for m, _ in beliefs], [math.sqrt(v) for _, v in beliefs], (200_000, 5))
    frequency = np.bincount(draws.argmax(1), minlength=5) / 200_000
    assert (np.abs(np.exp(log_probs) - frequency) < 4 * np.sqrt(frequency / 200_000)).all()


@histories
def test_the_mean_alone_is_what_greedy_agents_look_at(history):
    expected = per_arm(history, np.mean)
    for agent in (xl.agents.mean_greedy(), xl.agents.boltzmann(), xl.agents.epsilon_greedy(), xl.agents.epsilon_n_greedy()):
        np.testing.assert_allclose(index(agent, history), expected)


# Commitments ----------------------------------------------------------------------------------------------------------


def ucb2_by_the_book(means, noise, horizon, alpha):
    """UCB2 as printed: play every machine once; then the best for tau(r + 1) - tau(r) plays, and r <- r + 1."""

    def tau(r):
        return math.ceil((1 + alpha) ** r)

    game = reference.new_game(means, 1.0, noise, horizon)
    n_arms, r = len(means), [0] * len(means)
    for arm in range(n_arms):
        game.pull(arm)
    while not game.over:
        n = len(game.arms)
        average = [np.mean([x for a, x in zip(game.arms, game.rewards, strict=True) if a == j]) for j in range(n_arms)]
        bonus = [math.sqrt((1 + alpha) * math.log(math.e * n / tau(k)) / (2 * tau(k))) for k in r]
        arm = int(np.argmax(np.array(average) + bonus))
        for _ in range(tau(r[arm] + 1) - tau(r[arm])):
            if not game.over:
                game.pull(arm)
        r[arm] += 1
    return game.arms


@pytest.mark.parametrize("alpha", [0.01, 0.3, 0.9])
def test_ucb2_plays_its_pseudocode(alpha):
    means, horizon = [0.0, 0.4, 0.8, 1.0], 150
    ours = xl.simulate(
        xl.agents.ucb2(alpha=alpha), xl.tasks.bandit(means), horizon, 3, 4, precision="double", keep="trajectories"
    )
    theirs = [ucb2_by_the_book(means, reference.shared_noise(4, r, horizon), horizon, alpha) for r in range(3)]
    np.testing.assert_array_equal(ours.choice, theirs)


def test_ucb2_plays_an_arm_for_whole_epochs():
    """With alpha = 1/2 an arm's plays between decisions are the steps of 1, 2, 3, 4, 6, 8, 12, 18, ..."""
    edges, grown = [], 1.0
    while grown < 1e4:
        edges, grown = sorted({*edges, math.ceil(grown)}), grown * 1.5
    agent = xl.agents.ucb2(alpha=0.5)
    lengths = []
    for count in edges[:-1]:
        belief = type("Belief", (), {"plays": jnp.asarray([0.0, float(count)])})
        lengths.append(int(commitment.epoch_length(full_params(agent), belief, jnp.int32(1), jnp.int32(0))))
    assert lengths == np.diff(edges).tolist()


def aht_block_lengths(n_arms, n_goals):
    """Lengths of the blocks by a plain loop: every arm once, then frame f in blocks of f until 2^(f^2) choices are made."""
    blocks, total, frame = [1] * n_arms, 0, 1
    while sum(blocks) < n_goals:
        wanted = 2 ** (frame**2) - 2 ** ((frame - 1) ** 2)
        end = total + math.ceil(wanted / frame) * frame
        while total < end and sum(blocks) < n_goals:
            blocks.append(frame)
            total += frame
        frame += 1
    return blocks


def test_agrawal_hedge_teneketzis_blocks_last_f_in_frame_f():
    params = {"n_arms": jnp.float32(5)}
    ours, n_goals = [], 0
    while n_goals < 1200:
        ours.append(int(commitment.aht_length(params, None, jnp.int32(0), jnp.int32(n_goals))))
        n_goals += ours[-1]
    assert ours == aht_block_lengths(5, 1200)


def test_agrawal_hedge_teneketzis_holds_an_arm_through_each_block():
    horizon = 600
    agent = xl.agents.agrawal_hedge_teneketzis()
    chosen = xl.simulate(agent, xl.tasks.bandit([0.0, 0.5, 1.0], 1.0), horizon, 4, 1, keep="trajectories").choice.values
    edges = np.cumsum([0, *aht_block_lengths(3, horizon)])
    blocks = [chosen[:, a:b] for a, b in itertools.pairwise(edges) if a < horizon]
    assert all((block == block[:, :1]).all() for block in blocks)


def test_agrawal_hedge_teneketzis_pits_the_leader_against_the_challenger():
    """The challenger, round robin, by its upper bound; the leader by its average; the others not at all."""
    history = LONGER  # 16 decisions: the next challenger of five arms is arm 1, the leader arm 2
    value = index(xl.agents.agrawal_hedge_teneketzis(), history)
    averages = per_arm(history, np.mean)
    plays = per_arm(history, len)
    bound = averages[1] + math.sqrt(2 * NOISE_VAR * math.log(len(history)) / plays[1])
    np.testing.assert_allclose(value, [-math.inf, bound, averages[2], -math.inf, -math.inf])


# Against chance -------------------------------------------------------------------------------------------------------

CLEAR = {
    "boltzmann": {"temperature": 0.1},
    "gp-ucb": {"prior_mean": 0.5, "prior_var": 0.25, "length_scale": 0.0},
    "epsilon-n-greedy": {"epsilon_gap": 0.5},
    "stochastic-ucl": {"cooling": "feedback"},
}


RIVALS = [name for name, build in xl.agents.AGENTS.items() if build.__module__ != human.__name__]


@pytest.mark.parametrize("name", slow_but(("ucb1", "kl-ucb", "thompson", "epsilon-n-greedy", "boltzmann", "gp-ucb"), RIVALS))
def test_an_agent_has_at_most_half_the_regret_of_choosing_at_random(name):
    task, horizon = xl.tasks.bandit([0.1, 0.3, 0.5, 0.7, 0.9], 0.05), 2000
    result = xl.simulate(xl.agents.AGENTS[name](**CLEAR.get(name, {})), task, horizon, 32, 6, times=[horizon])
    at_random = task.gaps.mean() * horizon
    assert result.regret_mean[-1] + 4 * result.regret_se[-1] < at_random / 2

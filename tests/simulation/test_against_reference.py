"""The simulator against the plain reference, arm for arm, on the same random numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import explorelab as xl
from explorelab.agents import factors
from explorelab.agents.learners import correlated
from tests.support import reference
from tests.support.siblings import slow

pytestmark = pytest.mark.quick_programs

REPLICATES = 3
USUAL = [(5, 80)]
EDGES = [(1, 4), (2, 1), (5, 80), (12, 45)]
"""(arms, horizon): few of them, because each is compiled anew."""

TRY = settings(deadline=None, derandomize=True, max_examples=25)


def agree(result, games, mean_cost=None, kind="fixed", start=None):
    """Every choice equal, and every reward, regret, transition and cost to the last digits."""
    for r, game in enumerate(games):
        np.testing.assert_array_equal(result.choice[r], game.arms)
        close(result.reward[r], game.rewards)
        close(result.regret[r], reference.regret(game))
        close(result.observed_regret[r], reference.observed_regret(game))
        np.testing.assert_array_equal(result.transitions[r], reference.transitions(game, start))
        if mean_cost is not None:
            close(result.cost[r], reference.transition_cost(game, mean_cost, kind, start))


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def play(task, horizon, seed, algorithm, *args):
    """The reference's game for each replicate."""
    return [
        algorithm(reference.new_game(task.means, task.noise.scale, reference.shared_noise(seed, r, horizon), horizon), *args)
        for r in range(REPLICATES)
    ]


def run(agent, task, horizon, seed):
    return xl.simulate(agent, task, horizon, REPLICATES, seed, precision="double", keep="trajectories")


# Random problems ------------------------------------------------------------------------------------------------------

values = st.floats(-10, 10).map(lambda x: round(x, 3))
variances = st.floats(0.01, 100).map(lambda x: round(x, 3))


def vectors(n, elements):
    return st.lists(elements, min_size=n, max_size=n)


@st.composite
def problems(draw, shapes=USUAL):
    """A task with transition costs, a prior, a horizon, a seed and the exponent a."""
    n, horizon = draw(st.sampled_from(shapes))
    few = draw(st.booleans())  # from few values, so that some arms tie
    means = draw(vectors(n, st.sampled_from([0.0, 1.0, 2.5]) if few else values))
    task = xl.tasks.bandit(means, draw(variances))
    cost = np.array(draw(vectors(n * n, st.floats(0, 5).map(lambda x: round(x, 2))))).reshape(n, n)
    np.fill_diagonal(cost, 0)
    prior_var = draw(vectors(n, st.one_of(variances, st.just(math.inf)))) if n > 1 else [draw(variances)]
    same = draw(st.sampled_from(["all differ", "identical", "uninformative"]))
    prior_mean = [draw(values)] * n if same != "all differ" else draw(vectors(n, values))
    prior_var = {"all differ": prior_var, "identical": [prior_var[0]] * n, "uninformative": [math.inf] * n}[same]
    prior = {"prior_mean": np.array(prior_mean), "prior_var": np.array(prior_var)}
    # Half of the agents are told another noise variance than the task's.
    noise_var = draw(st.one_of(st.just(task.noise.var), variances))
    schedule = {"credibility_power": draw(st.sampled_from([1.0, 1.5, 2.0]))}
    return task, cost, prior | {"noise_var": noise_var} | schedule, horizon, draw(st.integers(0, 2**40))


def independent_beliefs(task, prior):
    return reference.independent(task.n_arms, prior["prior_mean"], prior["prior_var"], prior["noise_var"])


@pytest.mark.parametrize("ties", ["random", *slow("lowest")])
@TRY
@given(problem=problems(EDGES))
def test_deterministic_ucl_plays_the_pseudocode(ties, problem):
    task, cost, prior, horizon, seed = problem
    task = xl.tasks.with_costs(task, cost)
    ours = run(xl.agents.deterministic_ucl(**prior, ties=ties), task, horizon, seed)
    beliefs = independent_beliefs(task, prior)
    agree(
        ours,
        play(task, horizon, seed, reference.deterministic_ucl, beliefs, ties, prior["credibility_power"]),
        cost,
    )


@pytest.mark.parametrize(
    ("cooling", "parameter", "kind"),
    [
        ("log", "cooling_rate", "uniform"),
        ("feedback", None, "fixed"),
        pytest.param("constant", "temperature", "exponential", marks=pytest.mark.slow),
    ],
)
@TRY
@given(problem=problems(), rate=st.floats(0.05, 20))
def test_stochastic_ucl_plays_the_pseudocode(cooling, parameter, kind, problem, rate):
    task, cost, prior, horizon, seed = problem
    task = xl.tasks.with_costs(task, cost, kind=kind)
    schedule = {parameter: rate} if parameter else {}
    ours = run(xl.agents.stochastic_ucl(**prior, cooling=cooling, **schedule), task, horizon, seed)
    beliefs = independent_beliefs(task, prior)
    theirs = play(task, horizon, seed, reference.stochastic_ucl, beliefs, cooling, rate, prior["credibility_power"])
    agree(ours, theirs, cost, kind)


@pytest.mark.parametrize("ties", ["lowest", *slow("random")])
@TRY
@given(problem=problems([(1, 4), (5, 80)]))
def test_block_ucl_plays_the_pseudocode(ties, problem):
    task, cost, prior, horizon, seed = problem
    task = xl.tasks.with_costs(task, cost)
    ours = run(xl.agents.block_ucl(**prior, ties=ties), task, horizon, seed)
    beliefs = independent_beliefs(task, prior)
    agree(ours, play(task, horizon, seed, reference.block_ucl, beliefs, ties, prior["credibility_power"]), cost)


@st.composite
def strongly_connected(draw, n, undirected):
    """Edges with lengths: a cycle through all arms (a random tree, if undirected), and some more."""
    order = draw(st.permutations(range(n)))
    if undirected:
        pairs = [(order[draw(st.integers(0, i - 1))], order[i]) for i in range(1, n)]
    else:
        pairs = [(order[i], order[(i + 1) % n]) for i in range(n) if n > 1]
    arms = st.integers(0, n - 1)
    pairs += [(a, b) for a, b in draw(st.lists(st.tuples(arms, arms), max_size=2 * n)) if a != b]
    lengths = st.sampled_from([1.0] if draw(st.booleans()) else [0.5, 1.0, 2.0, 3.25])
    edges = {pair: draw(lengths) for pair in pairs}
    if undirected:
        edges = {tuple(sorted(pair)): length for pair, length in edges.items()}
    return edges


@pytest.mark.parametrize("ties", ["random", *slow("lowest")])
@TRY
@given(problem=problems(), undirected=st.booleans(), data=st.data())
def test_graphical_block_ucl_plays_the_pseudocode(ties, problem, undirected, data):
    task, cost, prior, horizon, seed = problem
    edges = data.draw(strongly_connected(task.n_arms, undirected))
    start = data.draw(st.integers(0, task.n_arms - 1))
    graph = [(a, b, length) for (a, b), length in edges.items()]
    task = xl.tasks.with_costs(xl.tasks.on_graph(task, graph, directed=not undirected, start=start), cost)
    ours = run(xl.agents.block_ucl(**prior, ties=ties), task, horizon, seed)
    both_ways = edges | {(b, a): length for (a, b), length in edges.items()} if undirected else edges
    beliefs = independent_beliefs(task, prior)
    theirs = play(
        task,
        horizon,
        seed,
        reference.graphical_block_ucl,
        beliefs,
        both_ways,
        start,
        ties,
        prior["credibility_power"],
    )
    agree(ours, theirs, cost, start=start)


@TRY
@given(problem=problems())
def test_block_ucl_is_graphical_block_ucl_on_the_complete_graph(problem):
    task, cost, prior, horizon, seed = problem
    complete = [(i, j) for i in range(task.n_arms) for j in range(i)]
    agent = xl.agents.block_ucl(**prior)
    # Costs are nothing to this, but games with them were compiled above.
    tasks = (xl.tasks.with_costs(each, cost) for each in (task, xl.tasks.on_graph(task, complete, start=0)))
    anywhere, on_graph = (run(agent, each, horizon, seed) for each in tasks)
    np.testing.assert_array_equal(anywhere.choice, on_graph.choice)


# Correlated beliefs ---------------------------------------------------------------------------------------------------


def random_covariance(n, rank, seed):
    root = np.random.default_rng(seed).normal(size=(n, rank))
    return root @ root.T


def x_only(size=10):
    """The prior on a grid that depends on x alone: rank 10 of 100, every row of squares known together."""
    x = np.repeat(np.arange(size), size)
    return 100 * np.exp(-np.abs(x[:, None] - x[None]) / 3.0)


def learner_forms():
    """The same learner twice: by rows and covariance, and by square root."""
    return {"covariance": correlated.correlated(None), "square-root": correlated.square_root(None)}


def with_learner(agent, learner):
    rule = factors.Rule(learner, agent.rule.limit, agent.rule.choice, agent.rule.commitment)
    return factors.Agent(agent.name, rule, agent.params, agent.given)


@pytest.mark.parametrize("form", ["square-root", *slow("covariance")])
@TRY
@given(problem=problems([(5, 40)]), rank=st.integers(1, 5))
def test_both_forms_of_the_correlated_learner_play_naive_conditioning(form, problem, rank):
    task, cost, prior, horizon, seed = problem
    task = xl.tasks.with_costs(task, cost)
    cov = random_covariance(task.n_arms, rank, seed)
    noise_var, mean = prior["noise_var"], np.arange(5.0) + prior["prior_mean"]
    agent = xl.agents.deterministic_ucl(prior_mean=mean, prior_cov=cov, noise_var=noise_var)
    agent = with_learner(agent, learner_forms()[form])
    beliefs = reference.conditioned(mean, cov, noise_var)
    agree(run(agent, task, horizon, seed), play(task, horizon, seed, reference.deterministic_ucl, beliefs), cost)


@pytest.mark.parametrize("form", ["covariance", *slow("square-root")])
def test_a_prior_that_depends_on_x_alone_plays_naive_conditioning(form):
    task, horizon, seed = xl.tasks.landscape("B", 10.0), 60, 3
    mean = 30 + 0.01 * np.arange(100)  # or squares of one row would tie for ever, and rounding would decide
    agent = xl.agents.deterministic_ucl(prior_mean=mean, prior_cov=x_only())
    agent = with_learner(agent, learner_forms()[form])
    beliefs = reference.conditioned(mean, x_only(), 10.0)
    agree(run(agent, task, horizon, seed), play(task, horizon, seed, reference.deterministic_ucl, beliefs))


def test_covariance_and_square_root_agree_over_a_long_horizon():
    task = xl.tasks.with_noise(xl.tasks.line(np.sin(np.arange(12.0))), 1.0)
    cov = reference.kernel_covariance(task.places, 4.0, 3.0)
    agent = xl.agents.stochastic_ucl(prior_mean=np.linspace(0, 1, 12), prior_cov=cov, temperature=0.3)
    played = [run(with_learner(agent, form), task, 240, 8) for form in learner_forms().values()]
    np.testing.assert_array_equal(played[0].choice, played[1].choice)


@pytest.mark.parametrize("length_scale", [4.0, *slow(0.5)])
def test_correlated_stochastic_ucl_on_a_grid_plays_naive_conditioning(length_scale):
    task, horizon, seed = xl.tasks.grid(np.arange(12.0).reshape(3, 4) % 5, 2.0), 70, 5
    agent = xl.agents.stochastic_ucl(prior_mean=3.0, prior_var=9.0, length_scale=length_scale, temperature=0.7)
    beliefs = reference.conditioned(3.0, reference.kernel_covariance(task.places, 9.0, length_scale), 2.0)
    theirs = play(task, horizon, seed, reference.stochastic_ucl, beliefs, "constant", 0.7)
    agree(run(agent, task, horizon, seed), theirs)


@pytest.mark.quick
def test_correlated_block_ucl_on_a_weighted_graph_plays_naive_conditioning():
    edges = {(0, 1): 1.0, (1, 2): 2.0, (2, 3): 0.5, (3, 0): 4.0, (1, 3): 1.5, (4, 0): 1.0, (3, 4): 1.0}
    task = xl.tasks.on_graph(
        xl.tasks.line([1.0, 3, 2, 5, 4], 2.0), [(*pair, w) for pair, w in edges.items()], directed=True, start=2
    )
    mean = np.array([2.0, 2.1, 2.2, 2.3, 2.4])
    agent = xl.agents.block_ucl(prior_mean=mean, prior_var=9.0, length_scale=2.0)
    beliefs = reference.conditioned(mean, reference.kernel_covariance(task.places, 9.0, 2.0), 2.0)
    ours = run(agent, xl.tasks.with_costs(task, "edges"), 100, 6)
    theirs = play(task, 100, 6, reference.graphical_block_ucl, beliefs, edges, 2)
    lengths = [[edges.get((i, j), 0.0) for j in range(5)] for i in range(5)]
    agree(ours, theirs, lengths, start=2)


@pytest.mark.parametrize(
    "prior", [{"prior_cov": 4.0 * np.eye(10)}, *slow({"length_scale": 1e-3, "prior_var": 4.0})], ids=str
)
def test_a_correlated_learner_without_correlation_is_the_independent_one(prior):
    task = xl.tasks.profile("B", 4.0)
    agents = [xl.agents.stochastic_ucl(prior_mean=30.0, **p) for p in ({"prior_var": 4.0}, prior)]
    plain, correlated_too = (run(agent, task, 80, 2) for agent in agents)
    np.testing.assert_array_equal(plain.choice, correlated_too.choice)


# The parts of the reference itself ------------------------------------------------------------------------------------


@pytest.mark.quick
def test_the_blocks_of_the_reference_cover_each_frame_exactly():
    blocks = list(reference.frame_blocks(2**9 - 1))
    assert [sum(length for k, length in blocks if k == frame) for frame in range(1, 10)] == [2**k for k in range(9)]

"""What a user gets wrong is answered by one clear sentence, never by a traceback from deeper down."""

import math

import networkx as nx
import numpy as np
import pytest

import explorelab as xl

pytestmark = pytest.mark.quick

TWO = xl.tasks.bandit([0.0, 1.0])
FOUR = xl.tasks.line([0.0, 1.0, 2.0, 3.0])


def simulate(agent=None, task=TWO, horizon=5, replicates=4, seed=0, **more):
    return xl.simulate(xl.agents.ucb1() if agent is None else agent, task, horizon, replicates, seed, **more)


def directed(*edges):
    graph = nx.DiGraph()
    graph.add_nodes_from(["hall", "shed"])
    graph.add_edges_from(edges)
    return graph


AGENTS = {
    "K too small": (
        lambda: xl.agents.deterministic_ucl(credibility_scale=1.0),
        "credibility_scale (K)",
        "at least 2",
        "got 1",
    ),
    "a not positive": (lambda: xl.agents.block_ucl(credibility_power=0), "credibility_power (a)", "above 0", "got 0"),
    "negative prior variance": (lambda: xl.agents.deterministic_ucl(prior_var=-1.0), "prior_var", "at least 0", "got -1"),
    "negative variance of one arm": (lambda: xl.agents.deterministic_ucl(prior_var=[1.0, -2.0]), "prior_var", "got -2"),
    "noise variance of zero": (lambda: xl.agents.stochastic_ucl(noise_var=0.0), "noise_var", "above 0", "got 0"),
    "NaN prior mean": (lambda: xl.agents.deterministic_ucl(prior_mean=[0.0, math.nan]), "prior_mean", "NaN", "index [1]"),
    "infinite prior mean": (lambda: xl.agents.deterministic_ucl(prior_mean=math.inf), "prior_mean", "finite"),
    "not a number": (lambda: xl.agents.deterministic_ucl(prior_mean="high"), "prior_mean", "number", "'high'"),
    "negative temperature": (lambda: xl.agents.stochastic_ucl(temperature=-1), "temperature", "at least 0", "got -1"),
    "temperature for each arm": (
        lambda: xl.agents.stochastic_ucl(temperature=[1.0, 2.0]),
        "temperature",
        "one number",
        "sweep",
    ),
    "K for each arm": (lambda: xl.agents.block_ucl(credibility_scale=[3.0, 4.0]), "credibility_scale (K)", "one number"),
    "range for each arm": (lambda: xl.agents.ucb1(reward_range=[1.0, 2.0]), "reward_range", "one number"),
    "several length scales": (
        lambda: xl.agents.deterministic_ucl(length_scale=[1, 2]),
        "length_scale",
        "one number",
        "sweep",
    ),
    "several discounts": (lambda: xl.agents.gittins(discount=[0.9, 0.99]), "discount", "one number"),
    "temperature that cools": (lambda: xl.agents.stochastic_ucl(temperature=1.0, cooling="log"), "temperature", "cooling"),
    "temperature that cools, softmax": (
        lambda: xl.agents.boltzmann(temperature=1.0, cooling="log"),
        "temperature",
        "cooling",
    ),
    "rate that does not cool": (lambda: xl.agents.boltzmann(cooling_rate=2.0), "cooling_rate", "cooling"),
    "unknown cooling": (lambda: xl.agents.stochastic_ucl(cooling="logarithm"), "cooling", "logarithm", "'log'"),
    "unknown tie rule": (lambda: xl.agents.block_ucl(ties="randon"), "tie rule", "randon", "'random'"),
    "unknown kernel": (lambda: xl.agents.deterministic_ucl(kernel="expo"), "kernel", "expo", "'exponential'"),
    "kernel that is no name": (lambda: xl.agents.deterministic_ucl(kernel=["exponential"]), "kernel", "exponential"),
    "unknown commitment": (lambda: xl.agents.stochastic_ucl(commitment="frame"), "commitment", "'frames'"),
    "unknown parameter": (lambda: xl.agents.deterministic_ucl(prior_variance=1.0), "prior_variance", "'prior_var'"),
    "not symmetric": (
        lambda: xl.agents.block_ucl(prior_cov=[[1.0, 0.5], [0.2, 1.0]]),
        "prior_cov",
        "symmetric",
        "0.5",
        "0.2",
    ),
    "not positive semidefinite": (lambda: xl.agents.block_ucl(prior_cov=[[1, 2], [2, 1]]), "positive semidefinite", "-1"),
    "not square": (lambda: xl.agents.block_ucl(prior_cov=np.ones((2, 3))), "prior_cov", "square", "(2, 3)"),
    "empty covariance": (lambda: xl.agents.block_ucl(prior_cov=np.zeros((0, 0))), "prior_cov", "square", "(0, 0)"),
    "two correlations": (lambda: xl.agents.block_ucl(prior_cov=np.eye(2), length_scale=1.0), "prior_cov", "length_scale"),
    "correlated and uninformative": (lambda: xl.agents.block_ucl(length_scale=1.0), "length_scale", "prior_var", "finite"),
    "correlated, variance of many arms": (
        lambda: xl.agents.block_ucl(length_scale=1.0, prior_var=np.ones(50)),
        "length_scale",
        "one finite prior_var",
    ),
    "epsilon above one": (lambda: xl.agents.epsilon_greedy(epsilon=1.5), "epsilon", "at most 1", "1.5"),
    "alpha of one": (lambda: xl.agents.ucb2(alpha=1.0), "alpha", "below 1"),
    "discount of one": (lambda: xl.agents.gittins(discount=1.0), "discount", "below 1"),
}

TASKS = {
    "NaN mean": (lambda: xl.tasks.bandit([0.0, math.nan]), "means", "NaN", "index [1]"),
    "infinite mean among many": (
        lambda: xl.tasks.bandit(np.r_[np.zeros(99), np.inf]),
        "means",
        "finite",
        "inf",
        "index [99]",
    ),
    "means that are words": (lambda: xl.tasks.bandit(["some"] * 99), "means", "number", "'some'"),
    "no arms": (lambda: xl.tasks.bandit([]), "means", "got []"),
    "a grid of one dimension": (lambda: xl.tasks.grid([1.0, 2.0]), "grid", "two dimensions", "shape (2,)"),
    "a ragged grid": (lambda: xl.tasks.grid([[1.0, 2.0], [3.0]]), "means", "numbers"),
    "negative noise variance": (lambda: xl.tasks.bandit([0.0, 1.0], -1.0), "noise_var", "at least 0", "got -1"),
    "noise for each arm": (lambda: xl.tasks.bandit([0.0, 1.0], [1.0, 2.0]), "noise_var", "must be a number"),
    "noise of no whole number": (lambda: xl.tasks.integer_noise(2.5), "largest", "whole number", "2.5"),
    "unknown landscape": (lambda: xl.tasks.landscape("trainig"), "landscape", "trainig", "'training'"),
    "landscape far from any": (lambda: xl.tasks.landscape("Z"), "landscape", "A, B, training"),
    "landscape that is no name": (lambda: xl.tasks.landscape(["B"]), "name must be text"),
    "profile of the training peak": (lambda: xl.tasks.profile("training"), "landscape profile", "training"),
    "negative cost": (lambda: xl.tasks.with_costs(TWO, [[0.0, -2.0], [1.0, 0.0]]), "costs", "-2", "from arm 0 to arm 1"),
    "cost of staying": (lambda: xl.tasks.with_costs(TWO, [[1.0, 2.0], [1.0, 0.0]]), "costs", "staying", "arm 0"),
    "costs of wrong size": (lambda: xl.tasks.with_costs(TWO, np.zeros((3, 3))), "costs", "2 x 2", "(3, 3)"),
    "unknown costs": (lambda: xl.tasks.with_costs(FOUR, "distances"), "distances", "'distance'"),
    "unknown kind of cost": (lambda: xl.tasks.with_costs(FOUR, kind="exponental"), "kind of cost", "'exponential'"),
    "distance without places": (lambda: xl.tasks.with_costs(TWO, "distance"), "bandit", "places"),
    "edges without a graph": (lambda: xl.tasks.with_costs(FOUR, "edges"), "edges", "on_graph"),
    "negative scale": (lambda: xl.tasks.with_costs(FOUR, scale=-1.0), "scale", "at least 0"),
}

GRAPHS = {
    "unreachable arms": (lambda: xl.tasks.on_graph(FOUR, [(0, 1), (2, 3)]), "reachable", "from 0 to 2"),
    "unreachable nodes": (lambda: xl.tasks.on_graph(TWO, directed(("hall", "shed"))), "reachable", "'shed' to 'hall'"),
    "one-way matrix": (lambda: xl.tasks.on_graph(TWO, np.array([[0.0, 1.0], [0.0, 0.0]])), "reachable", "from 1 to 0"),
    "too few nodes": (lambda: xl.tasks.on_graph(FOUR, directed(("hall", "shed"))), "4 arms", "2 nodes"),
    "matrix of wrong size": (lambda: xl.tasks.on_graph(TWO, np.ones((3, 3))), "2 x 2", "(3, 3)"),
    "arm out of range": (lambda: xl.tasks.on_graph(TWO, [(0, 2)]), "0 to 1", "(0, 2)"),
    "edge of no length": (lambda: xl.tasks.on_graph(TWO, [(0, 1, 0.0)]), "length", "positive", "(0, 1)"),
    "edge of negative length": (lambda: xl.tasks.on_graph(TWO, [(0, 1, -1.0)]), "length", "positive", "-1.0"),
    "length that is no number": (lambda: xl.tasks.on_graph(TWO, [(0, 1, "far")]), "length", "'far'"),
    "edge of four": (lambda: xl.tasks.on_graph(TWO, [(0, 1, 1.0, 2.0)]), "an edge must be", "(0, 1, 1.0, 2.0)"),
    "edge that is a number": (lambda: xl.tasks.on_graph(TWO, [1, 0]), "an edge must be", "got 1"),
    "no graph at all": (lambda: xl.tasks.on_graph(TWO, 5), "graph", "networkx", "int"),
    "unknown graph": (lambda: xl.tasks.on_graph(FOUR, "neighbors"), "graph", "'neighbours'"),
    "neighbours without places": (lambda: xl.tasks.on_graph(TWO), "neighbours", "places"),
    "start out of range": (lambda: xl.tasks.on_graph(FOUR, start=4), "start", "0 to 3", "got 4"),
    "negative start": (lambda: xl.tasks.on_graph(FOUR, start=-1), "start", "at least 0", "-1"),
}

RUNS = {
    "horizon of zero": (lambda: simulate(horizon=0), "horizon", "at least 1", "got 0"),
    "horizon of half a step": (lambda: simulate(horizon=1.5), "horizon", "whole number", "1.5"),
    "horizon too long to count": (lambda: simulate(horizon=2**31), "horizon", "2 147 483 647"),
    "horizon too long for single precision": (
        lambda: simulate(horizon=2**24 + 1, precision="single"),
        "horizon",
        "16777216",
        "double",
    ),
    "no replicates": (lambda: simulate(replicates=0), "replicates", "at least 1", "got 0"),
    "seed that is no number": (lambda: simulate(seed="lucky"), "seed", "whole number", "'lucky'"),
    "seed of no whole number": (lambda: simulate(seed=0.5), "seed", "whole number", "0.5"),
    "no seed": (lambda: simulate(seed=None), "seed", "whole number", "None"),
    "negative seed": (lambda: simulate(seed=-1), "seed", "at least 0", "-1"),
    "unknown agent": (lambda: simulate(agent="ucb1x"), "agent", "ucb1x", "ucb1"),
    "agent by number": (lambda: simulate(agent=1), "agent", "1"),
    "agent not built": (lambda: simulate(agent=xl.agents.ucb1), "agent", "function"),
    "task by name": (lambda: simulate(task="B"), "task", "str"),
    "unknown keep": (lambda: simulate(keep="trajectory"), "keep", "'trajectories'"),
    "unknown visits": (lambda: simulate(visits="time"), "visits", "'times'"),
    "unknown precision": (lambda: simulate(precision="doubel"), "precision", "'double'"),
    "unknown device": (lambda: simulate(device="tpu9"), "device", "cpu", "'tpu9'"),
    "device by number": (lambda: simulate(device=0), "device", "0"),
    "too little memory": (lambda: simulate(memory=1000), "memory", "1048576", "1000"),
    "times beyond the horizon": (lambda: simulate(times=[1, 6]), "times", "horizon", "[1, 6]"),
    "no times": (lambda: simulate(times=[]), "times", "[]"),
    "time of zero": (lambda: simulate(times=[0]), "times", "at least 1", "got 0"),
    "one time, not a list": (lambda: simulate(times=5), "times", "5"),
    "times of a trajectory": (lambda: simulate(times=[1], keep="trajectories"), "trajectory", "times"),
    "trajectories over memory": (
        lambda: simulate(horizon=10_000, replicates=100_000, keep="trajectories"),
        "GiB",
        "memory",
    ),
    "length scale without places": (
        lambda: simulate(xl.agents.deterministic_ucl(prior_var=1.0, length_scale=1.0)),
        "length scale",
        "places",
    ),
    "prior mean of wrong length": (
        lambda: simulate(xl.agents.mean_greedy(prior_mean=[0.0] * 3)),
        "prior_mean",
        "2 arms",
        "(3,)",
    ),
    "prior variance of wrong length": (
        lambda: simulate(xl.agents.mean_greedy(prior_var=[1.0] * 3)),
        "prior_var",
        "2 arms",
        "(3,)",
    ),
    "covariance of wrong size": (
        lambda: simulate(xl.agents.block_ucl(prior_cov=np.eye(3))),
        "prior_cov",
        "2 arms",
        "(3, 3)",
    ),
    "no noise to learn from": (
        lambda: simulate(xl.agents.block_ucl(), task=xl.tasks.bandit([0.0, 1.0], 0.0)),
        "noise_var",
        "above 0",
    ),
    "horizon too short for the rule": (
        lambda: simulate(xl.agents.bayes_ucb(), horizon=2),
        "bayes-ucb",
        "at least 3",
        "got 2",
    ),
    "sweep of an unknown parameter": (lambda: simulate(sweep={"range": [1.0]}), "range", "'reward_range'"),
    "sweep of a bad value": (lambda: simulate(sweep={"reward_range": [1.0, -1.0]}), "reward_range", "above 0", "-1"),
    "sweep of no values": (lambda: simulate(sweep={"reward_range": []}), "sweep", "reward_range"),
    "sweep of one number": (lambda: simulate(sweep={"reward_range": 2.0}), "sweep", "reward_range", "2.0"),
    "sweep that is a list": (lambda: simulate(sweep=["reward_range"]), "sweep"),
}

EVERYTHING = {**AGENTS, **TASKS, **GRAPHS, **RUNS}


def message_of(mistake):
    with pytest.raises(xl.InputError) as caught:
        mistake()
    return str(caught.value)


@pytest.mark.parametrize("case", EVERYTHING)
def test_a_mistake_is_answered_with_what_was_expected_and_what_came(case):
    mistake, *words = EVERYTHING[case]
    message = message_of(mistake)
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize("case", EVERYTHING)
def test_a_mistake_is_answered_in_one_line(case):
    message = message_of(EVERYTHING[case][0])
    assert "\n" not in message
    assert message[-1] in ".?"


def test_an_input_error_is_a_value_error_and_an_error_of_the_package():
    assert issubclass(xl.InputError, ValueError)
    assert issubclass(xl.InputError, xl.ExplorelabError)


def test_a_rule_that_assumes_no_noise_plays_a_task_without_any():
    """UCB1 has no noise variance to be told."""
    assert np.isfinite(simulate(xl.agents.ucb1(), task=xl.tasks.bandit([0.0, 1.0], 0.0)).regret_mean).all()

"""Shortest paths: as long as they should be, the lowest-numbered arm first, and walks that end whatever the lengths."""

from __future__ import annotations

import itertools
import math

import networkx as nx
import numpy as np
import pytest

import explorelab as xl
from explorelab.errors import InputError
from explorelab.tasks.graphs import Moves, moves

pytestmark = pytest.mark.quick

TINY, HUGE = 1e-300, 1e300


def connected(seed: int, n_arms: int, lengths: np.ndarray, directed: bool) -> nx.Graph:
    """A random graph in which every arm can be reached: a ring and some chords, their lengths drawn from those given."""
    rng = np.random.default_rng(seed)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(n_arms))
    ring = [(i, (i + 1) % n_arms) for i in range(n_arms)]
    chords = [tuple(rng.choice(n_arms, 2, replace=False).tolist()) for _ in range(n_arms)]
    graph.add_weighted_edges_from([(a, b, float(rng.choice(lengths))) for a, b in ring + chords])
    return graph


def walk(on: Moves, start: int, goal: int) -> list[int]:
    """The arms from start to goal, hop by hop; an error where more hops are made than there are arms."""
    path = [start]
    while path[-1] != goal:
        path.append(int(on.next_hop[path[-1], goal]))
        assert len(path) <= len(on.next_hop), f"the walk from {start} to {goal} does not end: {path}"
    return path


def length_of(on: Moves, path: list[int]) -> float:
    return sum(float(on.length[a, b]) for a, b in itertools.pairwise(path))


LENGTHS = {
    "one": np.ones(1),
    "small whole numbers": np.arange(1.0, 4.0),
    "decimals": np.array([0.1, 0.2, 0.3, 0.7]),
    "any": np.random.default_rng(0).uniform(0.5, 2, 50),
    "far apart": np.geomspace(TINY, HUGE, 25),
    "a rounding error apart": 1 + np.finfo(float).eps * np.arange(8),
    "absorbed": np.array([1e-20, 1e-13, 1e-12, 1.0]),
}


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", LENGTHS)
def test_walks_end_and_are_as_short_as_they_can_be(kind, directed):
    for seed in range(5):
        graph = connected(seed, 12, LENGTHS[kind], directed)
        on = moves(graph, 12)
        shortest = dict(nx.all_pairs_dijkstra_path_length(graph))
        for start in range(12):
            for goal in range(12):
                assert length_of(on, walk(on, start, goal)) == pytest.approx(shortest[start][goal], rel=1e-10, abs=0)


@pytest.mark.parametrize("kind", ["one", "small whole numbers", "decimals"])
def test_of_several_shortest_paths_the_one_through_the_lowest_numbered_arm_is_walked(kind):
    for seed in range(5):
        graph = connected(seed, 12, LENGTHS[kind], directed=True)
        on, shortest = moves(graph, 12), dict(nx.all_pairs_dijkstra_path_length(graph))
        for start in range(12):
            for goal in set(range(12)) - {start}:
                on_path = [
                    arm
                    for arm in graph[start]
                    if math.isclose(graph[start][arm]["weight"] + shortest[arm][goal], shortest[start][goal])
                ]
                assert on.next_hop[start, goal] == min(on_path)


@pytest.mark.parametrize("small", [1e-11, 1e-13, 1e-17, 1e-40, TINY, 5e-324])
def test_bounds_end_when_one_edge_is_very_much_shorter_than_another(small):
    task = xl.tasks.on_graph(xl.tasks.bandit([0, 1, 2.0]), [(0, 1, small), (0, 2, 1.0)])
    assert walk(task.moves, 1, 2) == [1, 0, 2]
    table = xl.regret_bounds(xl.agents.block_ucl(credibility_power=2), task, 100)
    assert np.isfinite(table.corrected_regret[-1])


@pytest.mark.parametrize("longest", [1e300, 1e308, np.finfo(float).max])
def test_lengths_that_add_up_to_more_than_a_float_holds_are_no_gap_in_the_graph(longest):
    on = moves([(i, i + 1, longest) for i in range(9)], 10)
    assert walk(on, 0, 9) == list(range(10))


@pytest.mark.parametrize("length", [0.0, -1.0, math.inf, math.nan, "long", None])
def test_a_length_that_is_none_is_an_error(length):
    with pytest.raises(InputError, match="length of an edge must be positive and finite"):
        moves([(0, 1, length)], 2)


def test_a_graph_in_pieces_is_an_error_that_names_two_arms():
    with pytest.raises(InputError, match="no path from 0 to 2"):
        moves([(0, 1), (2, 3)], 4)


def test_a_graph_of_one_way_streets_is_an_error_that_names_the_way_that_is_missing():
    with pytest.raises(InputError, match="no path from 1 to 0"):
        moves([(0, 1)], 2, directed=True)

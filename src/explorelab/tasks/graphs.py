"""Graphs of allowed moves: from the user's graph to a table of next steps along shortest paths."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from explorelab._support.checks import Unchecked
from explorelab._support.counted import counted, each_of
from explorelab.errors import InputError

if TYPE_CHECKING:
    import networkx

type Graph = str | np.ndarray | sparse.sparray | networkx.Graph | Iterable[Sequence[float]]
"""A graph of moves: "neighbours", a matrix of lengths, a networkx graph, or edges (from, to) or (from, to, length)."""


class Moves(NamedTuple):
    """Allowed moves on a graph, with shortest paths."""

    next_hop: np.ndarray
    """`next_hop[i, j]`: the arm to go to from i on the way to j (j = i: stay). Ties go to the lowest-numbered arm."""
    length: np.ndarray
    """`length[i, k]`: length of the edge from i to k; 0 for staying, inf where there is no edge."""
    weighted: bool
    """Whether any edge has a length other than 1."""

    @property
    def allowed(self) -> np.ndarray:
        """from arm x to arm, bool: which arms may follow which in one move, staying included."""
        return np.isfinite(self.length)


def moves(graph: Graph, n_arms: int, directed: bool | None = None) -> Moves:
    """Shortest-path moves on a graph given as networkx graph, edge list (with or without lengths) or square matrix.

    Staying put is always allowed. `directed=None` means: as networkx says; edge lists are undirected; matrices directed.
    """
    lengths, labels = _edge_lengths(graph, n_arms, directed)
    # Shortest paths to each goal are shortest paths from it with every edge reversed.
    distance, ahead = csgraph.dijkstra(_addable(lengths).T.tocsr(), return_predecessors=True)
    unreachable = (ahead < 0) & ~np.eye(n_arms, dtype=bool)
    if unreachable.any():
        i, j = np.argwhere(unreachable.T)[0]
        raise InputError(
            f"every arm must be reachable from every other, but the graph has no path from {labels[i]!r} to {labels[j]!r}."
        )
    return Moves(_next_hops(_addable(lengths), distance.T, ahead.T), _dense(lengths), bool((lengths.data != 1).any()))


def _edge_lengths(graph: Unchecked, n_arms: int, directed: bool | None) -> tuple[sparse.csr_array, list[Hashable]]:
    labels: list[Hashable] = list(range(n_arms))
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        nodes = list(graph.nodes)
        if set(nodes) != set(labels):
            labels = nodes
        if len(nodes) != n_arms:
            raise InputError(f"the graph must have a node for {each_of(n_arms, 'arm')}, got {counted(len(nodes), 'node')}.")
        number = {label: arm for arm, label in enumerate(labels)}
        edges = [(number[a], number[b], w) for a, b, w in graph.edges(data="weight", default=1.0)]
        return _from_edges(edges, n_arms, graph.is_directed() if directed is None else directed), labels
    if sparse.issparse(graph) or isinstance(graph, np.ndarray):
        matrix = sparse.coo_array(graph)
        if matrix.shape != (n_arms, n_arms):
            raise InputError(f"the graph's matrix must be {n_arms} x {n_arms}, one row for each arm, got {matrix.shape}.")
        edges = list(zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True))
        return _from_edges(edges, n_arms, True if directed is None else directed), labels
    if isinstance(graph, Iterable) and not isinstance(graph, str | bytes):
        return _from_edges(list(graph), n_arms, bool(directed)), labels
    raise InputError(f"a graph must be a networkx graph, a list of edges or a square matrix, got {type(graph).__name__}.")


def _from_edges(edges: list[Unchecked], n_arms: int, directed: bool) -> sparse.csr_array:
    starts, ends, lengths = [], [], []
    for edge in edges:
        if not isinstance(edge, tuple | list | np.ndarray) or len(edge) not in (2, 3):
            raise InputError(f"an edge must be (from, to) or (from, to, length), got {edge!r}.")
        a, b, length = (*edge, 1.0) if len(edge) == 2 else edge
        for arm in (a, b):
            if not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
                raise InputError(f"an edge must join arms 0 to {n_arms - 1}, got {edge!r}.")
        if not isinstance(length, int | float | np.integer | np.floating) or not (np.isfinite(length) and length > 0):
            raise InputError(f"the length of an edge must be positive and finite, got {length!r} for {(a, b)!r}.")
        if a != b:  # staying is always allowed and free
            starts += [a] if directed else [a, b]
            ends += [b] if directed else [b, a]
            lengths += [float(length)] if directed else [float(length)] * 2
    shortest: dict[tuple[int, int], float] = {}
    for a, b, length in zip(starts, ends, lengths, strict=True):
        shortest[a, b] = min(length, shortest.get((a, b), np.inf))
    pairs = np.array(list(shortest), dtype=np.int64).reshape(-1, 2)
    return sparse.csr_array((list(shortest.values()), (pairs[:, 0], pairs[:, 1])), shape=(n_arms, n_arms), dtype=float)


def _dense(lengths: sparse.csr_array) -> np.ndarray:
    dense = np.full(lengths.shape, np.inf)
    coo = lengths.tocoo()
    dense[coo.row, coo.col] = coo.data
    np.fill_diagonal(dense, 0.0)
    return dense


def _addable(lengths: sparse.csr_array) -> sparse.csr_array:
    """The lengths, divided by a power of two if a path through all arms would otherwise overflow."""
    longest, n_arms = lengths.data.max(initial=1.0), lengths.shape[0]
    return lengths if longest < np.finfo(float).max / n_arms / 2 else lengths * 2.0 ** -(n_arms.bit_length() + 1)


def _next_hops(lengths: sparse.csr_array, distance: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """For each pair the lowest-numbered neighbour that lies on a shortest path, so that paths do not depend on a library.

    Lengths that differ only by rounding tie. So a neighbour must also be nearer to the goal, or as near in fewer edges of
    the paths found (`ahead`): every step then makes progress, and walks end whatever the lengths.
    """
    n_arms, n_edges = distance.shape[0], _n_edges(ahead)
    hops = np.empty((n_arms, n_arms), dtype=np.int32)
    for i in range(n_arms):
        neighbours = np.sort(lengths.indices[lengths.indptr[i] : lengths.indptr[i + 1]])
        via = np.asarray(lengths[[i], :].todense())[0, neighbours][:, None] + distance[neighbours]
        nearer = distance[neighbours] < distance[i]
        nearer |= (distance[neighbours] == distance[i]) & (n_edges[neighbours] < n_edges[i])
        on_path = nearer & (via <= distance[i] * (1 + 1e-12))
        hops[i] = neighbours[on_path.argmax(0)] if len(neighbours) else i
        hops[i, i] = i
    return hops


def _n_edges(ahead: np.ndarray) -> np.ndarray:
    """How many edges the path from each arm to each goal has, by following it in steps of 1, 2, 4, ..."""
    n_arms = len(ahead)
    goal = np.arange(n_arms)
    step = np.where(ahead < 0, goal, ahead)
    n_edges = (step != goal[:, None]).astype(np.int64)
    for _ in range(n_arms.bit_length()):
        n_edges = n_edges + np.take_along_axis(n_edges, step, axis=0)
        step = np.take_along_axis(step, step, axis=0)
    return n_edges

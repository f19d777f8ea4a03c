"""Boards: how the arms of a block lie on the screen, and which are next to which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from explorelab.tasks import grid, on_graph
from explorelab.tasks.graphs import Moves

type Dynamic = Literal["standard", "neighbour", "travel"]
type Layout = Literal["grid", "buttons", "line", "graph"]

DYNAMICS: tuple[Dynamic, ...] = ("standard", "neighbour", "travel")
"""standard: any arm. neighbour: the current arm and those next to it. travel: any arm is a goal, the dot walks.

The paper names three dynamics and describes the first; the others are ours, from its graphical and transition-cost bandits.
"""
LAYOUTS: tuple[Layout, ...] = ("grid", "buttons", "line", "graph")


class ArmLook(NamedTuple):
    """What people see of an arm that is no square of a grid."""

    label: str = ""
    colour: str = ""
    """A CSS colour; empty for the usual one."""
    picture: str = ""
    """A file in the study's folder; empty for none."""


@dataclass(frozen=True, eq=False)
class Board:
    """The arms on the screen."""

    layout: Layout
    n_arms: int
    width: int = 0
    """Of a grid and, with a height of 1, of a line: arm number = x * height + y."""
    height: int = 0
    arms: tuple[ArmLook, ...] = ()
    """One for each arm, except on a grid."""
    places: tuple[tuple[float, float], ...] = ()
    """Of a graph: where each arm is drawn, from 0 to 1, from left to right and from top to bottom."""
    graph: Moves | None = None
    """The moves of a graph; those of grids and lines follow from their sides."""

    @property
    def has_neighbours(self) -> bool:
        """Whether arms are next to each other, so that one can walk from one to another."""
        return self.graph is not None or self.width > 0

    @cached_property
    def moves(self) -> Moves:
        """Shortest walks between arms: along the edges of a graph, or the sides (not the corners) of squares."""
        if self.graph is not None:
            return self.graph
        moves = on_graph(grid(np.zeros((self.width, self.height)))).moves
        assert moves is not None
        return moves

    @cached_property
    def directed(self) -> bool:
        """Whether some edge of a graph leads one way only."""
        return self.graph is not None and not np.array_equal(self.graph.allowed, self.graph.allowed.T)

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The pairs of arms of a graph that an edge joins, each once; if it is directed, once for each way it leads."""
        if self.graph is None:
            return ()
        there = self.graph.allowed
        pairs = np.argwhere(there & ~np.eye(self.n_arms, dtype=bool)).tolist()
        return tuple((a, b) for a, b in pairs if self.directed or a < b)

    def next_to(self, arm: int) -> tuple[int, ...]:
        """The arm and those that can be reached from it in one step."""
        if self.graph is not None:
            return tuple(np.flatnonzero(self.graph.allowed[arm]).tolist())
        x, y = divmod(arm, self.height)
        near = [(x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        return tuple(sorted(a * self.height + b for a, b in near if 0 <= a < self.width and 0 <= b < self.height))

    def allowed(self, dynamic: Dynamic, position: int) -> tuple[int, ...] | None:
        """The arms that the dynamic lets people click; None means all."""
        return self.next_to(position) if dynamic == "neighbour" else None

    def sampled(self, dynamic: Dynamic, position: int, goal: int) -> int:
        """The arm whose reward is drawn: the goal or, under travel, the next arm on the way to it."""
        return int(self.moves.next_hop[position, goal]) if dynamic == "travel" else goal


def grid_board(width: int, height: int) -> Board:
    """The squares of a grid."""
    return Board("grid", width * height, width, height)

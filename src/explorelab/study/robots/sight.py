"""What a robot sees of a block: the arms as the page is sent them, and which of them may be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from explorelab._support.checks import Floats
from explorelab.study.config.blocks.boards import Board, Dynamic, Layout, grid_board
from explorelab.tasks.places import distances_between, grid_places, walks_between


class Sight(NamedTuple):
    """The arms of a block."""

    board: Board

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return self.board.n_arms

    @property
    def places(self) -> Floats | None:
        """The place of each arm; None where they lie nowhere in particular."""
        return grid_places(self.board.width, self.board.height) if self.board.width else None

    @property
    def ways(self) -> tuple[Floats | None, Floats | None]:
        """Distances between arms, as the crow flies and along the sides of squares."""
        places = self.places
        return (None, None) if places is None else (distances_between(places), walks_between(places))

    def allowed(self, dynamic: Dynamic, position: int, available: Sequence[int] | None) -> np.ndarray:
        """A truth value for each arm: whether it may be clicked."""
        near = available
        if near is None and self.board.has_neighbours:
            near = self.board.allowed(dynamic, position)
        return np.ones(self.n_arms, bool) if near is None else np.isin(np.arange(self.n_arms), near)


def sight_of(layout: Layout, width: int, height: int, n_arms: int) -> Sight:
    """What a robot sees of a layout with these sides (of a grid) or so many arms."""
    if layout == "grid":
        return Sight(grid_board(width, height))
    return Sight(Board(layout, n_arms, n_arms, 1) if layout == "line" else Board(layout, n_arms))

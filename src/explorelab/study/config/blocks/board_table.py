"""The settings of a block that say how its arms look and lie: layout, labels, colours, pictures, places."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from explorelab._support.checks import Unchecked, is_number
from explorelab._support.toml.toml_file import shown
from explorelab.study.config.blocks.boards import LAYOUTS, ArmLook, Board, Layout, grid_board
from explorelab.study.config.blocks.settings import Settings
from explorelab.study.session.pages.picture_files import read_picture
from explorelab.tasks import Task
from explorelab.tasks.graphs import Moves
from explorelab.tasks.places import grid_shape

MOST_LABEL = 40
MOST_ARMS = 2500
MOST_LOOKS = 50
"""More buttons than these, or arms of a graph, cannot be told apart on a screen."""
LOOKS = ("labels", "colours", "pictures")
MARGIN = 0.08
"""How far the arms of a graph stay away from the edge of the screen."""

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})|[a-z]{3,24}")


def read_board(settings: Settings, task: Task, folder: Path) -> Board:
    """The board that a block's settings and its task describe."""
    shape = grid_shape(task.places)
    layout = settings.one_of("layout", "layout", LAYOUTS, _usual_layout(task, shape))
    n = task.n_arms
    most = MOST_ARMS if layout == "grid" else MOST_LOOKS
    if not 2 <= n <= most:
        settings.problem("task", f"must have 2 to {most} arms for the layout {layout}, got {n}.")
    for key in ("places", *LOOKS):
        if key in settings.values and (layout == "grid" or (key == "places" and layout != "graph")):
            settings.problem(key, f"does not go with the layout {layout}.")
    if layout == "grid":
        if shape is None:
            settings.problem("layout", "must fit the task: a grid needs means[x][y] or grid = [width, height] there.")
        if task.moves is not None:
            settings.problem(
                "layout", "must fit the task: the squares of a grid have their sides, so leave out graph there."
            )
        return grid_board(*(shape or (n, 1)))
    if layout == "graph" and task.moves is None:
        settings.problem("layout", "must fit the task: a graph needs edges, graph = [[0, 1], [1, 2]], there.")
    arms = _looks(settings, n, folder)
    if layout == "line" and task.moves is None:
        return Board(layout, n, n, 1, arms)
    places = _places(settings, task.moves, n) if layout == "graph" else ()
    return Board(layout, n, arms=arms, places=places, graph=task.moves)


def _usual_layout(task: Task, shape: tuple[int, int] | None) -> Layout:
    if task.moves is not None:
        return "graph"
    if shape is not None:
        return "grid"
    return "line" if task.places is not None and task.places.shape[1] == 1 else "buttons"


def _looks(settings: Settings, n: int, folder: Path) -> tuple[ArmLook, ...]:
    """What people see of each arm; without labels, its number from 1."""
    labels = settings.listed("labels", "texts", n) or [str(arm + 1) for arm in range(n)]
    for label in labels:
        if not isinstance(label, str) or not label.strip() or len(label) > MOST_LABEL or not label.isprintable():
            settings.problem("labels", f"must be texts of 1 to {MOST_LABEL} characters, got {shown(label)}.")
        elif labels.count(label) > 1:
            settings.problem("labels", f"must be different for each arm, got {label!r} {labels.count(label)} times.")
    colours = settings.listed("colours", "colours", n) or [""] * n
    for colour in colours:
        if colour != "" and not (isinstance(colour, str) and _COLOUR.fullmatch(colour)):
            settings.problem("colours", f'must be names of CSS or written like "#e69f00", got {shown(colour)}.')
    pictures = settings.listed("pictures", "files", n) or [""] * n
    for picture in pictures:
        if picture != "" and (wrong := wrong_picture(picture, folder)):
            settings.problem("pictures", wrong)
    return tuple(ArmLook(str(a), str(b), str(c)) for a, b, c in zip(labels, colours, pictures, strict=True))


def wrong_picture(name: Unchecked, folder: Path) -> str:
    """What is wrong with a picture in the study folder, if anything."""
    if not isinstance(name, str):
        return f"must be names of files in quotes, got {shown(name)}."
    found = read_picture(folder, name)
    return f"must be pictures in the study folder: {name!r} {found}." if isinstance(found, str) else ""


def _places(settings: Settings, moves: Moves | None, n: int) -> tuple[tuple[float, float], ...]:
    """Where the arms of a graph are drawn: as given, or as a spring layout computes it."""
    given = settings.listed("places", "[x, y]", n)
    if given is None:
        return drawn_places(moves) if moves is not None and "places" not in settings.values else ()
    for place in given:
        if not (isinstance(place, list) and len(place) == 2 and all(is_number(each) and 0 <= each <= 1 for each in place)):
            settings.problem("places", f"must be [x, y] from 0 to 1, from the top left corner, got {shown(place)}.")
            return ()
    return tuple((float(x), float(y)) for x, y in given)


def drawn_places(moves: Moves) -> tuple[tuple[float, float], ...]:
    """Places at which distances on the screen are as near as possible to those on the graph (Kamada and Kawai)."""
    import networkx as nx

    there = moves.allowed & ~np.eye(len(moves.length), dtype=bool)
    graph = nx.from_numpy_array((there | there.T).astype(float))
    found = nx.kamada_kawai_layout(graph, weight=None)
    at = np.array([found[arm] for arm in range(len(there))])
    span = np.ptp(at, axis=0)
    inside = (at - at.min(0)) / np.where(span > 1e-9, span, 1.0)
    inside[:, span <= 1e-9] = 0.5
    return tuple((round(x, 4), round(y, 4)) for x, y in (MARGIN + (1 - 2 * MARGIN) * inside).tolist())

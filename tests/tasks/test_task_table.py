"""A [task] table means the same in a run file, beside choices and in a study; a mistake has its file and line everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import explorelab as xl
from explorelab.choices import task_file
from explorelab.simulation import run_file
from explorelab.study.config.blocks import landscapes
from explorelab.study.config.fields import Problems, read_toml
from explorelab.tasks import Task, integer_noise, with_noise
from explorelab.tasks.task_table import CHOICES_KEYS, task_keys

pytestmark = pytest.mark.quick


def in_a_run(file: Path) -> Task:
    return run_file.build_task(run_file.read_spec(file).task)


def beside_choices(file: Path) -> task_file.DataTask:
    return task_file.read_task(file)


def in_a_study(file: Path) -> Task:
    problems = Problems()
    toml = read_toml(file, problems)
    assert toml is not None
    task = landscapes.read_landscape(toml.table("landscapes", "mine"), file.parent, None)
    problems.raise_if_any()
    return task


DOORS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "run": ("task", in_a_run),
    "choices": ("task", beside_choices),
    "study": ("landscapes.mine", in_a_study),
}
"""The name of the table at each door, and who reads it there."""

RULES = {"run": run_file.DOOR, "choices": task_file.DOOR, "study": landscapes.DOOR}


def read(door: str, folder: Path, settings: str) -> Any:
    """What a door makes of a table that stands from the third line on."""
    title, reader = DOORS[door]
    file = folder / f"{door}.toml"
    file.write_text(f"# A task.\n\n[{title}]\n{settings}\n", encoding="utf-8")
    return reader(file)


def same_task(came: Task, wanted: Task) -> None:
    """Fail unless both are the same task to the last bit."""
    for part in ("means", "places"):
        np.testing.assert_array_equal(getattr(came, part), getattr(wanted, part), err_msg=part, strict=True)
    assert (came.noise, came.name, came.note, came.start) == (wanted.noise, wanted.name, wanted.note, wanted.start)
    assert (came.costs is None, came.moves is None) == (wanted.costs is None, wanted.moves is None)
    if came.costs is not None and wanted.costs is not None:
        assert came.costs.kind == wanted.costs.kind
        np.testing.assert_array_equal(came.costs.mean, wanted.costs.mean)
    if came.moves is not None and wanted.moves is not None:
        np.testing.assert_array_equal(came.moves.next_hop, wanted.moves.next_hop)
        np.testing.assert_array_equal(came.moves.length, wanted.moves.length)


def same_arms(came: task_file.DataTask, wanted: Task) -> None:
    """Fail unless choices are said to be made on the same task, as far as choices know about tasks."""
    assert came.layout is not None
    assert (came.layout.n_arms, came.layout.shape) == (wanted.n_arms, task_file.layout_of(wanted).shape)
    np.testing.assert_array_equal(came.layout.places, wanted.places)
    np.testing.assert_array_equal(came.means[""], wanted.means)
    assert came.layout.noise_var == came.noise_var == pytest.approx(wanted.noise.var, rel=1e-15)
    assert came.note == wanted.note


SQUARES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]

EVERYWHERE: dict[str, tuple[str, Callable[[], Task]]] = {
    "landscape": ('landscape = "B"', lambda: xl.tasks.landscape("B")),
    "training": ('landscape = "training"', lambda: xl.tasks.landscape("training")),
    "landscape with normal noise": ('landscape = "A"\nnoise_var = 7', lambda: xl.tasks.landscape("A", 7)),
    "profile": ('profile = "A"\nnoise_var = 4', lambda: xl.tasks.profile("A", 4)),
    "means": ("means = [0, 0.5, 1]\nnoise_var = 10", lambda: xl.tasks.bandit([0, 0.5, 1], 10)),
    "means nowhere": ('means = [0, 0.5, 1]\nlayout = "bandit"\nnoise_var = 4', lambda: xl.tasks.bandit([0, 0.5, 1], 4)),
    "means on a line": ('means = [0, 0.5, 1]\nlayout = "line"\nnoise_var = 4', lambda: xl.tasks.line([0, 0.5, 1], 4)),
    "a table of means": (f"means = {SQUARES}\nnoise_var = 4", lambda: xl.tasks.grid(SQUARES, 4)),
    "means on a grid": (f'means = {SQUARES}\nlayout = "grid"\nnoise_var = 4', lambda: xl.tasks.grid(SQUARES, 4)),
    "means over several lines": ("means = [\n  0, # first\n\n  1,\n]\nnoise_var = 4", lambda: xl.tasks.bandit([0, 1], 4)),
    "a file of means": ('means = "means.csv"\nnoise_var = 4', lambda: xl.tasks.grid(SQUARES, 4)),
    "a file of NumPy": ('means = "means.npy"\nnoise_var = 4', lambda: xl.tasks.bandit([3, 1], 4)),
    "whole-number noise": (
        "means = [0, 1]\ninteger_noise = 5",
        lambda: with_noise(xl.tasks.bandit([0, 1]), integer_noise(5)),
    ),
    "no noise": ("means = [0, 1]\nnoise_var = 0", lambda: xl.tasks.bandit([0, 1], 0)),
    "a note": ('means = [0, 1]\nnoise_var = 4\nnote = "Mine."', lambda: replace(xl.tasks.bandit([0, 1], 4), note="Mine.")),
}
"""What means the same at every door, and the task that it is."""


def files(folder: Path) -> None:
    """Files that tables name, in a folder that nobody works in."""
    (folder / "means.csv").write_text("1,2,3\n4,5,6.5\n")
    np.save(folder / "means.npy", [3.0, 1.0])
    (folder / "places.csv").write_text("arm,x,y\n1,3,4\n0,1,2\n")
    (folder / "edges.csv").write_text("0,1,1.5\n1,0,2\n")
    (folder / "costs.csv").write_text("0,1\n2,0\n")


@pytest.mark.parametrize("case", EVERYWHERE)
@pytest.mark.parametrize("door", DOORS)
def test_a_table_is_the_same_task_at_every_door(door: str, case: str, tmp_path: Path) -> None:
    files(tmp_path)
    settings, wanted = EVERYWHERE[case]
    came = read(door, tmp_path, settings)
    (same_arms if door == "choices" else same_task)(came, wanted())


PLACED: dict[str, tuple[str, Callable[[], Task]]] = {
    "a list of means on a grid": (
        "means = [1, 2, 3, 4, 5, 6.5]\ngrid = [2, 3]\nnoise_var = 4",
        lambda: xl.tasks.grid(SQUARES, 4),
    ),
    "a table of means on a grid": (f"means = {SQUARES}\ngrid = [2, 3]\nnoise_var = 4", lambda: xl.tasks.grid(SQUARES, 4)),
    "coordinates": (
        "means = [3, 1]\ncoordinates = [[1, 2], [3, 4]]\nnoise_var = 4",
        lambda: replace(xl.tasks.bandit([3, 1], 4), places=np.array([[1.0, 2.0], [3.0, 4.0]])),
    ),
    "a file of coordinates": (
        'means = [3, 1]\ncoordinates = "places.csv"\nnoise_var = 4',
        lambda: replace(xl.tasks.bandit([3, 1], 4), places=np.array([[1.0, 2.0], [3.0, 4.0]])),
    ),
    "so many arms": ("means = [3, 1]\narms = 2\nnoise_var = 4", lambda: xl.tasks.bandit([3, 1], 4)),
    "arms with names": ('means = [3, 1]\narms = ["red", "blue"]\nnoise_var = 4', lambda: xl.tasks.bandit([3, 1], 4)),
    "a name": ('means = [3, 1]\nnoise_var = 4\nname = "mine"', lambda: xl.tasks.bandit([3, 1], 4, name="mine")),
    "costs": (
        'means = [3, 1]\nlayout = "line"\nnoise_var = 4\ncosts = "distance"\ncost_kind = "uniform"\ncost_scale = 2',
        lambda: xl.tasks.with_costs(xl.tasks.line([3, 1], 4), "distance", "uniform", 2),
    ),
    "a file of costs": (
        'means = [3, 1]\nnoise_var = 4\ncosts = "costs.csv"',
        lambda: xl.tasks.with_costs(xl.tasks.bandit([3, 1], 4), [[0, 1], [2, 0]]),
    ),
}
"""What a study leaves to its grid, its table's name and its dynamics."""


@pytest.mark.parametrize("case", PLACED)
@pytest.mark.parametrize("door", ["run", "choices"])
def test_places_and_words_are_the_same_in_a_run_and_beside_choices(door: str, case: str, tmp_path: Path) -> None:
    files(tmp_path)
    settings, wanted = PLACED[case]
    came = read(door, tmp_path, settings)
    (same_arms if door == "choices" else same_task)(came, wanted())


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ('graph = "neighbours"\nstart = 1', lambda: xl.tasks.on_graph(xl.tasks.line([3, 1], 4), start=1)),
        (
            'graph = "edges.csv"\ndirected = true',
            lambda: xl.tasks.on_graph(xl.tasks.line([3, 1], 4), [(0, 1, 1.5), (1, 0, 2)], True),
        ),
        ("graph = [[0, 1]]", lambda: xl.tasks.on_graph(xl.tasks.line([3, 1], 4), [(0, 1)])),
        (
            'graph = "edges.csv"\ndirected = true\ncosts = "edges"',
            lambda: xl.tasks.with_costs(
                xl.tasks.on_graph(xl.tasks.line([3, 1], 4), [(0, 1, 1.5), (1, 0, 2)], True), "edges"
            ),
        ),
        (
            'arms = ["a", "b"]\ngraph = "neighbours"\nstart = "b"',
            lambda: xl.tasks.on_graph(xl.tasks.line([3, 1], 4), start=1),
        ),
    ],
)
def test_a_run_has_a_graph_of_moves(settings: str, wanted: Callable[[], Task], tmp_path: Path) -> None:
    files(tmp_path)
    came = read("run", tmp_path, f'means = [3, 1]\nlayout = "line"\nnoise_var = 4\n{settings}')
    same_task(came, wanted())


CHANGING: dict[str, tuple[str, Callable[[], Task]]] = {
    "restless": ("restless = 4", lambda: xl.tasks.restless(4)),
    "restless in every respect": (
        "restless = 2\ndecay = [1, 0.9]\ncentre = 5\ndiffusion_sd = 2\ntrend = 0.1\nfirst_means = [1, 2]\npath_seed = 3\n"
        "points = false\nnoise_var = 4",
        lambda: xl.tasks.restless(
            2, decay=[1, 0.9], centre=5, diffusion_sd=2, trend=0.1, first_means=[1, 2], seed=3, points=None, noise_var=4
        ),
    ),
    "levels": ("switching = [70, 30]\nhazard = 0.1", lambda: xl.tasks.switching([70, 30], 0.1)),
    "jumps": (
        "switching = 3\nhazard = 0.1\ncentre = 9\nspread = 2\ntogether = false\npath_seed = 1",
        lambda: xl.tasks.switching(n_arms=3, hazard=0.1, centre=9, spread=2, together=False, seed=1),
    ),
    "path": ("path = [[1, 2, 3], [4, 5, 6.5]]\nnoise_var = 4", lambda: xl.tasks.moving(SQUARES, 4)),
    "a file of a path": ('path = "means.csv"\nnoise_var = 4', lambda: xl.tasks.moving(SQUARES, 4)),
    "a horizon game": (
        "horizon_game = 1\nbase = 60\ndifference = -12\nseen = [1, 3]",
        lambda: xl.tasks.horizon_game(1, 60, -12, (1, 3)),
    ),
    "blocked": (
        "means = [0, 1]\nnoise_var = 4\nblocked = [[0, 2, 3]]",
        lambda: xl.tasks.with_blocked(xl.tasks.bandit([0, 1], 4), [(0, 2, 3)]),
    ),
    "forced": (
        "means = [0, 1]\nnoise_var = 4\nforced = [0, -1, 1]",
        lambda: xl.tasks.with_forced(xl.tasks.bandit([0, 1], 4), [0, -1, 1]),
    ),
    "points": (
        "means = [0, 1]\nnoise_var = 4\npoints = [-10, 10]",
        lambda: xl.tasks.with_points(xl.tasks.bandit([0, 1], 4), (-10, 10)),
    ),
}


@pytest.mark.parametrize("case", CHANGING)
def test_a_run_has_tasks_that_change(case: str, tmp_path: Path) -> None:
    files(tmp_path)
    settings, build = CHANGING[case]
    came, wanted = read("run", tmp_path, settings), build()
    same_task(came, wanted)
    for part in ("available", "forced"):
        np.testing.assert_array_equal(getattr(came, part), getattr(wanted, part), err_msg=part)
    assert (came.points, came.n_trials, came.conditions) == (wanted.points, wanted.n_trials, wanted.conditions)
    assert (came.change is None) == (wanted.change is None)
    if came.change is not None and wanted.change is not None:
        assert (came.change.kind, came.change.seed) == (wanted.change.kind, wanted.change.seed)
        assert came.change.numbers.keys() == wanted.change.numbers.keys()
        for name, number in wanted.change.numbers.items():
            np.testing.assert_array_equal(came.change.numbers[name], number, err_msg=name)


WRONG_CHANGES = {
    "decay of something fixed": ("means = [0, 1]\ndecay = 0.9 # here", "decay belongs to restless"),
    "hazard of a walk": ("restless = 4\nhazard = 0.1 # here", "hazard belongs to switching"),
    "no arms at all": ("restless = 0 # here", "at least 1, got 0"),
    "too much decay": ("restless = 4\ndecay = 2 # here", "decay must be", "got 2"),
    "centre of levels": ("switching = [1, 2]\ncentre = 3 # here", "means that are drawn"),
    "one point": ("restless = 4\npoints = [1] # here", "lowest and the highest"),
    "points that are true": ("restless = 4\npoints = true # here", "lowest and the highest"),
    "points elsewhere": ("restless = 4\npoints = [60, 100] # here", "must hold the means"),
    "blocked in words": ('restless = 4\nblocked = "0" # here', "[arm, first trial, last trial]"),
    "blocked before the first trial": ("restless = 4\nblocked = [[0, 0, 2]] # here", "at least 1, got 0"),
    "forced onto no arm": ("restless = 4\nforced = [4] # here", "at most 3, got 4"),
    "a path of one dimension": ("path = [1, 2] # here", "time and arm"),
    "a path with a gap": ("path = [[1, nan]] # here", "NaN"),
    "a path from nowhere": ('path = "nowhere.csv" # here', "cannot read"),
    "a walk and means": ("means = [1, 2] # here\nrestless = 4", "got means and restless"),
}


@pytest.mark.parametrize("case", WRONG_CHANGES)
def test_a_wrong_change_is_one_sentence_with_its_line(case: str, tmp_path: Path) -> None:
    settings, *words = WRONG_CHANGES[case]
    sentence = refused("run", tmp_path, settings)
    assert [word for word in words if word not in sentence] == [], sentence


MEANS = "means = [0, 1]"
NOISE = "noise_var = 4"

WRONG: dict[str, tuple[str, ...]] = {
    "unknown setting": (f"{MEANS}\n{NOISE}\nnois_var = 1 # here", "unknown setting", "'nois_var'", "'noise_var'"),
    "unknown landscape": ('landscape = "C" # here', "landscape 'C'", "A, B, training"),
    "landscape that is a number": ("landscape = 1 # here", "landscape must be text in quotes, got 1."),
    "unknown profile": (f'{NOISE}\nprofile = "training" # here', "profile 'training'"),
    "two sources": (f'landscape = "A" # here\n{MEANS}', "either landscape, profile", "or ", "got landscape and means."),
    "layout of a landscape": ('landscape = "A"\nlayout = "grid" # here', "layout", "a landscape has its own"),
    "unknown layout": (f'{MEANS}\n{NOISE}\nlayout = "lines" # here', "layout 'lines'", "'line'"),
    "layout that is true": (f"{MEANS}\n{NOISE}\nlayout = true # here", "layout must be text in quotes, got true."),
    "a list on a grid": (f'{NOISE}\nlayout = "grid"\nmeans = [0, 1] # here', "two dimensions", "(2,)"),
    "a table on a line": (f'{NOISE}\nlayout = "line"\nmeans = [[0, 1], [2, 3]] # here', "two dimensions", "(2, 2)"),
    "one mean": (f"{NOISE}\nmeans = 3 # here", "means must be a list of numbers", "got 3"),
    "no means": (f"{NOISE}\nmeans = [] # here", "means must be a list of numbers", "got []"),
    "means of text": (f'{NOISE}\nmeans = [\n  0,\n  "much", # here\n]', "means must be", "got 'much'"),
    "means that are true": (f"{NOISE}\nmeans = [[0, 1],\n  [2, true]] # here", "means must be", "got true"),
    "means that are NaN": (f"{NOISE}\nmeans = [0,\n\n  nan, # here\n 1]", "means must be", "got nan"),
    "infinite means": (f"{NOISE}\nmeans = [0, inf] # here", "means must be", "got inf"),
    "means beyond all measure": (f"{NOISE}\nmeans = [0, 1{'0' * 400}] # here", "means must be", "got 1000"),
    "ragged means": (f"{NOISE}\nmeans = [[0, 1],\n  [2]] # here", "a list of 2 numbers as the first is, got [2]."),
    "means of all kinds": (f"{NOISE}\nmeans = [0,\n  [2]] # here", "a number as the first is, got [2]."),
    "means from nowhere": (f'{NOISE}\nmeans = "nowhere.csv" # here', "nowhere.csv: cannot read the file"),
    "a ragged file": (f'{NOISE}\nmeans = "ragged.csv" # here', "ragged.csv, row 2: expected 2 numbers, got 1."),
    "a file of words": (f'{NOISE}\nmeans = "words.csv" # here', "words.csv: expected a table of numbers"),
    "a file with a gap": (f'{NOISE}\nmeans = "gap.csv" # here', "means must not contain NaN"),
    "negative noise": (f"{MEANS}\nnoise_var = -1 # here", "noise_var must be", "0", "got -1."),
    "noise that is text": (f'{MEANS}\nnoise_var = "4" # here', "noise_var must be a number, got '4'."),
    "noise that is true": (f"{MEANS}\nnoise_var = true # here", "noise_var must be a number, got true."),
    "noise for each arm": (f"{MEANS}\nnoise_var = [1, 2] # here", "noise_var must be a number, got [1, 2]."),
    "noise that is NaN": (f"{MEANS}\nnoise_var = nan # here", "noise_var must be a number, got nan."),
    "noise in parts": (f"{MEANS}\ninteger_noise = 2.5 # here", "integer_noise must be a whole number, got 2.5."),
    "negative whole noise": (f"{MEANS}\ninteger_noise = -5 # here", "integer_noise must be", "0", "got -5."),
    "both kinds of noise": (f"{MEANS}\ninteger_noise = 5\nnoise_var = 1 # here", "either integer_noise or noise_var"),
    "note that is no text": (f"{MEANS}\n{NOISE}\nnote = 3 # here", "note must be text in quotes, got 3."),
}
"""What is wrong at every door; the mistake stands in the line marked."""


def refused(door: str, folder: Path, settings: str) -> str:
    """What is said of the setting in the marked line; fails unless it is one sentence with that line."""
    (folder / "ragged.csv").write_text("1,2\n3\n")
    (folder / "words.csv").write_text("a,b\n")
    (folder / "gap.csv").write_text("1\nnan\n")
    with pytest.raises(xl.InputError) as caught:
        read(door, folder, settings)
    line = next(number for number, text in enumerate(settings.splitlines(), start=4) if text.endswith("# here"))
    where = f"{folder / door}.toml, line {line}: [{DOORS[door][0]}] "
    # A study says of every table in the same words that it does not know a setting.
    message = str(caught.value).replace("unknown setting in [landscapes.mine]", "[landscapes.mine] unknown setting")
    assert message.startswith(where)
    assert "\n" not in message
    assert message[-1] in ".?"
    return message.removeprefix(where)


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_a_wrong_value_is_one_sentence_with_its_line_at_every_door(door: str, case: str, tmp_path: Path) -> None:
    settings, *words = WRONG[case]
    sentence = refused(door, tmp_path, settings)
    assert [word for word in words if word not in sentence] == [], sentence


WRONG_PLACES = {
    "two kinds of places": (f"{MEANS}\ngrid = [2, 1] # here\narms = 2", "one of", "grid and arms"),
    "layout of a grid": (f'{MEANS}\ngrid = [2, 1]\nlayout = "line" # here', "layout arranges means"),
    "grid of one side": (f"{MEANS}\ngrid = [2] # here", "[width, height]", "[2]"),
    "grid of half a square": (f"{MEANS}\ngrid = [1.5, 2] # here", "whole number", "1.5"),
    "grid of another size": ("grid = [2, 2]\nmeans = [[0, 1]] # here", "2 x 2", "1 x 2"),
    "too few means": ("arms = 3\nmeans = [0, 1] # here", "each of the 3 arms", "(2,)"),
    "coordinates of too many": ("means = [0, 1] # here\ncoordinates = [[0, 0]]", "for the one arm", "(2,)"),
    "coordinates from nowhere": (f'{MEANS}\ncoordinates = "nowhere.csv" # here', "nowhere.csv: cannot read"),
    "no arms": (f"{MEANS}\narms = 0 # here", "at least 1", "0"),
    "a name twice": (f'{MEANS}\narms = ["a",\n  "a"] # here', "each name once", "'a' 2 times"),
    "a name too many": (f'{MEANS}\narms = ["a", "b", "c"] # here', "each of the 2 arms", "3"),
    "start out of range": (f'{MEANS}\nlayout = "line"\ngraph = "neighbours"\nstart = 2 # here', "0 to 1", "got 2"),
    "name that is no text": (f"{MEANS}\nname = 3 # here", "name must be text in quotes, got 3."),
}


@pytest.mark.parametrize("case", WRONG_PLACES)
@pytest.mark.parametrize("door", ["run", "choices"])
def test_a_wrong_place_is_one_sentence_with_its_line(door: str, case: str, tmp_path: Path) -> None:
    settings, *words = WRONG_PLACES[case]
    sentence = refused(door, tmp_path, settings)
    assert [word for word in words if word not in sentence] == [], sentence


LINE = f'{MEANS}\nlayout = "line"'

WRONG_MOVES = {
    "unknown graph": (f'{LINE}\ngraph = "neighbors" # here', "graph", "'neighbors'"),
    "neighbours of nowhere": (f'{MEANS}\ngraph = "neighbours" # here', "needs arms with places"),
    "graph in parts": ("means = [0, 1, 2]\ngraph = [[0, 1]] # here", "no path from 0 to 2"),
    "start without a graph": (f"{MEANS}\nstart = 1 # here", "give the task a graph"),
    "directed without a graph": (f"{MEANS}\ndirected = true # here", "give the task a graph"),
    "start that is text": (f'{LINE}\ngraph = "neighbours"\nstart = "home" # here', "start must be a whole number"),
    "directed that is text": (f'{LINE}\ngraph = "neighbours"\ndirected = "yes" # here', "directed"),
    "unknown costs": (f'{LINE}\ncosts = "distances" # here', "costs", "'distances'"),
    "distance from nowhere": (f'{MEANS}\ncosts = "distance" # here', "needs arms with places"),
    "negative costs": (f"{LINE}\ncosts = [[0, -2], [1, 0]] # here", "at least 0", "got -2 from arm 0 to arm 1"),
    "costs of another size": (f"{LINE}\ncosts = [[0]] # here", "2 x 2", "(1, 1)"),
    "unknown kind of costs": (f'{LINE}\ncosts = 1\ncost_kind = "exponental" # here', "'exponental'", "'exponential'"),
    "negative scale": (f"{LINE}\ncosts = 1\ncost_scale = -1 # here", "cost_scale must be at least 0, got -1."),
    "scale without costs": (f"{LINE}\ncost_scale = 2 # here", "give the task costs"),
}


@pytest.mark.parametrize("case", WRONG_MOVES)
def test_a_wrong_move_is_one_sentence_with_its_line(case: str, tmp_path: Path) -> None:
    settings, *words = WRONG_MOVES[case]
    sentence = refused("run", tmp_path, settings)
    assert [word for word in words if word not in sentence] == [], sentence


@pytest.mark.parametrize("key", [*task_keys(), *CHOICES_KEYS])
@pytest.mark.parametrize("door", DOORS)
def test_every_setting_is_read_or_refused_with_the_reason(door: str, key: str, tmp_path: Path) -> None:
    rules = RULES[door]
    assert (key in rules.known) != (key in rules.refused)
    if key in rules.refused:
        sentence = refused(door, tmp_path, f'landscape = "A"\n{key} = 1 # here')
        assert sentence == f"{key} {rules.refused[key]}"


def test_a_study_is_told_everything_that_is_wrong_with_a_landscape(tmp_path: Path) -> None:
    with pytest.raises(xl.InputError) as caught:
        read("study", tmp_path, "means = [0, true]\nnoise_var = -1\ncosts = 2")
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0].rpartition(" ")[2] for line in lines] == ["4", "5", "6"]


def test_a_run_without_means_is_told_at_its_table(tmp_path: Path) -> None:
    with pytest.raises(xl.InputError, match=r"run.toml, line 3: \[task\] a task needs landscape, profile, means"):
        read("run", tmp_path, NOISE)

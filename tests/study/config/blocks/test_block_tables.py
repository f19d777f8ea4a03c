"""The tables of blocks of one's own: what they make, and one sentence with file and line for what is wrong."""

import re

import numpy as np
import pytest

from explorelab.study.config.blocks.boards import LAYOUTS
from explorelab.study.config.blocks.settings import SETTINGS
from explorelab.study.config.checking.check_folder import check_folder
from explorelab.study.config.checking.length import lengths
from explorelab.study.config.study_folder import load_study
from explorelab.study.session.screens import layout_shown
from tests.support.study.folder import problems
from tests.support.study.own_blocks import EVERYTHING, own_study, write_own

MINIMAL = """
[tasks.easy]
means = [1, 2, 3]
noise_var = 1

[blocks.main]
task = "easy"
choices = 4
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return own_study(tmp_path_factory.mktemp("own") / "study")


def test_every_layout_dynamic_and_way_to_show_rewards_is_in_the_example(everything):
    scenes = everything.scenes.values()
    assert {scene.board.layout for scene in scenes} == set(LAYOUTS)
    plans = everything.plan(everything.cells[0])
    assert {plan.dynamic for plan in plans} == {"standard", "neighbour", "travel"}
    assert {scene.rewards for scene in scenes} == {"points", "money", "hidden"}
    assert {plan.kind for plan in plans} == {"training", "task"}
    assert {bool(plan.deadline_ms) for plan in plans} == {False, True}
    assert "".join(re.findall(r"^\w+", EVERYTHING, re.MULTILINE)).count("deadline_ms")


def test_conditions_are_levels_between_persons_by_orders_within(everything):
    assert len(everything.cells) == 2 * 2 * 6  # speed, the order of two worlds, every order of three dynamics
    assert all(len(everything.plan(cell)) == 4 + 1 + 1 + 1 + 3 + 1 + 1 + 1 for cell in everything.cells)
    assert {cell.factors["speed"] for cell in everything.cells} == {"fast", "slow"}


def test_levels_of_factors_replace_settings(everything):
    by_name = {cell.factors["speed"]: everything.plan(cell) for cell in everything.cells}
    for speed, deadline_ms, label in (("fast", 30, "Orange"), ("slow", 50, "A")):
        bandits = [plan for plan in by_name[speed] if plan.name == "bandit"]
        assert {plan.deadline_ms for plan in bandits} == {deadline_ms}
        assert {plan.landscape for plan in bandits} == {"calm", "stormy"}
        assert {everything.scene(plan).board.arms[0].label for plan in bandits} == {label}


def test_what_is_not_said_suits_the_task(everything):
    plans = {plan.name: plan for plan in everything.plan(everything.cells[0])}
    assert plans["given"].n_trials == 5
    assert plans["game"].n_trials == 4 + 2
    assert everything.scene(plans["street"]).board.layout == "line"
    assert everything.scene(plans["walk"]).board.edges == ((0, 1), (0, 3), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5))
    assert everything.scene(plans["practice"]).board.layout == "grid"


def test_a_graph_without_places_is_drawn_inside_the_screen_with_its_arms_apart(everything):
    places = np.array(everything.scenes["walk-neighbour"].board.places)
    assert places.shape == (6, 2)
    assert places.min() > 0.05
    assert places.max() < 0.95
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(6)
    assert apart.min() > 0.15


@pytest.mark.parametrize(
    ("graph", "directed", "edges"),
    [
        ("[[0, 1], [1, 2], [2, 0]]", False, ((0, 1), (0, 2), (1, 2))),
        ("[[0, 1], [1, 2], [2, 0]]\ndirected = true", True, ((0, 1), (1, 2), (2, 0))),
        ("[[0, 1], [1, 2], [2, 0], [1, 0]]\ndirected = true", True, ((0, 1), (1, 0), (1, 2), (2, 0))),
        ("[[0, 1], [1, 2], [1, 0], [2, 1]]\ndirected = true", False, ((0, 1), (1, 2))),
    ],
    ids=["both ways", "one way", "some one way", "both ways, written twice"],
)
def test_the_page_is_told_which_way_edges_lead(tmp_path, graph, directed, edges):
    study = own_study(tmp_path / "study", MINIMAL.replace("noise_var = 1", f"noise_var = 1\ngraph = {graph}"))
    shown = layout_shown(study.scenes["main"].board)
    assert (shown.directed, tuple(shown.edges)) == (directed, edges)


@pytest.mark.parametrize(("setting", "choice_ms"), [("", 2000), ("outcome_ms = 0", 1000), ("outcome_ms = 10_000", 11_000)])
def test_how_long_outcomes_are_looked_at_is_part_of_how_long_a_study_takes(tmp_path, setting, choice_ms):
    study = own_study(tmp_path / "study", MINIMAL.replace("choices = 4", f"choices = 300\n{setting}"))
    assert {one.playing_s for one in lengths(study)} == {0.3 * choice_ms}
    (tmp_path / "study" / "instructions.md").write_text("# Game\n\n{minutes} minutes", encoding="utf-8")
    assert f"{300 * choice_ms // 60_000} minutes" in load_study(tmp_path / "study").texts.pages["instructions"]


def test_each_level_of_a_factor_has_its_own_time_for_outcomes(tmp_path):
    study = own_study(tmp_path / "study", MINIMAL + "[factors.outcome_ms]\nbetween = [0, 2500]\n")
    assert {study.scene(study.plan(cell)[0]).outcome_ms for cell in study.cells} == {0, 2500}


def test_one_block_is_a_study(tmp_path):
    study = own_study(tmp_path / "study", MINIMAL)
    assert [cell.name for cell in study.cells] == ["all"]
    (plan,) = study.plan(study.cells[0])
    assert (plan.kind, plan.dynamic, plan.deadline_ms, plan.n_trials) == ("task", "standard", 0, 4)
    assert study.scene(plan).board.layout == "buttons"


WRONG = {
    "few labels": (
        'labels = ["A", "B"]',
        "[blocks.main] labels must have 3, one for each arm, got 2.",
    ),
    "same labels": (
        'labels = ["A", "B", "A"]',
        "[blocks.main] labels must be different for each arm, got 'A' 2 times.",
    ),
    "colour": ('colours = ["#12", "red", "blue"]',
        "[blocks.main] colours must be names of CSS or written like \"#e69f00\", got '#12'.",
    ),
    "no picture": (
        'pictures = ["a.png", "b.png", "c.png"]',
        "[blocks.main] pictures must be pictures in the study folder: 'a.png' is not in the study folder.",
    ),
    "secret picture": (
        'pictures = ["../a.png", "study.toml", "/etc/passwd"]',
        "[blocks.main] pictures must be pictures in the study folder: 'study.toml'",
    ),
    "layout": (
        'layout = "buttosn"',
        "[blocks.main] layout must name a layout: unknown layout 'buttosn': did you mean 'buttons'?",
    ),
    "layout that does not fit": (
        'layout = "grid"',
        "[blocks.main] layout must fit the task: a grid needs means[x][y] or grid = [width, height] there.",
    ),
    "graph without edges": (
        'layout = "graph"',
        "[blocks.main] layout must fit the task: a graph needs edges, graph = [[0, 1], [1, 2]], there.",
    ),
    "dynamic": (
        'dynamic = "travel"',
        "[blocks.main] dynamic must be standard on the layout buttons, where no arms are next to each other.",
    ),
    "hidden and foregone": (
        'rewards = "hidden"\nforegone = true',
        "[blocks.main] foregone must be false where rewards are hidden.",
    ),
    "deadline": ("deadline_ms = true", "[blocks.main] deadline_ms must be a number of milliseconds, or false, got true."),
    "short deadline": ("deadline_ms = 5", "[blocks.main] deadline_ms must be 20 to 600000 milliseconds, got 5."),
    "long outcome": ("outcome_ms = 10001", "[blocks.main] outcome_ms must be 0 to 10000 milliseconds, got 10001."),
    "negative outcome": ("outcome_ms = -1", "[blocks.main] outcome_ms must be 0 to 10000 milliseconds, got -1."),
    "outcome that is no number": ("outcome_ms = true", "[blocks.main] outcome_ms must be a whole number, got true."),
    "outcome with a deadline": (
        "deadline_ms = 1500\noutcome_ms = 500",
        "[blocks.main] outcome_ms must be left out where there is a deadline: the next choice begins at once there.",
    ),
    "unknown setting": ("deadlin_ms = 50", "unknown setting in [blocks.main] 'deadlin_ms': did you mean 'deadline_ms'?"),
    "unknown task": (
        '[factors.task]\nwithin = ["easy", "esay"]',
        "[factors.task] within task must name a task: unknown task 'esay': did you mean 'easy'?",
    ),
    "factor over nothing": (
        "[factors.speed]\nbetween = [50, 90]",
        "[factors.speed] between unknown setting of a block that factors may change 'speed'",
    ),
    "factor over an unknown setting": (
        "[factors.speed]\nbetween = { fast = { deadlin_ms = 50 }, slow = {} }",
        "[factors.speed] fast: unknown setting of a block that factors may change 'deadlin_ms': did you mean 'deadline_ms'?",
    ),
    "factor with one level": (
        "[factors.deadline_ms]\nbetween = [50]",
        "[factors.deadline_ms] between must have at least two levels, got 1.",
    ),
    "factor of two kinds": (
        "[factors.deadline_ms]\nbetween = [50, 60]\nwithin = [50, 60]",
        "[factors.deadline_ms] must say either what differs between persons or within each (between, within), got both.",
    ),
    "factor over an unknown block": (
        "[factors.deadline_ms]\nbetween = [50, 60]\nblocks = [\"mian\"]",
        "[factors.deadline_ms] blocks: unknown block 'mian': did you mean 'main'?",
    ),
    "factor called like a column": (
        "[factors.reward]\nsetting = \"deadline_ms\"\nbetween = [50, 60]",
        "[factors] reward must have another name, because exports have a column reward already.",
    ),
    "wrong value of a level": (
        "[factors.speed]\nbetween = { fast = { deadline_ms = 5 }, slow = {} }",
        "[factors.speed] fast: deadline_ms must be 20 to 600000 milliseconds, got 5.",
    ),
    "too many conditions": (
        'order = "full"\n[factors.deadline_ms]\nwithin = [51, 52, 53, 54, 55, 56, 57]',
        "factors and orders must make at most 1000 conditions, got 5040: "
        'give some of them fewer levels, or an order that is "drawn" or "latin".',
    ),
    "table of the paper": ("[grid]\nwidth = 2", "[grid] describes the paper's design: leave it out, or else [blocks.NAME]."),
    "arm that nobody can reach": (
        "[tasks.island]\nmeans = [1, 2, 3]\nnoise_var = 1\ngraph = [[0, 1]]",
        "[tasks.island] every arm must be reachable from every other, but the graph has no path from 0 to 2.",
    ),
    "costs": (
        "[tasks.dear]\nmeans = [1, 2, 3]\nnoise_var = 1\ncosts = 2",
        "[tasks.dear] costs does not belong in a study, where moves cost nothing.",
    ),
    "no noise": (
        "[tasks.silent]\nmeans = [1, 2, 3]",
        "[tasks.silent] must have one of integer_noise and noise_var, got none of them.",
    ),
    "path that is too short": (
        '[tasks.short]\npath = [[1, 2], [3, 4]]\nnoise_var = 1\n[blocks.more]\ntask = "short"\nchoices = 3',
        "[blocks.more] choices does not fit the task: horizon must be at most 2 on moving: "
        "its means are given for 2 trials, got 3.",
    ),
    "forced arms out of reach": (
        '[tasks.led]\nmeans = [1, 2, 3]\nnoise_var = 1\nlayout = "line"\nforced = [0, 2]\n'
        '[blocks.more]\ntask = "led"\nchoices = 3\ndynamic = "neighbour"',
        "[blocks.more] dynamic must be standard where arms are blocked or forced, which may be out of reach.",
    ),
    "forced arm that is blocked": (
        "[tasks.led]\nmeans = [1, 2, 3]\nnoise_var = 1\nforced = [0, 2]\nblocked = [[2, 2, 3]]",
        "[tasks.led] a forced arm must be on offer, but on trial 2 arm 2 is blocked.",
    ),
}  # fmt: skip
"""What stands after the block `main`, and the sentence that it gets."""


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_sentence_with_its_line(tmp_path, name):
    more, sentence = WRONG[name]
    folder = write_own(tmp_path / "study", MINIMAL + more)
    told = problems(folder)
    file = re.escape(str(folder / "study.toml"))
    assert len([line for line in told if sentence in line]) == 1, told
    assert all(re.match(rf"{file}(, line \d+)?: ", line) for line in told)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_refuses_a_table_without_a_traceback(tmp_path, setting):
    block = "\n".join(line for line in MINIMAL.splitlines() if not line.startswith(f"{setting} ="))
    folder = write_own(tmp_path / "study", f"{block}\n{setting} = {{ x = 1 }}\n")
    (first, *_) = problems(folder)
    assert f"[blocks.main] {setting}" in first


def test_without_blocks_factors_and_tasks_say_what_is_missing(tmp_path):
    folder = write_own(tmp_path / "study", "[factors.deadline_ms]\nbetween = [50, 60]\n")
    told = "\n".join(problems(folder))
    assert "expected a table [tasks], got none." in told
    assert "expected a table [blocks], got none." in told


def test_the_files_of_tasks_and_pictures_go_with_the_study(tmp_path):
    folder = write_own(
        tmp_path / "study",
        '[tasks.path]\npath = "path.csv"\nnoise_var = 1\n[blocks.main]\ntask = "path"\npictures = ["a.png", "b.png"]\n',
    )
    (folder / "path.csv").write_text("1,2\n3,4\n", encoding="utf-8")
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes(b"\x89PNG\r\n\x1a\n" + name.encode())
    study = load_study(folder)
    assert {"path.csv", "a.png", "b.png"} <= set(study.files)
    assert study.scenes["main"].task.n_trials == 2
    assert [study.pictures[look.picture].kind for look in study.scenes["main"].board.arms] == ["image/png"] * 2


def test_texts_that_tell_of_sides_and_deadlines_that_no_block_has_are_to_be_changed(tmp_path):
    folder = write_own(tmp_path / "study", MINIMAL)
    text = "# Game\n\n{n_squares} arms, {n_trials} choices.\n{width} by {height}, {fastest} s, {{slowest}}"
    (folder / "instructions.md").write_text(text, encoding="utf-8")
    assert "3 arms, 4 choices" in load_study(folder).texts.pages["instructions"]
    found = [each for each in check_folder(folder).findings if each.file == "instructions.md" and "needs" in each.sentence]
    assert {(each.line, each.level, each.sentence) for each in found} == {
        (4, "to fill in", "{width} needs a block on a grid, which the study does not have"),
        (4, "to fill in", "{height} needs a block on a grid, which the study does not have"),
        (4, "to fill in", "{fastest} needs a block that counts and has a deadline, which the study does not have"),
    }


ADVISED = """
[tasks.street]
means = [1, 5, 3, 8]
layout = "line"
integer_noise = 2
[tasks.other]
means = [4, 3, 2, 1]
layout = "line"
integer_noise = 2
[tasks.buttons]
restless = 3
[blocks.first]
task = "street"
choices = 6
[blocks.second]
task = "other"
choices = 8
repeat = 2
[blocks.third]
task = "buttons"
choices = 5
advice = false
[advice]
arms = ["none", "impersonal"]
"""


def test_advice_is_a_factor_between_persons_in_the_blocks_that_have_it(tmp_path):
    from explorelab.study.advice.recipe import recipe_of

    study = own_study(tmp_path / "study", ADVISED)
    assert [cell.factors for cell in study.cells] == [{"advice_arm": "none"}, {"advice_arm": "impersonal"}]
    plans = study.plan(study.cells[1])
    assert [(plan.name, plan.advice) for plan in plans] == [
        ("first", "impersonal"),
        ("second", "impersonal"),
        ("second", "impersonal"),
        ("third", ""),
    ]
    recipe = recipe_of(study)
    assert ([task.n_arms for task in recipe.tasks], recipe.horizon, recipe.n_blocks) == ([4, 4], 8, 3)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("advice = false", "", "third"),
        ("choices = 6", 'choices = 6\nrewards = "hidden"', "a companion knows rewards that people do not see"),
        ("choices = 8", "choices = 8\nforegone = true", "a companion learns nothing from rewards of the other arms"),
        ("means = [1, 5, 3, 8]", "forced = [1]\nmeans = [1, 5, 3, 8]", "a companion expects every choice to be free"),
        ("means = [4, 3, 2, 1]", "means = [4, 3, 2]", "a companion needs the same arms in all blocks"),
    ],
)
def test_advice_is_refused_where_it_makes_no_sense(tmp_path, old, new, why):
    folder = write_own(tmp_path / "study", ADVISED.replace(old, new))
    assert any("must have advice = false: a companion" in line and why in line for line in problems(folder))

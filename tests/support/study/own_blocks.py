"""Studies with blocks of their own, for tests."""

from __future__ import annotations

from pathlib import Path

from explorelab.study.config.design import Study
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study

HEAD = """
[study]
name = "own"
title = "Blocks of one's own"

[payment]
currency = "EUR"
base = 5.0
per_point = 0.001
most = 10.0

[completion]
code = "THANKS42"

[server]
arrivals_per_minute = 1_000_000
requests_per_second = 10_000
new_people_per_hour = 1_000_000
address_requests_per_second = 1_000_000

[database]
url = "sqlite:///study.db"
"""

EVERYTHING = """
[tasks.calm]
restless = 4
diffusion_sd = 1.0
[tasks.stormy]
restless = 4
diffusion_sd = 6.0
[tasks.shared]
switching = [20, 40, 60, 80]
path_seed = 3
points = [1, 100]
[tasks.path]
path = [[10, 20], [20, 10], [30, 5], [5, 30], [6, 7]]
noise_var = 1
blocked = [[1, 2, 2], [0, 5, 5]]
[tasks.game]
horizon_game = 2
base = 40
difference = 20
seen = [1, 3]
[tasks.ring]
means = [10, 30, 50, 70, 20, 40]
noise_var = 16
graph = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 3]]
start = 2
[tasks.street]
means = [1, 5, 3, 8, 2]
layout = "line"
integer_noise = 2
[tasks.square]
means = [[1, 2, 3], [4, 5, 6]]
integer_noise = 1

[blocks.practice]
task = "square"
choices = 4
counts = false
[blocks.bandit]
choices = 6
repeat = 2
deadline_ms = 40
labels = ["Orange", "Blue", "Green", "Pink"]
colours = ["#e69f00", "#56b4e9", "#009e73", "purple"]
[blocks.turns]
task = "shared"
choices = 5
foregone = true
outcome_ms = 400
[blocks.given]
task = "path"
deadline_ms = 30
[blocks.game]
task = "game"
[blocks.walk]
task = "ring"
choices = 5
order = "full"
rewards = "money"
[blocks.street]
task = "street"
dynamic = "travel"
choices = 5
deadline_ms = 40
[blocks.quiet]
task = "square"
dynamic = "neighbour"
choices = 4
rewards = "hidden"

[factors.world]
within = { calm = { task = "calm" }, stormy = { task = "stormy" } }
blocks = ["bandit"]
[factors.speed]
between = { fast = { deadline_ms = 30 }, slow = { deadline_ms = 50, labels = ["A", "B", "C", "D"] } }
blocks = ["bandit"]
[factors.dynamic]
within = ["neighbour", "travel", "standard"]
blocks = ["walk"]
"""
"""Every layout, dynamic, kind of task and way to show rewards."""


def write_own(folder: Path, blocks: str, head: str = HEAD) -> Path:
    """A study folder with these tables; its study.toml ends with them."""
    init_study(folder)
    (folder / "study.toml").write_text(head + blocks, encoding="utf-8")
    return folder


def own_study(folder: Path, blocks: str = EVERYTHING) -> Study:
    """A study with these blocks, in a new folder."""
    return load_study(write_own(folder, blocks))

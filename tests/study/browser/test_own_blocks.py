"""Blocks of one's own in Chromium on the real server: what is chosen on the screen is kept, and what is kept is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imsave
from playwright.sync_api import Browser, Page

from explorelab.study.database import tables
from explorelab.study.server.serve import serving
from tests.support.study.browser import Study, chromium, stage
from tests.support.study.hands import WAYS, Way, choose, open_arms, person, play, press, wait_to_choose
from tests.support.study.own_blocks import write_own

BLOCKS = """
[tasks.slots]
path = [[10, 20, 30, 40], [40, 30, 20, 10], [5, 6, 7, 8]]
integer_noise = 1
blocked = [[1, 2, 3]]
[tasks.game]
horizon_game = 1
base = 40
difference = 20
seen = [1, 1]
[tasks.ring]
means = [10, 30, 50, 70, 20, 40]
integer_noise = 2
graph = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 3]]
[tasks.street]
means = [1, 5, 3, 8, 2]
layout = "line"
integer_noise = 1
[tasks.square]
means = [[1, 2, 3], [4, 5, 6]]
integer_noise = 1

[blocks.slots]
task = "slots"
deadline_ms = 1500
labels = ["Orange", "Blue", "Green", "Pink"]
colours = ["#e69f00", "#56b4e9", "#009e73", "purple"]
[blocks.both]
task = "game"
labels = ["Fox", "Owl"]
pictures = ["fox.png", "owl.png"]
[blocks.walk]
task = "ring"
choices = 2
dynamic = "neighbour"
rewards = "money"
[blocks.street]
task = "street"
choices = 2
dynamic = "travel"
foregone = true
[blocks.quiet]
task = "square"
choices = 2
rewards = "hidden"
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = write_own(tmp_path_factory.mktemp("own") / "study", "")
    for name, colour in (("fox", (0.8, 0.4, 0.1)), ("owl", (0.3, 0.3, 0.5))):
        imsave(folder / f"{name}.png", np.full((60, 80, 3), colour))
    with (folder / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write(BLOCKS)
    with serving(folder) as url:
        running = Study(folder, url)
        yield running
        running.close()


def to_first_block(page: Page, study: Study, way: Way) -> None:
    page.goto(study.url)
    for name, button in (("consent", "#agree"), ("instructions", "#continue"), ("ready", "#start")):
        stage(page, name)
        press(page, way, button)
    stage(page, "play")


def mine(study: Study, block: int) -> list[Any]:
    last = study.rows(tables.people)[-1].id
    return [row for row in study.choices() if (row.person, row.block) == (last, block)]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_layout_is_played_and_kept_as_it_was_chosen(study: Study, browser: Browser, way: Way) -> None:
    with person(browser, way) as page:
        to_first_block(page, study, way)
        for number in range(5):
            if number:
                stage(page, "ready")
                press(page, way, "#start")
                stage(page, "play")
            chosen = play(page, way, seed=number)
            kept = mine(study, number)
            assert [row.goal for row in kept] == chosen
            assert not any(row.missed for row in kept)
            assert not {"synthetic", "early"} & {word for row in kept for word in row.flags.split()}
        stage(page, "debriefing")
        press(page, way, "#finish")
        stage(page, "finished")
        assert page.problems == []  # type: ignore[attr-defined]


def test_the_outcome_on_the_screen_is_the_one_that_was_kept_and_a_reload_shows_it_again(
    study: Study, browser: Browser
) -> None:
    with person(browser, "mouse") as page:
        page.on("dialog", lambda dialog: dialog.accept())
        to_first_block(page, study, "mouse")
        for number in range(5):
            if number:
                stage(page, "ready")
                page.click("#start")
                stage(page, "play")
            assert wait_to_choose(page) == 1
            page.wait_for_timeout(60)
            choose(page, "mouse", open_arms(page)[-1])
            assert wait_for_choice(page, 2)
            before = seen(page)
            if number == 1:
                sizes = page.eval_on_selector_all(".gb-picture", "all => all.map(e => [e.naturalWidth, e.naturalHeight])")
                assert sizes == [[80, 60]] * 2
            row = mine(study, number)[0]
            if number == 4:
                assert page.locator("#reward, #points").count() == 0
            elif number == 2:
                assert before["reward"] == f"€{row.reward * 0.001:.3f}"
            else:
                assert float(before["reward"]) == row.reward
            page.reload()
            stage(page, "play")
            assert page.locator("#pause").is_visible()
            assert seen(page) == before
            page.click("#resume")
            play(page, "mouse")
            assert [row.trial for row in mine(study, number)] == list(range(len(mine(study, number))))


def wait_for_choice(page: Page, number: int) -> bool:
    """Wait until this choice can be made."""
    page.wait_for_function(
        "n => document.querySelector('#counter')?.textContent.includes(` ${n} `)", arg=number, timeout=15_000
    )
    return wait_to_choose(page) == number


def seen(page: Page) -> dict[str, Any]:
    """What the screen says of where the block stands."""
    texts = {name: page.locator(f"#{name}").all_inner_texts() for name in ("reward", "points", "counter", "note")}
    dots = page.eval_on_selector("#grid, #arms", "e => [e.dataset.blue ?? null, e.dataset.yellow ?? null]")
    return {**{name: (text or [""])[0] for name, text in texts.items()}, "dots": dots, "open": open_arms(page)}

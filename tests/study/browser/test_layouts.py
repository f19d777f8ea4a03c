"""Every layout of arms in a real Chromium: chosen by mouse, finger and key, whole on any screen, and without a barrier."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import explorelab as xl
from tests.support.siblings import slow_but
from tests.support.study.browser import DESKTOP, PHONE, chromium
from tests.support.study.plugin_page import LAYOUTS, TOWN, cell, data_of, n_arms, show

AXE = (Path(__file__).parents[3] / "page" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
QUICK = ("grid", "buttons", "graph")
"""Of the others, a line is like buttons, and longer or with pictures it looks otherwise."""
LYING = {"width": 844, "height": 390}
SCREENS = {"desktop": DESKTOP, "phone": PHONE, "phone on its side": LYING}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESKTOP)
    yield context.new_page()
    context.close()


def boxes(page: Page, layout: dict[str, Any]) -> np.ndarray:
    """Left, top, right and bottom of every arm."""
    found = [cell(page, arm).bounding_box() for arm in range(n_arms(layout))]
    return np.array([[box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]] for box in found if box])


@pytest.mark.parametrize("screen", slow_but(["phone"], SCREENS))
@pytest.mark.parametrize("name", slow_but(QUICK, LAYOUTS))
def test_all_arms_are_on_the_screen_apart_and_large_enough(browser: Browser, name: str, screen: str) -> None:
    layout = LAYOUTS[name]
    context = browser.new_context(viewport=SCREENS[screen], has_touch=screen != "desktop", is_mobile=screen != "desktop")
    page = context.new_page()
    show(page, layout, deadline_ms=None)
    at = boxes(page, layout)
    assert len(at) == n_arms(layout)
    assert at.min() >= 0
    assert at[:, 2].max() <= SCREENS[screen]["width"]
    assert at[:, 3].max() <= SCREENS[screen]["height"]
    assert page.evaluate("() => document.scrollingElement.scrollWidth <= innerWidth")
    for one, other in itertools.combinations(at, 2):
        apart = max(one[0] - other[2], other[0] - one[2], one[1] - other[3], other[1] - one[3])
        assert apart > -1.5, (one, other)
    # WCAG 2.5.8 asks for 24 pixels, or as much between the middles of smaller ones.
    assert (at[:, 2:] - at[:, :2]).min() >= 24
    context.close()


@pytest.mark.parametrize("screen", slow_but(["desktop"], ["desktop", "phone"]))
@pytest.mark.parametrize("name", slow_but(QUICK, LAYOUTS))
def test_axe_finds_no_barrier(browser: Browser, name: str, screen: str) -> None:
    context = browser.new_context(viewport=SCREENS[screen])
    page = context.new_page()
    some_closed = {"available": [0, 1]}
    for more in ({"deadline_ms": 60_000}, {"deadline_ms": None, "foregone": True, "outcome_ms": 60_000, **some_closed}):
        show(page, LAYOUTS[name], **more)
        cell(page, 1).click()
        page.evaluate(AXE)
        found = page.evaluate(
            "async () => (await axe.run('.grid-bandit')).violations.map(v => v.id + ': ' + v.nodes[0].html)"
        )
        assert found == [], more
    context.close()


@pytest.mark.parametrize("name", slow_but(["graph"], LAYOUTS))
def test_mouse_finger_and_keys_choose_and_explorelab_reads_what_was_chosen(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    layout = LAYOUTS[name]
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    show(page, layout, deadline_ms=None, outcome_ms=0, after_last_ms=0, n_trials=4, offers=[None, None, [0, 1], None])
    last = n_arms(layout) - 1

    def opened(number: int) -> None:
        page.wait_for_selector('.grid-bandit[data-phase="choosing"]')
        page.wait_for_function("n => document.querySelector('#counter').textContent.includes(`Choice ${n} `)", arg=number)
        page.wait_for_timeout(50)

    opened(1)
    cell(page, last).click()
    opened(2)
    cell(page, 1).tap()
    opened(3)
    if last > 1:
        cell(page, last).dispatch_event("click")  # closed
    cell(page, 0).click()
    opened(4)
    cell(page, 1).focus()
    page.keyboard.press("Enter")
    (tmp_path / "data.json").write_text(data_of(page), encoding="utf-8")
    choices = xl.read_choices(tmp_path / "data.json")
    expected = [last, 1, 0, 1]
    assert choices.arm[0].tolist() == expected
    np.testing.assert_array_equal(choices.reward[0], 10.0 * np.array(expected))
    if layout["kind"] != "grid" and last > 1:
        assert choices.layout.n_arms == n_arms(layout)
        assert choices.available[0].sum(1).tolist() == [n_arms(layout)] * 2 + [2] + [n_arms(layout)]
    context.close()


@pytest.mark.parametrize("direction", slow_but(["rtl"], ["ltr", "rtl"]))
def test_arrows_lead_where_they_point(page: Page, direction: str) -> None:
    for name in ("grid", "buttons", "line", "graph"):
        layout = LAYOUTS[name]
        show(page, layout, deadline_ms=None, direction=direction)
        middles = boxes(page, layout).reshape(-1, 2, 2).mean(1)
        order = [1, 0] if direction == "rtl" and name == "buttons" else [0, 1]
        if name != "grid":  # whose squares are numbered from top to bottom
            assert np.argsort(middles[[0, 1], 0]).tolist() == order
        for start in range(min(n_arms(layout), 8)):
            for key, (dx, dy) in {
                "ArrowLeft": (-1, 0),
                "ArrowRight": (1, 0),
                "ArrowUp": (0, -1),
                "ArrowDown": (0, 1),
            }.items():
                cell(page, start).focus()
                page.keyboard.press(key)
                to = int(page.evaluate("() => document.activeElement.dataset.arm ?? document.activeElement.dataset.square"))
                moved = middles[to] - middles[start]
                if to != start and name != "line":
                    assert moved @ np.array([dx, dy]) > 0, (name, start, key, to)
                elif name == "line":
                    assert to == min(5, max(0, start + dx + dy))


def test_nothing_is_told_by_colour_alone_where_the_system_chooses_them(browser: Browser) -> None:
    context = browser.new_context(viewport=DESKTOP, forced_colors="active", reduced_motion="reduce")
    page = context.new_page()
    show(page, TOWN, dynamic="neighbour", deadline_ms=60_000)
    cell(page, 1).click()
    here, there, closed = (
        cell(page, arm).evaluate("e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).borderTopStyle]")
        for arm in (0, 1, 6)
    )
    assert len({tuple(here), tuple(there), tuple(closed)}) == 3
    context.close()


def test_a_double_click_of_a_real_mouse_is_one_choice(page: Page) -> None:
    show(page, LAYOUTS["buttons"], deadline_ms=None, outcome_ms=0, n_trials=3)
    page.wait_for_timeout(100)
    cell(page, 2).dblclick(delay=10)
    page.wait_for_timeout(300)
    assert page.locator("#counter").inner_text() == "Choice 2 of 3"
    assert page.locator("#reward").inner_text() == "20"

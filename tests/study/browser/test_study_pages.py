"""A study's own pages in a real Chromium: by keyboard alone, on a phone, over a reload, and without barriers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from explorelab.study.database import tables
from explorelab.study.server.serve import serving
from tests.support.study.browser import DESKTOP, PHONE, Study, chromium, stage
from tests.support.study.own_pages import add_pages
from tests.support.study.server import write_study

AXE = Path(__file__).parents[3] / "page" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder = tmp_path_factory.mktemp("study") / "short"
    write_study(folder, "sqlite:///study.db", fast_ms=400, slow_ms=400, training=(), n_trials=1, dynamics=("standard",))
    add_pages(folder)
    with serving(folder) as url:
        running = Study(folder, url)
        yield running
        running.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def on(page: Page, name: str) -> None:
    """Wait for a page of this name, on which axe finds nothing and nothing is wider than the screen."""
    page.wait_for_selector(f'[data-page="{name}"]')
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations.map(each => [each.id, each.nodes.map(n => n.html)])")
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_by_keyboard_alone(browser: Browser, study: Study, viewport: dict[str, int]) -> None:
    page = browser.new_page(viewport=viewport)  # type: ignore[arg-type]
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(study.url)
    stage(page, "consent")
    page.focus("#agree")
    keys(page, "Enter")
    on(page, "welcome")
    page.focus("#continue")
    keys(page, "Enter")

    on(page, "quiz")
    page.focus("#continue")
    keys(page, "Enter")  # nothing is answered: the first question says so, and has the focus
    assert focused(page) == "question-0-0"
    assert page.locator("#question-0-error").is_visible()
    assert page.get_attribute("#question-0-0", "aria-describedby") == "question-0-error"
    keys(page, "Space", "ArrowDown", "Tab")
    page.keyboard.type("6")
    page.reload()
    on(page, "quiz")
    assert (page.is_checked("#question-0-1"), page.input_value("#question-1")) == (True, "6")
    page.focus("#question-1")
    keys(page, "Enter")
    page.wait_for_selector(".again")
    assert focused(page) == "question-0-1"
    assert "Yours is the blue one." in page.inner_text("#question-0-error")
    keys(page, "ArrowUp")
    assert page.is_checked("#question-0-1")  # nothing can be changed any more
    page.focus("#continue")
    keys(page, "Enter")
    on(page, "welcome")
    assert "Tries left: 19" in page.inner_text(".again")
    page.focus("#continue")
    keys(page, "Enter")
    on(page, "quiz")
    assert not page.is_checked("#question-0-1")
    page.focus("#question-0-0")
    keys(page, "Space", "Tab")
    page.keyboard.type("7")
    keys(page, "Enter")

    on(page, "before")
    page.focus("#question-0")
    page.keyboard.type("3,5")
    keys(page, "Enter")
    assert focused(page) == "question-0"
    assert page.inner_text("#question-0-error") == "Please write a number from 18 to 99."
    page.fill("#question-0", "33")
    keys(page, "Tab", "Space", "ArrowDown", "Tab", "Space", "Tab", "Tab", "Tab", "Space", "ArrowRight")
    page.focus("#continue")
    keys(page, "Enter")
    stage(page, "ready")
    given = {row.question: json.loads(row.answer) for row in study.rows(tables.answers)}
    assert given == {"dots": "blue", "count": 7, "age": 33, "gamer": "no", "games": ["Chess"], "agree": 2, "said": None}
    assert problems == []
    page.close()

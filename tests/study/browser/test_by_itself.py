"""The page in a real Chromium does not play by itself, whatever the address says, and tells when no hand plays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from explorelab.study.database import tables
from explorelab.study.robots.pilot_runs import links
from explorelab.study.session.doubts import doubted
from tests.support.study.browser import DESKTOP, Study, chromium, served, stage, wait_for_trial


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study") / "short"


@pytest.fixture(scope="module")
def study(folder: Path) -> Iterator[Study]:
    with served(folder, fast_ms=250, slow_ms=250, n_training=2, n_trials=2) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport=DESKTOP)
    yield context.new_page()
    context.close()


def to_first_choice(page: Page) -> None:
    """Agree, read and begin by hand."""
    for name, button in (("consent", "#agree"), ("instructions", "#continue"), ("ready", "#start")):
        stage(page, name)
        page.click(button)
    stage(page, "play")


@pytest.mark.parametrize("mode", ["visual", "data-only"])
@pytest.mark.parametrize("more", ["", "&PROLIFIC_PID=abc&SESSION_ID=s", "#pilot="])
def test_the_address_alone_does_not_let_the_page_play(study: Study, page: Page, mode: str, more: str) -> None:
    page.goto(f"{study.url}/?simulate={mode}{more}")
    stage(page, "consent")
    page.wait_for_timeout(700)
    assert page.locator("body").get_attribute("data-stage") == "consent"
    assert study.rows(tables.people)[-1].stage == "consent"


def test_a_made_up_key_does_not_let_the_page_play(study: Study, page: Page) -> None:
    before = len(study.rows(tables.people))
    page.goto(f"{study.url}/?simulate=visual#pilot={'0' * 64}")
    stage(page, "error")
    assert len(study.rows(tables.people)) == before


def test_a_server_that_does_not_know_the_pilot_does_not_let_the_page_play(study: Study, page: Page) -> None:
    def forged(route: Route) -> None:
        headers = {name: value for name, value in route.request.headers.items() if name != "x-pilot-key"}
        route.continue_(headers=headers, post_data=(route.request.post_data or "").replace("simulate", "x"))

    page.route("**/api/arrive", forged)
    page.goto(f"{study.url}/?simulate=visual#pilot=anything")
    stage(page, "consent")
    page.wait_for_timeout(700)
    assert page.locator("body").get_attribute("data-stage") == "consent"


def test_a_pilot_lets_the_page_play_and_is_marked(study: Study, folder: Path, page: Page) -> None:
    by_hand, by_itself = (line.split()[-1] for line in links(folder, study.url).splitlines())
    assert "simulate" not in by_hand
    page.goto(by_itself)
    stage(page, "play")
    stage(page, "ready")
    person = study.rows(tables.people)[-1]
    assert (person.pilot, person.source, person.stage) == (True, "pilot", "play")
    assert len([row for row in study.choices() if row.person == person.id]) == 2


def test_a_pilot_may_do_so_without_waiting_and_to_the_end(study: Study, folder: Path, page: Page) -> None:
    page.goto(links(folder, study.url).split()[-1].replace("visual", "data-only"))
    stage(page, "finished")
    person = study.rows(tables.people)[-1]
    assert (person.pilot, person.stage) == (True, "finished")
    page.wait_for_timeout(200)
    assert "simulated" in {row.kind for row in study.rows(tables.events) if row.person == person.id}


def test_the_page_leaves_nothing_about_to_play_it_with(study: Study, page: Page) -> None:
    page.goto("about:blank")
    names = set(page.evaluate("() => Object.getOwnPropertyNames(window)"))
    page.goto(study.url)
    to_first_choice(page)
    added = set(page.evaluate("() => Object.getOwnPropertyNames(window)")) - names
    assert not [name for name in added if "psych" in name.lower() or "simulat" in name.lower() or "game" in name.lower()]
    before = len(study.choices())
    for message in ("simulate", {"simulate": "visual"}, {"type": "simulate", "mode": "data-only"}):
        page.evaluate("message => window.postMessage(message, '*')", message)
        page.evaluate("message => window.dispatchEvent(new CustomEvent('simulate', {detail: message}))", message)
    wait_for_trial(page, 2)
    made = study.choices()[before:]
    assert [row.missed for row in made] == [True] * len(made)


def test_clicks_of_a_script_are_told_from_those_of_a_hand(study: Study, page: Page) -> None:
    page.goto(study.url)
    to_first_choice(page)
    page.click('.square[data-square="22"]')
    stage(page, "ready")
    page.click("#start")
    stage(page, "play")
    page.evaluate("() => setInterval(() => document.querySelector('.square:not([aria-disabled])')?.click(), 50)")
    stage(page, "ready")
    page.goto("about:blank")  # what has happened is sent at last when the page is left
    page.wait_for_timeout(300)
    person = study.rows(tables.people)[-1].id
    flags = [row.flags.split() for row in study.choices() if row.person == person]
    assert "synthetic" not in flags[0]
    assert ["synthetic" in words for words in flags[2:4]] == [True, True]
    assert "webdriver" in {row.kind for row in study.rows(tables.events) if row.person == person}
    with study._engine.connect() as connection:
        assert "webdriver" in doubted(connection)[person]


def test_whoever_comes_under_anothers_name_is_told_so_kindly(study: Study, browser: Browser, page: Page) -> None:
    link = f"{study.url}/?PROLIFIC_PID=5f00dd&SESSION_ID="
    page.goto(f"{link}real")
    to_first_choice(page)
    stage(page, "ready")
    other = browser.new_context(viewport=DESKTOP).new_page()
    other.goto(f"{link}madeup")
    stage(other, "elsewhere")
    said = other.locator("#main").inner_text()
    assert "another browser" in said
    assert "oints" not in said
    assert other.locator("#withdraw").is_hidden()
    assert other.locator("button:visible").count() == 0
    other.goto(f"{link}real")
    stage(other, "ready")
    page.click("#start")
    stage(page, "taken-over")
    other.context.close()

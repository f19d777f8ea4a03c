"""The laboratory's pages in Chromium: from the first owner's link to a study that is edited, watched and shared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from explorelab.laboratory.hosting.serve_laboratory import serving_laboratory
from tests.support.study.browser import DESKTOP, PHONE, chromium

AXE = (Path(__file__).parents[3] / "page" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
PASSWORD = "a long enough password"
expect.set_options(timeout=20_000)


class Place(NamedTuple):
    """A laboratory that is served, with a browser and its owner's page."""

    address: str
    browser: Browser
    page: Page
    errors: list[str]

    def go(self, screen: str, page: Page | None = None) -> Page:
        """Open a screen and wait until it is there."""
        page = page or self.page
        page.goto(f"{self.address}/lab#/{screen}")
        page.reload()
        expect(page.locator("main h1")).to_be_visible()
        return page


def fill_join(page: Page, login: str) -> None:
    page.get_by_label("Your name").fill(login.title())
    page.get_by_label("Name to log in").fill(login)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password, once more").fill(PASSWORD)
    page.get_by_role("button", name="Make my account").click()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("laboratory") / "lab"
    with serving_laboratory(folder) as (address, first), chromium() as browser:
        page = browser.new_context(viewport=DESKTOP).new_page()  # type: ignore[arg-type]
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(first)
        fill_join(page, "olga")
        page.wait_for_url(f"{address}/lab")
        page.get_by_role("link", name="New study").click()
        page.get_by_label("Title").fill("Advice at work")
        expect(page.get_by_label("Short name")).to_have_value("advice-at-work")
        page.get_by_role("button", name="Create the study").click()
        expect(page.locator(".badge")).to_have_text("Closed")
        yield Place(address, browser, page, errors)
        assert errors == []


def test_what_is_wrong_is_said_with_its_line_as_it_is_typed_and_what_is_right_is_served(place: Place) -> None:
    page = place.go("study/advice-at-work/edit")
    source, save = page.locator(".source"), page.get_by_role("button", name="Save and use")
    expect(save).to_be_disabled()
    was = source.input_value()
    source.fill(f"# {{title}}\n\n{{nobody}}\n\n{was}")
    expect(page.locator(".findings .wrong")).to_contain_text("consent.md, line 3")
    expect(save).to_be_disabled()
    page.get_by_role("button", name="consent.md, line 3").click()
    assert source.evaluate("each => each.value.slice(each.selectionStart, each.selectionEnd)") == "{nobody}"
    page.reload()  # the draft is still there
    expect(page.locator(".source")).to_have_value(f"# {{title}}\n\n{{nobody}}\n\n{was}")
    page.locator(".source").fill(f"# Welcome, everybody\n\n{was}")
    expect(save).to_be_enabled()
    page.get_by_label("What you changed").fill("A friendlier title")
    save.click()
    expect(page.locator("#said")).to_have_text("Saved as version 2, and served from now on.")
    place.go("study/advice-at-work/history")
    page.locator(".version").first.locator("summary").click()
    expect(page.locator(".difference ins").first).to_have_text("+# Welcome, everybody")


def test_the_preview_is_the_participants_screen_and_no_script_runs_in_it(place: Place) -> None:
    page = place.go("study/advice-at-work/edit")
    evil = (
        "<script>top.document.title='evil'</script><img src=x onerror=\"top.document.title='evil'\">[x](javascript:alert(1))"
    )
    page.locator(".source").fill(f"# Look\n\n{evil}\n")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="Look")).to_be_visible()
    expect(frame.get_by_text("<script>")).to_be_visible()  # as text
    assert page.locator("iframe").get_attribute("sandbox") == ""
    inside = page.frames[-1].content()
    assert "<script" not in inside
    assert "<img" not in inside
    assert "javascript:" not in inside.replace("[x](javascript:alert(1))", "")
    assert page.title() != "evil"
    # Even a script that came through would not run: neither in the frame nor with the page's rules.
    page.locator("iframe").evaluate("each => each.srcdoc = '<script>document.title = 1; top.evil = 1</script><p>there</p>'")
    expect(frame.get_by_text("there")).to_be_visible()
    assert page.evaluate("window.evil") is None
    for name in ("Before block 4", "Debriefing", "The end", "Withdrawn"):
        page.get_by_label("Screen").select_option(name)
        expect(frame.locator("h1").first).to_be_visible()
    page.get_by_role("button", name="Discard my changes").click()
    page.get_by_role("button", name="Discard", exact=True).click()
    expect(page.locator("#said")).to_have_text("Your changes are discarded.")


def test_an_invited_helper_sees_what_helpers_see(place: Place) -> None:
    page = place.go("study/advice-at-work/people")
    page.get_by_label("For whom").fill("Hans")
    page.get_by_role("button", name="Make an invitation link").click()
    link = page.locator(".link-made input").input_value()
    other = place.browser.new_context(viewport=PHONE).new_page()  # type: ignore[arg-type]
    other.goto(link)
    expect(other.locator("form")).to_contain_text("help with the study “advice-at-work”")
    fill_join(other, "hans")
    other.wait_for_url(f"{place.address}/lab")
    expect(other.locator(".study")).to_have_count(1)
    expect(other.get_by_role("link", name="New study")).to_have_count(0)
    expect(other.get_by_role("link", name="People")).to_have_count(0)
    other.locator(".study a").click()
    expect(other.get_by_role("button", name="Open to newcomers")).to_be_visible()
    expect(other.get_by_role("button", name="Archive")).to_have_count(0)
    expect(other.get_by_role("link", name="Access")).to_have_count(0)
    other.get_by_role("link", name="Watch people and robots").click()
    expect(other.locator("#download")).to_be_visible()
    other.get_by_role("link", name="All studies").click()
    other.wait_for_url(f"{place.address}/lab")
    other.get_by_role("button", name="Log out").click()
    other.wait_for_url(f"{place.address}/lab/login")
    other.context.close()


def test_a_closed_study_is_polite_to_newcomers_and_an_open_one_lets_them_in(place: Place) -> None:
    visitor = place.browser.new_context().new_page()
    visitor.goto(f"{place.address}/s/advice-at-work/")
    visitor.wait_for_selector('body[data-stage="closed"]')
    expect(visitor.locator("h1")).to_have_text("Not open at the moment")
    page = place.go("study/advice-at-work")
    page.get_by_role("button", name="Open to newcomers").click()
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("still to be filled in")
    page.get_by_role("button", name="Open anyway").click()
    expect(page.locator(".badge")).to_have_text("Open")
    visitor.reload()
    visitor.wait_for_selector('body[data-stage="consent"]')
    assert visitor.evaluate("Object.keys(localStorage)") == ["explorelab-key/s/advice-at-work/"]
    visitor.context.close()


PARTS = ("", "/edit", "/run", "/history", "/people")
SCREENS = ("", "new", "people", "account", *(f"study/advice-at-work{part}" for part in PARTS))


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_no_barrier_and_nothing_is_wider_than_the_screen(place: Place, size: dict[str, int]) -> None:
    place.page.set_viewport_size(size)  # type: ignore[arg-type]
    try:
        for screen in SCREENS:
            page = place.go(screen)
            page.evaluate(AXE)
            wrong = page.evaluate("async () => (await axe.run()).violations.map(v => v.id + ': ' + v.nodes[0].html)")
            assert wrong == [], screen
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], screen
    finally:
        place.page.set_viewport_size(DESKTOP)  # type: ignore[arg-type]


def test_the_ways_in_have_no_barrier_either(place: Place) -> None:
    page = place.browser.new_context(viewport=PHONE).new_page()  # type: ignore[arg-type]
    for path in ("/lab/login", "/lab/join#none"):
        page.goto(place.address + path)
        expect(page.locator("h1")).to_be_visible()
        page.evaluate(AXE)
        assert page.evaluate("async () => (await axe.run()).violations.map(v => v.id + ': ' + v.nodes[0].html)") == []
    page.context.close()

"""Someone who takes part in a whole study in a real browser, whatever its pages are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from playwright.sync_api import Page

from tests.support.study.hands import Way, answer, play, press
from tests.support.study.three_studies import WholeStudy

BUTTONS = {
    "consent": "#agree",
    "instructions": "#continue",
    "ready": "#start",
    "debriefing": "#finish",
    "at_page": "#continue",
}

SHOWN = """() => {
    const {stage} = document.body.dataset;
    const wanted = stage === "play" ? ".grid-bandit" : ".sheet";
    return stage !== "loading" && document.querySelector(wanted);
}"""
"""The next screen is there: between two, the body still has the stage of the one before."""


def take_part(page: Page, way: Way, url: str, study: WholeStudy, look: Callable[[str], None]) -> list[int]:
    """Take part from consent to the end; `look` is called on every screen with its name. Returns the arms chosen."""
    page.goto(url)
    chosen: list[int] = []
    tried: set[str] = set()
    n_blocks = 0
    while True:
        page.wait_for_function(SHOWN)
        stage = page.get_attribute("body", "data-stage") or ""
        if stage == "play":
            n_blocks += 1
            look("play")
            chosen += play(page, way, seed=n_blocks, at_second=partial(look, f"play-{n_blocks}"))
        elif stage in BUTTONS:
            name = page.get_attribute(".sheet[data-page]", "data-page") if stage == "at_page" else stage
            assert name
            sheet = page.wait_for_selector(".sheet")
            if stage == "at_page":
                fill(page, way, study, name, tried)
            look(stage)
            look(name if stage != "ready" else f"ready-{n_blocks + 1}")
            press(page, way, BUTTONS[stage])
            page.wait_for_function("sheet => !sheet.isConnected || sheet.querySelector('.question.wrong')", arg=sheet)
            if page.locator(".question.wrong").count():
                look(f"{name}-again")
                press(page, way, BUTTONS[stage])
                page.wait_for_function("sheet => !sheet.isConnected", arg=sheet)
        else:
            look(stage)
            return chosen


def fill(page: Page, way: Way, study: WholeStudy, name: str, tried: set[str]) -> None:
    """Answer the questions of a page, those that must be right at first wrongly."""
    first = study.wrong.get(name, {}) if name not in tried else {}
    tried.add(name)
    for question, value in (first or study.right.get(name, {})).items():
        answer(page, way, question, value)

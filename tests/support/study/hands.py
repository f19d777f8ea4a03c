"""People in a real browser, by mouse, by finger on a phone, or by keyboard alone: they press buttons and choose arms."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from playwright.sync_api import Browser, Page

from tests.support.study.browser import DESKTOP, PHONE

type Way = Literal["mouse", "finger", "keys"]
WAYS: tuple[Way, ...] = ("mouse", "finger", "keys")

OPEN = ":is(.gb-arm, .square):not([aria-disabled])"
"""Arms that may be chosen."""
CHOOSING = '.grid-bandit[data-phase="choosing"]'


@contextmanager
def person(browser: Browser, way: Way, language: str = "en-GB") -> Iterator[Page]:
    """A page of someone who takes part in this way; errors on it are in `page.problems`."""
    phone = way == "finger"
    context = browser.new_context(
        viewport=PHONE if phone else DESKTOP, has_touch=phone, is_mobile=phone, locale=language, reduced_motion="reduce"
    )
    page = context.new_page()
    page.problems = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.problems.append(str(error)))  # type: ignore[attr-defined]
    page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)  # type: ignore[attr-defined]
    yield page
    context.close()


def press(page: Page, way: Way, button: str) -> None:
    """Press a button: with the keyboard, after reaching it by Tab."""
    page.wait_for_selector(button)
    if way == "mouse":
        page.click(button)
    elif way == "finger":
        page.tap(button)
    else:
        _tab_to(page, button)
        page.keyboard.press("Enter")


def open_arms(page: Page) -> list[int]:
    """The arms that can be chosen now."""
    return [int(arm) for arm in page.eval_on_selector_all(OPEN, "all => all.map(e => e.dataset.arm ?? e.dataset.square)")]


def choose(page: Page, way: Way, arm: int) -> None:
    """Choose an arm."""
    cell = page.locator(f'[data-arm="{arm}"], [data-square="{arm}"]')
    if way == "mouse":
        cell.click()
    elif way == "finger":
        cell.tap()
    else:
        walk_to(page, arm)
        page.keyboard.press("Enter")


def walk_to(page: Page, arm: int) -> None:
    """Move the keyboard's cursor to an arm: to the first, then on by number; on a grid, by column and row."""
    at = "() => Number(document.activeElement.dataset.arm ?? document.activeElement.dataset.square ?? -1)"
    for _ in range(20):
        if page.evaluate(at) >= 0:
            break
        page.keyboard.press("Tab")
    if page.locator("#arms").count():
        page.keyboard.press("Home")
        for _ in range(arm):
            page.keyboard.press("PageDown")
    else:
        height = int(page.locator("#grid").get_attribute("aria-rowcount") or 1)
        page.keyboard.press("Control+Home")
        for key, steps in (("ArrowRight", arm // height), ("ArrowDown", arm % height)):
            for _ in range(steps):
                page.keyboard.press(key)
    assert page.evaluate(at) == arm


def wait_to_choose(page: Page) -> int | None:
    """The number of the choice that can be made now, from 1; None once the block is over."""
    page.wait_for_selector(f'{CHOOSING}, body:not([data-stage="play"])', timeout=30_000)
    if page.get_attribute("body", "data-stage") != "play":
        return None
    return int("".join(c for c in page.locator("#counter").inner_text().split()[1] if c.isdigit()))


def play(page: Page, way: Way, seed: int = 0, at_second: Callable[[], None] = lambda: None) -> list[int]:
    """Play the block that has begun to its end, choosing any open arm; returns the arms that were chosen.

    `at_second` is called when the second choice is open, and something has been chosen.
    """
    rng = random.Random(seed)
    chosen: list[int] = []
    while (number := wait_to_choose(page)) is not None:
        page.wait_for_timeout(60)  # nobody chooses in the frame in which a choice opens
        chosen.append(rng.choice(open_arms(page)))
        choose(page, way, chosen[-1])
        if number == 2:
            at_second()
        page.wait_for_function(
            """n => document.body.dataset.stage !== "play"
                || !document.querySelector("#counter")?.textContent.includes(` ${n} `)""",
            arg=number,
            timeout=30_000,
        )
    return chosen


def answer(page: Page, way: Way, question: str, value: Any) -> None:
    """Answer a question of a page."""
    box = f'[data-question="{question}"]'
    if isinstance(value, list):
        for each in value:
            _check(page, way, f'{box} input[value="{each}"]')
    elif page.locator(f"{box} input[type=radio]").count():
        _pick(page, way, box, str(value))
    else:
        _tab_to(page, f"{box} :is(input, textarea)") if way == "keys" else press(page, way, f"{box} :is(input, textarea)")
        page.keyboard.press("Control+A")
        page.keyboard.type(str(value))


def _check(page: Page, way: Way, box: str) -> None:
    if way == "keys":
        _tab_to(page, box)
        page.keyboard.press(" ")
    else:
        press(page, way, box)


def _pick(page: Page, way: Way, box: str, value: str) -> None:
    """Choose one of several that exclude each other; with the keyboard, the arrow keys go from one to the next."""
    wanted = f'{box} input[value="{value}"]'
    if way != "keys":
        press(page, way, wanted)
        return
    _tab_to(page, f"{box} input")
    page.keyboard.press(" ")
    for _ in range(page.locator(f"{box} input").count()):
        if page.locator(wanted).is_checked():
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"{wanted} cannot be chosen with the keyboard")


def _tab_to(page: Page, what: str) -> None:
    for _ in range(60):
        if page.evaluate("what => document.activeElement?.matches(what)", what):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{what} cannot be reached by keyboard")

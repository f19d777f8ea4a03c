"""Pictures of every screen of a study, on a desktop and on a phone, and how punctual deadlines are. Writes docs/study/.

    python -m evaluations.screens [--choices 60] [--only participant studies layouts researcher clock]

Pictures of layouts are of the plugin alone, and go to docs/plugin/.

The researcher's page is shown while robots play. The clock is measured in one block of that many choices of 1.5 s, from what
the server stored (evaluations/screens.json).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
from playwright.sync_api import Browser, Page  # noqa: E402

from explorelab.study.server.serve import serving  # noqa: E402
from tests.support.study.browser import DESKTOP, PHONE, chromium, served, stage, wait_for_trial  # noqa: E402
from tests.support.study.hands import person  # noqa: E402
from tests.support.study.plugin_page import LAYOUTS, cell, show  # noqa: E402
from tests.support.study.taking_part import take_part  # noqa: E402
from tests.support.study.three_studies import STUDIES  # noqa: E402

FOLDER = ROOT / "docs" / "study"
ROBOTS = 5
"""That play while the researcher's page is looked at."""


def walk(browser: Browser, url: str, name: str, viewport: dict[str, int]) -> None:
    """A picture of each screen."""
    phone = name == "phone"
    context = browser.new_context(viewport=viewport, has_touch=phone, is_mobile=phone, device_scale_factor=1)
    page = context.new_page()

    def picture(screen: str, whole: bool = True) -> None:
        # A new reward glows for half a second; wait until it stops.
        page.wait_for_timeout(600 if screen.startswith("play") else 100)
        page.screenshot(path=FOLDER / f"{name}-{screen}.png", full_page=whole)

    page.goto(url)
    for screen, button in (("consent", "#agree"), ("instructions", "#continue")):
        stage(page, screen)
        picture(screen)
        page.click(button)
    for dynamic in ("standard", "neighbour", "travel"):
        stage(page, "ready", 60_000)
        picture(f"ready-{dynamic}")
        page.click("#start")
        stage(page, "play")
        if dynamic == "standard":
            picture("play-start", whole=False)
        click_something(page, dynamic)
        wait_for_trial(page, 2)
        click_something(page, dynamic)
        picture(f"play-{dynamic}", whole=False)
        if dynamic == "standard":
            page.click("#withdraw")
            page.wait_for_timeout(200)
            page.screenshot(path=FOLDER / f"{name}-withdraw.png")
            page.click("#withdraw-go-on")
    for _ in range(2):
        stage(page, "ready", 60_000)
        page.click("#start")
    stage(page, "debriefing", 60_000)
    picture("debriefing")
    page.click("#finish")
    stage(page, "finished")
    picture("finished")
    second = context.new_page()
    second.goto(f"{url}/?workerId=w&assignmentId=a")
    stage(second, "consent")
    third = context.new_page()
    third.goto(f"{url}/?workerId=w&assignmentId=a")
    stage(third, "consent")
    second.click("#agree")
    stage(second, "taken-over")
    second.screenshot(path=FOLDER / f"{name}-taken-over.png")
    third.click("#agree")
    stage(third, "instructions")
    stranger = browser.new_context(viewport=viewport).new_page()
    stranger.goto(f"{url}/?workerId=w&assignmentId=other")
    stage(stranger, "elsewhere")
    stranger.screenshot(path=FOLDER / f"{name}-elsewhere.png")
    stranger.context.close()
    context.close()


def studies(browser: Browser) -> None:
    """Every screen of two studies of one's own, a bandit and a graph."""
    for name in ("bandit", "graph"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / name
            STUDIES[name].write(folder)
            with serving(folder) as url:
                for screen, way in (("desktop", "mouse"), ("phone", "finger")):
                    with person(browser, way, "de-DE" if name == "bandit" else "en-GB") as page:
                        take_part(page, way, url, STUDIES[name], partial(picture_of_study, page, FOLDER / name, screen))


def picture_of_study(page: Page, folder: Path, screen: str, name: str) -> None:
    """A picture of a screen, unless it is only called by its stage."""
    folder.mkdir(parents=True, exist_ok=True)
    if name not in ("at_page", "ready", "play"):
        page.screenshot(path=folder / f"{screen}-{name}.png", full_page=not name.startswith("play"))


def layouts(browser: Browser) -> None:
    """The plugin alone: every layout that is no grid, and what may be shown of rewards and of arms on offer."""
    euros = {"kind": "money", "currency": "EUR", "per_point": 0.01}
    shown = {
        "buttons": ("buttons", 1, {"foregone": True, "means": [31, 47, 12, 26]}),
        "forced": (
            "buttons",
            None,
            {"available": [2], "rewards": euros, "points": 340, "last_reward": 26, "language": "en-GB"},
        ),
        "line": ("line", 3, {"dynamic": "neighbour", "start": 2, "deadline_ms": 60_000, "last_reward": 20, "points": 20}),
        "graph": ("graph", None, {"dynamic": "neighbour", "start": 1, "last_reward": 12, "points": 107}),
        "arrows": ("arrows", None, {"dynamic": "neighbour", "start": 1, "last_reward": 12, "points": 107}),
        "grid": (
            "grid",
            36,
            {"foregone": True, "means": [round(40 - (x - 3) ** 2 - (y - 5) ** 2) for x in range(10) for y in range(10)]},
        ),
    }
    for name, (layout, clicked, block) in shown.items():
        for screen, viewport in (("", {"width": 760, "height": 640}), ("-phone", PHONE)):
            context = browser.new_context(viewport=viewport, has_touch=bool(screen), is_mobile=bool(screen))
            page = context.new_page()
            show(
                page,
                LAYOUTS[layout],
                **{"deadline_ms": None, "outcome_ms": 60_000, "n_trials": 40, "first_trial": 9, **block},
            )
            if clicked is not None:
                cell(page, clicked).click()
            page.mouse.move(0, 0)
            page.evaluate("() => document.activeElement.blur()")
            page.wait_for_timeout(700)
            page.screenshot(path=ROOT / "docs" / "plugin" / f"{name}{screen}.png")
            context.close()


def click_something(page: Page, dynamic: str) -> None:
    """Click a square that may be chosen and is not the current one."""
    blue = int(page.locator("#grid").get_attribute("data-blue") or 0)
    x, y = divmod(blue, 10)
    step = 1 if dynamic == "neighbour" else 3
    page.click(f'.square[data-square="{(x + step if x + step < 10 else x - step) * 10 + y}"]')


def clock(browser: Browser, n_choices: int) -> dict[str, float]:
    """How late choices were recorded after their time was up."""
    how = {"n_training": n_choices, "fast_ms": 1500}
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "clock", **how) as study:
        page = browser.new_page(viewport=DESKTOP)
        page.goto(study.url)
        for screen, button in (("consent", "#agree"), ("instructions", "#continue"), ("ready", "#start")):
            stage(page, screen)
            page.click(button)
        stage(page, "play")
        stage(page, "ready", 1e3 * (2 * n_choices + 30))
        overrun = np.array([row.overrun_ms for row in study.choices()])
        page.close()
    return {
        "choices": len(overrun), "median_ms": float(np.median(overrun)), "p99_ms": float(np.quantile(overrun, 0.99)),
        "max_ms": float(overrun.max()),
    }  # fmt: skip


def researcher(browser: Browser) -> None:
    """The researcher's page, when everyone who plays has been assessed, and the panel with the assessments alone."""
    from explorelab.study.config.study_folder import load_study
    from explorelab.study.database.store import engine_for, remembered
    from explorelab.study.robots.pilot import run_pilot
    from explorelab.study.server.serve import PASSWORD

    os.environ[PASSWORD] = password = "a password for pictures"
    how = {"training": (), "n_trials": 90, "fast_ms": 1500, "slow_ms": 2000}
    with tempfile.TemporaryDirectory() as temporary, served(Path(temporary) / "watched", **how) as study:
        folder = Path(temporary) / "watched"
        engine = engine_for("sqlite:///study.db", folder)
        with engine.connect() as connection:
            key = remembered(connection, "pilot_key")
        engine.dispose()
        play = {"people": ROBOTS, "seed": 1, "pilot_key": key, "progress": False}
        threading.Thread(target=run_pilot, args=(study.url, load_study(folder)), kwargs=play, daemon=True).start()
        page = browser.new_page(viewport=DESKTOP)
        page.goto(f"{study.url}/admin")
        page.fill("#password", password)
        page.click("button[type=submit]")
        page.click("#show-pilots")
        rows = page.locator("#companion tbody tr:has(polyline)")
        until = time.monotonic() + 600
        while rows.count() < ROBOTS:
            if time.monotonic() > until:
                raise RuntimeError("not everyone was assessed in ten minutes")
            page.wait_for_timeout(1000)
        page.screenshot(path=FOLDER / "researcher.png", full_page=True)
        page.locator("#companion details").first.evaluate("each => { each.open = true; }")
        page.locator("#companion-panel").screenshot(path=FOLDER / "companion.png")
        page.close()


def participant(browser: Browser) -> None:
    """What participants see."""
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "screens", fast_ms=1500, slow_ms=2000) as study:
        walk(browser, study.url, "desktop", DESKTOP)
        walk(browser, study.url, "phone", PHONE)


def main() -> int:
    """Take the pictures and measure the clock."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choices", type=int, default=60, help="how many choices the clock is measured on; 0: not at all")
    parts = ("participant", "studies", "layouts", "researcher", "clock")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if "participant" in given.only:
            participant(browser)
        if "studies" in given.only:
            studies(browser)
        if "layouts" in given.only:
            layouts(browser)
        if "researcher" in given.only:
            researcher(browser)
        if "clock" in given.only and given.choices:
            found = clock(browser, given.choices)
            (ROOT / "evaluations" / "screens.json").write_text(json.dumps(found, indent=1) + "\n")
            print(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())

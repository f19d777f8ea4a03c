"""Pictures of a study's own pages, on a desktop and on a phone. Writes docs/study/.

python -m evaluations.page_screens
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page

from explorelab.study.server.serve import serving
from tests.support.study.browser import DESKTOP, PHONE, chromium, stage
from tests.support.study.server import write_study

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "study"
PAGES = """
[[pages]]
kind = "text"
file = "instructions.md"
[[pages]]
kind = "quiz"
file = "quiz.toml"
[[pages]]
kind = "form"
file = "about-you.toml"
[[pages]]
kind = "blocks"
[[pages]]
kind = "break"
seconds = 60
file = "break.md"
[[pages]]
kind = "score"
"""
QUIZ = """
[[questions]]
name = "points"
kind = "choice"
text = "Does the same square always give the same number of points?"
options = { yes = "Yes, always the same", no = "No, it varies" }
expected = "no"
feedback = "The same square gives a little **more or less** each time."
[[questions]]
name = "change"
kind = "choice"
text = "Can you change your choice?"
options = { yes = "Yes, until the time is up", no = "No, the first click counts" }
expected = "yes"
feedback = "You can change your mind as often as you like, until the time for this choice is up."
"""


def about_you() -> str:
    """The form that docs/study-pages.md shows."""
    found = re.search(
        r'```toml\n(title = "About you".*?)```', (ROOT / "docs" / "study-pages.md").read_text("utf-8"), re.DOTALL
    )
    assert found is not None
    return found[1]


def walk(browser: Browser, url: str, name: str, viewport: dict[str, int]) -> None:
    """Go through the pages as someone who makes mistakes."""
    page = browser.new_page(viewport=viewport)  # type: ignore[arg-type]

    def picture(screen: str) -> None:
        page.mouse.move(0, 0)
        page.screenshot(path=OUT / f"{name}-{screen}.png", full_page=True)

    page.goto(url)
    stage(page, "consent")
    page.click("#agree")
    on(page, "instructions")
    on(page, "quiz", leave=False)
    page.click("text=Yes, always the same")
    page.click("text=Yes, until the time is up")
    page.click("#continue")
    page.wait_for_selector(".again")
    picture("quiz-wrong")
    page.click("#continue")
    page.wait_for_selector('[data-page="instructions"]')
    picture("again")
    on(page, "instructions")
    on(page, "quiz", leave=False)
    page.click("text=No, it varies")
    page.click("text=Yes, until the time is up")
    page.click("#continue")
    on(page, "about-you", leave=False)
    page.fill("input.number", "17")
    page.click("#continue")
    page.wait_for_selector(".error:not([hidden])")
    picture("form-errors")
    page.fill("input.number", "33")
    page.click("text=Now and then")
    page.click("label.step >> nth=0")
    page.click("#continue")
    for _ in range(2):
        stage(page, "ready")
        page.click("#start")
        stage(page, "play")
    page.wait_for_selector(".break", timeout=60_000)
    picture("break")
    page.click("#continue")
    page.wait_for_selector("#score")
    picture("score")
    page.close()


def on(page: Page, name: str, *, leave: bool = True) -> None:
    """Wait for a page and, unless there is more to do, leave it."""
    page.wait_for_selector(f'[data-page="{name}"]')
    if leave:
        page.click("#continue")


def main() -> int:
    """Take all pictures."""
    with tempfile.TemporaryDirectory(prefix="pages-") as parent:
        folder = Path(parent) / "study"
        write_study(folder, "sqlite:///study.db", fast_ms=300, slow_ms=300, training=(), n_trials=2, dynamics=("standard",))
        files = {
            "quiz.toml": QUIZ,
            "about-you.toml": about_you(),
            "break.md": "# Halfway\n\nStretch your legs and rest your eyes.\n",
        }
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        study = (folder / "study.toml").read_text(encoding="utf-8")
        (folder / "study.toml").write_text(study + PAGES, encoding="utf-8")
        with serving(folder) as url, chromium() as browser:
            for name, viewport in (("desktop", DESKTOP), ("phone", PHONE)):
                walk(browser, url, name, viewport)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A real Chromium on a study that is really served, for tests that look at the screen."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imread
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import create_engine, select

from explorelab.study.database import tables
from explorelab.study.server.serve import serving
from tests.support.study.server import write_study

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def chromium(*more: str) -> Iterator[Browser]:
    """Debian's Chromium, without a window, with more arguments if there are any."""
    with sync_playwright() as playwright:
        # A test's machine may have no sandbox for the browser, and a small shared memory.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", *more]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        yield browser
        browser.close()


class Study:
    """A study that is served, seen from outside: its address, and what its database holds."""

    def __init__(self, folder: Path, url: str) -> None:
        self.url = url
        self._engine = create_engine(f"sqlite:///{folder / 'study.db'}")

    def rows(self, table: Any) -> list[Any]:
        """Everything in a table, in the order in which it came."""
        with self._engine.connect() as connection:
            return list(connection.execute(select(table).order_by(table.c.id)))

    def choices(self) -> list[Any]:
        """All choices that are kept."""
        return self.rows(tables.choices)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()


@contextmanager
def served(folder: Path, **changes: Any) -> Iterator[Study]:
    """The paper's design, shortened, for as long as the block lasts."""
    usual = {"training": ("standard", "neighbour", "travel"), "n_training": 3, "n_trials": 4}
    write_study(folder, "sqlite:///study.db", **{"fast_ms": 900, "slow_ms": 1200, **usual, **changes})
    with serving(folder, with_advice=True) as url:
        study = Study(folder, url)
        yield study
        study.close()


def stage(page: Page, name: str, timeout_ms: float = 15_000) -> None:
    """Wait until the page is there."""
    page.wait_for_selector(f'body[data-stage="{name}"]', timeout=timeout_ms)


def dots(page: Page) -> tuple[int, int]:
    """The squares in which the middles of the blue and of the yellow dot lie on the screen."""
    found = page.evaluate(
        """() => {
            const squares = [...document.querySelectorAll(".square")].map(each => [each, each.getBoundingClientRect()]);
            return [".gb-blue", ".gb-yellow"].map(name => {
                const box = document.querySelector(name).getBoundingClientRect();
                const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
                const [under] = squares.find(([, s]) => s.left <= x && x < s.right && s.top <= y && y < s.bottom);
                return Number(under.dataset.square);
            });
        }"""
    )
    return int(found[0]), int(found[1])


def picture_of(page: Page, square: int) -> np.ndarray:
    """The pixels of a square, as they are on the screen."""
    box = page.locator(f'.square[data-square="{square}"]').bounding_box()
    assert box is not None
    return np.asarray(imread(io.BytesIO(page.screenshot(clip=box)), format="png"))[..., :3]


def is_blue(pixels: np.ndarray) -> np.ndarray:
    """Which pixels belong to the blue dot."""
    return np.asarray((pixels[..., 2] - pixels[..., 0] > 0.3) & (pixels[..., 2] > 0.5))


def is_yellow(pixels: np.ndarray) -> np.ndarray:
    """Which pixels belong to the yellow dot."""
    return np.asarray((pixels[..., 0] - pixels[..., 2] > 0.3) & (pixels[..., 1] > 0.7))


def reward_box(page: Page) -> str:
    """What the text box above the squares says."""
    return page.locator("#reward").inner_text().strip()


def trial_number(page: Page) -> int:
    """Which choice is being made, from 1, as the counter shows it."""
    return int("".join(c for c in page.locator("#counter").inner_text().split("/")[0].split("of")[0] if c.isdigit()))


def wait_for_trial(page: Page, number: int, timeout_ms: float = 15_000) -> None:
    """Wait until this choice is being made."""
    page.wait_for_function(
        """number => {
            const text = document.querySelector('#counter')?.textContent ?? '';
            return parseInt(text.match(/\\d+/)?.[0] ?? '0') === number;
        }""",
        arg=number,
        timeout=timeout_ms,
    )

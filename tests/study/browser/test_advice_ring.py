"""Advice in a real browser: a ring on the suggested square while it is being chosen, and a stored row that says so."""

from __future__ import annotations

from pathlib import Path

from explorelab.study.database import tables
from tests.support.study.browser import PHONE, chromium, picture_of, served, stage, wait_for_trial

ADVICE = 'arms = ["impersonal"]\nwithin_ms = 2000'


def test_the_ring_is_on_the_suggested_square_and_the_row_says_that_it_was_shown(tmp_path: Path) -> None:
    how = {"fast_ms": 2500, "slow_ms": 2500, "n_trials": 3, "dynamics": ("standard",), "advice": ADVICE}
    with served(tmp_path / "study", n_training=1, **how) as study, chromium() as browser:
        page = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce").new_page()
        page.goto(study.url)
        page.click("#agree")
        page.click("#continue")
        for _ in range(3):
            stage(page, "ready", 60_000)
            assert page.locator(".key.ring").count() == 0  # nothing is suggested in training
            page.click("#start")
            stage(page, "play")
            page.wait_for_selector('body:not([data-stage="play"])', timeout=30_000)
        stage(page, "ready", 60_000)
        assert page.locator(".key.ring").is_visible()
        page.click("#start")
        seen = []
        for trial in (1, 2, 3):
            wait_for_trial(page, trial)
            page.wait_for_selector("#ring:not([hidden])")
            square = int(page.locator("#grid").get_attribute("data-suggested") or "-1")
            seen.append(square)
            ring, cell = (
                page.locator("#ring").bounding_box(),
                page.locator(f'.square[data-square="{square}"]').bounding_box(),
            )
            assert ring is not None
            assert cell is not None
            assert abs(ring["x"] + ring["width"] / 2 - cell["x"] - cell["width"] / 2) < 2
            assert abs(ring["y"] + ring["height"] / 2 - cell["y"] - cell["height"] / 2) < 2
            dark = (picture_of(page, square).mean(-1) < 0.35).mean()
            assert 0.05 < dark < 0.6  # a ring and a corner, not a filled square
            assert "suggested" in (page.locator(f'.square[data-square="{square}"]').get_attribute("aria-label") or "")
            assert page.locator("#suggestion").inner_text().startswith("Suggested: column")
            focused = page.evaluate("document.activeElement?.dataset.square")
            assert focused is not None
            page.tap(f'.square[data-square="{square if trial == 1 else 42}"]')
        stage(page, "ready", 60_000)
        rows = [row for row in study.rows(tables.choices) if row.advice is not None]
        assert [row.advised for row in rows] == seen
        assert [row.advice for row in rows] == ["best"] * 3
        assert all(row.advice_shown_ms is not None and 0 <= row.advice_shown_ms < row.first_click_ms for row in rows)
        assert rows[0].goal == rows[0].advised
        assert all(row.advice is None for row in study.rows(tables.choices)[:3])


def test_what_was_shown_before_a_reload_is_stored_as_shown(tmp_path: Path) -> None:
    how = {"fast_ms": 2500, "slow_ms": 2500, "n_trials": 2, "dynamics": ("standard",), "advice": ADVICE}
    with served(tmp_path / "study", training=(), **how) as study, chromium() as browser:
        page = browser.new_page()
        page.goto(study.url)
        page.click("#agree")
        page.click("#continue")
        stage(page, "ready")
        page.click("#start")
        page.wait_for_selector("#ring:not([hidden])")
        page.wait_for_function("() => localStorage.getItem('explorelab-advice')")
        square = int(page.locator("#grid").get_attribute("data-suggested") or "-1")
        page.route("**/api/advice", lambda route: route.abort())  # whatever the new page gets comes too late
        page.reload()
        page.click("#resume")
        page.click('.square[data-square="42"]')
        wait_for_trial(page, 2)
        stage(page, "ready", 60_000)
        first, second = (row for row in study.rows(tables.choices) if row.advice is not None)
    assert (first.advised, first.advice, first.epoch) == (square, "best", 2)
    assert first.advice_shown_ms is not None
    assert (second.advised, second.advice, second.advice_shown_ms) == (None, "late", None)

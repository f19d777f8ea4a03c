"""The companion's assessment on the researcher's page, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from sqlalchemy import insert

from explorelab.study.assessment.asked import maker_of
from explorelab.study.database.tables import assessments, people
from tests.study.admin.test_admin_page import logged_in, served
from tests.support.study.browser import PHONE, chromium
from tests.support.study.people_rows import NOW, Desk, add_person

FORMS = ("linear", "power", "log", "none")
AXE = Path(__file__).parents[3] / "page" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def found(rng: Any, n: int, n_trials: int = 20) -> dict[str, Any]:
    """What a companion may find after n choices."""
    regret = np.cumsum(rng.uniform(0, 40, n)).round(1).tolist()
    later = list(range(n + 1, n_trials + 1))
    middle = [(regret[-1] if regret else 0.0) + 20.0 * (k + 1) for k in range(len(later))]
    weakness = {"name": "too hot", "probability": 0.8, "cost": float(10 * n), "sentence": "They choose too randomly."}
    ends = {"estimate": float(n), "low": n / 2, "high": 2.0 * n}
    return {
        "n_trials": n_trials, "regret": regret, "later": later, "low": [0.8 * y for y in middle], "middle": middle,
        "high": [1.3 * y for y in middle], "forms": dict(zip(FORMS, rng.dirichlet(np.ones(4)).tolist(), strict=True)),
        "regret_to_come": float(20 * (n_trials - n)), "regret_if_advised": float(10 * (n_trials - n)),
        "estimates": [{"parameter": name, **ends} for name in ("prior mean", "temperature")],
        "weakness": weakness if n % 2 else None,
    }  # fmt: skip


def add_assessed(desk: Desk, n: int, *, code: str, made_at: float = NOW - 20, **given: Any) -> int:
    """Somebody in their first task block who was assessed after n choices."""
    rng = np.random.default_rng(n)
    with desk.store.engine.begin() as connection:
        person = add_person(
            connection, desk.study, FirstTaskBlock(n), NOW, stage="play", code=code, seen_at=NOW - 1, **given
        )
        values = {"person": person, "block": 1, "n": n, "maker": maker_of(desk.study), "made_at": made_at}
        connection.execute(insert(assessments).values(found=json.dumps(found(rng, n)), **values))
    return person


class FirstTaskBlock:
    """Chance that puts somebody into their first task block after so many choices."""

    def __init__(self, n: int) -> None:
        self._rng, self._given = np.random.default_rng(n), [0, 1, 1, n]

    def integers(self, *args: Any) -> Any:
        return self._given.pop(0) if self._given else self._rng.integers(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.store.close()


def codes(page: Page) -> list[str]:
    return list(page.locator("#companion tbody tr:not([hidden]) .code").all_text_contents())


def head(page: Page, title: str) -> Any:
    return page.locator("#companion thead button", has_text=title).first


def test_everyone_has_a_small_curve_and_what_was_found(desk: Desk, browser: Browser, tmp_path: Path) -> None:
    for n, code in ((3, "ccc"), (7, "aaa"), (12, "bbb")):
        add_assessed(desk, n, code=code)
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        assert codes(page) == ["aaa", "bbb", "ccc"]
        assert "3 people in a task block" in page.inner_text("#companion-status")
        row = page.locator("#companion tbody tr").first
        assert (row.locator(".spark").get_attribute("aria-label") or "").startswith("Regret ")
        assert row.locator(".spark .so-far, .spark .to-come, .spark .band").count() == 3
        cells = row.locator("td").all_inner_texts()
        assert cells[0] == "1 · 7/20"
        assert sum(int(text.removesuffix(" %")) for text in cells[2:6]) in range(98, 103)
        assert row.locator(".most").count() == 1
        assert cells[6:8] == ["260", "130"]
        assert cells[8] == "They choose too randomly. It costs them about 70 in a block (probability 80 %)."
        assert cells[10] == "20 s"
        page.screenshot(path=tmp_path / "companion.png", full_page=True)
    assert problems == []


def test_every_column_sorts_by_click_and_by_key(desk: Desk, browser: Browser) -> None:
    for n, code in ((3, "ccc"), (7, "aaa"), (12, "bbb")):
        add_assessed(desk, n, code=code, made_at=NOW - 10 * n)
    with served(desk) as address, logged_in(browser, address, []) as page:
        for title in page.locator("#companion thead button").all_inner_texts():
            head(page, title).click()
            once, way = codes(page), head(page, title).locator("..").get_attribute("aria-sort")
            head(page, title).focus()
            page.keyboard.press("Enter")
            assert {way, head(page, title).locator("..").get_attribute("aria-sort")} == {"ascending", "descending"}
            if title != "weakness":  # two have none, and stay last
                assert codes(page) == once[::-1], title
        head(page, "to come").click()
        assert codes(page) == ["ccc", "aaa", "bbb"]
        head(page, "weakness").click()
        assert codes(page) == ["aaa", "ccc", "bbb"]
        head(page, "assessed").click()
        assert codes(page) == ["bbb", "aaa", "ccc"]
        page.select_option("#parameter", "prior mean")
        head(page, "parameters").click()
        assert codes(page) == ["bbb", "aaa", "ccc"]


def test_parameters_fold_out_by_key_and_stay_with_the_person(desk: Desk, browser: Browser) -> None:
    for n, code in ((3, "aaa"), (7, "bbb")):
        add_assessed(desk, n, code=code)
    with served(desk) as address, logged_in(browser, address, []) as page:
        summary = page.locator("#companion tbody tr summary").first
        assert summary.inner_text() == "3 [1.5, 6]"
        summary.focus()
        page.keyboard.press("Enter")
        assert page.locator("#companion tbody tr").first.locator("dl").inner_text().split("\n") == [
            "prior mean",
            "3 [1.5, 6]",
        ]
        head(page, "code").click()
        assert codes(page) == ["bbb", "aaa"]
        assert [each.get_attribute("open") is not None for each in page.locator("#companion details").all()] == [False, True]
        page.wait_for_timeout(5500)  # a refresh
        assert [each.get_attribute("open") is not None for each in page.locator("#companion details").all()] == [False, True]
        page.locator("#companion .code").first.click()
        assert page.text_content("#person h2") == "bbb"


def test_without_anybody_in_a_task_block_the_page_says_so_and_whoever_withdraws_vanishes(
    desk: Desk, browser: Browser
) -> None:
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        assert page.inner_text("#companion-status") == "Nobody is in a task block."
        assert page.locator("#companion").is_hidden()
        with desk.store.engine.begin() as connection:
            training = FirstTaskBlock(2)
            training._given = [0, 0, 0, 2]
            add_person(connection, desk.study, training, NOW, stage="play", seen_at=NOW - 1)
        add_assessed(desk, 5, code="aaa")
        person = add_assessed(desk, 6, code="bbb")
        page.wait_for_function("() => document.querySelectorAll('#companion .spark').length === 2", timeout=8000)
        assert codes(page) == ["aaa", "bbb"]  # nobody in training
        with desk.store.engine.begin() as connection:
            connection.execute(people.update().where(people.c.id == person).values(stage="withdrawn"))
        page.wait_for_function(
            "() => document.querySelectorAll('#companion tbody tr:not([hidden])').length === 1", timeout=8000
        )
        assert codes(page) == ["aaa"]
    assert problems == []


def test_whoever_waits_or_cannot_be_assessed_is_told_in_words(desk: Desk, browser: Browser) -> None:
    with desk.store.engine.begin() as connection:
        add_person(connection, desk.study, FirstTaskBlock(4), NOW, stage="play", code="aaa", seen_at=NOW - 1)
    person = add_assessed(desk, 5, code="bbb")
    with desk.store.engine.begin() as connection:
        trouble = json.dumps({"trouble": "No agent does that."})
        connection.execute(assessments.update().where(assessments.c.person == person).values(found=trouble))
    with served(desk) as address, logged_in(browser, address, []) as page:
        assert page.locator("#companion .words").all_inner_texts() == ["not assessed yet", "No agent does that."]
        assert "2 to be assessed" in page.inner_text("#companion-status")


@pytest.mark.parametrize("width", [1280, PHONE["width"]], ids=["desktop", "phone"])
def test_nothing_sticks_out_and_everybody_can_use_it(desk: Desk, browser: Browser, width: int, tmp_path: Path) -> None:
    for n, code in ((3, "aaa"), (7, "bbb"), (0, "ccc"), (19, "ddd")):
        add_assessed(desk, n, code=code)
    with served(desk) as address, logged_in(browser, address, []) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator("#companion-panel").screenshot(path=tmp_path / f"{width}.png")
        page.evaluate(AXE.read_text())
        wrong = page.evaluate("axe.run('#companion-panel').then(found => found.violations.map(each => each.id))")
        assert wrong == []

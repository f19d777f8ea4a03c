"""The researcher's page in a real browser."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page
from sqlalchemy import insert

from explorelab.study.database.tables import choices, deletions, events, people
from explorelab.study.server.application import create_app
from tests.support.study.browser import chromium
from tests.support.study.people_rows import NOW, PASSWORD, Desk, fill

EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>\"'&amp;"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@contextmanager
def served(desk: Desk, port: int = 0) -> Iterator[str]:
    """The address at which the desk's study is served by a real server while the block lasts."""
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    app = create_app(desk.study, desk.store, admin_password=PASSWORD, now=desk.clock)
    app.router.lifespan_context = StaysOpen
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


class StaysOpen:
    """The life of a server that leaves the database open: it is stopped and started again."""

    def __init__(self, _: Any) -> None:
        pass

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass


@contextmanager
def logged_in(browser: Browser, address: str, problems: list[str]) -> Iterator[Page]:
    """The page after logging in; what the browser complains about is noted."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("console", lambda said: problems.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{address}/admin")
    page.fill("#password", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_function("() => document.getElementById('status')?.textContent.startsWith('Updated')")
    try:
        yield page
    finally:
        context.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, 12, pilots=2)
    yield desk
    desk.store.close()


def test_scripts_in_texts_are_shown_as_text(desk: Desk, browser: Browser) -> None:
    desk.study = replace(desk.study, title=EVIL)
    code = "evil<img src=x onerror=window.hacked=1>"  # codes are ours, and part of addresses
    values = {"code": code, "source": EVIL, "agent": EVIL, "stage": EVIL, "cell": EVIL}
    rest = {"identity": "i", "pilot": True, "seed": 1, "epoch": 1, "page": "p", "points": 0, "block": 0, "begun": False}
    times = {"arrived_at": NOW, "seen_at": NOW}
    with desk.store.engine.begin() as connection:
        person = connection.execute(insert(people).values(**values, **rest, **times)).inserted_primary_key[0]  # type: ignore[index]
        connection.execute(insert(events).values(person=person, epoch=1, number=0, kind=EVIL, page_ms=0, received_at=NOW))
        connection.execute(choices.update().where(choices.c.id < 9).values(flags="<img/src=x/onerror=window.hacked=1>"))
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        assert page.text_content("#title") == page.title() == EVIL
        assert "onerror" in (page.text_content("#quality") or "")
        page.click("#show-pilots")
        page.click('tr[data-code^="evil"] .code')
        page.wait_for_selector("#person:not([hidden])")
        panel = page.text_content("#person") or ""
        assert panel.count(EVIL) == 5  # source, stage, condition, agent, event
        assert code in panel
        page.click("#person > .danger")
        assert code in (page.text_content("#delete") or "")
        page.wait_for_timeout(300)
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, main script, aside script, dialog script").count() == 0
    assert problems == []


def test_a_wrong_password_says_so_and_logging_out_leads_back(desk: Desk, browser: Browser) -> None:
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        page.click("#logout")
        page.wait_for_url(f"{address}/admin/login")
        page.goto(f"{address}/admin")
        assert page.url == f"{address}/admin/login"
        page.fill("#password", "wrong")
        page.click("button[type=submit]")
        page.wait_for_selector("[role=alert]")
        assert page.text_content("[role=alert]") == "Wrong password."


def test_deleting_asks_for_the_code_and_the_page_follows(desk: Desk, browser: Browser) -> None:
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        page.select_option("#place", "finished")
        n = page.locator("#people tbody tr:not([hidden])").count()
        page.click("#people tbody tr:first-child .code")
        code = page.text_content("#person h2") or ""
        page.click("#person > .danger")
        sure = page.locator("#delete .danger")
        assert sure.is_disabled()
        page.fill("#typed", code[:-1])
        assert sure.is_disabled()
        page.fill("#typed", code)
        assert not desk.rows(deletions)
        sure.click()
        page.wait_for_function("() => document.querySelector('#person .facts')?.textContent.includes('data deleted')")
        page.wait_for_function(f"() => document.querySelectorAll('#people tbody tr:not([hidden])').length === {n - 1}")
    assert [(row.by, row.n_choices) for row in desk.rows(deletions)] == [("researcher", 45)]
    assert [row.stage for row in desk.rows(people) if row.code == code] == ["withdrawn"]
    assert problems == []


def test_it_refreshes_itself_says_when_nobody_answers_and_goes_on(desk: Desk, browser: Browser) -> None:
    with ExitStack() as stack:
        with served(desk) as address:
            page = stack.enter_context(logged_in(browser, address, []))
            assert page.text_content(".tile.arrived strong") == "12"
            with desk.store.engine.begin() as connection:
                fill(connection, desk.study, 2, seed=10)
            page.wait_for_function("() => document.querySelector('.tile.arrived strong').textContent === '14'", timeout=8000)
        page.wait_for_selector("#trouble:not([hidden])", timeout=12_000)
        assert "has not answered since" in (page.text_content("#trouble") or "")
        assert (page.text_content("#status") or "").startswith("Data from")
        with served(desk, int(address.rsplit(":", 1)[1])):
            page.wait_for_selector("#trouble", state="hidden", timeout=12_000)
            assert (page.text_content("#status") or "").startswith("Updated")


def test_what_is_wrong_with_the_server_stands_above_everything(desk: Desk, browser: Browser, tmp_path: Path) -> None:
    desk.store.vitals.put_off()
    desk.store.vitals.clock(3 * 3600.0)
    with served(desk) as address, logged_in(browser, address, []) as page:
        shown = page.inner_text("#trouble").splitlines()
        assert [line.split(":")[0].split(".")[0] for line in shown] == [
            "Too many people at once",
            "The computer's clock was set forward by 3 h 0 min",
        ]
        page.screenshot(path=tmp_path / "notices.png")
        (tmp_path / "study.db").unlink()
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_function("() => document.getElementById('trouble').textContent.startsWith('The study has stopped')")
        assert "study.db has been deleted or moved" in page.inner_text("#trouble")


def test_a_hidden_page_asks_nothing(desk: Desk, browser: Browser) -> None:
    with served(desk) as address, logged_in(browser, address, []) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        hide = "value => { Object.defineProperty(document, 'hidden', { value, configurable: true });"
        page.evaluate(f"{hide} document.dispatchEvent(new Event('visibilitychange')); }}", True)
        page.wait_for_timeout(6000)  # the look that was due before it was hidden may still come
        asked.clear()
        page.wait_for_timeout(6000)
        assert asked == []
        page.evaluate(f"{hide} document.dispatchEvent(new Event('visibilitychange')); }}", False)
        page.wait_for_timeout(500)
        assert len(asked) == 4  # overview, people, what is wrong with the server, and assessments


def test_a_thousand_people_are_shown_without_strain(tmp_path: Path, browser: Browser) -> None:
    desk = Desk(tmp_path)
    with desk.store.engine.begin() as connection:
        fill(connection, desk.study, 1000, seed=2)
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        assert page.locator("#people tbody tr").count() == 50
        assert page.text_content("#found") == "1,000 of 1,000 people"
        page.evaluate(
            "() => { window.long = []; const note = list => window.long.push(...list.getEntries().map(e => e.duration));"
            "new PerformanceObserver(note).observe({ type: 'longtask' }); }"
        )
        with desk.store.engine.begin() as connection:
            connection.execute(people.update().values(points=people.c.points + 1, seen_at=NOW))
        desk.clock.now += 1
        page.wait_for_timeout(6500)  # one refresh that changes everyone
        page.click("#people th:nth-child(6) button")
        shown = page.locator("#people tbody td:nth-child(6)").all_text_contents()
        points = [int(text.replace(",", "")) for text in shown]
        assert points == sorted((round(row.points) for row in desk.rows(people)), reverse=True)[:50]
        page.click("#pager button:last-child")
        assert page.text_content("#pager span") == "2 / 20"
        code = desk.rows(people)[500].code
        page.fill("#find", code)
        assert page.locator("#people tbody tr:not([hidden])").count() == 1
        long = page.evaluate("window.long")
        assert max(long, default=0) < 300, long
    assert problems == []
    desk.store.close()


def test_the_download_arrives(desk: Desk, browser: Browser, tmp_path: Path) -> None:
    problems: list[str] = []
    with served(desk) as address, logged_in(browser, address, problems) as page:
        with page.expect_download() as waiting:
            page.click("#download")
        assert waiting.value.suggested_filename == "square-field-20270115-080000.zip"
        waiting.value.save_as(tmp_path / "all.zip")
        assert (tmp_path / "all.zip").read_bytes()[:2] == b"PK"
    assert problems == []

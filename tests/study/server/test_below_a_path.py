"""A study below a path of its own, https://example.org/study1, behind a proxy that takes the path off or leaves it there."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, expect

from explorelab.errors import InputError
from explorelab.study.admin.entry.login import COOKIE, KNOWN_COOKIE
from explorelab.study.server.application import create_app
from explorelab.study.server.public_address import below, parts_of
from tests.support.command_line import explorelab
from tests.support.study.browser import chromium, stage
from tests.support.study.people_rows import PASSWORD, Desk

PREFIX = "/lab/study1"
PROXIES = ["takes it off", "leaves it"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def behind_a_proxy(app: Any, proxy: str) -> Any:
    """The application as a proxy shows it: below the path alone."""
    inner = below(PREFIX, app)

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            if not f"{scope['path']}/".startswith(f"{PREFIX}/"):
                await send({"type": "http.response.start", "status": 404, "headers": []})
                await send({"type": "http.response.body", "body": b"nothing here"})
                return
            if proxy == "takes it off":
                path = scope["path"].removeprefix(PREFIX) or "/"
                scope = {**scope, "path": path, "raw_path": scope["raw_path"].removeprefix(PREFIX.encode()) or b"/"}
        await inner(scope, receive, send)

    return outer


@contextmanager
def served(desk: Desk, proxy: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    app = create_app(desk.study, desk.store, admin_password=PASSWORD, public_origin=origin, now=desk.clock)
    server = uvicorn.Server(uvicorn.Config(behind_a_proxy(app, proxy), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    try:
        yield origin + PREFIX
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.mark.parametrize("proxy", PROXIES)
def test_researcher_and_participant_find_everything_below_the_path(proxy: str, browser: Browser, tmp_path: Path) -> None:
    desk = Desk(tmp_path, 20)
    with served(desk, proxy) as address, browser.new_context() as context:
        page = context.new_page()
        failed: list[str] = []
        page.on("response", lambda answer: failed.append(answer.url) if answer.status in (404, 405, 500) else None)
        page.goto(f"{address}/admin/")
        page.wait_for_url(f"{address}/admin/login")
        page.fill("#password", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url(f"{address}/admin")
        expect(page.locator("#people tbody tr").first).to_be_visible()
        assert {cookie["name"]: cookie["path"] for cookie in context.cookies()} == dict.fromkeys(
            (COOKIE, KNOWN_COOKIE), f"{PREFIX}/admin"
        )
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url(f"{address}/admin/login")
        assert [cookie["name"] for cookie in context.cookies()] == [KNOWN_COOKIE]  # it opens nothing by itself
        page.goto(f"{address}/")
        stage(page, "consent")
        assert failed == []


def test_the_path_without_a_slash_leads_to_the_page_with_all_that_was_asked(tmp_path: Path) -> None:
    with served(Desk(tmp_path), "leaves it") as address:
        answer = httpx.get(f"{address}?PROLIFIC_PID=5&STUDY_ID=6")
    assert (answer.status_code, answer.headers["location"]) == (308, f"{PREFIX}/?PROLIFIC_PID=5&STUDY_ID=6")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", ("", "")),
        ("https://x", ("https://x", "")),
        ("https://x/", ("https://x", "")),
        ("https://x:8443/study1/", ("https://x:8443", "/study1")),
        ("http://[::1]:80/a/b.c", ("http://[::1]:80", "/a/b.c")),
    ],
)
def test_a_public_address_is_an_origin_and_a_path(url: str, expected: tuple[str, str]) -> None:
    assert parts_of(url) == expected


@pytest.mark.parametrize(
    "url",
    ["x", "ftp://x", "https://", "https:///study1", "https://x?a=1", "https://x/#top", "https://x/a b", "https://x//",
     "https://x/../y", "https://me@x", "https://x:port", 'https://x/"onload', "https://x:70000", "https://[::1"],
)  # fmt: skip
def test_another_public_address_is_refused_in_one_sentence(url: str) -> None:
    with pytest.raises(InputError, match=r"^--public-url must be an address such as https://example.org .*, got .*\.$"):
        parts_of(url)


def test_the_command_refuses_it_too(tmp_path: Path) -> None:
    assert explorelab("study", "init", "mine", cwd=tmp_path).returncode == 0
    done = explorelab("study", "serve", "mine", "--public-url", "example.org/study1", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1)
    assert "--public-url must be an address" in done.stderr

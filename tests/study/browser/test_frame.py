"""MTurk shows a study inside a frame of its own page and takes it back as a form: both in a real Chromium.

MTurk itself is not reached: its addresses are answered here, as far as the browser can tell by MTurk.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import BrowserContext, FrameLocator, Page, Route, expect

from explorelab.study.database import tables
from tests.support.study.browser import DESKTOP, Study, chromium, served

WORKER, SANDBOX = "https://worker.mturk.com", "https://workersandbox.mturk.com"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    with served(tmp_path_factory.mktemp("study") / "short", fast_ms=150, slow_ms=150, n_training=1, n_trials=2) as running:
        yield running


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    # A study is on a public address; this one is on this computer, which pages of other sites may not ask.
    with chromium("--disable-features=LocalNetworkAccessChecks") as browser:
        yield browser.new_context(viewport=DESKTOP)


def framed(context: BrowserContext, site: str, address: str) -> tuple[Page, FrameLocator]:
    """A page of another site with the study in a frame."""
    inner = f'<!doctype html><iframe id="study" src="{address}" width="1100" height="700"></iframe>'
    context.route(f"{site}/task", lambda route: route.fulfill(body=inner, content_type="text/html"))
    page = context.new_page()
    page.goto(f"{site}/task")
    return page, page.frame_locator("#study")


def in_frame(frame: FrameLocator, stage: str) -> None:
    expect(frame.locator(f'body[data-stage="{stage}"]')).to_be_attached(timeout=15_000)


def test_a_whole_assignment_in_the_frame_of_mturk(study: Study, context: BrowserContext) -> None:
    sent: list[Route] = []

    def submitted(route: Route) -> None:
        sent.append(route)
        route.fulfill(body="Taken back by MTurk", content_type="text/html")

    context.route(f"{SANDBOX}/mturk/externalSubmit", submitted)
    query = f"workerId=A1WORKER&assignmentId=3ASSIGNMENT&hitId=3HIT&turkSubmitTo={SANDBOX}"
    page, frame = framed(context, WORKER, f"{study.url}/?{query}")
    for stage, button in (("consent", "#agree"), ("instructions", "#continue")):
        in_frame(frame, stage)
        frame.locator(button).click()
    for _ in range(5):  # three training blocks and two of the task
        in_frame(frame, "ready")
        frame.locator("#start").click()
    in_frame(frame, "debriefing")
    frame.locator("#finish").click()
    in_frame(frame, "finished")
    frame.locator("#submit").click()
    expect(frame.get_by_text("Taken back by MTurk")).to_be_visible()
    (asked,) = sent
    assert asked.request.method == "POST"
    told = parse_qs(asked.request.post_data or "")
    assert told["assignmentId"] == ["3ASSIGNMENT"]
    assert told["code"] == ["THANKS42"]
    person = study.rows(tables.people)[-1]
    assert (person.source, person.platform_id, person.stage) == ("mturk", "A1WORKER", "finished")
    assert float(told["points"][0]) == person.points
    page.close()


def test_whoever_is_known_in_the_frame_is_known_again(study: Study, context: BrowserContext) -> None:
    address = f"{study.url}/?workerId=A2WORKER&assignmentId=3OTHER&hitId=3HIT&turkSubmitTo={SANDBOX}"
    page, frame = framed(context, WORKER, address)
    in_frame(frame, "consent")
    frame.locator("#agree").click()
    in_frame(frame, "instructions")
    page.reload()
    in_frame(page.frame_locator("#study"), "instructions")
    page.close()


def test_the_preview_is_shown_in_the_frame(study: Study, context: BrowserContext) -> None:
    page, frame = framed(context, WORKER, f"{study.url}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=3HIT")
    in_frame(frame, "preview")
    page.close()


def test_no_other_site_can_show_the_study_in_a_frame(study: Study, context: BrowserContext) -> None:
    people = len(study.rows(tables.people))
    page, frame = framed(context, "https://mturk.example.org", f"{study.url}/?workerId=A3WORKER&assignmentId=3&hitId=3")
    page.wait_for_load_state("networkidle")
    assert frame.locator("body[data-stage]").count() == 0
    assert len(study.rows(tables.people)) == people
    page.close()

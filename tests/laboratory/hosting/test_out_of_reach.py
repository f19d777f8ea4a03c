"""A link to a study that is archived or was never here: a page for people, JSON for programs, and nothing to find out."""

from __future__ import annotations

import pytest

from explorelab.laboratory.hosting.out_of_reach import SAID
from explorelab.study.config.texts import LANGUAGES
from tests.support.town import Town

HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


@pytest.fixture(scope="module")
def archived(town: Town) -> Town:
    town.people["olga"].ok("/lab/api/studies/b/archive")
    return town


@pytest.mark.parametrize("path", ["/s/b/", "/s/b", "/s/never/", "/s/never/deeper/?PROLIFIC_PID=5", "/s/"])
def test_a_browser_gets_a_page(archived: Town, path: str) -> None:
    answer = archived.browser().get(path, headers={"Accept": HTML, "Accept-Language": "de-AT,en;q=0.5"})
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert all(sentence in answer.text for sentence in SAID["de"])
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    style = answer.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert answer.url.join(style).path == "/static/study.css"
    head = archived.browser().client.head(path, headers={"Accept": HTML})
    assert (head.status_code, head.content) == (404, b"")


@pytest.mark.parametrize("path", ["/s/b/api/texts", "/s/never/"])
def test_a_program_gets_json(archived: Town, path: str) -> None:
    for answer in (archived.browser().get(path), archived.browser().post(path, Accept=HTML)):
        assert (answer.status_code, answer.json()["error"]) == (404, "unknown")


def test_an_archived_study_reads_like_one_that_never_was(archived: Town) -> None:
    b, never = (archived.browser().get(f"/s/{name}/", headers={"Accept": HTML}) for name in ("b", "never"))
    assert b.text == never.text


def test_it_is_said_in_every_language_that_studies_are_offered_in() -> None:
    assert set(SAID) == set(LANGUAGES)

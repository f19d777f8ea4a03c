"""Metrics are what has happened, in a form that Prometheus reads, for all processes of a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorelab.study.admin import offline
from explorelab.study.config.study_folder import load_study
from explorelab.study.export.live.request_counts import BUCKETS_S, FORGOTTEN_S, RequestCounts
from explorelab.study.server import participant_routes
from tests.support.study.lab import Lab, Tab
from tests.support.study.postgres import Cluster
from tests.support.study.server import write_study

SAMPLE = re.compile(r'(explorelab_[a-z_]+)(?:\{((?:[a-z]+="[^"\\\n]*",?)+)\})? ([0-9.e+-]+)')


class Scraped:
    """A served study, and what a scrape of it finds."""

    def __init__(self, folder: Path, database: str) -> None:
        write_study(folder, database, n_training=3, n_trials=4)
        self._token = offline.add_token(folder, "prometheus", "metrics").split()[0]
        self.lab = Lab(load_study(folder), folder, database)

    def text(self) -> str:
        self.lab.clock.now += 1
        answer = self.lab.client.get("/metrics", headers={"Authorization": f"Bearer {self._token}"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return answer.text

    def sum(self, name: str, **labels: str) -> float:
        """The sum of this metric's samples that have these labels."""
        found = [SAMPLE.fullmatch(line) for line in self.text().splitlines() if not line.startswith("#")]
        assert all(found)
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        named = [one for one in found if one and one[1] == f"explorelab_{name}"]
        return sum(float(one[3]) for one in named if all(each in (one[2] or "") for each in wanted))


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def scraped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scraped]:
    server: Cluster | None = request.getfixturevalue("server") if request.param == "postgresql" else None
    made = Scraped(tmp_path_factory.mktemp("scraped") / "study", server.new_database() if server else "sqlite:///study.db")
    with made.lab.client:
        yield made


def test_every_line_is_a_sample_or_says_what_follows(scraped: Scraped) -> None:
    text = scraped.text()
    assert text.endswith("\n")
    declared: set[str] = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:]
            assert name not in declared
            assert kind in ("counter", "gauge", "histogram")
            assert name.endswith("_total") == (kind == "counter")
            declared.add(name)
        elif not line.startswith("# HELP "):
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert re.sub(r"_(bucket|sum|count)$", "", match[1]) in declared or match[1] in declared


def test_people_choices_and_refusals_are_counted(scraped: Scraped) -> None:
    before = {name: scraped.sum(name) for name in ("acknowledged_seconds_count", "requests_refused_total", "errors_total")}
    playing = scraped.sum("people", stage="play", pilot="false")
    tab = Tab(scraped.lab)
    tab.consent()
    tab.play_block(0)
    assert tab.post("begin", block=7).status_code == 409
    assert scraped.sum("people", stage="play", pilot="false") == playing + 1
    assert scraped.sum("acknowledged_seconds_count", kind="choice") == before["acknowledged_seconds_count"] + 3
    assert scraped.sum("acknowledged_seconds_bucket", le="+Inf") == before["acknowledged_seconds_count"] + 3
    assert scraped.sum("acknowledged_seconds_sum") > 0
    assert scraped.sum("requests_refused_total", status="409") >= 1
    assert scraped.sum("requests_refused_total") == before["requests_refused_total"] + 1
    assert scraped.sum("errors_total") == before["errors_total"] == 0
    assert scraped.sum("database_bytes") > 10_000


def test_a_failure_of_the_server_is_an_error(scraped: Scraped, monkeypatch: pytest.MonkeyPatch) -> None:
    from fastapi.testclient import TestClient

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(participant_routes, "language_for", fail)
    before = scraped.sum("errors_total")
    client = TestClient(scraped.lab.client.app, base_url="http://study.example", raise_server_exceptions=False)
    assert client.get("/api/texts").status_code == 500
    assert scraped.sum("errors_total") == before + 1


def test_other_processes_are_included_until_they_are_gone(scraped: Scraped) -> None:
    other = RequestCounts(scraped.lab.store.load)
    for seconds in (BUCKETS_S[0], BUCKETS_S[-1] + 1):
        other.note("/api/choice", 200, seconds)
    with scraped.lab.store.engine.begin() as connection:
        other.tell(connection, scraped.lab.clock.now)
    name = "acknowledged_seconds_bucket"
    assert scraped.sum(name, process=other.name, le=str(BUCKETS_S[0])) == 1
    assert scraped.sum(name, process=other.name, le=str(BUCKETS_S[-1])) == 1
    assert scraped.sum(name, process=other.name, le="+Inf") == 2
    scraped.lab.clock.now += FORGOTTEN_S + 1
    assert other.name not in scraped.text()

"""A class behind one address gets in at once; one address that invents people does not fill the disk."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from explorelab.study.config.design import Server
from explorelab.study.database.refusals import Refused
from explorelab.study.database.store import Store, open_store
from explorelab.study.database.tables import people
from explorelab.study.server.application import create_app
from explorelab.study.server.context import Context
from explorelab.study.server.limits.rate_limits import InDatabase, InProcess, Limit
from explorelab.study.server.limits.request_limits import network_of
from explorelab.study.server.reception import pilot_key_of
from tests.support.study.small_study import small_study

type Counter = Callable[[str, float], None]


class Town:
    """Browsers at several addresses, and processes that serve them from one database."""

    def __init__(self, folder: Path, **limits: int) -> None:
        self.now = 1_000_000.0
        self.study = small_study(server=Server(**limits))
        self.store: Store = open_store("sqlite:///study.db", folder)

    def process(self) -> Any:
        return create_app(self.study, self.store, admin_password="a long password", now=lambda: self.now)

    def browser(self, address: str, process: Any = None) -> TestClient:
        return TestClient(process or self.process(), base_url="http://study.example", client=(address, 50_000))

    def n_people(self) -> int:
        with self.store.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(people)).scalar_one())


@pytest.fixture
def town(tmp_path: Path) -> Any:
    town = Town(tmp_path, arrivals_per_minute=100_000, new_people_per_hour=10)
    yield town
    town.store.close()


def arrive(browser: TestClient, key: str | None = None, **headers: str) -> Any:
    body = {"page": secrets.token_hex(16), "key": key or secrets.token_hex(32), "query": {}}
    return browser.post("/api/arrive", json=body, headers=headers)


def test_a_class_of_sixty_behind_one_address_gets_in_and_plays(tmp_path: Path) -> None:
    town = Town(tmp_path)  # the usual limits
    browser = town.browser("192.0.2.1")
    for _ in range(60):
        for path in ("/", "/static/study.js", "/static/study.css", "/api/texts"):
            assert browser.get(path).status_code == 200
        came = arrive(browser)
        assert came.status_code == 200
        state, headers = came.json()["state"], {"Authorization": f"Bearer {came.json()['token']}"}
        agreed = {"epoch": 1, "agreed": True, "version": state["consent_version"]}
        for path, body in (("consent", agreed), ("begin", {"epoch": 1, "block": 0}), ("events", {"epoch": 1, "events": []})):
            assert browser.post(f"/api/{path}", json=body, headers=headers).status_code == 200
    town.store.close()


def test_one_address_that_invents_people_is_told_to_wait(town: Town) -> None:
    browser = town.browser("192.0.2.1")
    key = secrets.token_hex(32)
    assert arrive(browser, key).status_code == 200
    statuses = [arrive(browser).status_code for _ in range(15)]
    assert statuses == [200] * 9 + [429] * 6
    refused = arrive(browser)
    assert refused.headers["retry-after"] == "360"
    assert refused.json()["message"] == ("Too many people have joined from your network in the last hour: wait 6 minutes.")
    assert town.n_people() == 10
    assert arrive(browser, key).status_code == 200  # who was there before comes back
    town.now += 360
    assert [arrive(browser).status_code for _ in range(2)] == [200, 429]


def test_new_people_are_counted_for_all_processes(town: Town) -> None:
    first, second = town.browser("192.0.2.1"), town.browser("192.0.2.1")
    assert [arrive(each).status_code for each in (first, second) * 6] == [200] * 10 + [429] * 2


@pytest.mark.parametrize(("other", "status"), [("2001:db8::ffff", 429), ("2001:db8:0:1::1", 200), ("192.0.2.1", 200)])
def test_other_addresses_are_not_kept_out(town: Town, other: str, status: int) -> None:
    process = town.process()
    for _ in range(11):
        arrive(town.browser("2001:db8::1", process))
    assert arrive(town.browser(other, process)).status_code == status


def test_a_client_cannot_give_another_address(town: Town) -> None:
    browser = town.browser("192.0.2.1")
    came = [arrive(browser, **{"X-Forwarded-For": f"198.51.100.{k}"}).status_code for k in range(12)]
    assert came == [200] * 10 + [429] * 2


def test_robots_with_the_key_are_not_counted(town: Town) -> None:
    key = pilot_key_of(Context(town.study, town.store, lambda: 0.0))
    browser = town.browser("192.0.2.1")
    assert {arrive(browser, **{"X-Pilot-Key": key}).status_code for _ in range(12)} == {200}


def test_an_address_that_asks_too_often_is_told_to_wait(tmp_path: Path) -> None:
    town = Town(tmp_path, address_requests_per_second=2)
    process = town.process()
    browser = town.browser("192.0.2.1", process)
    answers = [browser.get("/api/health") for _ in range(30)]
    assert [answer.status_code for answer in answers[:6]] == [200] * 6
    refused = answers[-1]
    assert (refused.status_code, refused.json()["error"]) == (429, "too-fast")
    assert int(refused.headers["retry-after"]) >= 1
    assert "default-src 'none'" in refused.headers["content-security-policy"]
    assert town.browser("192.0.2.2", process).get("/api/health").status_code == 200
    town.store.close()


LIMIT = Limit("test", 5, 10.0, "Too many: wait {wait}.", "too-many")


def in_process(folder: Path) -> Iterator[Counter]:
    yield InProcess(LIMIT).count


def in_database(folder: Path) -> Iterator[Counter]:
    limit = InDatabase(LIMIT, b"secret")
    store = open_store("sqlite:///study.db", folder)
    with store.engine.begin() as connection:
        yield lambda caller, now: limit.count(connection, caller, now)
    store.close()


@pytest.mark.parametrize("kept", [in_process, in_database])
def test_a_limit_is_the_same_wherever_it_is_counted(kept: Callable[[Path], Iterator[Counter]], tmp_path: Path) -> None:
    for count in kept(tmp_path):
        for _ in range(5):
            count("someone", 1000.0)
        with pytest.raises(Refused) as refused:
            count("someone", 1000.0)
        told = refused.value.status, refused.value.error, refused.value.message, refused.value.retry_after_s
        assert told == (429, "too-many", "Too many: wait 2 seconds.", 2)
        count("somebody else", 1000.0)
        count("someone", 1002.0)
        with pytest.raises(Refused):
            count("someone", 1002.0)
        for _ in range(5):
            count("someone", 1012.0)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"), ("", ""), ("unknown", "unknown"), ("x" * 1000, "x" * 64),
    ],
)  # fmt: skip
def test_addresses_are_grouped_as_customers_have_them(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(("fills_in_s", "told"), [(1, "1 second"), (90, "90 seconds"), (150, "3 minutes")])
def test_a_refusal_says_how_long_to_wait(fills_in_s: int, told: str) -> None:
    with pytest.raises(Refused, match=f"^wait {told}$"):
        Limit("arrive", 1, fills_in_s, too_many="wait {wait}").check(left=0)

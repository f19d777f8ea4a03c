"""What the server promises and bounds: designs kept, conditions balanced, robots apart, limits, headers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from explorelab import InputError
from explorelab.study.config.design import Server
from explorelab.study.database import tables
from explorelab.study.database.store import Store, keep, open_store
from explorelab.study.server.serve import begun
from explorelab.study.server.steady_clock import ALIVE
from explorelab.study.session.assignment import counts_of
from explorelab.study.session.identity import code_of, token_for
from explorelab.study.session.promises import check_promises
from tests.support.study.lab import Lab, Tab, in_play
from tests.support.study.small_study import small_study


def test_a_study_edited_half_way_keeps_its_word(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        tab = Tab(lab)
        tab.consent()
        tab.play_block(0)
    edited = Lab(small_study(n_trials=2, n_training=1, task_dynamics=("standard",), task_timings=("fast",)), tmp_path)
    with edited.client:
        again = Tab(edited, tab.key)
        for number in range(1, 5):
            assert again.state["stage"] == "ready"
            again.play_block(number)
        assert again.state["stage"] == "debriefing"
        assert edited.count(tables.choices) == 3 * 3 + 2 * 6


def test_what_people_under_way_play_on_cannot_be_changed(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    study = lab.study
    less = {name: task for name, task in study.landscapes.items() if name != "B"}
    other = {**study.landscapes, "B": study.landscapes["A"]}

    def check(**changes: Any) -> None:
        with lab.store.engine.begin() as connection:
            check_promises(connection, replace(study, **changes), lab.clock.now)

    with lab.client:
        for changes in ({"landscapes": less}, {"landscapes": other}, {"width": 5, "height": 20}, {}):
            check(**changes)  # nobody has come yet
        Tab(lab).consent()
        with pytest.raises(InputError, match="have blocks on landscape 'B'"):
            check(landscapes=less)
        with pytest.raises(InputError, match="need landscape 'B' as it was"):
            check(landscapes=other)
        with pytest.raises(InputError, match="need the grid as it was"):
            check(width=5, height=20)
        check(n_trials=9)
        lab.clock.now += 60 * 121
        check(landscapes=less)


def test_events_are_kept_once_also_those_of_a_page_that_was_replaced(lab: Lab) -> None:
    old = in_play(lab)
    events = [{"number": i, "kind": kind, "page_ms": 10.0 * i} for i, kind in enumerate(("hidden", "visible"))]
    assert old.post("events", events=events).json() == {"stored": 2}
    Tab(lab, old.key)
    assert old.post("events", events=[*events, {"number": 2, "kind": "blur", "page_ms": 99.0}]).json() == {"stored": 1}
    assert [row.kind for row in lab.rows(tables.events)] == ["hidden", "visible", "blur"]


def test_tokens_are_signed() -> None:
    assert code_of(b"secret", token_for(b"secret", "abc")) == "abc"
    assert code_of(b"other", token_for(b"secret", "abc")) is None
    assert code_of(b"secret", "abc.") is None


def test_conditions_are_balanced_over_people_who_stay(lab: Lab) -> None:
    for _ in range(24):
        Tab(lab).consent()
    assert Counter(row.cell for row in lab.rows(tables.people)).most_common()[-1][1] == 1
    leaving = Tab(lab)
    leaving.consent()
    leaving.go("withdraw", delete=False)
    left = lab.rows(tables.people)[-1].cell
    for _ in range(24):
        Tab(lab).consent()
    with lab.store.engine.connect() as connection:
        counts = counts_of(connection, lab.study, False, lab.clock.now)
    assert set(counts.values()) == {2}, left


def test_people_who_went_away_make_room_in_their_condition(lab: Lab) -> None:
    for _ in range(24):
        Tab(lab).consent()
    lab.clock.now += 60 * 121
    with lab.store.engine.connect() as connection:
        assert set(counts_of(connection, lab.study, False, lab.clock.now).values()) == {0}


def test_robots_need_the_key_and_do_not_count(lab: Lab) -> None:
    with lab.store.engine.connect() as connection:
        settings = {row.name: row.value for row in connection.execute(select(tables.settings))}
    body = {"page": "0" * 32, "key": "1" * 32, "query": {"agent": "a robot"}}
    assert lab.client.post("/api/arrive", json=body, headers={"X-Pilot-Key": "wrong"}).status_code == 401
    answer = lab.client.post("/api/arrive", json=body, headers={"X-Pilot-Key": settings["pilot_key"]})
    assert answer.status_code == 200
    (robot,) = lab.rows(tables.people)
    assert (robot.pilot, robot.source, robot.agent) == (True, "pilot", "a robot")
    token = answer.json()["token"]
    body = {"epoch": 1, "agreed": True, "version": answer.json()["state"]["consent_version"]}
    lab.client.post("/api/consent", json=body, headers={"Authorization": f"Bearer {token}"})
    with lab.store.engine.connect() as connection:
        robots, persons = (counts_of(connection, lab.study, pilot, lab.clock.now) for pilot in (True, False))
    assert (sum(robots.values()), sum(persons.values())) == (1, 0)


def test_people_are_asked_to_slow_down(tmp_path: Path) -> None:
    lab = Lab(small_study(server=Server(120.0, 3, 2)), tmp_path)
    with lab.client:
        tabs = [Tab(lab) for _ in range(3)]
        body = {"page": "0" * 32, "key": "1" * 32, "query": {}}
        refused = lab.client.post("/api/arrive", json=body)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "20")
        statuses = [tabs[0].post("state").status_code for _ in range(8)]
        assert statuses == [200] * 6 + [429] * 2
        assert tabs[1].post("state").status_code == 200


def test_every_answer_has_a_strict_policy(lab: Lab) -> None:
    for path in ("/", "/api/health", "/api/nothing", "/static/study.js"):
        headers = lab.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_events_of_one_person_are_bounded(lab: Lab) -> None:
    tab = in_play(lab)
    for start in range(0, 1200, 70):
        tab.post("events", events=[{"number": start + i, "kind": "blur", "page_ms": 1.0} for i in range(70)])
    assert lab.count(tables.events) == 1000


def test_a_body_that_goes_on_and_on_is_refused(lab: Lab) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"page": "'
        for _ in range(100):
            yield b"0" * 1024

    headers = {"Content-Type": "application/json"}
    for answer in (
        lab.client.post("/api/arrive", content=chunks(), headers=headers),
        lab.client.post("/api/arrive", content=b"0" * 100_000, headers=headers),
        lab.client.post("/api/arrive", content=b"{}", headers={"Content-Type": "text/plain"}),
    ):
        assert answer.status_code in (413, 415)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert set(answer.json()) == {"error", "message"}


@pytest.mark.parametrize(
    ("source", "query"),
    [("prolific", {"PROLIFIC_PID": "5f3a9c0000000000000000aa"}), ("mturk", {"workerId": "A2XYZWORKER"}), ("plain", {})],
)
def test_after_deletion_nothing_tells_whether_somebody_took_part(source: str, query: dict[str, str], tmp_path: Path) -> None:
    """Neither the name nor a hash that anyone can make of it, anywhere in the file."""
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        tab = Tab(lab, query=query)
        tab.consent()
        tab.go("withdraw", delete=True)
        name = next(iter(query.values()), tab.key)
        assert Tab(lab, tab.key, query).state["stage"] == "withdrawn"  # who was deleted does not take part again
    held = b"".join(file.read_bytes() for file in tmp_path.glob("study.db*"))
    hashes = [sha256(each.encode()) for each in (name, f"{source}:{name}")]
    for trace in (name.encode(), *(one.hexdigest().encode() for one in hashes), *(one.digest() for one in hashes)):
        assert trace not in held


def test_time_in_which_nobody_served_does_not_free_the_design(tmp_path: Path) -> None:
    lab = Lab(small_study(), tmp_path)
    with lab.client:
        Tab(lab).consent()
        now, away_s = time.time(), 20 * 3600.0
        with lab.store.engine.begin() as connection:
            check_promises(connection, lab.study, now)
            connection.execute(update(tables.people).values(seen_at=now - away_s))
            keep(connection, ALIVE, repr(now - away_s))
    other = {**lab.study.landscapes, "B": lab.study.landscapes["A"]}
    with pytest.raises(InputError, match="need landscape 'B' as it was"):
        begun(replace(lab.study, landscapes=other), tmp_path)
    begun(lab.study, tmp_path)


def test_a_second_server_that_is_turned_away_promises_nothing(tmp_path: Path) -> None:
    study = small_study()
    begun(study, tmp_path)
    store = open_store(study.database, tmp_path)
    store.claim()
    before = promised(store)
    with pytest.raises(InputError, match="a server of this study is already using"):
        begun(replace(study, width=5, height=20), tmp_path)
    assert promised(store) == before
    store.close()


def promised(store: Store) -> dict[str, str]:
    with store.engine.connect() as connection:
        rows = connection.execute(select(tables.settings).where(tables.settings.c.name.like("served:%")))
        return {row.name: row.value for row in rows}

"""What the researcher's page keeps in memory: the same as what is in the database, and no more work than there is news."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, insert, select

from explorelab.study.admin.overview import Overviews
from explorelab.study.database.tables import blocks, choices, people
from explorelab.study.session.participants import erased
from tests.support.study.people_rows import NOW, Desk, add_person, fill
from tests.support.study.postgres import Cluster


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, 40, pilots=6)
    desk.log_in()
    yield desk
    desk.store.close()


def fresh(desk: Desk, now: float) -> tuple[Any, ...]:
    """What a process that has just begun would say."""
    with desk.store.engine.connect() as connection:
        new = Overviews(desk.study)
        told = new.people(connection, "", now)
        return new.overview(connection, False, now), new.overview(connection, True, now), sorted(told.rows)


def test_what_is_kept_in_memory_is_what_is_read_anew(tmp_path: Path) -> None:
    kept_is_fresh(Desk(tmp_path, 5))


def test_what_is_kept_in_memory_is_what_is_read_anew_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    kept_is_fresh(Desk(tmp_path, 5, url=server.new_database()))


def test_a_choice_that_appears_late_on_postgresql_is_not_missed(tmp_path: Path, server: Cluster) -> None:
    desk = Desk(tmp_path, 5, url=server.new_database())
    block = next(row for row in desk.rows(blocks) if row.kind == "task")
    with desk.store.engine.begin() as connection:
        mine = (choices.c.person == block.person) & (choices.c.block == block.number)
        one, two = connection.execute(select(choices).where(mine).order_by(choices.c.trial).limit(2)).all()
        connection.execute(choices.delete().where(choices.c.id.in_([one.id, two.id])))
    kept = Overviews(desk.study)
    unnumbered = [{name: value for name, value in row._mapping.items() if name != "id"} for row in (one, two)]
    with desk.store.engine.connect() as slow, desk.store.engine.connect() as reader:
        slow.execute(insert(choices).values(unnumbered[0]))  # has the lower number, and is not there yet
        with desk.store.engine.begin() as quick:
            quick.execute(insert(choices).values(unnumbered[1]))
        reader.execution_options(isolation_level="AUTOCOMMIT")
        kept.overview(reader, False, NOW)
        slow.commit()
        assert kept.overview(reader, False, NOW + 11) == fresh(desk, NOW + 11)[0]
    desk.store.close()


def kept_is_fresh(desk: Desk) -> None:
    """After whatever happens, what is kept is what someone who begins now would read."""
    kept, rng, rows, version = Overviews(desk.study), np.random.default_rng(3), {}, ""
    for step in range(12):
        now = NOW + 11 * step  # longer than an answer holds by itself
        with desk.store.engine.begin() as connection:
            if step % 4 == 3:
                someone = connection.execute(select(people).order_by(people.c.id.desc())).all()[int(rng.integers(3))]
                erased(connection, someone, "participant", now)
            elif step % 4 != 2:
                fill(connection, desk.study, 3, seed=step, pilots=1, now=now)
            playing = connection.execute(select(blocks).order_by(blocks.c.id.desc()).limit(4)).all()
            for block in playing:
                last = select(choices).where(choices.c.person == block.person, choices.c.block == block.number)
                have = connection.execute(last.order_by(choices.c.trial.desc())).first()
                if have is not None and have.trial + 1 < block.n_trials:
                    more = {**have._mapping, "trial": have.trial + 1, "flags": "paused", "received_at": now}
                    del more["id"]
                    connection.execute(insert(choices).values(more))
        with desk.store.engine.connect() as connection:
            both = kept.overview(connection, False, now), kept.overview(connection, True, now)
            told = kept.people(connection, version, now)
        version = told.version
        rows |= {row[0]: row for row in told.rows}
        assert (*both, sorted(rows.values())) == fresh(desk, now), step
    desk.store.close()


def test_a_form_is_not_that_of_a_deleted_block_with_the_same_number(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    kept, rng = Overviews(desk.study), np.random.default_rng(0)
    forms = []
    # Losses that fall as 1/t add up to a logarithm, losses that stay the same to a straight line.
    for loss in (50.0 / (1 + choices.c.trial), 20.0):
        with desk.store.engine.begin() as connection:
            person = add_person(connection, desk.study, rng, NOW, stage="finished")
            for name, task in desk.study.landscapes.items():
                mine = select(blocks.c.number).where(blocks.c.person == person, blocks.c.landscape == name)
                there = (choices.c.person == person) & choices.c.block.in_(mine)
                connection.execute(choices.update().where(there).values(reward=float(task.means.max()) - loss))
        with desk.store.engine.begin() as connection:
            told = kept.overview(connection, False, NOW)
            assert told == fresh(desk, NOW)[0]
            shares = json.loads(told[0])["phenotypes"][0]["shares"]
            forms.append(({row.id for row in desk.rows(blocks)}, {each["form"]: each["n"] for each in shares}))
        with desk.store.engine.begin() as connection:
            erased(connection, connection.execute(select(people).where(people.c.id == person)).one(), "researcher", NOW)
    assert forms[0][0] == forms[1][0]  # or the numbers did not come again
    assert [each for _, each in forms] == [{"linear": 0, "power": 0, "log": 2}, {"linear": 2, "power": 0, "log": 0}]
    desk.store.close()


def test_only_what_changed_is_sent_again(desk: Desk) -> None:
    first = desk.get("/admin/api/people")
    again = desk.get(f"/admin/api/people?since={first['version']}")
    assert (again["full"], again["rows"], again["version"]) == (False, [], first["version"])
    with desk.store.engine.begin() as connection:
        person = add_person(connection, desk.study, np.random.default_rng(5), NOW, stage="instructions")
        connection.execute(people.update().where(people.c.id == 1).values(points=77.0))
    news = desk.get(f"/admin/api/people?since={first['version']}")
    codes = {row.code for row in desk.rows(people) if row.id in (1, person)}
    assert {row[0] for row in news["rows"]} == codes
    for unknown in ("nonsense", "00000000.3", first["version"].split(".")[0], "x" * 64):
        assert desk.get(f"/admin/api/people?since={unknown}")["full"]
    assert desk.client.get(f"/admin/api/people?since={'x' * 65}").status_code == 422


def test_an_overview_that_has_not_changed_is_not_sent_again(desk: Desk) -> None:
    first = desk.client.get("/admin/api/overview")
    again = desk.client.get("/admin/api/overview", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    with desk.store.engine.begin() as connection:
        add_person(connection, desk.study, np.random.default_rng(5), NOW, stage="consent")
    changed = desk.client.get("/admin/api/overview", headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.json()["totals"]["arrived"] == 41


def test_people_are_gone_by_time_alone(desk: Desk) -> None:
    before = desk.get("/admin/api/overview")["totals"]
    version = desk.get("/admin/api/people")["version"]
    desk.clock.now += 7300
    desk.log_in()
    after = desk.get("/admin/api/overview")["totals"]
    assert before["gone"] < after["gone"]
    assert after["task"] == after["training"] == after["choices_last_minute"] == 0
    assert any(row[3] == "gone" for row in desk.get(f"/admin/api/people?since={version}")["rows"])


def test_a_thousand_people_cost_what_is_new(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with desk.store.engine.begin() as connection:
        fill(connection, desk.study, 1000, seed=1)
    overviews, asked = Overviews(desk.study), []
    event.listen(desk.store.engine, "before_cursor_execute", lambda _c, _u, statement, *_: asked.append(statement))
    with desk.store.engine.connect() as connection:
        body, tag = overviews.overview(connection, False, NOW)
        everyone = overviews.people(connection, "", NOW)
        assert len(everyone.rows) == 1000
        asked.clear()
        began = time.perf_counter()
        assert overviews.overview(connection, False, NOW + 1) == (body, tag)
        assert overviews.people(connection, everyone.version, NOW + 1).rows == []
        assert time.perf_counter() - began < 1.0
    assert len(asked) == 10
    assert all("max(" in statement or "FROM people" in statement for statement in asked)
    assert len(everyone.model_dump_json()) < 200_000
    assert len(body) < 50_000
    desk.store.close()

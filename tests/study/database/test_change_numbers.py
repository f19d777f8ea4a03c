"""Whoever reads all changes up to a number misses none, in whatever order transactions end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, update

from explorelab.study.database.change_numbers import Horizon, horizon, is_settled
from explorelab.study.database.store import Store, open_store
from explorelab.study.database.tables import people
from tests.support.study.people_rows import PERSON
from tests.support.study.postgres import Cluster


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    server: Cluster | None = request.getfixturevalue("server") if request.param == "postgresql" else None
    store = open_store(server.new_database() if server else "sqlite:///study.db", tmp_path)
    yield store
    store.close()


def add(connection: Connection, code: str) -> int:
    """One more person; the number of this change."""
    connection.execute(insert(people).values({**PERSON, "code": code, "identity": code}))
    return int(connection.execute(select(people.c.changed).where(people.c.code == code)).scalar_one())


def seen(store: Store) -> Horizon:
    with store.engine.connect() as connection:
        return horizon(connection)


def settled(store: Store, what: Horizon) -> bool:
    with store.engine.connect() as connection:
        return is_settled(connection, what)


def test_numbers_grow_and_a_change_moves_a_person_beyond_all_others(store: Store) -> None:
    with store.engine.begin() as connection:
        first, second = add(connection, "a"), add(connection, "b")
        connection.execute(update(people).where(people.c.code == "a").values(points=2.0))
        again = connection.execute(select(people.c.changed).where(people.c.code == "a")).scalar_one()
    assert 0 < first < second < again
    last = seen(store)
    assert last.number == again
    assert settled(store, last)


def test_what_is_rolled_back_moves_no_horizon(store: Store) -> None:
    with store.engine.begin() as connection:
        number = add(connection, "a")
    with store.engine.connect() as connection:
        add(connection, "b")
        connection.rollback()
    assert seen(store).number == number


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
@pytest.mark.parametrize("n_under_way", [1, 3])
def test_a_horizon_waits_for_smaller_numbers_under_way(store: Store, n_under_way: int) -> None:
    """The first of these took its number before the last, which ends first: nobody may pass on without it."""
    opened = [store.engine.connect() for _ in range(n_under_way)]
    numbers = [add(connection, f"open {k}") for k, connection in enumerate(opened)]
    with store.engine.begin() as connection:
        last = add(connection, "last")
    what = seen(store)
    assert max(numbers) < last == what.number
    for connection in opened:
        assert not settled(store, what)
        connection.commit()
        connection.close()
    assert settled(store, what)


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
def test_a_horizon_does_not_wait_for_those_who_come_later(store: Store) -> None:
    with store.engine.begin() as connection:
        add(connection, "a")
    what = seen(store)
    with store.engine.connect() as later:
        add(later, "b")
        assert settled(store, what)


def test_a_number_under_way_is_beyond_the_horizon(store: Store) -> None:
    with store.engine.connect() as under_way:
        number = add(under_way, "a")
        assert seen(store).number < number
        under_way.rollback()

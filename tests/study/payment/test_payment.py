"""Bonuses: the right amounts, to everyone who finished, once, whatever goes wrong."""

from __future__ import annotations

import csv
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from explorelab.errors import InputError
from explorelab.study.config.design import Payment
from explorelab.study.database.store import engine_for
from explorelab.study.database.tables import payments, people, settings
from explorelab.study.payment import payment, payment_files
from explorelab.study.payment.payment import MARK, pay
from tests.support.study.rows import BEGAN, Filler, fill, small_study

STUDY = small_study()


def clock() -> float:
    return BEGAN


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    url = "sqlite:///study.db" if request.param == "sqlite" else request.getfixturevalue("server").new_database()
    made = engine_for(url, tmp_path)
    yield made
    made.dispose()


def n_paid(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(payments)).scalar_one())


def is_marked(engine: Engine) -> bool:
    with engine.connect() as connection:
        return connection.execute(select(settings.c.value).where(settings.c.name == MARK)).scalar_one_or_none() is not None


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_who_is_paid_what(engine: Engine, tmp_path: Path) -> None:
    codes = fill(engine, STUDY)
    with engine.connect() as connection:
        points = {row.code: row.points for row in connection.execute(select(people))}
    paid = pay(STUDY, engine, tmp_path / "pay", now=clock)
    assert paid.batch == "20231114T221320Z"
    assert [path.name for path in paid.files] == [
        f"bonus-{name}-{paid.batch}.csv" for name in ("prolific", "mturk", "plain")
    ]
    prolific, mturk, plain = (rows(path) for path in paid.files)
    first = f"{min(points[codes['prolific']] * 0.01, 3):.2f}"
    assert prolific == [[f"{1:024x}", first], [f"{15:024x}", "3.00"]]
    assert mturk[0] == ["WorkerId", "AssignmentId", "BonusAmount", "Reason", "UniqueRequestToken"]
    assert [row[:3] for row in mturk[1:]] == [[f"{2:024x}", "SESSION2", f"{min(points[codes['mturk']] * 0.01, 3):.2f}"]]
    assert plain == [["participant", "base", "bonus", "total", "currency"], [codes["plain"], "2.00", "3.00", "5.00", "USD"]]
    assert paid.totals == {"USD": Decimal(first) + Decimal("3.00") + Decimal(mturk[1][2]) + Decimal("5.00")}
    assert (paid.n, paid.n_nothing, paid.not_payable) == (4, 1, (codes["deleted"],))
    assert f"In all: 4 people, {paid.totals['USD']} USD." in str(paid)
    assert "mturk: 1 person, " in str(paid)
    assert all(path.stat().st_mode & 0o077 == 0 for path in paid.files)
    assert n_paid(engine) == 4
    assert not is_marked(engine)


def test_nobody_is_paid_twice(engine: Engine, tmp_path: Path) -> None:
    filler = Filler(engine, STUDY)
    filler.person()
    first = pay(STUDY, engine, tmp_path / "pay", now=clock)
    before = first.files[0].read_bytes()
    second = pay(STUDY, engine, tmp_path / "pay", now=clock)
    assert (second.batch, second.files, second.n) == ("", (), 0)
    assert "There is nobody to pay: nobody has finished, or everyone who has is already in a payment file." in second.lines()
    assert not is_marked(engine)
    filler.person()
    third = pay(STUDY, engine, tmp_path / "pay", now=clock)
    assert third.batch == f"{first.batch}-2"
    assert third.files[0].read_text().startswith(f"{2:024x},")
    assert third.n == 1
    assert first.files[0].read_bytes() == before
    # Another folder changes nothing.
    assert pay(STUDY, engine, tmp_path / "elsewhere", now=clock).n == 0
    assert names(tmp_path / "elsewhere") == []


def test_robots_and_those_under_way_are_not_paid(engine: Engine, tmp_path: Path) -> None:
    filler = Filler(engine, STUDY)
    for stage in ("play", "debriefing", "declined", "consent", "withdrawn"):
        filler.person(stage)
    filler.person(source="pilot")
    assert pay(STUDY, engine, tmp_path / "pay").n == 0


def test_whoever_finished_and_then_withdrew_has_earned_it(engine: Engine, tmp_path: Path) -> None:
    Filler(engine, STUDY).person("withdrawn", finished_at=BEGAN)
    assert pay(STUDY, engine, tmp_path / "pay").n == 1


def test_a_stop_after_the_entry_loses_nothing(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = Filler(engine, STUDY)
    filler.person()
    filler.person(source="plain")

    def stopped(_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(payment, "put", stopped)
        with pytest.raises(KeyboardInterrupt):
            pay(STUDY, engine, tmp_path / "pay", now=clock)
    assert n_paid(engine) == 2
    assert [name for name in names(tmp_path / "pay") if not name.startswith(".")] == []
    filler.person()
    after = pay(STUDY, engine, tmp_path / "other", now=clock)
    assert [path.name for path in after.recovered] == [
        "bonus-prolific-20231114T221320Z.csv",
        "bonus-plain-20231114T221320Z.csv",
    ]
    assert {path.parent for path in after.recovered} == {tmp_path / "pay"}
    assert names(tmp_path / "pay") == sorted(path.name for path in after.recovered)
    assert after.recovered[0].read_text().startswith(f"{1:024x},")
    assert "interrupted" in after.lines()[0]
    assert after.n == 1
    assert not is_marked(engine)
    assert pay(STUDY, engine, tmp_path / "pay", now=clock).recovered == ()


def test_a_stop_before_the_mark_goes_writes_nothing_twice(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Filler(engine, STUDY).person()

    def stopped(_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(payment, "_unmark", stopped)
        with pytest.raises(KeyboardInterrupt):
            pay(STUDY, engine, tmp_path / "pay", now=clock)
    after = pay(STUDY, engine, tmp_path / "other", now=clock)
    assert (after.recovered, after.n) == ((), 0)
    assert names(tmp_path / "other") == []
    assert not is_marked(engine)


@pytest.mark.parametrize("place", ["write_aside", "_mark", "_owed"])
def test_a_stop_before_the_entry_pays_nobody(
    place: str, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Filler(engine, STUDY).person()
    original = getattr(payment, place)

    def stopped(*given: Any) -> None:
        original(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(payment, place, stopped)
        with pytest.raises(KeyboardInterrupt):
            pay(STUDY, engine, tmp_path / "pay")
    assert n_paid(engine) == 0
    assert not is_marked(engine)
    assert pay(STUDY, engine, tmp_path / "pay").n == 1
    assert len(names(tmp_path / "pay")) == 1


def test_a_folder_that_cannot_be_written(engine: Engine, tmp_path: Path) -> None:
    Filler(engine, STUDY).person()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        pay(STUDY, engine, tmp_path / "file")
    assert n_paid(engine) == 0


def test_a_batch_again(engine: Engine, tmp_path: Path) -> None:
    filler = Filler(engine, STUDY)
    with pytest.raises(InputError, match="nobody has been paid yet"):
        pay(STUDY, engine, tmp_path / "pay", again=True)
    filler.person()
    first = pay(STUDY, engine, tmp_path / "pay", now=clock)
    before = first.files[0].read_bytes()
    filler.person()
    second = pay(STUDY, engine, tmp_path / "pay", now=lambda: BEGAN + 60)
    filler.person()
    first.files[0].unlink()
    again = pay(STUDY, engine, tmp_path / "pay", again=first.batch)
    assert again.files == first.files
    assert first.files[0].read_bytes() == before
    assert again.totals == first.totals
    assert "was written before" in " ".join(again.lines())
    assert pay(STUDY, engine, tmp_path / "pay", again=True).batch == second.batch
    assert n_paid(engine) == 2
    with pytest.raises(InputError, match="unknown batch of payments"):
        pay(STUDY, engine, tmp_path / "pay", again="20200101T000000Z")


@pytest.mark.parametrize("name", ["abc,500.00", "abc\n5f00,500.00", '"', "=1+1", "", None, "é" * 24, "a" * 65])
def test_names_that_no_platform_gives_are_not_written(name: str | None, tmp_path: Path) -> None:
    made = engine_for("sqlite:///study.db", tmp_path)
    filler = Filler(made, STUDY)
    filler.person()
    codes = (filler.person(platform_id=name), filler.person(source="mturk", platform_session=name))
    paid = pay(STUDY, made, tmp_path / "pay")
    assert paid.not_payable == codes
    assert codes[0] in " ".join(paid.lines())
    assert paid.files[0].read_text().count("\n") == 1
    assert n_paid(made) == 1
    made.dispose()


def test_amounts_are_whole_cents(tmp_path: Path) -> None:
    assert payment_files.cents(0.1 + 0.2) == Decimal("0.30")
    assert str(payment_files.cents(2)) == "2.00"
    made = engine_for("sqlite:///study.db", tmp_path)
    filler = Filler(made, STUDY)
    for points in (0.4, 10.0, 29.0, 57.0, 115.0):
        filler.person(points=points)
    euros = replace(STUDY, payment=Payment(currency="EUR", base=0.0, per_point=0.01, most=3.0))
    filler.person(source="mturk", points=10.0)
    filler.person(source="plain", points=0.0)
    paid = pay(euros, made, tmp_path / "pay")
    amounts = [row[1] for row in rows(paid.files[0])]
    assert amounts == ["0.10", "0.29", "0.57", "1.15"]
    assert paid.shares["prolific"] == (4, Decimal("2.11"), "EUR")
    assert paid.n_nothing == 2
    assert "MTurk pays in USD" in " ".join(paid.lines())
    made.dispose()


def test_several_at_once_pay_everyone_once(engine: Engine, tmp_path: Path) -> None:
    filler = Filler(engine, STUDY)
    for _ in range(20):
        filler.person()
    ready, errors = threading.Barrier(6), []

    def one(i: int) -> None:
        ready.wait()
        try:
            pay(STUDY, engine, tmp_path / f"pay{i}")
        except InputError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pay(STUDY, engine, tmp_path / "pay")
    assert all("another payment of this study is running" in error for error in errors)
    lines = Counter(line for path in tmp_path.glob("pay*/*.csv") for line in path.read_text().splitlines())
    assert len(lines) == 20
    assert set(lines.values()) == {1}
    assert n_paid(engine) == 20

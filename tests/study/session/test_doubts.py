"""Who may not have played by hand or in time: shown to the researcher, left out of choices.csv, not paid unless named."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, select, update

from explorelab.errors import InputError
from explorelab.study.admin.overview import Overviews
from explorelab.study.admin.person import person_detail
from explorelab.study.database.store import engine_for
from explorelab.study.database.tables import choices, events, people
from explorelab.study.export.write_export import export_study
from explorelab.study.payment.payment import pay
from explorelab.study.session.doubts import REASONS, SHARES, TOLD, doubted, doubts
from tests.support.study.attacked import Target
from tests.support.study.lab import Lab, in_play
from tests.support.study.rows import Filler, small_study

STUDY = small_study(n_trials=4)
NOW = 1_800_000_000.0


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = engine_for("sqlite:///study.db", tmp_path)
    yield made
    made.dispose()


def filled(engine: Engine, why: str) -> tuple[str, str]:
    """An honest person and one about whom there is this doubt; their codes."""
    filler = Filler(engine, STUDY)
    honest, other = filler.person(source="plain"), filler.person(source="plain", cell=1)
    with engine.begin() as connection:
        number = connection.execute(select(people.c.id).where(people.c.code == other)).scalar_one()
        if why in TOLD:
            row = {"person": number, "epoch": 1, "number": 99, "kind": why, "page_ms": 1.0, "received_at": 1.0}
            connection.execute(insert(events).values(row))
        elif why == "absent":
            connection.execute(update(choices).where(choices.c.person == number).values(missed=True))
        else:
            connection.execute(update(choices).where(choices.c.person == number).values(flags=f"paused {why}"))
    return honest, other


def test_every_reason_has_its_words_and_every_word_its_reason() -> None:
    assert set(REASONS) == {*TOLD, *SHARES}


@pytest.mark.parametrize("why", REASONS)
def test_whoever_is_doubted_is_listed_and_not_in_choices_csv(engine: Engine, tmp_path: Path, why: str) -> None:
    honest, other = filled(engine, why)
    done = export_study(STUDY, engine, tmp_path / "out", progress=False)

    def column(file: Path, name: str = "participant") -> list[str]:
        return [row[name] for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines())]

    assert set(column(done.choices)) == {honest}
    assert column(done.out / "doubted.csv") == [other]
    assert column(done.out / "doubted.csv", "doubts") == [why]
    complete, everyone = (next((done.out / "data").glob(f"*description-{name}_*")) for name in ("choices", "participants"))
    assert set(column(complete)) == {honest, other}
    assert column(everyone, "doubts") == ["", why]
    assert "1 person may not have played by hand or in time" in (done.out / "README.md").read_text(encoding="utf-8")
    assert done.n_doubted == 1
    assert "Not in choices.csv: 1 person" in " ".join(done.lines())
    whole = export_study(STUDY, engine, tmp_path / "whole", doubted="with", progress=False)
    assert set(column(whole.choices)) == {honest, other}
    assert column(whole.out / "doubted.csv") == [other]


@pytest.mark.parametrize("why", REASONS)
def test_whoever_is_doubted_is_listed_first_and_paid_only_if_named(engine: Engine, tmp_path: Path, why: str) -> None:
    honest, other = filled(engine, why)
    first = pay(STUDY, engine, tmp_path / "pay")
    assert first.doubted == ((other, (why,)),)
    told = first.lines()
    assert "NOT paid" in told[0]
    assert told[1] == f"  {other}: {REASONS[why]}"
    assert [honest in path.read_text() and other not in path.read_text() for path in first.files] == [True]
    second = pay(STUDY, engine, tmp_path / "pay")
    assert not second.files
    assert "There is nobody else to pay." in second.lines()
    named = pay(STUDY, engine, tmp_path / "pay", also=[other])
    assert (named.n, named.doubted) == (1, ())
    with pytest.raises(InputError, match=f"not in a payment file yet, got {other}"):
        pay(STUDY, engine, tmp_path / "pay", also=[other])


@pytest.mark.parametrize("why", REASONS)
def test_whoever_is_doubted_is_shown_to_the_researcher(engine: Engine, why: str) -> None:
    honest, other = filled(engine, why)
    overviews = Overviews(STUDY)
    with engine.connect() as connection:
        told = overviews.people(connection, "", NOW)
        rows = {row[0]: dict(zip(told.columns, row, strict=True)) for row in told.rows}
        body, _ = overviews.overview(connection, False, NOW)
        details = {code: person_detail(connection, STUDY, code, NOW).doubts for code in (honest, other)}
    assert {code: row["doubts"] for code, row in rows.items()} == {honest: "", other: why}
    assert b'"doubted":1' in body
    assert details == {honest: [], other: [REASONS[why]]}


def test_robots_and_a_bad_moment_raise_no_doubt(engine: Engine) -> None:
    filler = Filler(engine, STUDY)
    filler.person(source="pilot")
    filler.person()
    with engine.begin() as connection:
        connection.execute(update(choices).where(choices.c.person == 1).values(flags="synthetic early"))
        connection.execute(update(choices).where(choices.c.person == 2, choices.c.trial == 0).values(flags="slow"))
        assert doubted(connection) == {2: ("slow",)}
        connection.execute(update(choices).where(choices.c.person == 2, choices.c.block == 0).values(flags=""))
        assert doubted(connection) == {}


@pytest.mark.parametrize("word", SHARES)
def test_a_flag_counts_from_its_share_on(word: str) -> None:
    few = int(SHARES[word] * 100) - 1
    assert doubts(100, {word: few}, ()) == ()
    assert doubts(100, {word: few + 1}, ()) == (word,)
    assert doubts(2, {word: 2}, ()) == ()


@pytest.mark.parametrize("by_hand", [None, 0, 1])
def test_clicks_that_no_hand_made_are_flagged(lab: Lab, by_hand: int | None) -> None:
    tab = in_play(lab)
    assert tab.choose(0, 5, by_hand=by_hand).status_code == 200
    assert tab.choose(1, 5, clicks=[[7, 8.0], [5, 9.0]], by_hand=by_hand).status_code == 200
    assert tab.choose(2, None, clicks=[], by_hand=0).status_code == 200
    with lab.store.engine.connect() as connection:
        flags = list(connection.execute(select(choices.c.flags).order_by(choices.c.trial)).scalars())
    assert flags == ["" if by_hand == 1 else "synthetic", "synthetic", ""]


@pytest.mark.parametrize("query", [{"simulate": "visual"}, {"simulate": "data-only"}, {"Simulate": ""}, {"SIMULATE": "1"}])
def test_only_a_pilot_may_ask_the_page_to_play_by_itself(tmp_path: Path, query: dict[str, str]) -> None:
    target = Target(tmp_path)
    with target.client:
        for platform in ({}, {"PROLIFIC_PID": "abc", "SESSION_ID": "s"}, {"workerId": "W", "assignmentId": "A"}):
            body = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": {**platform, **query}}
            before = target.dump()
            answer = target.post("arrive", body)
            assert (answer.status_code, answer.json()["error"]) == (403, "not-a-pilot")
            assert target.post("arrive", body, **{"X-Pilot-Key": "0" * 64}).status_code == 401
            assert target.dump() == before
            pilot = target.post("arrive", body, **{"X-Pilot-Key": target.pilot_key})
            assert (pilot.status_code, pilot.json()["pilot"]) == (200, True)
        plain = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": {}}
        assert target.post("arrive", plain).json()["pilot"] is False

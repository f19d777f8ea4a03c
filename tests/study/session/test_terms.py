"""What people are promised for taking part is theirs from consent on: shown, exported and paid, whatever study.toml says."""

from __future__ import annotations

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from explorelab.study.admin import offline
from explorelab.study.config.design import Completion, Payment
from explorelab.study.config.study_folder import load_study
from explorelab.study.database import tables
from explorelab.study.database.migrating import migrate
from explorelab.study.database.store import engine_for
from explorelab.study.export.write_export import export_study
from explorelab.study.payment.payment import pay
from tests.support.study.folder import change, new_study
from tests.support.study.lab import Lab, Tab
from tests.support.study.rows import Filler
from tests.support.study.rows import small_study as row_study
from tests.support.study.small_study import small_study

PROMISED = Payment("EUR", base=4.0, per_point=0.01, most=6.0)
CHANGED: dict[str, Any] = {
    "base": Payment("EUR", base=1.0, per_point=0.01, most=6.0),
    "per_point": Payment("EUR", base=4.0, per_point=0.00001, most=6.0),
    "most": Payment("EUR", base=4.0, per_point=0.01, most=0.01),
    "currency": Payment("USD", base=4.0, per_point=0.01, most=6.0),
    "everything": Payment("GBP", base=0.0, per_point=0.0, most=0.0),
}
WHEN = ("after consent", "in the middle", "after the last choice", "after the end")


def lab_with(folder: Path, payment: Payment, code: str = "FIRST") -> Lab:
    return Lab(small_study(payment=payment, completion=Completion(code, "")), folder)


def table(folder: Path, name: str = "*") -> list[dict[str, str]]:
    """The rows of the file of that name."""
    return list(csv.DictReader(next(folder.glob(name)).read_text(encoding="utf-8").splitlines()))


def play_until(tab: Tab, when: str) -> None:
    """Go as far as that."""
    tab.consent()
    blocks = {"after consent": 0, "in the middle": 4}.get(when, 5)
    for number in range(blocks):
        tab.play_block(number)
    if when == "after the end":
        tab.go("finish")


def play_on(tab: Tab) -> dict[str, Any]:
    """Go on to the end; what is shown there."""
    while tab.state["stage"] in ("instructions", "ready"):
        tab.play_block(tab.state["block"]["number"])
    return tab.go("finish")


@pytest.mark.parametrize(("what", "when"), [("everything", when) for when in WHEN] + [(what, WHEN[1]) for what in CHANGED])
def test_terms_changed_on_the_way_are_not_the_persons(tmp_path: Path, what: str, when: str) -> None:
    before = lab_with(tmp_path, PROMISED)
    with before.client:
        tab = Tab(before, query={})
        play_until(tab, when)
    after = lab_with(tmp_path, CHANGED[what], "SECOND")
    with after.client:
        shown = play_on(Tab(after, tab.key))
        (person,) = after.rows(tables.people)
        export_study(after.study, after.store.engine, tmp_path / "data", progress=False)
        pay(after.study, after.store.engine, tmp_path / "pay", also=[person.code])
    bonus = PROMISED.bonus(person.points)
    assert bonus > 0
    assert shown["payment"] == {"currency": "EUR", "base": 4.0, "bonus": bonus, "total": round(4.0 + bonus, 2)}
    assert shown["completion"]["code"].startswith("FIRST-")
    (row,) = table(tmp_path / "data" / "data", "*participants*")
    promised = {name: row[name] for name in ("base", "bonus", "per_point", "most_bonus", "currency")}
    amounts = {"base": "4.00", "bonus": f"{bonus:.2f}", "per_point": "0.01", "most_bonus": "6.00", "currency": "EUR"}
    assert promised == amounts
    (line,) = table(tmp_path / "pay")
    assert line == {
        "participant": person.code, "base": "4.00", "bonus": f"{bonus:.2f}", "total": f"{4 + bonus:.2f}", "currency": "EUR",
    }  # fmt: skip


def test_whoever_agrees_after_the_change_has_the_new_terms(tmp_path: Path) -> None:
    before = lab_with(tmp_path, PROMISED)
    with before.client:
        reader = Tab(before)
    after = lab_with(tmp_path, CHANGED["base"])
    with after.client:
        tab = Tab(after, reader.key)
        tab.consent()
        assert play_on(tab)["payment"]["base"] == 1.0


def test_pages_speak_of_the_persons_own_payment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = new_study(tmp_path, monkeypatch)
    (folder / "instructions.md").write_text("A point is worth {per_point} {currency}, the base is {base}.\n")
    before = Lab(load_study(folder), folder)
    with before.client:
        tab = Tab(before)
        assert "0.0005 USD, the base is 5.00" in tab.consent()["html"]["instructions"]
    change(folder / "study.toml", "base = 5.00", "base = 2.50")
    change(folder / "study.toml", "per_point = 0.0005", "per_point = 0.1")
    after = Lab(load_study(folder), folder)
    with after.client:
        assert "0.0005 USD, the base is 5.00" in Tab(after, tab.key).state["html"]["instructions"]
        newcomer = Tab(after)
        assert "0.1 USD, the base is 2.50" in newcomer.consent()["html"]["instructions"]


def test_amounts_in_two_currencies_are_neither_added_nor_mixed(tmp_path: Path) -> None:
    study = row_study()
    engine = engine_for("sqlite:///study.db", tmp_path)
    filler = Filler(engine, study)
    euros = json.dumps({"payment": {"currency": "EUR", "base": 1.0, "per_point": 0.01, "most": 1.0}, "completion": {}})
    for source in ("prolific", "plain"):
        filler.person(source=source, points=100.0)
        filler.person(source=source, points=200.0, terms=euros)
    paid = pay(study, engine, tmp_path / "pay")
    assert paid.totals == {"USD": Decimal("4.00"), "EUR": Decimal("3.00")}
    assert "4.00 USD and 3.00 EUR" in str(paid)
    assert sorted(path.name.rsplit("-", 1)[0] for path in paid.files) == [
        "bonus-plain-EUR", "bonus-plain-USD", "bonus-prolific-EUR", "bonus-prolific-USD",
    ]  # fmt: skip
    assert [path.read_text().count("\n") for path in paid.files] == [1, 1, 2, 2]
    engine.dispose()


def test_people_of_an_older_database_keep_the_terms_of_the_day_it_was_first_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = new_study(tmp_path, monkeypatch)
    engine = engine_for("sqlite:///study.db", folder)
    migrate(engine, "0003")
    row = {
        "code": "abcdefghjk", "identity": "x", "source": "plain", "pilot": 0, "seed": 1, "stage": "finished", "block": 5,
        "cell": "fast-standard-a-travel", "begun": 0, "epoch": 1, "page": "p", "points": 1000.0, "arrived_at": 0.0,
        "seen_at": 1.0, "finished_at": 1.0, "bonus": 0.5, "platform_session": "s",
    }  # fmt: skip
    names = ", ".join(row)
    with engine.begin() as connection:
        connection.execute(text(f"INSERT INTO people ({names}) VALUES ({', '.join(f':{name}' for name in row)})"), row)
    engine.dispose()
    with offline.opened(folder):
        pass
    change(folder / "study.toml", "base = 5.00", "base = 2.50")
    offline.pay(folder, tmp_path / "pay", False)
    (line,) = table(tmp_path / "pay")
    assert (line["base"], line["bonus"], line["total"]) == ("5.00", "0.50", "5.50")

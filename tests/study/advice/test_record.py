"""What is stored, exported and checked of advice; and that people are assigned to its arms in balance."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import explorelab as xl
from explorelab.companions.advice import REASONS
from explorelab.study.admin.advice_counts import advice_counts
from explorelab.study.advice.reasons import BY_ADVISER
from explorelab.study.database.tables import choices, people
from explorelab.study.export.write_export import export_study
from tests.support.study.advised import advised_study, in_task, sealed
from tests.support.study.lab import Lab, Tab

ARMS = ("none", "impersonal", "personal")


def of_arm(lab: Lab, arm: str) -> Tab:
    """Somebody new in this arm, at their first choice."""
    while True:
        tab = in_task(lab)
        code = tab.token.split(".")[0]
        (person,) = [row for row in lab.rows(people) if row.code == code]
        if person.cell.endswith(f"-{arm}"):
            return tab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(advised_study(*ARMS), tmp_path)


def test_the_words_are_those_of_the_adviser() -> None:
    assert set(BY_ADVISER) == set(REASONS)


def test_people_are_spread_evenly_over_the_arms(tmp_path: Path) -> None:
    study = advised_study(*ARMS, task_timings=("fast", "slow"))
    lab = Lab(study, tmp_path)
    for _ in range(12):
        Tab(lab).consent()
    assert Counter(row.cell for row in lab.rows(people)) == {cell.name: 2 for cell in study.cells}


def test_only_those_who_are_advised_are_told_to_ask(lab: Lab) -> None:
    assert "advice" not in of_arm(lab, "none").state["block"]
    for arm in ("impersonal", "personal"):
        assert of_arm(lab, arm).state["block"]["advice"] == {"from_trial": 0, "within_ms": 300}


def test_what_was_shown_is_stored_with_the_choice_that_is_acknowledged(lab: Lab) -> None:
    tab = of_arm(lab, "impersonal")
    assert tab.choose(0, 8, **sealed(lab, tab, 0, 8, advice_shown_ms=12.5)).status_code == 200
    assert tab.choose(1, 9, **sealed(lab, tab, 1, 8, advice_shown_ms=3.0)).status_code == 200
    assert tab.choose(2, 9, **sealed(lab, tab, 2, None, "worse")).status_code == 200
    assert tab.choose(3, 9, **{**sealed(lab, tab, 3, 7), "advice": "late"}).status_code == 200
    assert tab.choose(4, 9).status_code == 200
    none = of_arm(lab, "none")
    assert none.choose(0, 9).status_code == 200
    stored = [(row.advised, row.advice, row.advice_shown_ms) for row in lab.rows(choices)]
    assert stored == [
        (8, "best", 12.5), (8, "best", 3.0), (None, "worse", None), (7, "late", None), (None, "not asked", None),
        (None, "none", None),
    ]  # fmt: skip


FORGED: dict[str, dict[str, Any]] = {
    "another square": {"advised": 9},
    "another reason": {"advice": "worse"},
    "no seal": {"advice_seal": None},
    "a seal of nobody": {"advice_seal": "0" * 32},
    "of another choice": {"trial": 1},
    "shown after the end": {"advice_shown_ms": 1e6},
    "shown, but nothing advised": {"advised": None, "advice": "late", "advice_shown_ms": 1.0},
    "a word of their own": {"advice": "because"},
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_advice_that_was_not_given_is_refused(lab: Lab, forged: dict[str, Any]) -> None:
    tab = of_arm(lab, "impersonal")
    made = sealed(lab, tab, forged.get("trial", 0), 8, advice_shown_ms=1.0)
    made |= {name: value for name, value in forged.items() if name != "trial"}
    assert tab.choose(0, 8, **made).status_code == 422
    assert lab.count(choices) == 0


def test_nobody_in_the_arm_none_can_have_been_advised(lab: Lab) -> None:
    tab = of_arm(lab, "none")
    assert tab.choose(0, 8, **sealed(lab, tab, 0, 8)).status_code == 422


def test_advice_that_could_not_be_chosen_is_refused(tmp_path: Path) -> None:
    lab = Lab(advised_study(task_dynamics=("neighbour",)), tmp_path)
    tab = in_task(lab)
    far = (tab.state["block"]["position"] + 50) % 100
    assert tab.choose(0, None, **sealed(lab, tab, 0, far)).status_code == 422


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_what_is_stored_is_exported_described_and_accepted_by_check(lab: Lab, tmp_path: Path) -> None:
    tab = of_arm(lab, "personal")
    tab.choose(0, 8, **sealed(lab, tab, 0, 8, advice_shown_ms=12.5))
    tab.choose(1, 9, **sealed(lab, tab, 1, 8, advice_shown_ms=3.0))
    tab.choose(2, 9, advice="late")
    none = of_arm(lab, "none")
    for trial in range(3):
        none.choose(trial, 9)
    done = export_study(lab.study, lab.store.engine, tmp_path / "data", progress=False)
    rows = rows_of(done.choices)
    told = [(row["advice_arm"], row["advised"], row["advice_shown"], row["followed"]) for row in rows]
    assert sorted(told) == sorted(
        [("personal", "8", "1", "1"), ("personal", "8", "1", "0"), ("personal", "", "0", ""), *[("none", "", "0", "")] * 3]
    )
    (complete,) = (tmp_path / "data" / "data").glob("*choices*")
    assert sorted(row["advice_reason"] for row in rows_of(complete)) == ["best", "best", "late", "none", "none", "none"]
    described = json.loads((tmp_path / "data" / "dataset_description.json").read_text(encoding="utf-8"))
    named = {each["name"] for each in described["variableMeasured"]}
    assert {"advised", "advice_shown", "followed", "advice_reason", "advice_shown_ms", "advice_arm"} <= named
    assert len(xl.read_choices(done.choices).participants) == 2


def test_a_study_without_advice_is_exported_and_answered_as_before(tmp_path: Path) -> None:
    lab = Lab(replace(advised_study(), advice=None), tmp_path)
    tab = in_task(lab)
    answer = tab.choose(0, 8)
    assert "advice" not in answer.text
    assert "advice" not in tab.post("state").text
    done = export_study(lab.study, lab.store.engine, tmp_path / "data", progress=False)
    for file in done.files:
        if file.suffix in (".csv", ".json", ".toml"):
            assert "advi" not in file.read_text(encoding="utf-8"), file
    with lab.store.engine.connect() as connection:
        assert advice_counts(connection, lab.study, pilots=False) is None


def test_the_researcher_sees_how_much_was_shown_and_followed(lab: Lab) -> None:
    tab = of_arm(lab, "impersonal")
    tab.choose(0, 8, **sealed(lab, tab, 0, 8, advice_shown_ms=12.5))
    tab.choose(1, 9, **sealed(lab, tab, 1, 8, advice_shown_ms=3.0))
    tab.choose(2, 9, advice="late")
    with lab.store.engine.connect() as connection:
        counts = advice_counts(connection, lab.study, pilots=False)
        robots = advice_counts(connection, lab.study, pilots=True)
    assert counts is not None
    assert robots is not None
    found = {each.arm: (each.choices, each.shown, each.late, each.followed) for each in counts}
    assert found == {"none": (0, 0, 0, 0), "impersonal": (3, 2, 1, 1), "personal": (0, 0, 0, 0)}
    assert {each.choices for each in robots} == {0}

"""The study's own pages in an export: every answer with its question, and who is to be left out, never silently."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorelab.choices.reading import check_choices, read_choices
from explorelab.study.export.psychds import VARIABLES
from explorelab.study.export.write_export import Exported, export_study
from explorelab.study.session.pages.exclusions import Exclude
from tests.support.study.lab import Lab, Tab
from tests.support.study.own_pages import BEFORE, RIGHT, paged_study

RULES = Exclude(failed_checks=1, failed_quiz=True, missed=0.9, faster_than={"before": 5.0})


def leave(tab: Tab, answers: dict[str, Any] | None = None) -> None:
    page = tab.state["page"]
    tab.go("page", step=page["step"], attempt=page["attempt"], answers=answers or {}, times={}, elapsed_ms=1500.0)


def play(lab: Lab, answers: dict[str, Any], *, click: bool = True, wait_s: float = 10.0) -> Tab:
    """Somebody who takes part to the end, or as far as the quiz lets them."""
    tab = Tab(lab)
    tab.consent()
    leave(tab)
    leave(tab, RIGHT)
    lab.clock.now += wait_s
    leave(tab, {**BEFORE, **answers})
    while tab.state["stage"] == "ready":
        tab.go("begin", block=tab.state["block"]["number"])
        for trial in range(tab.state["block"]["n_trials"]):
            made = tab.choose(trial, tab.state["block"]["position"] if click else None).json()
        tab.state = made["state"]
    leave(tab)
    leave(tab)
    return tab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    study = paged_study(folder / "files", task_dynamics=("standard",))
    made = Lab(replace(study, exclude=RULES), folder)
    with made.client:
        play(made, {})
        play(made, {"agree": 3, "said": "=HYPERLINK()"})
        play(made, {"games": []}, click=False)
        play(made, {}, wait_s=2.0)
        failed = Tab(made)
        failed.consent()
        for _ in range(3):
            leave(failed)
            leave(failed, {**RIGHT, "count": 1})
        yield made


def export(lab: Lab, out: Path, **how: Any) -> Exported:
    # Who lets the time run out everywhere is also doubted, and would not be in choices.csv at all.
    return export_study(lab.study, lab.store.engine, out, progress=False, doubted="with", **how)


def table(out: Path, name: str) -> list[dict[str, str]]:
    (file,) = (out / "data").glob(f"*description-{name}_data.csv")
    with file.open(encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source))


def test_every_answer_is_there_with_its_question(lab: Lab, tmp_path: Path) -> None:
    export(lab, tmp_path / "data")
    rows = table(tmp_path / "data", "answers")
    assert len(rows) == 4 * (2 + 5) + 3 * 2
    first = {row["question"]: row for row in rows if row["participant"] == rows[0]["participant"]}
    assert (first["games"]["answer"], first["games"]["answer_text"]) == ('["Go"]', "Go")
    assert (first["dots"]["answer"], first["dots"]["answer_text"], first["dots"]["passed"]) == ("blue", "The blue one", "1")
    assert (first["age"]["answer"], first["age"]["passed"], first["age"]["question_text"]) == ("20", "", "How old are you?")
    assert "'=HYPERLINK()" in {row["answer"] for row in rows}
    assert [row["attempt"] for row in rows if row["page_name"] == "quiz"][-6:] == ["1", "1", "2", "2", "3", "3"]
    asked = {row["question"]: row for row in table(tmp_path / "data", "questions")}
    assert json.loads(asked["dots"]["options"]) == {"blue": "The blue one", "yellow": "The yellow one"}
    assert (asked["count"]["expected"], asked["agree"]["expected"]) == ("[6, 7]", "[2]")
    assert {row["page_name"] for row in table(tmp_path / "data", "pages")} >= {
        "welcome",
        "quiz",
        "before",
        "break-7",
        "score-8",
    }


def test_every_column_is_described(lab: Lab, tmp_path: Path) -> None:
    export(lab, tmp_path / "data")
    described = {
        each["name"] for each in json.loads((tmp_path / "data/dataset_description.json").read_text())["variableMeasured"]
    }
    for name in ("participants", "pages", "answers", "questions"):
        assert set(table(tmp_path / "data", name)[0]) <= described
    assert described <= set(VARIABLES)


def test_rules_stated_before_are_counted_and_left_out_where_the_study_says_so(lab: Lab, tmp_path: Path) -> None:
    done = export(lab, tmp_path / "data")
    why = [row["excluded"] for row in table(tmp_path / "data", "participants")]
    assert why == ["", "failed-checks", "missed", "too-fast", "failed-quiz"]
    assert [row["failed_checks"] for row in table(tmp_path / "data", "participants")] == ["0", "1", "0", "0", "0"]
    assert done.n_excluded == 4
    assert "To be left out by the study's rules: 4 people" in "\n".join(done.lines())
    assert "leave out 4 people" in (tmp_path / "data/README.md").read_text()
    report = check_choices(tmp_path / "data" / "choices.csv")
    assert report.ok, report.message()
    assert sorted(one.reason for one in report.exclusions) == [
        f"left out as the study's rules say: {word}" for word in ("failed-checks", "missed", "too-fast")
    ]
    assert (report.counts["participants"], report.counts["excluded"]) == (4, 3)
    choices = read_choices(tmp_path / "data" / "choices.csv")
    assert choices.n_participants == 1
    assert "excluded" not in choices.conditions


def test_they_can_be_kept(lab: Lab, tmp_path: Path) -> None:
    done = export(lab, tmp_path / "data", excluded="with")
    assert "Kept against the study's rules: 4 people" in "\n".join(done.lines())
    left = check_choices(tmp_path / "data" / "choices.csv").exclusions
    assert [one.reason for one in left] == ["no choice that was free and made: nothing to fit"]
    with (tmp_path / "data/choices.csv").open(encoding="utf-8") as file:
        assert {row["excluded"] for row in csv.DictReader(file)} == {"", "failed-checks", "missed", "too-fast"}


def test_a_study_without_pages_and_rules_is_exported_as_before(tmp_path: Path) -> None:
    study = replace(paged_study(tmp_path / "files"), pages=())
    lab = Lab(study, tmp_path)
    with lab.client:
        tab = Tab(lab)
        tab.consent()
        tab.play_block(0)
        export(lab, tmp_path / "data")
    names = {file.name.partition("_")[2] for file in (tmp_path / "data" / "data").iterdir()}
    assert names == {
        f"description-{name}_data.csv" for name in ("participants", "consents", "blocks", "choices", "events", "landscapes")
    }
    assert "excluded" not in table(tmp_path / "data", "participants")[0]

"""Pilots, backups, payments: what the command line does, by buttons; names for owners alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.hosting.laboratory_folder import open_folder
from explorelab.laboratory.hosting.serve_laboratory import begun
from explorelab.laboratory.running import errands
from explorelab.study.database.refusals import Refused
from explorelab.study.database.tables import people
from explorelab.study.session.terms import offered
from tests.support.study.people_rows import PERSON
from tests.support.study.server import write_study
from tests.support.town import Browser, Town

STUDY = "/lab/api/studies/a"
NAME, SESSION = "5f0c1d2e3f4a5b6c7d8e9f00", "6f0c1d2e3f4a5b6c7d8e9f01"


def over(browser: Browser, study: str = STUDY) -> list[dict[str, Any]]:
    """The errands, once none is under way."""
    give_up = time.monotonic() + 200
    while True:
        found: list[dict[str, Any]] = browser.told(f"{study}/errands")["errands"]
        if all(each["state"] != "running" for each in found):
            return found
        assert time.monotonic() < give_up, found
        time.sleep(0.1)


def test_a_backup_is_made_in_a_process_of_its_own_and_stands_in_the_history(town: Town) -> None:
    helper = town.join("helga", Role.HELPER, "a")
    begun_ = helper.ok(f"{STUDY}/errands", {"kind": "backup"})["errands"][0]
    assert (begun_["state"], begun_["by"]) == ("running", "Helga")
    assert helper.post(f"{STUDY}/errands", {"kind": "backup"}).status_code == 409  # one at a time
    (done,) = over(helper)
    assert (done["state"], "Wrote" in done["words"]) == ("done", True), done
    assert len(list((town.folder.of("a") / "backups").glob("*.db"))) == 1
    assert helper.told(f"{STUDY}/deeds")["deeds"][0]["what"] == "began a backup"


def test_what_fails_says_why(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands, "commands_for", lambda *_: [["study", "find", "nowhere", "x"], ["never", "run"]])
    town.people["olga"].ok("/lab/api/studies/b/errands", {"kind": "report"})
    (failed,) = over(town.people["olga"], "/lab/api/studies/b")
    assert failed["state"] == "failed"
    assert "nowhere: there is no such folder" in failed["words"]
    assert not failed["has_report"]
    assert town.people["olga"].get(f"/lab/api/studies/b/errands/{failed['number']}/report").status_code == 404


def test_an_errand_whose_server_was_killed_is_over(tmp_path: Path) -> None:
    place = tmp_path / "1"
    place.mkdir()
    about = {"kind": "pilot", "by": "Olga", "at": 1.0, "pid": 2**22 + os.getpid(), "state": "running"}
    errands._tell(place, about)
    (found,) = errands.errands(tmp_path)
    assert (found.state, "stopped meanwhile" in found.words) == ("failed", True)


@pytest.mark.parametrize(("since", "state"), [("this one", "running"), ("another", "failed")])
def test_another_process_with_the_same_number_is_not_the_server(tmp_path: Path, since: str, state: str) -> None:
    (tmp_path / "1" / "data").mkdir(parents=True)
    began = errands._since(os.getpid()) if since == "this one" else "12"
    about = {"kind": "pilot", "by": "Olga", "at": 1.0, "pid": os.getpid(), "since": began, "state": "running"}
    errands._tell(tmp_path / "1", about)
    (found,) = errands.errands(tmp_path)
    assert found.state == state
    assert (tmp_path / "1" / "data").exists() == (state == "running")  # nobody else would take people's data away


def test_of_two_processes_that_begin_the_same_at_once_one_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "1").mkdir()
    monkeypatch.setattr(errands, "_numbers", lambda _: [])  # as the second sees it
    with pytest.raises(Refused, match="running already"):
        errands.start(tmp_path, "backup", "Olga", [], 1.0)
    monkeypatch.undo()
    assert errands.start(tmp_path, "backup", "Olga", [], 1.0) == 2  # a folder that a kill left empty stops nobody


def test_no_path_leads_to_other_files_than_reports(town: Town) -> None:
    for number in ("0", "-1", "..", "1/../../2", "1%2F..", "999"):
        assert town.people["olga"].get(f"{STUDY}/errands/{number}/report").status_code in (404, 422)


def test_owners_pay_and_find_and_helpers_learn_no_name(town: Town) -> None:
    olga, helper = town.people["olga"], town.people.get("helga") or town.join("helga", Role.HELPER, "a")
    hosted = town.hosted.get("a")
    assert hosted is not None
    assert hosted.store is not None
    assert hosted.study is not None
    row = {
        **PERSON, "code": "payme12345", "identity": "payme", "source": "prolific",
        "platform_id": NAME, "platform_session": SESSION,
        "stage": "finished", "points": 4000.0, "bonus": 2.0, "terms": offered(hosted.study), "finished_at": 5.0,
    }  # fmt: skip
    with hosted.store.engine.begin() as connection:
        connection.execute(insert(people), [row])
    assert "payme12345" in olga.ok(f"{STUDY}/find", {"platform_id": NAME})["said"]
    assert olga.post(f"{STUDY}/find", {"platform_id": "nobody"}).status_code == 422
    paid = olga.ok(f"{STUDY}/pay", {"also": ["payme12345"]})
    assert any(NAME in each["text"] for each in paid["files"]), paid
    again = olga.ok(f"{STUDY}/pay", {"again": True})
    assert [each["text"] for each in again["files"]] == [each["text"] for each in paid["files"]]
    for path, body in (("find", {"platform_id": NAME}), ("pay", {})):
        assert helper.post(f"{STUDY}/{path}", body).status_code == 403
    for path in ("", "/errands", "/deeds", "/files", "/versions"):
        assert NAME not in helper.get(f"{STUDY}{path}").text
    for path in ("people", "overview", "people/payme12345"):
        answer = helper.get(f"/s/a/admin/api/{path}")
        assert answer.status_code == 200
        assert NAME not in answer.text


@pytest.mark.slow
def test_robots_play_on_the_server_itself(tmp_path: Path) -> None:
    from explorelab.laboratory.hosting.serve_laboratory import serving_laboratory
    from tests.laboratory.hosting.test_lab_workers import ServedLab

    folder = open_folder(tmp_path / "lab")
    write_study(folder.of("short"), "sqlite:///study.db", n_trials=3, fast_ms=200, slow_ms=200)
    assert begun(folder, "http://x")[2] == ["http://x/s/short/"]
    served = object.__new__(ServedLab)
    with serving_laboratory(tmp_path / "lab") as (base, first):
        served.base, served.own = base, {"Origin": base, "Sec-Fetch-Site": "same-origin"}
        served.log = tmp_path / "log"
        served.log.write_text(first, encoding="utf-8")
        served.enter()
        assert served.change("/lab/api/studies/short/close").status_code == 200  # robots may play
        assert served.change("/lab/api/studies/short/errands", {"kind": "pilot", "people": 2}).status_code == 200
        give_up = time.monotonic() + 200
        while (last := served.ask("GET", "/lab/api/studies/short/errands", headers=served.session).json()["errands"][0])[
            "state"
        ] == "running":
            assert time.monotonic() < give_up
            time.sleep(0.3)
        assert (last["state"], "2 of 2 robots finished" in last["words"]) == ("done", True), last
        shown = served.ask("GET", "/lab/api/studies", headers=served.session).json()["studies"][0]
        assert (shown["n_pilots"], shown["n_people"], shown["state"]) == (2, 0, "closed")

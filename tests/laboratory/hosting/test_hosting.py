"""Several studies on one server: each with its own address, data and limits; opened, closed and archived meanwhile."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from explorelab.errors import InputError
from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.hosting.laboratory_folder import is_name, open_folder
from explorelab.laboratory.hosting.serve_laboratory import begun
from explorelab.study.config.start_study import init_study
from explorelab.study.server.serve import begun as study_begun
from tests.support.town import Town, two_studies


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Town]:
    with Town(tmp_path / "lab") as town:
        two_studies(town)
        yield town


def arrive(town: Town, study: str, key: str | None = None) -> Any:
    body = {"page": secrets.token_hex(16), "key": key or secrets.token_hex(32), "query": {}}
    return town.browser().client.post(f"/s/{study}/api/arrive", json=body)


def test_a_new_study_is_closed_until_it_is_opened_and_whoever_has_begun_goes_on_when_it_closes(fresh: Town) -> None:
    olga, key = fresh.people["olga"], secrets.token_hex(32)
    assert arrive(fresh, "a", key).json()["error"] == "closed"
    olga.ok("/lab/api/studies/a/open", {"anyway": True})
    assert arrive(fresh, "a", key).status_code == 200
    assert arrive(fresh, "b").status_code == 403  # the other one is still closed
    olga.ok("/lab/api/studies/a/close")
    assert arrive(fresh, "a", key).status_code == 200
    assert arrive(fresh, "a").json()["error"] == "closed"


def test_nothing_of_one_study_is_reached_through_another(fresh: Town) -> None:
    olga, key = fresh.people["olga"], secrets.token_hex(32)
    for study in ("a", "b"):
        olga.ok(f"/lab/api/studies/{study}/open", {"anyway": True})
    here, there = arrive(fresh, "a", key).json(), arrive(fresh, "b", key).json()
    assert here["token"] != there["token"]  # the same browser is two people
    client = fresh.browser().client
    for token, study, status in ((here["token"], "a", 200), (here["token"], "b", 401), (there["token"], "a", 401)):
        body = {"epoch": 1}
        answer = client.post(f"/s/{study}/api/state", json=body, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == status
    codes = {study: here_["token"].split(".")[0] for study, here_ in (("a", here), ("b", there))}
    for study, other in (("a", "b"), ("b", "a")):
        rows = olga.told(f"/s/{study}/admin/api/people")["rows"]
        assert [row[0] for row in rows] == [codes[study]]
        assert olga.get(f"/s/{study}/admin/api/people/{codes[other]}").status_code == 404
    assert not olga.told("/s/a/admin/api/overview")["n_pilots"]


@pytest.mark.parametrize(
    "path",
    ["/s/a/../b/admin", "/s/a/..%2Fb/admin/api/overview", "/s/a%2F..%2Fb/", "/s//a/", "/s/A/", "/s/a;b/", "/s/.", "/s/..",
     "/s/a/static/..%2F..%2F..%2Flaboratory.toml", "/s/%61%00/", "/s/", "/s"],
)  # fmt: skip
def test_no_odd_address_leads_to_another_study_or_file(town: Town, path: str) -> None:
    owner = town.people.get("anna") or town.join("anna", Role.OWNER, "a")
    answer = owner.client.request("GET", path, follow_redirects=False)
    assert answer.status_code in (303, 308, 400, 401, 404), answer.text
    assert "Study b" not in answer.text
    assert "database" not in answer.text


def test_the_address_without_a_slash_leads_to_the_study_with_all_that_was_asked(fresh: Town) -> None:
    answer = fresh.browser().get("/s/a?PROLIFIC_PID=5")
    assert (answer.status_code, answer.headers["location"]) == (308, "a/?PROLIFIC_PID=5")


def test_an_archived_study_is_out_of_reach_and_its_data_come_back_with_it(fresh: Town) -> None:
    olga = fresh.people["olga"]
    olga.ok("/lab/api/studies/a/open", {"anyway": True})
    assert arrive(fresh, "a").status_code == 200
    olga.ok("/lab/api/studies/a/archive")
    for path in ("/s/a/", "/s/a/admin", "/s/a/admin/api/overview", "/s/a/api/health"):
        assert olga.get(path).status_code == 404
    assert olga.told("/lab/api/studies/a")["state"] == "archived"
    # Nobody holds the database: it can be restored from a backup, or served elsewhere.
    folder = fresh.folder.of("a")
    from explorelab.study.config.study_folder import load_study

    study_begun(load_study(folder), folder)
    olga.ok("/lab/api/studies/a/back")
    assert len(olga.told("/s/a/admin/api/people")["rows"]) == 1
    assert olga.post("/lab/api/studies/a/back").status_code == 409


def test_a_study_that_cannot_be_read_says_why_and_the_others_go_on(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "lab")
    for name in ("fine", "broken"):
        init_study(folder.of(name))
    (folder.of("broken") / "consent.md").unlink()
    _, _, lines = begun(folder, "http://x")
    assert lines[1] == "http://x/s/fine/"
    assert "broken: cannot be served" in lines[0]
    assert "consent.md" in lines[0]
    with Town(tmp_path / "lab") as town:
        olga = town.join("olga", Role.OWNER)
        shown = {each["name"]: each for each in olga.told("/lab/api/studies")["studies"]}
        assert (shown["fine"]["state"], shown["broken"]["state"]) == ("open", "stopped")
        assert "consent.md" in shown["broken"]["problem"]
        assert arrive(town, "fine").status_code == 200
        assert arrive(town, "broken").status_code == 503
        shutil.copyfile(folder.of("fine") / "consent.md", folder.of("broken") / "consent.md")
        assert olga.ok("/lab/api/studies/broken/again")["state"] == "open"
        assert arrive(town, "broken").status_code == 200


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a/b", "-a", "a-", "ü", "a" * 41, "a.b"])
def test_a_study_gets_no_name_that_is_no_folder_or_address(fresh: Town, name: str) -> None:
    assert not is_name(name)
    answer = fresh.people["olga"].post("/lab/api/studies", {"name": name})
    assert answer.status_code == 422
    assert sorted(path.name for path in (fresh.folder.folder / "studies").iterdir()) == ["a", "b"]


def test_a_name_that_is_taken_is_refused(fresh: Town) -> None:
    assert fresh.people["olga"].post("/lab/api/studies", {"name": "a"}).status_code == 409


def test_a_study_in_several_languages_has_the_title_that_was_typed(fresh: Town) -> None:
    olga = fresh.people["olga"]
    olga.ok("/lab/api/studies", {"name": "c", "title": 'Quadrate & "mehr"', "languages": ["de", "en"], "advice": True})
    assert fresh.browser().told("/s/c/api/texts")["title"] == 'Quadrate & "mehr"'
    assert olga.post("/lab/api/studies", {"name": "d", "languages": ["xx"]}).status_code == 422


def test_a_laboratory_is_made_only_where_nothing_else_is(tmp_path: Path) -> None:
    init_study(tmp_path / "study")
    with pytest.raises(InputError, match="this is a study, not a laboratory"):
        open_folder(tmp_path / "study")
    with pytest.raises(InputError, match=r"expected a laboratory with laboratory\.toml"):
        open_folder(tmp_path)
    assert open_folder(tmp_path / "new").title == "Our laboratory"
    (tmp_path / "new" / "laboratory.toml").write_text('[laboratory]\ntitel = "x"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"laboratory\.toml, line 2: .*titel"):
        open_folder(tmp_path / "new")


def test_the_first_owner_s_link_is_told_until_there_is_an_owner(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "lab")
    first, second = (begun(folder, "http://x")[1].partition("#")[2] for _ in range(2))
    with Town(tmp_path / "lab") as town:
        town.clock.now = time.time()
        body = {"login": "olga", "name": "Olga", "password": "a long enough password"}
        assert town.browser().post("/lab/join", {**body, "invitation": first}).status_code == 410  # the later one counts
        town.browser().ok("/lab/join", {**body, "invitation": second})
    assert begun(folder, "http://x")[1] == ""

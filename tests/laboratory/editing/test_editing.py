"""A study edited in the browser: checked, drafted, saved, restored; never broken, never leading out of its folder."""

from __future__ import annotations

import base64
import io
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.editing import versions
from explorelab.laboratory.editing.study_files import put_files, read_files
from explorelab.laboratory.hosting.serve_laboratory import begun
from explorelab.laboratory.hosting.study_list import registered
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from tests.support.town import Browser, Town, two_studies

STUDY = "/lab/api/studies/a"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Town]:
    with Town(tmp_path / "lab") as town:
        two_studies(town)
        yield town


def text(browser: Browser, name: str) -> str:
    """A file as the editor shows it."""
    return next(each["text"] for each in browser.told(f"{STUDY}/files")["files"] if each["name"] == name)


def version(browser: Browser) -> int:
    return int(browser.told(f"{STUDY}/files")["version"])


def edited(browser: Browser, name: str, old: str, new: str) -> dict[str, Any]:
    """One change of a file, from the newest version."""
    before = text(browser, name)
    assert old in before
    return {"base": version(browser), "files": {name: before.replace(old, new, 1)}}


def consent(town: Town) -> Any:
    """Somebody who agrees to take part in study a."""
    client = town.browser().client
    body = {"page": secrets.token_hex(16), "key": secrets.token_hex(32), "query": {}}
    arrived = client.post("/s/a/api/arrive", json=body).json()
    sent = {"epoch": 1, "agreed": True, "version": arrived["state"]["consent_version"]}
    answer = client.post("/s/a/api/consent", json=sent, headers={"Authorization": f"Bearer {arrived['token']}"})
    assert answer.status_code == 200, answer.text
    return arrived["token"]


def on_disk(town: Town) -> dict[str, bytes]:
    folder = town.folder.of("a")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".md", ".toml")}


def test_what_is_saved_is_served_at_once_and_stands_in_the_history(fresh: Town) -> None:
    olga = fresh.people["olga"]
    body = edited(olga, "study.toml", 'title = "Study a"', 'title = "A better name"')
    assert olga.ok(f"{STUDY}/check", body)["may_save"]
    assert fresh.browser().told("/s/a/api/texts")["title"] == "Study a"  # a draft is nobody else's
    assert olga.ok(f"{STUDY}/save", {**body, "why": "a better name"}) == {"version": 2}
    assert fresh.browser().told("/s/a/api/texts")["title"] == "A better name"
    assert load_study(fresh.folder.of("a")).title == "A better name"
    latest = olga.told(f"{STUDY}/versions")["versions"][0]
    assert (latest["number"], latest["by"], latest["why"]) == (2, "Olga", "a better name")
    (changed,) = olga.told(f"{STUDY}/versions/2?older=1")["files"]
    assert any(line.startswith('+title = "A better name"') for line in changed["lines"])
    assert olga.told(f"{STUDY}/deeds")["deeds"][0]["what"] == "saved version 2: a better name"


def test_nothing_is_written_while_something_is_wrong_and_the_draft_is_kept(fresh: Town) -> None:
    olga, before = fresh.people["olga"], on_disk(fresh)
    body = edited(olga, "consent.md", "You are invited", "You, {nobody}, are invited")
    found = olga.ok(f"{STUDY}/check", body)
    wrong = [each for each in found["findings"] if each["level"] == "wrong"]
    assert [(each["file"], each["line"]) for each in wrong] == [("consent.md", 3)]
    assert not found["may_save"]
    answer = olga.post(f"{STUDY}/save", body)
    assert (answer.status_code, "consent.md, line 3" in answer.json()["message"]) == (422, True)
    assert on_disk(fresh) == before
    draft = olga.told(f"{STUDY}/files")["draft"]
    assert draft["files"] == body["files"]
    assert fresh.join("hans", Role.HELPER).told(f"{STUDY}/files")["draft"] is None
    olga.ok(f"{STUDY}/forget")
    assert olga.told(f"{STUDY}/files")["draft"] is None


def test_of_two_who_save_at_once_the_second_is_told_and_loses_nothing(fresh: Town) -> None:
    olga, hans = fresh.people["olga"], fresh.join("hans", Role.HELPER)
    bodies = [edited(olga, "consent.md", "# {title}", f"# {{title}} by {who}") for who in ("Olga", "Hans")]
    hans.ok(f"{STUDY}/check", bodies[1])
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda each: each[0].post(f"{STUDY}/save", each[1]), zip((olga, hans), bodies, strict=True)))
    assert sorted(answer.status_code for answer in said) == [200, 409]
    late = next(answer for answer in said if answer.status_code == 409).json()
    assert late["error"] == "changed-meanwhile"
    assert "has saved version 2 meanwhile" in late["message"]
    assert version(olga) == 2
    if said[1].status_code == 409:
        assert hans.told(f"{STUDY}/files")["draft"]["files"] == bodies[1]["files"]
        hans.ok(f"{STUDY}/save", {**bodies[1], "base": 2})
        assert b"by Hans" in on_disk(fresh)["consent.md"]


LANDSCAPE = '\nlandscape = "A"'
FORBIDDEN = {
    "another name": ('name = "a"', 'name = "b"'),
    "a database": ("[grid]", '[database]\nurl = "sqlite:////etc/passwd"\n[grid]'),
    "a file of the computer": (LANDSCAPE, '\nmeans = "/etc/passwd"'),
    "a file above": (LANDSCAPE, '\nmeans = "../../laboratory.db"'),
    "a file of somebody": (LANDSCAPE, '\nmeans = "~/secret.csv"'),
    "a Windows file": (LANDSCAPE, '\nmeans = "C:\\\\secret.csv"'),
    "a program": ("[payment]", '[advice]\narms = ["none"]\nagent = "evil.py:agent"\n[payment]'),
    "a program elsewhere": ("[payment]", '[advice]\narms = ["none"]\nagent = "/tmp/evil.py:agent"\n[payment]'),
}  # fmt: skip


@pytest.mark.parametrize("what", FORBIDDEN)
def test_settings_lead_neither_out_of_the_folder_nor_to_programs(town: Town, what: str, tmp_path: Path) -> None:
    olga = town.people["olga"]
    evil, ran = tmp_path / "evil.py", tmp_path / "ran"
    evil.write_text(f"open({str(ran)!r}, 'w')\n", encoding="utf-8")
    old, new = FORBIDDEN[what]
    body = edited(olga, "study.toml", old, new.replace("/tmp/evil.py", evil.as_posix()))
    found = olga.ok(f"{STUDY}/check", body)
    assert not found["may_save"]
    assert olga.ok(f"{STUDY}/preview", body)["screens"] == []
    assert olga.post(f"{STUDY}/save", body).status_code == 422
    said = " ".join(each["sentence"] for each in found["findings"] if each["level"] == "wrong")
    assert any(words in said for words in ("must stay", "is the laboratory's", "own folder", "names a program")), said
    assert "root:" not in str(found)
    assert not ran.exists()
    olga.ok(f"{STUDY}/forget")


@pytest.mark.parametrize(
    "name",
    ["../b/consent.md", "/etc/passwd.md", "evil.py", "x.html", "study.db", "x.svg", "backups/x.md", ".hidden.md",
     "a/b/c/d.md", "CON\0.md", "x.md\n", "", "..md/x.md", "ü.md", "static/../../x.md", "pictures/x.png"],
)  # fmt: skip
def test_only_texts_of_the_study_are_written(town: Town, name: str) -> None:
    before = sorted(path.as_posix() for path in town.folder.folder.rglob("*") if "study.db" not in path.name)
    for path in ("check", "save", "preview"):
        answer = town.people["olga"].post(f"{STUDY}/{path}", {"base": version(town.people["olga"]), "files": {name: "x"}})
        assert answer.status_code == 422, (path, answer.text)
        town.people["olga"].ok(f"{STUDY}/forget")
    assert sorted(path.as_posix() for path in town.folder.folder.rglob("*") if "study.db" not in path.name) == before


def test_the_database_and_its_password_are_not_shown_and_stay(tmp_path: Path) -> None:
    init_study(tmp_path / "study")
    file = tmp_path / "study" / "study.toml"
    url = "postgresql://me:secret@host/db"
    file.write_text(
        file.read_text(encoding="utf-8").replace('url = "sqlite:///study.db"', f'url = "{url}"'), encoding="utf-8"
    )
    shown = read_files(tmp_path / "study")
    assert b"secret" not in b"".join(shown.values())
    shown["study.toml"] = shown["study.toml"].replace(b'currency = "USD"', b'currency = "EUR"')
    for _ in range(3):
        put_files(shown, tmp_path / "study")
        assert read_files(tmp_path / "study") == shown  # what is put there is what is read: no version is made of it
    study = load_study(tmp_path / "study")
    assert (study.payment.currency, study.database) == ("EUR", url)
    assert file.stat().st_mode & 0o77 == 0


def test_people_who_have_begun_are_not_harmed_by_an_edit(fresh: Town) -> None:
    olga = fresh.people["olga"]
    olga.ok(f"{STUDY}/open", {"anyway": True})
    token = consent(fresh)
    body = edited(olga, "study.toml", LANDSCAPE, '\nlandscape = "B"')
    found = olga.ok(f"{STUDY}/check", body)
    assert found["n_begun"] == 1
    assert "begun this study" in found["findings"][0]["sentence"]
    assert olga.post(f"{STUDY}/save", body).status_code == 422
    fresh.clock.now += 30 * 24 * 3600  # also long after they are done: their data are about it
    olga.log_in("olga")
    assert olga.post(f"{STUDY}/save", body).status_code == 422
    fresh.clock.now -= 30 * 24 * 3600
    olga.log_in("olga")
    body = edited(olga, "study.toml", "base = 5.0", "base = 99.0")
    assert "keeps theirs" in olga.ok(f"{STUDY}/check", body)["effects"][0]
    olga.ok(f"{STUDY}/save", body)
    state = (
        fresh.browser().client.post("/s/a/api/state", json={"epoch": 1}, headers={"Authorization": f"Bearer {token}"}).json()
    )
    assert state["state"]["stage"] == "instructions"
    assert "5.00" in str(state["state"]["html"]) or "99.00" not in str(state["state"]["html"])
    consent(fresh)  # newcomers come, under the new terms


def test_robots_that_have_played_bind_nobody(fresh: Town) -> None:
    olga = fresh.people["olga"]
    body = edited(olga, "study.toml", LANDSCAPE, '\nlandscape = "B"')
    assert olga.ok(f"{STUDY}/check", body)["may_save"]
    olga.ok(f"{STUDY}/save", body)


def test_an_earlier_version_comes_back_as_the_newest(fresh: Town) -> None:
    olga = fresh.people["olga"]
    first = on_disk(fresh)
    olga.ok(f"{STUDY}/save", edited(olga, "consent.md", "You are invited", "We invite you"))
    assert on_disk(fresh) != first
    assert olga.ok(f"{STUDY}/versions/1/restore") == {"version": 3}
    assert {name: text for name, text in on_disk(fresh).items() if name != "study.toml"} == {
        name: text for name, text in first.items() if name != "study.toml"
    }
    assert olga.told(f"{STUDY}/versions/3?older=1")["files"] == []
    assert olga.post(f"{STUDY}/versions/9/restore").status_code == 404


def test_a_save_that_a_kill_interrupted_is_finished_at_the_next_start(tmp_path: Path) -> None:
    with Town(tmp_path / "lab") as town:
        two_studies(town)
        listed = town.database.look(lambda connection: registered(connection, "a"))
        files = {**read_files(town.folder.of("a")), "consent.md": b"# All new\n"}
        # As far as the database; killed before the folder.
        town.database.change(lambda connection: versions.put_down(connection, listed.id, 1, files, "Olga", "", 1.0))
    begun(town.folder, "http://x")
    assert (town.folder.of("a") / "consent.md").read_bytes() == b"# All new\n"
    (town.folder.of("a") / "consent.md").write_bytes(b"# By hand\n")
    begun(town.folder, "http://x")
    with Town(tmp_path / "lab") as again:
        found = again.database.look(lambda connection: versions.all_versions(connection, listed.id))
    assert [(each.number, each.by, each.why) for each in found][:2] == [
        (3, "the study's folder", "changed by hand"), (2, "Olga", "")
    ]  # fmt: skip


def png(size: tuple[int, int] = (40, 30), kind: str = "PNG", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "#0072b2").save(out, kind, **more)
    return out.getvalue()


def upload(browser: Browser, name: str, data: bytes) -> Any:
    return browser.post(
        f"{STUDY}/pictures", {"base": version(browser), "name": name, "data": base64.b64encode(data).decode()}
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_drawn_anew_and_keeps_nothing_but_the_picture(town: Town, kind: str) -> None:
    data = png(kind=kind) + b"<script>alert(1)</script>"
    made = upload(town.people["olga"], f"../../My picture {kind}.svg", data)
    assert made.status_code == 200, made.text
    name = made.json()["name"]
    assert name == f"pictures/My-picture-{kind}.{'jpg' if kind == 'JPEG' else 'png'}"
    kept = (town.folder.of("a") / name).read_bytes()
    assert b"script" not in kept
    assert Image.open(io.BytesIO(kept)).size == (40, 30)


NO_PICTURES = {
    "SVG": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "HTML": b"<html><script>1</script>",
    "nothing": b"", "half": png()[:30], "text that says PNG": b"\x89PNG\r\n\x1a\n" + b"x" * 50, "PDF": b"%PDF-1.4",
    "too wide": png((4001, 1)), "too large": png() + b"x" * 5_000_000,
    "a bomb": png((3, 3)).replace(b"\x00\x00\x00\x03\x00\x00\x00\x03", b"\x7f\xff\xff\xff\x7f\xff\xff\xff"),
}  # fmt: skip


@pytest.mark.parametrize("what", NO_PICTURES)
def test_only_pictures_are_taken_by_what_is_in_them(town: Town, what: str) -> None:
    answer = upload(town.people["olga"], "picture.png", NO_PICTURES[what])
    assert answer.status_code == 422, answer.text
    assert (
        town.people["olga"].post(f"{STUDY}/pictures", {"base": 1, "name": "x.png", "data": "no base64!"}).status_code == 422
    )


def test_the_preview_shows_every_screen_and_no_script_of_the_text(town: Town) -> None:
    olga = town.people["olga"]
    body = edited(
        olga, "consent.md", "You are invited", "<script>alert(1)</script> <img src=x onerror=alert(1)> You are invited"
    )
    shown = olga.ok(f"{STUDY}/preview", body)
    names = [each["name"] for each in shown["screens"]]
    assert names[:2] == ["Consent", "Instructions"]
    assert [name for name in names if name.startswith("Before block")] == [f"Before block {n}" for n in range(1, 6)]
    assert names[-6:] == ["Debriefing", "The end", "Declined", "Withdrawn", "Expired", "Preview"]
    html = shown["screens"][0]["state"]["html"]["consent"]
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert olga.told(f"{STUDY}/files")["draft"] is None  # looking keeps nothing


def test_large_texts_are_taken_from_those_who_are_logged_in_alone(town: Town) -> None:
    olga = town.people["olga"]
    files = {f"more-{k}.md": "a word and another\n" * 3000 for k in range(3)}
    assert sum(map(len, files.values())) > 2 * 64 * 1024
    body = {"base": version(olga), "files": files}
    assert olga.post(f"{STUDY}/check", body).status_code == 200
    olga.ok(f"{STUDY}/forget")
    assert town.browser().post(f"{STUDY}/check", body).status_code == 413


@pytest.mark.parametrize("text", ["x" * 10_000, "a " + "x." * 200, "word " * 12_001], ids=["a word", "an address", "a book"])
def test_no_text_keeps_the_server_busy(town: Town, text: str) -> None:
    """The looks for addresses and hosts take as long as a word's length squared."""
    for path in ("check", "preview", "save"):
        answer = town.people["olga"].post(f"{STUDY}/{path}", {"base": 1, "files": {"consent.md": text}})
        assert answer.status_code == 422, answer.text
    town.people["olga"].ok(f"{STUDY}/forget")

"""Which files of a study's folder its editors see, and that what is changed by hand is never lost."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorelab.laboratory.editing.study_files import is_kept, read_files
from tests.laboratory.editing.test_editing import STUDY, edited, png, upload
from tests.support.town import Town, two_studies


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Town]:
    with Town(tmp_path / "lab") as town:
        two_studies(town)
        yield town


def test_what_the_command_line_writes_into_the_folder_is_no_part_of_the_study(tmp_path: Path) -> None:
    kept = {"study.toml": "", "models/means.csv": "1,2", "data/means.csv": "1,2"}
    others = {
        "payments/2026/bonuses.csv": "5f0c,1.00", "payments/all.txt": "5f0c", "backups/notes.txt": "x",
        "results/dataset_description.json": "{}", "results/participants.csv": "x", "results/more/README.md": "x",
    }  # fmt: skip
    for name, text in {**kept, **others}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert set(read_files(tmp_path)) == set(kept)
    assert not is_kept("payments/all.txt")


@pytest.mark.parametrize("how", ["save", "pictures"])
def test_what_was_changed_by_hand_meanwhile_is_not_written_over(fresh: Town, how: str) -> None:
    olga, file = fresh.people["olga"], fresh.folder.of("a") / "debriefing.md"
    body = edited(olga, "consent.md", "You are invited", "We invite you")
    base = body["base"]
    file.write_text("# By hand\n", encoding="utf-8")
    if how == "save":
        answer = olga.post(f"{STUDY}/save", body)
    else:
        picture = {"base": base, "name": "x.png", "data": base64.b64encode(png()).decode()}
        answer = olga.post(f"{STUDY}/pictures", picture)
    assert (answer.status_code, answer.json()["error"]) == (409, "changed-meanwhile")
    assert file.read_text(encoding="utf-8") == "# By hand\n"
    assert olga.told(f"{STUDY}/versions")["versions"][0]["why"] == "changed by hand"
    if how == "save":
        olga.ok(f"{STUDY}/save", {**body, "base": base + 1})
    else:
        assert upload(olga, "x.png", png()).status_code == 200
    assert file.read_text(encoding="utf-8") == "# By hand\n"

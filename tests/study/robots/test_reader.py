"""Robots take part in the languages they are told, and report what they were shown in another."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorelab import InputError
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import LANGUAGES, TEMPLATES
from explorelab.study.database.store import open_store, remembered
from explorelab.study.robots.pilot import Piloted, run_pilot
from explorelab.study.robots.pilot_runs import pilot
from explorelab.study.robots.reader import Reader, passages
from explorelab.study.server.serve import serving
from tests.support.study.folder import change

AGENTS = ["random-choice"]


def short(folder: Path) -> None:
    """A study in all languages that is over in a moment."""
    init_study(folder, languages=LANGUAGES)
    for old, new in (
        ("fast = 1500", "fast = 20"), ("slow = 6000", "slow = 30"),
        ("choices = 90", "choices = 3"), ("choices = 10", "choices = 2"),
    ):  # fmt: skip
        change(folder / "study.toml", old, new)


def played(folder: Path, **how: object) -> Piloted:
    study = load_study(folder)
    store = open_store(study.database, folder)
    with store.engine.begin() as connection:
        key = remembered(connection, "pilot_key")
    store.close()
    with serving(folder) as url:
        return run_pilot(url, study, pilot_key=key, agents=AGENTS, progress=False, **how)  # type: ignore[arg-type]


def test_robots_play_to_the_end_in_every_language_and_read_no_other(tmp_path: Path) -> None:
    short(tmp_path / "study")
    done = played(tmp_path / "study", people=len(LANGUAGES))
    assert (done.finished, done.unread) == (len(LANGUAGES), ())


def test_robots_report_a_page_and_a_label_of_another_language(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    short(folder)
    (folder / "de" / "debriefing.md").write_bytes((TEMPLATES / "en" / "debriefing.md").read_bytes())
    labels = folder / "fr" / "texts.toml"
    english = (
        'withdraw_text = "You can stop at any time without giving a reason, and you decide what happens with the answers."'
    )
    lines = [
        english if line.startswith("withdraw_text") else line for line in labels.read_text(encoding="utf-8").splitlines()
    ]
    labels.write_text("\n".join(lines), encoding="utf-8")
    done = played(folder, people=2, languages=["de", "fr"])
    assert done.finished == 2
    assert any(line.startswith("debriefing is not in 'de': ") for line in done.unread)
    assert any(line.startswith("withdraw_text is not in 'fr': You can stop at any time") for line in done.unread)
    assert {line.split()[0] for line in done.unread} == {"debriefing", "withdraw_text"}
    assert played(folder, people=1, languages=["es"]).unread == ()


def test_a_language_that_the_study_does_not_have_is_refused(tmp_path: Path) -> None:
    short(tmp_path / "study")
    with pytest.raises(InputError, match="unknown language 'it'"):
        pilot(tmp_path / "study", 1, "", 0, None, None, ["it"])


def test_a_page_in_another_language_than_asked_for_is_reported() -> None:
    reader = Reader("de")
    reader("/api/arrive", {}, {"state": {"stage": "consent", "language": "en", "html": {}}})
    reader("/api/events", {}, {"stored": 3})
    assert reader.complaints() == ["consent came in 'en' instead of 'de'"]


def test_passages_are_read_as_people_read_them() -> None:
    page = "<h1>Eins &amp; zwei</h1><ul><li>drei <strong>vier</strong></li><li></li></ul><p>f&uuml;nf<br>sechs</p>"
    assert passages(page) == ["Eins & zwei", "drei vier", "fünf", "sechs"]

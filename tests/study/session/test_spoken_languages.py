"""People see the study in the language of their link, of their browser, or in its usual one; what they saw is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from explorelab.study.config.languages import language_for
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import LANGUAGES
from explorelab.study.database.tables import consents, people
from explorelab.study.export.write_export import export_study
from tests.support.study.lab import Lab, Tab
from tests.support.study.small_study import small_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("languages") / "study"
    init_study(folder, languages=["en", *(each for each in LANGUAGES if each != "en")])
    return folder


@pytest.fixture
def lab(folder: Path, tmp_path: Path) -> Iterator[Lab]:
    told = load_study(folder)
    short = small_study(n_trials=2, n_training=1)
    changes = {name: getattr(short, name) for name in ("training", "n_trials", "timings", "landscapes", "task_landscapes")}
    versions = {language: replace(version, **changes) for language, version in told.versions.items()}
    lab = Lab(replace(told, **changes, versions=versions), tmp_path)
    with lab.client:
        yield lab


@pytest.mark.parametrize(
    ("link", "browser", "language"),
    [
        ("", "", "en"),
        ("", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "it, fr;q=0.4, es;q=0.7", "es"),
        ("", "it;q=1.0", "en"),
        ("", "de;q=0, fr;q=0.1", "fr"),
        ("", "*", "en"),
        ("", "de;q=nonsense,,;;,fr", "fr"),
        ("fr", "de", "fr"),
        ("FR", "de", "fr"),
        ("fr_CA", "de", "fr"),
        ("it", "de", "de"),
        ("<script>", "", "en"),
    ],
)
def test_the_link_comes_first_then_the_browser_then_the_usual_one(
    folder: Path, link: str, browser: str, language: str
) -> None:
    study = load_study(folder)
    assert language_for(study, {"lang": link} if link else {}, browser) == language
    assert language_for(study.speaking("de"), {"lang": link}, browser) in study.languages


def test_a_region_of_its_own_comes_before_another(folder: Path) -> None:
    study = load_study(folder)
    both = replace(study, versions={"pt-PT": study, "pt-BR": study})
    assert [language_for(both, {}, wish) for wish in ("pt-BR", "pt", "pt-AO")] == ["pt-BR", "pt-PT", "pt-PT"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_from_consent_to_payment_is_in_the_language_asked_for(lab: Lab, language: str) -> None:
    version = lab.study.speaking(language)
    texts = lab.client.get("/api/texts", params={"lang": language}).json()
    assert (texts["language"], texts["title"]) == (language, version.title)
    assert texts["labels"] == dict(version.texts.labels)
    assert set(texts["languages"]) == set(LANGUAGES)
    assert texts["languages"]["de"] == "Deutsch"
    tab = Tab(lab, query={"lang": language})
    seen: set[str] = set()
    while tab.state["stage"] != "finished":
        stage = tab.state["stage"]
        assert tab.state["language"] == language
        if stage in tab.state["html"]:
            seen.add(stage)
            heading = version.texts.pages[stage].splitlines()[0].removeprefix("# ")
            assert heading.replace("’", "") in tab.state["html"][stage].replace("’", "")
        if stage == "consent":
            tab.consent()
        elif stage == "debriefing":
            tab.go("finish")
        else:
            tab.play_block(tab.state["block"]["number"])
    assert seen == {"consent", "instructions", "debriefing"}
    (row,), (agreed,) = lab.rows(people), lab.rows(consents)
    assert row.language == language
    assert agreed.text == version.texts.pages["consent"]
    assert agreed.version == sha256(agreed.text.encode()).hexdigest()


def test_until_consent_the_language_may_change_and_then_it_stays(lab: Lab) -> None:
    first = Tab(lab, query={"lang": "fr"})
    again = Tab(lab, key=first.key, query={"lang": "de"})
    assert [tab.state["language"] for tab in (first, again)] == ["fr", "de"]
    again.consent()
    later = Tab(lab, key=first.key, query={"lang": "es"})
    assert later.state["language"] == "de"
    assert "So funktioniert das Spiel" in later.state["html"]["instructions"]


def test_agreeing_to_the_text_of_another_language_is_refused(lab: Lab) -> None:
    tab = Tab(lab, query={"lang": "fr"})
    version = sha256(lab.study.speaking("de").texts.pages["consent"].encode()).hexdigest()
    assert tab.post("consent", agreed=True, version=version).status_code == 409


def test_those_who_leave_or_only_look_read_their_language_too(lab: Lab) -> None:
    declined = Tab(lab, query={"lang": "de"})
    assert "gegen die Teilnahme entschieden" in declined.consent(agreed=False)["html"]["declined"]
    withdrawn = Tab(lab, query={"lang": "es"})
    withdrawn.consent()
    assert "Ha abandonado el estudio" in withdrawn.go("withdraw", delete=True)["html"]["withdrawn"]
    look = {"workerId": "W1", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "lang": "fr"}
    assert "Ceci est un aperçu" in Tab(lab, query=look).state["html"]["preview"]
    late = Tab(lab, query={"lang": "de"})
    late.consent()
    lab.clock.now += 60 * lab.study.server.return_within_minutes + 1
    assert "Rückkehr" in Tab(lab, key=late.key, query={"lang": "en"}).state["html"]["expired"]


def test_the_browsers_header_is_enough(lab: Lab) -> None:
    wishes = {"Accept-Language": "fr-CH, fr;q=0.9, en;q=0.8"}
    assert lab.client.get("/api/texts", headers=wishes).json()["language"] == "fr"
    body = {"page": "ab" * 16, "key": "cd" * 32, "query": {}}
    assert lab.client.post("/api/arrive", json=body, headers=wishes).json()["state"]["language"] == "fr"


def test_the_language_is_exported_with_its_texts(lab: Lab, tmp_path: Path) -> None:
    for language in ("de", "fr"):
        Tab(lab, query={"lang": language}).consent()
    export_study(lab.study, lab.store.engine, tmp_path / "out")
    file = next((tmp_path / "out").rglob("*participants*.csv"))
    header, *rows = file.read_text(encoding="utf-8").splitlines()
    at = header.split(",").index("language")
    assert {row.split(",")[at] for row in rows} == {"de", "fr"}
    materials = tmp_path / "out" / "materials"
    assert "Vielen Dank" in (materials / "de" / "debriefing.md").read_text(encoding="utf-8")
    assert (materials / "study" / "fr" / "texts.toml").is_file()
    consented = [path.read_text(encoding="utf-8") for path in materials.glob("consent-*.md")]
    assert sorted(text.splitlines()[0] for text in consented) == ["# Ein Spiel mit Feldern", "# Un jeu de cases"]
    assert load_study(materials / "study").languages == lab.study.languages

"""`study check` names everything wrong or doubtful with file and line, and says how long a study takes and what it pays."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from explorelab.cli.app import app
from explorelab.study.config.addresses import DATABASE, DATABASE_FILE
from explorelab.study.config.checking.check_folder import check_folder
from explorelab.study.config.checking.findings import in_short
from explorelab.study.config.checking.left_open import to_fill_in
from explorelab.study.config.checking.written import Part
from explorelab.study.config.start_study import DESIGNS, init_study
from explorelab.study.config.texts import LANGUAGES, PAGES
from tests.support.study.folder import CONTACT, change, finish

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in all languages, with nothing left to do."""
    folder = tmp_path_factory.mktemp("checked") / "study"
    init_study(folder, languages=["en", *(each for each in LANGUAGES if each != "en")])
    finish(folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (DATABASE, DATABASE_FILE):
        monkeypatch.delenv(name, raising=False)
    return Path(shutil.copytree(whole, tmp_path / "study"))


def said(folder: Path) -> list[str]:
    return [str(each) for each in check_folder(folder).findings]


def check(folder: Path, *more: str) -> Any:
    return CliRunner().invoke(app, ["study", "check", str(folder), *more])


def test_a_study_with_nothing_left_to_do_is_fine(folder: Path) -> None:
    assert said(folder) == []
    done = check(folder, "--strict")
    assert done.exit_code == 0, done.output
    assert "nothing wrong or doubtful" in done.output


@pytest.mark.parametrize("languages", [["de"], ["en", "fr"]])
def test_a_new_study_has_every_open_place_named_and_may_not_be_served(tmp_path: Path, languages: list[str]) -> None:
    init_study(tmp_path / "new", languages=languages)
    found = check_folder(tmp_path / "new")
    assert not found.is_ready
    assert {each.level for each in found.findings} == {"to fill in"}
    open_pages = {each.file for each in found.findings}
    for language in languages:
        within = f"{language}/" if len(languages) > 1 else ""
        assert {f"{within}consent.md", f"{within}debriefing.md"} <= open_pages
    assert "study.toml" in open_pages
    assert all(each.line for each in found.findings)
    done = check(tmp_path / "new")
    assert done.exit_code == 1
    assert "to fill in: until then the study is not served to the public" in done.output


@pytest.mark.parametrize("template", DESIGNS)
def test_every_open_place_of_a_new_study_is_counted(tmp_path: Path, template: str) -> None:
    """Also those of a page that has others: a place that is broken over two lines would be missed."""
    init_study(tmp_path / "new", template=template, languages=LANGUAGES)
    told = {each.file: each.sentence for each in check_folder(tmp_path / "new").findings if each.about == "placeholder"}
    pages = {str(file.relative_to(tmp_path / "new")): file.read_text("utf-8") for file in tmp_path.rglob("*.md")}
    places = {name: text.count("**[") for name, text in pages.items() if "**[" in text}
    assert {name: int(sentence.split()[1]) for name, sentence in told.items()} == places


def test_every_template_is_fine_once_it_is_filled_in_whatever_language_comes_first(tmp_path: Path) -> None:
    for template in DESIGNS:
        folder = tmp_path / template
        init_study(folder, template=template, languages=["de", "en", "fr", "es"])
        finish(folder)
        assert said(folder) == [], template


def page(name: str, old: str, new: str) -> Any:
    """A change to a page."""

    def make(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return make


def setting(old: str, new: str) -> Any:
    return lambda folder: change(folder / "study.toml", old, new)


def copied(source: str, target: str) -> Any:
    return lambda folder: shutil.copy(folder / source, folder / target)


DOUBTS = {
    "a page of another language": (
        copied("en/instructions.md", "de/instructions.md"),
        "de/instructions.md, line 1: still in English (and",
    ),
    "a page of a third language": (
        copied("es/debriefing.md", "fr/debriefing.md"),
        "fr/debriefing.md, line 3: still in Spanish (and",
    ),
    "labels of another language": (
        lambda folder: page("de/texts.toml", 'agree = "Ich', 'agree = "I agree to take part" #')(folder),
        "these labels are still in English: agree",
    ),
    "a paragraph that one language lacks": (
        page("en/debriefing.md", "\n", "\n\n## More\n\nMore to read.\n"),
        "is one of them out of date?",
    ),
    "a placeholder that one language lacks": (
        page("fr/instructions.md", "{fastest}", "1,5"),
        "fr/instructions.md: has the placeholders",
    ),
    "no title in a language": (page("de/texts.toml", "title =", "# title ="), "de/texts.toml: has no title"),
    "a placeholder of another program": (page("en/consent.md", "{minutes}", "{{minutes}}"), "the study fills in {minutes}"),
    "a placeholder of a shell": (page("en/consent.md", "{minutes}", "${minutes"), "the study fills in {minutes}"),
    "a link to a file": (
        page("en/consent.md", "# {title}", "# {title}\n\n[more](more.pdf)"),
        "en/consent.md, line 3: more.pdf is not a link",
    ),
    "an example for a link": (
        page("en/consent.md", "# {title}", "# {title}\n\n[more](https://example.org/x)"),
        "line 3: https://example.org/x is an example",
    ),
    "HTML": (page("de/declined.md", "\n", "\n\n<b>x</b>\n"), "de/declined.md, line 3: HTML such as <b>"),
    "a password": (
        setting('url = "sqlite:///study.db"', 'url = "postgresql+psycopg://me:secret@host/db"'),
        "the database's address contains a password",
    ),
    "little money": (setting("base = 5.00 ", "least_per_hour = 60\nbase = 5.00 "), "an hour, below 60.00 (least_per_hour)"),
    "less than Prolific's": (
        lambda folder: (
            setting("base = 5.00", "base = 1.00")(folder),
            setting('redirect = ""', 'redirect = "https://app.prolific.com/submissions/complete?cc={code}"')(folder),
        ),
        "below 8.00 (what Prolific demands)",
    ),
    "Prolific without its code": (
        setting('redirect = ""', 'redirect = "https://app.prolific.com/submissions/complete"'),
        "without a completion code",
    ),
    "a redirect to nowhere": (
        setting('redirect = ""', 'redirect = "https://example.org/{code}"'),
        "leads to example.org, which is an example",
    ),
    "a language that is not named": (setting(', "fr"', ""), "fr/texts.toml: is not among [study] languages (en, de, es)"),
    "texts beside the folders": (copied("en/texts.toml", "texts.toml"), "texts.toml: is not used"),
}


@pytest.mark.parametrize("what", DOUBTS)
def test_what_is_doubtful_is_named(what: str, folder: Path) -> None:
    make, sentence = DOUBTS[what]
    make(folder)
    found = said(folder)
    assert [line for line in found if sentence in line] != [], found
    done = check(folder, "--strict")
    assert done.exit_code == 1
    assert sentence in " ".join(done.output.split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_consent_without_contact_is_named_in_each_language(language: str, folder: Path) -> None:
    file = folder / language / "consent.md"
    text = file.read_text(encoding="utf-8")
    for contact in ("+49 228 731234", "https://www.uni-bonn.de/ethik", CONTACT):
        file.write_text(text.replace(CONTACT, contact), encoding="utf-8")
        assert said(folder) == []
    file.write_text(text.replace(CONTACT, "you@example.org"), encoding="utf-8")
    (line,) = said(folder)
    assert line.startswith(f"{language}/consent.md: names no e-mail address")


def test_what_cannot_be_read_is_wrong_and_named_with_its_line(folder: Path) -> None:
    line = change(folder / "study.toml", "width = 10", "width = 0")
    (folder / "de" / "expired.md").unlink()
    found = check_folder(folder)
    assert {each.level for each in found.findings} == {"wrong"}
    assert f"study.toml, line {line}: [grid] width must be 1 to" in str(found.findings[0])
    assert any(each.file == "de/expired.md" for each in found.findings)
    done = check(folder)
    assert done.exit_code == 1
    assert "wrong: the study cannot be served" in done.output


def test_json_holds_all_that_is_printed(folder: Path) -> None:
    page("de/declined.md", "\n", "\n\n<b>x</b>\n")(folder)
    done = check(folder, "--json")
    told = json.loads(done.output)
    assert (done.exit_code, told["ready"]) == (0, True)
    assert {(each["file"], each["line"], each["about"]) for each in told["findings"]} == {("de/declined.md", 3, "markdown")}
    assert {(each["language"]) for each in told["lengths"]} == set(LANGUAGES)
    assert len(told["lengths"]) == len(LANGUAGES) * 24
    assert told["pay"]["currency"] == "USD"


def test_a_folder_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    done = check(tmp_path)
    assert "this folder has no study.toml" in str(done.exception)


def test_serve_says_it_in_short(folder: Path) -> None:
    for name in PAGES:
        page(f"de/{name}.md", "\n", "\n\n<b>x</b> <i>y</i>\n")(folder)
    change(folder / "study.toml", 'code = "C123"', 'code = "CHANGE-ME"')
    lines = in_short(check_folder(folder).findings, folder, most=5)
    assert lines[0].endswith("still contains the completion code CHANGE-ME")
    assert len(lines) == 6
    assert re.fullmatch(rf"\d+ more lines: explorelab study check {re.escape(str(folder))}", lines[-1])


@pytest.mark.parametrize(("between", "n_found"), [(" ", 1), ("\n", 1), ("\n  ", 1), ("\n\n", 0), ("\n \t\n", 0)])
def test_a_place_to_fill_in_may_go_on_in_the_next_line_but_not_in_the_next_paragraph(between: str, n_found: int) -> None:
    text = f"Ask **[name and{between}e-mail address]** about it."
    assert len(list(to_fill_in([Part("consent.md", 1, text)]))) == n_found

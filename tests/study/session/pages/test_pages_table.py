"""The list [[pages]] and the files it names: each mistake is one sentence with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorelab.errors import InputError
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.session.pages.page_types import Page
from tests.support.study.folder import change, problems
from tests.support.study.own_pages import PAGES, add_pages
from tests.support.study.server import write_study

QUIZ, FORM, STUDY = "quiz.toml", "before.toml", "study.toml"
WRONG = {
    "kind": (
        STUDY,
        'kind = "score"',
        'kind = "scor"',
        "[[pages]] 8 kind: unknown kind of page 'scor': did you mean 'score'?",
    ),
    "setting": (STUDY, "seconds = 60", "second = 60", "unknown setting of a page of kind 'break' 'second': did you mean"),
    "seconds": (STUDY, "seconds = 60", "seconds = 0", "[[pages]] 7 seconds must be 1 to 3600 seconds, got 0."),
    "suffix": (
        STUDY,
        'file = "welcome.md"',
        'file = "welcome.txt"',
        "must be a file in the study folder whose name ends in .md",
    ),
    "outside": (
        STUDY,
        'file = "welcome.md"',
        'file = "../welcome.md"',
        "must be a file in the study folder whose name ends",
    ),
    "twice": (STUDY, 'file = "gamers.md"', 'file = "welcome.md"', "must have a name of its own, got 'welcome' twice."),
    "consent": (
        STUDY,
        'file = "welcome.md"',
        'file = "consent.md"',
        "is consent.md, which always comes first: list it first",
    ),
    "on_fail": (
        STUDY,
        'code = "SCREENED1"',
        'on_fail = "out"',
        '[[pages]] 3 on_fail must be "leave" or "go-on", got \'out\'.',
    ),
    "back_to": (STUDY, 'code = "SCREENED1"', 'back_to = "gamers"', "unknown earlier page of kind 'text' 'gamers'"),
    "show page": (
        STUDY,
        "show_if.before.gamer",
        "show_if.befor.gamer",
        "unknown earlier page with questions 'befor': did you",
    ),
    "show question": (STUDY, "show_if.before.gamer", "show_if.before.game", "unknown question 'game': did you mean"),
    "show value": (
        STUDY,
        'gamer = "yes"',
        'gamer = "maybe"',
        "show_if.before.gamer must be one of 'yes', 'no', got 'maybe'.",
    ),
    "show factor": (
        STUDY,
        'before.gamer = "yes"',
        'condition.timin = "fast"',
        "unknown factor of the design 'timin': did you",
    ),
    "show level": (STUDY, 'before.gamer = "yes"', 'condition.timing = "x"', "must be one of 'fast', 'slow', got 'x'."),
    "show form": (STUDY, 'show_if.before.gamer = "yes"', 'show_if = "yes"', "must name a page and a question"),
    "question kind": (FORM, 'kind = "scale"', 'kind = "likert"', "question 4 kind: unknown kind of question 'likert'"),
    "question name": (FORM, 'name = "gamer"', 'name = "Gamer!"', "question 2 name must be 1 to 40 of a-z"),
    "same name": (FORM, 'name = "gamer"', 'name = "age"', "each question must have a name of its own, got 'age' twice."),
    "question setting": (FORM, "whole = true", "hole = true", "unknown setting of a question of kind 'number' 'hole'"),
    "bounds": (FORM, "least = 18", "least = 180", "question 1 least must be at most 99, got 180."),
    "expected": (FORM, "expected = 2", "expected = 9", "question 4 expected must be an answer that people can give, got 9."),
    "one option": (FORM, '["Chess", "Go", "Cards"]', '["Chess"]', "question 3 options must have 2 to 50 options, got 1."),
    "odd options": (FORM, '["Chess", "Go", "Cards"]', "[1, 2]", "question 3 options must be a list of texts"),
    "no expected": (
        QUIZ,
        "expected = [6, 7]\n",
        "",
        "question 2 of a quiz must say which answer is expected, got no setting",
    ),
    "no text": (QUIZ, 'text = "How many choices?"\n', "", "question 2 must have a setting text, got none."),
    "no toml": (QUIZ, 'name = "dots"', "name = ", "expected TOML, got something else"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_study(Path("my-study"), "sqlite:///study.db")
    add_pages(Path("my-study"))
    text = Path("my-study/study.toml").read_text(encoding="utf-8")
    usual = text.replace('attempts = 20\non_fail = "go-on"', 'attempts = 3\ncode = "SCREENED1"')
    Path("my-study/study.toml").write_text(usual, encoding="utf-8")
    return Path("my-study")


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_sentence_with_its_line(case: str, folder: Path) -> None:
    file, old, new, sentence = WRONG[case]
    line = change(folder / file, old, new)
    found = problems(folder)
    (said,) = [each for each in found if sentence in each] or found
    assert said.startswith(f"my-study/{file}, line ")
    assert abs(int(said.split("line ")[1].split(":")[0]) - line) <= 4, said
    assert sentence in said


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / QUIZ).unlink()
    (folder / "welcome.md").unlink()
    assert [said.split(":")[0] for said in problems(folder)] == ["my-study/welcome.md", "my-study/quiz.toml"]


def test_pages_are_read_in_their_order(folder: Path) -> None:
    pages = load_study(folder).pages
    assert [page.name for page in pages] == [
        "welcome", "quiz", "before", "gamers", "blocks-6", "break-7", "score-8", "after",
    ]  # fmt: skip
    assert pages[1].settings == {"attempts": 3, "back_to": "", "on_fail": "leave", "code": "SCREENED1"}
    assert isinstance(pages[0], Page)


def test_consent_and_debriefing_may_be_listed_where_they_are_anyway(folder: Path) -> None:
    text = (folder / STUDY).read_text(encoding="utf-8")
    before = load_study(folder).pages
    (folder / STUDY).write_text(text + '[[pages]]\nkind = "text"\nfile = "debriefing.md"\n', encoding="utf-8")
    assert load_study(folder).pages == before


def test_without_blocks_there_is_nothing_to_play(folder: Path) -> None:
    change(folder / STUDY, 'kind = "blocks"', 'kind = "score"\nname = "s2"')
    with pytest.raises(InputError, match='must have an entry of kind "blocks"'):
        load_study(folder)


def test_instructions_are_needed_only_where_they_are_shown(folder: Path) -> None:
    (folder / "instructions.md").unlink()
    assert load_study(folder).texts.pages["instructions"] == ""
    text = (folder / STUDY).read_text(encoding="utf-8")
    (folder / STUDY).write_text(text.partition(PAGES[:20])[0], encoding="utf-8")
    with pytest.raises(InputError, match=r"instructions\.md: cannot read the file"):
        load_study(folder)


def test_a_form_whose_answers_would_not_fit_a_request_is_refused(folder: Path) -> None:
    long = "".join(f'[[questions]]\nname = "q{n}"\nkind = "text"\ntext = "?"\nmost = 5000\n' for n in range(10))
    (folder / "after.toml").write_text(long, encoding="utf-8")
    (said,) = problems(folder)
    assert "the answers of a page may take 60000 bytes, got up to 300" in said


def test_forms_must_be_the_same_in_all_languages_but_for_their_words(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    init_study(folder, languages=("en", "de"))
    study = (folder / "study.toml").read_text(encoding="utf-8")
    pages = '[[pages]]\nkind = "form"\nfile = "form.toml"\n[[pages]]\nkind = "blocks"\n'
    (folder / "study.toml").write_text(f"{study}\n{pages}", encoding="utf-8")
    question = '[[questions]]\nname = "hand"\nkind = "choice"\ntext = "{}"\noptions = {}\n'
    (folder / "en/form.toml").write_text(question.format("Hand?", '{l = "Left", r = "Right"}'), encoding="utf-8")
    (folder / "de/form.toml").write_text(question.format("Hand?", '{l = "Links", r = "Rechts"}'), encoding="utf-8")
    assert load_study(folder).speaking("de").texts.forms["form.toml"].questions[0].options[0].text == "Links"
    (folder / "de/form.toml").write_text(question.format("Hand?", '["Links", "Rechts"]'), encoding="utf-8")
    (said,) = problems(folder)
    assert said.startswith(f"{folder}/de/form.toml, line 1: question 'hand' must be the same as in en except for its words")
    more = (folder / "en/form.toml").read_text(encoding="utf-8").replace("hand", "foot")
    (folder / "de/form.toml").write_text(more, encoding="utf-8")
    (said,) = problems(folder)
    assert "must have the same questions as in en, but lacks 'hand'" in said

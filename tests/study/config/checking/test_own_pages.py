"""`study check` reads a study's own pages too: quizzes and forms in every language, pictures, and how long they take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from explorelab.study.config.checking.check_folder import check_folder
from explorelab.study.config.checking.form_checks import unanswerable
from explorelab.study.config.start_study import init_study
from explorelab.study.session.pages.page_types import Option, Question
from tests.support.study.folder import finish

pytestmark = pytest.mark.quick

PAGES = """
[[pages]]
kind = "text"
file = "instructions.md"
[[pages]]
kind = "quiz"
file = "quiz.toml"
back_to = "instructions"
[[pages]]
kind = "blocks"
[[pages]]
kind = "break"
seconds = 60
[[pages]]
kind = "form"
file = "about.toml"
[[pages]]
kind = "text"
file = "more.md"
show_if.about.age.at_least = 60
"""
QUIZ = {
    "en": ("How many points is each square worth?", "More than one, and not always the same.", "Always the same."),
    "de": ("Wie viele Punkte ist jedes Feld wert?", "Mehr als einen, und nicht immer gleich viele.", "Immer gleich viele."),
}
ABOUT = {
    "en": ("How old are you?", "How often do you play games that are like this one?"),
    "de": ("Wie alt sind Sie?", "Wie oft spielen Sie Spiele, die so sind wie dieses?"),
}
MORE = {"en": "Thank you for all that you have told us.", "de": "Wir danken Ihnen für alles, was Sie uns gesagt haben."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study in two languages with pages of its own, and nothing left to do."""
    folder = tmp_path / "study"
    init_study(folder, languages=["en", "de"])
    finish(folder)
    with (folder / "study.toml").open("a", encoding="utf-8") as toml:
        toml.write(PAGES)
    for language in ("en", "de"):
        question, right, wrong = QUIZ[language]
        (folder / language / "quiz.toml").write_text(
            f'[[questions]]\nname = "worth"\nkind = "choice"\ntext = "{question}"\n'
            f'options = {{varies = "{right}", same = "{wrong}"}}\nexpected = "varies"\n',
            encoding="utf-8",
        )
        age, often = ABOUT[language]
        (folder / language / "about.toml").write_text(
            f'[[questions]]\nname = "age"\nkind = "number"\nleast = 18\nmost = 99\nwhole = true\ntext = "{age}"\n\n'
            f'[[questions]]\nname = "often"\nkind = "scale"\nsteps = 7\nrequired = false\ntext = "{often}"\n',
            encoding="utf-8",
        )
        (folder / language / "more.md").write_text(MORE[language], encoding="utf-8")
    return folder


def replaced(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")


def said(folder: Path) -> list[str]:
    return [str(each) for each in check_folder(folder).findings]


def test_pages_with_nothing_left_to_do_are_fine_and_take_their_time(folder: Path) -> None:
    found = check_folder(folder)
    assert [str(each) for each in found.findings] == []
    # A break of a minute, a choice, a number and a scale.
    assert {each.answering_s for each in found.lengths} == {60 + 4 + 6 + 4}


CASES = {
    "a question in another language": (
        "de/quiz.toml",
        QUIZ["de"][0],
        "How many points is each square worth, and are they always the same?",
        "de/quiz.toml, line 4: still in English, but its language is 'de'",
    ),
    "options in another language": (
        "de/quiz.toml",
        QUIZ["de"][1],
        "More than one, and they are not always the same for each of the squares.",
        "de/quiz.toml, line 5: still in English",
    ),
    "a text in another language": ("de/more.md", MORE["de"], MORE["en"], "de/more.md, line 1: "),
    "an open place in a form": (
        "en/about.toml",
        ABOUT["en"][0],
        "How old are **[you or they]**?",
        "en/about.toml, line 7: has 1 placeholder left",
    ),
    "HTML in a question": ("en/about.toml", "play games", "play <b>games</b>", "en/about.toml, line 14: HTML such as <b>"),
    "a form that asks for nothing": (
        "BOTH/about.toml",
        "whole = true",
        "whole = true\nrequired = false",
        "has no question that must be answered",
    ),
    "a page that nobody sees": (
        "study.toml",
        "at_least = 60",
        "at_least = 100",
        "is shown to nobody: no answer to about.age",
    ),
    "bounds without a number between": (
        "study.toml",
        "at_least = 60",
        "at_least = 60\nshow_if.about.age.at_most = 50",
        "is shown to nobody",
    ),
    "a quiz without a way back to Prolific": (
        "study.toml",
        'redirect = ""',
        'redirect = "https://app.prolific.com/submissions/complete?cc={code}"',
        "[[pages]] 2 sends people away without a code",
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_what_is_doubtful_in_pages_is_named(what: str, folder: Path) -> None:
    name, old, new, sentence = CASES[what]
    for language in ("en", "de") if "BOTH" in name else ("",):
        replaced(folder, name.replace("BOTH", language), old, new)
    assert [line for line in said(folder) if sentence in line] != [], said(folder)


def question(**how: object) -> Question:
    return Question(**{"name": "q", "kind": "number", "text": "?", **how})  # type: ignore[arg-type]


YES, NO = Option("yes", "Yes"), Option("no", "No")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (question(whole=True, least=1.2, most=1.8), "can be answered by nobody: there is no whole number from 1.2 to 1.8"),
        (question(least=5.0, most=5.0), "has 5 as its only answer"),
        (question(kind="choice", options=(YES,)), "has only one option"),
        (question(kind="choice", options=(YES, Option("y", "yes "))), "two options that read the same: 'yes'"),
        (question(kind="several", options=(YES, NO), least=2.0, most=2.0), "must be answered with all of its options"),
        (question(whole=True, least=1.2, most=2.0), ""),
        (question(kind="choice", options=(YES, NO)), ""),
        (question(kind="several", options=(YES, NO), least=0.0, most=2.0), ""),
        (question(kind="scale", options=(Option("1", ""), Option("2", ""), Option("3", ""))), ""),
        (question(kind="text"), ""),
    ],
)
def test_questions_that_nobody_can_answer(asked: Question, sentence: str) -> None:
    assert sentence in unanswerable(asked)
    assert bool(sentence) == bool(unanswerable(asked))


def small(file: Path) -> None:
    file.write_bytes(PNG + bytes(1000))


PNG = b"\x89PNG\r\n\x1a\n"
"""How a picture of this kind begins."""
PICTURES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "fine": ("![A map](map.png)", small, ""),
    "in a folder": ("![A map](images/map.png)", small, ""),
    "missing": ("![A map](map.png)", lambda file: None, "map.png is missing"),
    "too big": ("![A map](map.png)", lambda file: file.write_bytes(PNG + bytes(2**20)), "has 1.0 MB"),
    "without a description": ("![ ](map.png)", small, "has no description"),
    "from elsewhere": ("![A map](https://uni-bonn.de/map.png)", small, "is on another site"),
}


@pytest.mark.parametrize("beside", ["en", ""])
@pytest.mark.parametrize("case", PICTURES)
def test_pictures_that_are_shown_are_looked_at(case: str, beside: str, folder: Path) -> None:
    text, make, sentence = PICTURES[case]
    (folder / beside / "images").mkdir()
    make(folder / beside / ("images/map.png" if "images" in text else "map.png"))
    replaced(folder, "en/more.md", MORE["en"], f"{MORE['en']}\n\n{text}")
    found = [line for line in said(folder) if line.startswith("en/more.md, line 3")]
    assert [sentence in line for line in found] == [True] * bool(sentence), found

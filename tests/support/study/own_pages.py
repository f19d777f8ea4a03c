"""A small study with pages of its own of every kind, as its files say it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from explorelab.study.config.design import Study, Texts
from explorelab.study.config.fields import Problems, read_toml
from explorelab.study.config.texts import in_language
from explorelab.study.session.pages.pages_table import check_conditions, read_contents, read_pages
from tests.support.study.small_study import small_study

PAGES = """
[[pages]]
kind = "text"
file = "consent.md"
[[pages]]
kind = "text"
file = "welcome.md"
[[pages]]
kind = "quiz"
file = "quiz.toml"
attempts = 3
code = "SCREENED1"
[[pages]]
kind = "form"
file = "before.toml"
[[pages]]
kind = "text"
file = "gamers.md"
show_if.before.gamer = "yes"
[[pages]]
kind = "blocks"
[[pages]]
kind = "break"
seconds = 60
[[pages]]
kind = "score"
[[pages]]
kind = "form"
file = "after.toml"
show_if.before.age.at_least = 30
"""
FILES = {
    "welcome.md": "# Welcome\n\nYou play {n_trials} choices.\n",
    "gamers.md": "# For those who play\n",
    "quiz.toml": """
[[questions]]
name = "dots"
kind = "choice"
text = "Which dot is yours?"
options = {blue = "The blue one", yellow = "The yellow one"}
expected = "blue"
feedback = "Yours is the *blue* one."
[[questions]]
name = "count"
kind = "number"
text = "How many choices?"
expected = [6, 7]
""",
    "before.toml": """
title = "About you"
intro = "Please *answer*."
[[questions]]
name = "age"
kind = "number"
text = "How old are you?"
least = 18
most = 99
whole = true
[[questions]]
name = "gamer"
kind = "choice"
text = "Do you play games?"
options = {yes = "Yes", no = "No"}
[[questions]]
name = "games"
kind = "several"
text = "Which?"
options = ["Chess", "Go", "Cards"]
required = false
[[questions]]
name = "agree"
kind = "scale"
text = "Choose 2, please."
labels = ["never", "seldom", "often"]
expected = 2
[[questions]]
name = "said"
kind = "text"
text = "Anything else?"
most = 20
required = false
""",
    "after.toml": """
[[questions]]
name = "fun"
kind = "scale"
steps = 5
text = "It was fun."
score = "fun"
[[questions]]
name = "dull"
kind = "scale"
steps = 5
text = "It was dull."
score = "fun"
reverse = true
""",
}
RIGHT: dict[str, Any] = {"dots": "blue", "count": 6}
BEFORE: dict[str, Any] = {"age": 20, "gamer": "no", "games": ["Go"], "agree": 2, "said": "no"}


def write_files(folder: Path, pages: str = PAGES) -> None:
    """The files of the pages, and a study.toml with nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(pages, encoding="utf-8")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def add_pages(folder: Path) -> None:
    """Give a study's folder these pages; nobody fails the quiz for good."""
    study = (folder / "study.toml").read_text(encoding="utf-8")
    write_files(folder, f"{study}\n{PAGES}".replace('attempts = 3\ncode = "SCREENED1"', 'attempts = 20\non_fail = "go-on"'))


def paged_study(folder: Path, pages: str = PAGES, **changes: Any) -> Study:
    """The small study with these pages."""
    write_files(folder, pages)
    problems = Problems()
    toml = read_toml(folder / "study.toml", problems)
    assert toml is not None
    read = read_pages(toml)
    more, forms = read_contents(folder, read, problems, lambda file, _: file.read_text(encoding="utf-8"))
    problems.raise_if_any()
    study = small_study(**{"n_training": 1, "n_trials": 2, **changes})
    usual: Texts = study.texts
    study = in_language(replace(study, pages=read), replace(usual, more=more, forms=forms))
    check_conditions(toml, study)
    problems.raise_if_any()
    return study

"""Robots at a study's own pages: they answer every kind of question, and pass or fail quizzes with a probability."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorelab.errors import InputError
from explorelab.study.robots import pilot_runs
from explorelab.study.robots.page_answers import DRAWN, knowing_answers, random_answers
from explorelab.study.session.pages.question_kinds import QUESTION_KINDS, checked, is_right
from explorelab.study.session.pages.shown_page import _form
from tests.support.study.own_pages import add_pages, paged_study
from tests.support.study.server import write_study


def test_every_kind_of_question_is_answered() -> None:
    assert set(DRAWN) == set(QUESTION_KINDS)


@pytest.mark.parametrize("file", ["quiz.toml", "before.toml", "after.toml"])
def test_answers_are_such_as_the_server_takes(file: str, tmp_path: Path) -> None:
    texts = paged_study(tmp_path).texts
    page = {"name": "x", "form": _form(texts.forms[file], texts).model_dump()}
    for seed in range(50):
        given = random_answers(np.random.default_rng(seed))(page)
        for question in texts.forms[file].questions:
            checked(question, given[question.name])  # type: ignore[arg-type]


@pytest.mark.parametrize(("passes", "right"), [(1.0, 1.0), (0.0, 0.0), (0.5, 0.5)])
def test_who_knows_what_is_expected_says_it_with_the_probability(passes: float, right: float, tmp_path: Path) -> None:
    study = paged_study(tmp_path)
    form = study.texts.forms["quiz.toml"]
    page = {"name": "quiz", "form": _form(form, study.texts).model_dump()}
    answers = knowing_answers(study, np.random.default_rng(1), passes)
    found = [is_right(each, given[each.name]) for given in (answers(page) for _ in range(200)) for each in form.questions]
    assert np.mean(found) == pytest.approx(right, abs=0.08)


def test_a_pilot_says_who_failed_for_good(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db", training=(), n_trials=2)
    with pytest.raises(InputError, match="--passes is for studies that ask questions"):
        pilot_runs.pilot(folder, 1, "", 0, passes=0.5)
    add_pages(folder)
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(text.replace('attempts = 20\non_fail = "go-on"', "attempts = 2"), encoding="utf-8")
    said = pilot_runs.pilot(folder, 2, "", 0, passes=0.0)
    assert said.startswith("0 of 2 robots finished")
    assert "2 robots failed a quiz for good." in said
    assert pilot_runs.pilot(folder, 2, "", 1, passes=1.0).startswith("2 of 2 robots finished")

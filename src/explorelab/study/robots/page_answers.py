"""How robots answer the questions of a page: as the study expects where it expects something, most of the time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from explorelab._support.written_numbers import Json, JsonObject
from explorelab.study.config.design import Study
from explorelab.study.session.pages.page_types import Answer, Question
from explorelab.study.session.pages.question_kinds import is_right

type Answerer = Callable[[JsonObject], dict[str, Json]]
"""Answers to the page that a browser is sent, by the names of its questions."""

PASSES = 0.8
"""The probability that a robot gives the answer that is expected."""
TRIES = 20
"""How often a robot draws an answer that is to be wrong."""


def random_answers(rng: np.random.Generator) -> Answerer:
    """Someone who answers at random, without knowing what is expected."""
    return lambda page: {asked["name"]: _drawn(asked, rng) for asked in _asked(page)}


def knowing_answers(study: Study, rng: np.random.Generator, passes: float = PASSES) -> Answerer:
    """Someone who knows what the study expects, and says so with this probability."""
    asking = [page for page in study.pages if page.file in study.texts.forms]
    expected = {page.name: {each.name: each for each in study.texts.forms[page.file].questions} for page in asking}

    def answers(page: JsonObject) -> dict[str, Json]:
        known = expected.get(page["name"], {})
        return {asked["name"]: _of(asked, known.get(asked["name"]), rng, passes) for asked in _asked(page)}

    return answers


def _asked(page: JsonObject) -> list[JsonObject]:
    return [] if page["form"] is None else list(page["form"]["questions"])


def _of(asked: JsonObject, question: Question | None, rng: np.random.Generator, passes: float) -> Json:
    if question is None or question.expected is None:
        return _drawn(asked, rng)
    if rng.uniform() < passes:
        return question.expected[0]
    drawn: Answer = None
    for _ in range(TRIES):
        drawn = _drawn(asked, rng)
        if not is_right(question, drawn):
            break
    return drawn


def _drawn(asked: JsonObject, rng: np.random.Generator) -> Answer:
    """An answer that the page takes."""
    return DRAWN[str(asked["kind"])](asked, rng)


def _one(asked: JsonObject, rng: np.random.Generator) -> Answer:
    return str(asked["options"][int(rng.integers(len(asked["options"])))]["value"])


def _some(asked: JsonObject, rng: np.random.Generator) -> Answer:
    values = [option["value"] for option in asked["options"]]
    n = int(rng.integers(max(int(asked["least"]), 1), int(asked["most"]) + 1))
    return [values[place] for place in sorted(rng.permutation(len(values))[:n].tolist())]


def _step(asked: JsonObject, rng: np.random.Generator) -> Answer:
    return int(rng.integers(1, len(asked["options"]) + 1))


def _amount(asked: JsonObject, rng: np.random.Generator) -> Answer:
    low = asked["least"] if asked["least"] is not None else min(0.0, asked["most"] or 0.0)
    high = asked["most"] if asked["most"] is not None else low + 100.0
    drawn = float(rng.uniform(low, high))
    return int(np.clip(round(drawn), np.ceil(low), np.floor(high))) if asked["whole"] else round(drawn, 2)


def _words(asked: JsonObject, rng: np.random.Generator) -> Answer:
    return f"A robot's answer, number {int(rng.integers(1000))}."[: int(asked["most"])]


DRAWN: Mapping[str, Callable[[JsonObject, np.random.Generator], Answer]] = {
    "choice": _one, "several": _some, "scale": _step, "number": _amount, "text": _words,
}  # fmt: skip
"""How an answer of each kind is drawn."""

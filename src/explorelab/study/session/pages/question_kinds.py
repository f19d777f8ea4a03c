"""The kinds of questions, one entry for each: how it is read from a file, and which answers it takes.

A new kind is an entry here, and one in page/participant/screens/pages/questions.ts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from explorelab._support.checks import Unchecked, is_number
from explorelab._support.toml.toml_file import shown
from explorelab.study.config.fields import Table
from explorelab.study.database.refusals import Refused, invalid
from explorelab.study.session.pages.page_types import Answer, Option, Question

MOST_OPTIONS, MOST_STEPS, MOST_LINES = 50, 21, 30
MOST_CHARACTERS = 5000
USUAL_CHARACTERS = 1000
LARGEST = 1e15
"""Numbers that people may write: beyond, a browser would round them."""


class QuestionKind(NamedTuple):
    """A kind of question."""

    keys: tuple[str, ...]
    """Its settings, beside those of every question."""
    read: Callable[[Table], dict[str, Unchecked]]
    """The fields of a `Question` that the settings give."""
    check: Callable[[Question, Answer], Answer]
    """The answer as it is stored; refused if it is not one that the page offers."""
    counts: Callable[[Question, Answer], float | None]
    """What an answer counts in a score; None if nothing."""


def refused(question: Question, what: str) -> Refused:
    """An answer that the page does not offer."""
    return invalid(f"Question {question.name} {what}.")


# Options --------------------------------------------------------------------------------------------------------------


def read_options(table: Table, key: str = "options") -> tuple[Option, ...]:
    """Options as a list of texts, or as a table of names and texts."""
    value = table.value(key)
    if isinstance(value, list):
        options = [Option(str(text).strip(), str(text)) for text in value if _is_text(text)]
        fine = len(options) == len(value)
    elif isinstance(value, dict):
        options = [Option(name.strip(), str(text)) for name, text in value.items() if _is_text(text)]
        fine = len(options) == len(value)
    else:
        options, fine = [], value is None
    if not fine:
        table.problem(key, f'must be a list of texts, ["Yes", "No"], or a table, {{yes = "Yes"}}, got {shown(value)}.')
    elif value is not None and not 2 <= len(options) <= MOST_OPTIONS:
        table.problem(key, f"must have 2 to {MOST_OPTIONS} options, got {len(options)}.")
    elif len({option.value for option in options}) < len(options):
        table.problem(key, "must list each option once, got one twice.")
    return tuple(options)


def _is_text(text: Unchecked) -> bool:
    return isinstance(text, str) and bool(text.strip()) and text.isprintable() and len(text) <= 500


def _points(table: Table, options: tuple[Option, ...]) -> dict[str, float]:
    """What each option counts."""
    points = table.values.get("points", {})
    known = {option.value for option in options}
    if not isinstance(points, dict) or not all(is_number(value) for value in points.values()):
        table.problem("points", f"must be a table of options and numbers, {{yes = 1, no = 0}}, got {shown(points)}.")
        return {}
    for name in points:
        if name not in known:
            table.problem("points", f"must name options, got {name!r}.")
    return {name: float(value) for name, value in points.items()}


def _read_choice(table: Table) -> dict[str, Unchecked]:
    options = read_options(table)
    return {"options": options, "points": _points(table, options)}


def _check_choice(question: Question, answer: Answer) -> Answer:
    if not isinstance(answer, str) or answer not in {option.value for option in question.options}:
        raise refused(question, "must be answered with one of its options")
    return answer


def _counts_option(question: Question, answer: Answer) -> float | None:
    return question.points.get(answer) if isinstance(answer, str) else None


def _read_several(table: Table) -> dict[str, Unchecked]:
    options = read_options(table)
    n = max(len(options), 1)
    needed = int(table.values.get("required", True) is True)
    least, most = table.whole("least", 0, n, default=needed), table.whole("most", 1, n, default=n)
    if least > most:
        table.problem("least", f"must be at most {most}, got {least}.")
    return {"options": options, "points": _points(table, options), "least": least, "most": most}


def _check_several(question: Question, answer: Answer) -> Answer:
    known = [option.value for option in question.options]
    if not isinstance(answer, list) or not set(answer) <= set(known) or len(set(answer)) < len(answer):
        raise refused(question, "must be answered with some of its options, each once")
    least, most = int(question.least or 0), int(question.most or len(known))
    if not least <= len(answer) <= most:
        raise refused(question, f"must be answered with {least} to {most} options")
    return [value for value in known if value in answer]


def _counts_several(question: Question, answer: Answer) -> float | None:
    return sum(question.points.get(name, 0.0) for name in answer) if isinstance(answer, list) and question.points else None


# Scales ---------------------------------------------------------------------------------------------------------------


def _read_scale(table: Table) -> dict[str, Unchecked]:
    labels = table.values.get("labels")
    if labels is None:
        n = table.whole("steps", 2, MOST_STEPS, default=7)
        ends = (table.text("least_label", 200, ""), table.text("most_label", 200, ""))
        texts = [ends[0], *[""] * (n - 2), ends[1]]
    else:
        texts = labels if isinstance(labels, list) and all(_is_text(text) for text in labels) else []
        if not 2 <= len(texts) <= MOST_STEPS:
            wanted = f'must be a list of 2 to {MOST_STEPS} texts, such as ["never", "always"]'
            table.problem("labels", f"{wanted}, got {shown(labels)}.")
        for key in ("steps", "least_label", "most_label"):
            if key in table.values:
                table.problem(key, "is for scales without labels, got both.")
    options = tuple(Option(str(number), text) for number, text in enumerate(texts, 1))
    return {"options": options, "least": 1.0, "most": float(max(len(options), 2)), "reverse": table.truth("reverse", False)}


def _check_scale(question: Question, answer: Answer) -> Answer:
    if (
        isinstance(answer, (str, list))
        or answer is None
        or answer != int(answer)
        or not 1 <= answer <= len(question.options)
    ):
        raise refused(question, f"must be answered with a whole number from 1 to {len(question.options)}")
    return int(answer)


def _counts_scale(question: Question, answer: Answer) -> float | None:
    if answer is None or isinstance(answer, (str, list)):
        return None
    return len(question.options) + 1.0 - answer if question.reverse else float(answer)


# Numbers and texts ----------------------------------------------------------------------------------------------------


def _read_number(table: Table) -> dict[str, Unchecked]:
    least, most = (table.number(key, -LARGEST, LARGEST) if key in table.values else None for key in ("least", "most"))
    if least is not None and most is not None and least > most:
        table.problem("least", f"must be at most {most:g}, got {least:g}.")
    return {"least": least, "most": most, "whole": table.truth("whole", False)}


def _check_number(question: Question, answer: Answer) -> Answer:
    if answer is None or isinstance(answer, (str, list)):
        raise refused(question, "must be answered with a number")
    low = -LARGEST if question.least is None else question.least
    high = LARGEST if question.most is None else question.most
    if not low <= answer <= high:
        raise refused(question, f"must be answered with a number from {low:g} to {high:g}")
    if question.whole and answer != int(answer):
        raise refused(question, "must be answered with a whole number")
    return int(answer) if answer == int(answer) else answer


def _counts_number(question: Question, answer: Answer) -> float | None:
    return None if answer is None or isinstance(answer, (str, list)) else float(answer)


def _read_text(table: Table) -> dict[str, Unchecked]:
    most = table.whole("most", 1, MOST_CHARACTERS, "characters", USUAL_CHARACTERS)
    return {"most": float(most), "lines": table.whole("lines", 1, MOST_LINES, default=1)}


def _check_text(question: Question, answer: Answer) -> Answer:
    most = int(question.most or USUAL_CHARACTERS)
    if not isinstance(answer, str) or not answer.strip():
        raise refused(question, "must be answered with text")
    # A browser counts some characters as two, and may not send more than that.
    if len(answer) > most:
        raise refused(question, f"must be answered with at most {most} characters")
    return answer


def _counts_nothing(question: Question, answer: Answer) -> float | None:
    return None


QUESTION_KINDS: Mapping[str, QuestionKind] = {
    "choice": QuestionKind(("options", "points"), _read_choice, _check_choice, _counts_option),
    "several": QuestionKind(("options", "points", "least", "most"), _read_several, _check_several, _counts_several),
    "scale": QuestionKind(
        ("labels", "steps", "least_label", "most_label", "reverse"), _read_scale, _check_scale, _counts_scale
    ),
    "number": QuestionKind(("least", "most", "whole"), _read_number, _check_number, _counts_number),
    "text": QuestionKind(("most", "lines"), _read_text, _check_text, _counts_nothing),
}


def checked(question: Question, answer: Answer) -> Answer:
    """The answer as it is stored; None if there is none and none is needed."""
    if answer is None or answer == [] or (isinstance(answer, str) and not answer.strip()):
        none_will_do = answer == [] and question.least == 0  # of several options
        if question.required and not none_will_do:
            raise refused(question, "must be answered")
        return answer if none_will_do else None
    return QUESTION_KINDS[question.kind].check(question, answer)


def is_right(question: Question, answer: Answer) -> bool | None:
    """Whether the answer is one of those expected; None if any will do."""
    if question.expected is None:
        return None
    return any(_same(expected, answer) for expected in question.expected)


def _same(expected: Answer, answer: Answer) -> bool:
    if isinstance(expected, str) and isinstance(answer, str):
        return expected.strip().casefold() == answer.strip().casefold()
    if isinstance(expected, list) and isinstance(answer, list):
        return set(expected) == set(answer)
    return expected == answer


def counted(question: Question, answer: Answer) -> float | None:
    """What the answer counts in its score; None if it counts in none."""
    return QUESTION_KINDS[question.kind].counts(question, answer) if question.score else None

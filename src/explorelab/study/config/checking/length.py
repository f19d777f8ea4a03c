"""How long a study takes: the clocks of its blocks, and the time to read its pages."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from explorelab.study.config.checking.spoken import main_language
from explorelab.study.config.design import BlockPlan, Study
from explorelab.study.session.pages.page_types import Page
from explorelab.study.session.pages.show_if import suits
from explorelab.study.session.stages import Stage

WORDS_PER_MINUTE: Mapping[str, int] = {"en": 228, "de": 179, "es": 218, "fr": 195}
"""How fast adults read aloud, about as fast as texts are read with care: the International Reading Speed Texts

(Trauzettel-Klosinski & Dietz 2012, doi:10.1167/iovs.11-8284).
"""
OTHER_WORDS_PER_MINUTE = 184
"""The mean of the 17 languages in that study."""
SIGNS_PER_MINUTE = 255
"""Of Chinese and Japanese, which have no spaces between words."""
ANSWERING_S: Mapping[str, float] = {"choice": 4.0, "several": 7.0, "scale": 4.0, "number": 6.0, "text": 30.0}
"""To think and to click, by kind of question, beside reading it: our assumption, on the slow side."""
READ_BY_ALL = (Stage.CONSENT, Stage.INSTRUCTIONS, Stage.DEBRIEFING)
BEFORE_A_BLOCK = (
    "ready_title", "ready_time", "ready_no_click", "ready_choices", "ready_task_points", "ready_blue", "ready_yellow",
    "ready_keys",
)  # fmt: skip
"""Labels that are read before every block, together with that of its dynamic."""

_SIGNS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Length(NamedTuple):
    """How long somebody takes."""

    language: str
    condition: str
    playing_s: float
    reading_s: float
    answering_s: float = 0.0
    """Questions of forms and quizzes, and breaks."""

    @property
    def minutes(self) -> float:
        """From the first page to the last."""
        return (self.playing_s + self.reading_s + self.answering_s) / 60

    @property
    def rounded(self) -> int:
        """Whole minutes, rounded up."""
        return math.ceil(self.minutes)


def lengths(study: Study) -> list[Length]:
    """How long each condition takes in each language."""
    return [one for language in study.languages for one in _in_language(study.speaking(language), language)]


def _in_language(study: Study, language: str) -> Iterator[Length]:
    pages_s = sum(reading_s(study.texts.pages[page], language) for page in READ_BY_ALL if page in study.texts.pages)
    for cell in study.longest:
        plan = study.plan(cell)
        pages = [page for page in study.pages if suits(cell.factors, page.show_if)]
        ready_s = sum(_ready_s(study, each, language) for each in plan)
        own_s = sum(_page_s(study, page, language) for page in pages)
        answering_s = sum(_answering_s(study, page) for page in pages)
        yield Length(language, cell.name, playing_s(study, plan), pages_s + ready_s + own_s, answering_s)


def _page_s(study: Study, page: Page, language: str) -> float:
    """How long it takes to read a page of the study's own, whoever it is for."""
    form = study.texts.forms.get(page.file)
    if form is None:
        return reading_s(study.texts.more.get(page.file, ""), language)
    words = [form.title, form.intro]
    words += [text for each in form.questions for text in (each.text, *(option.text for option in each.options))]
    return reading_s(" ".join(words), language)


def _answering_s(study: Study, page: Page) -> float:
    form = study.texts.forms.get(page.file)
    seconds = page.settings.get("seconds")  # of a break
    pause_s = float(seconds) if isinstance(seconds, (int, float)) else 0.0
    return pause_s + sum(ANSWERING_S.get(each.kind, 0.0) for each in (form.questions if form is not None else ()))


def playing_s(study: Study, plan: tuple[BlockPlan, ...]) -> float:
    """How long the clocks of these blocks run, or choices and outcomes take without one."""
    return sum(block.n_trials * study.choice_ms(block) for block in plan) / 1000


def _ready_s(study: Study, block: BlockPlan, language: str) -> float:
    """How long it takes to read what is shown before a block."""
    labels = study.texts.labels
    names = (*BEFORE_A_BLOCK, f"ready_{block.dynamic}")
    return reading_s(" ".join(labels.get(name, "") for name in names), language)


def reading_s(text: str, language: str) -> float:
    """How long it takes to read a text."""
    signs = len(_SIGNS.findall(text))
    words = len(re.findall(r"[^\W_]+", _SIGNS.sub(" ", text)))
    per_minute = WORDS_PER_MINUTE.get(main_language(language), OTHER_WORDS_PER_MINUTE)
    return 60 * (words / per_minute + signs / SIGNS_PER_MINUTE)

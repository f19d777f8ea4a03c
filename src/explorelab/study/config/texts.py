"""What people read: the Markdown pages and the labels in texts.toml, checked against the templates of this package."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.numbers import format_decimal

from explorelab._support.toml.toml_file import shown
from explorelab.errors import unknown_name
from explorelab.study.config.design import Payment, Study, Texts
from explorelab.study.config.fields import Problems, TomlFile, read_text, read_toml
from explorelab.study.session.pages.page_types import Page
from explorelab.study.session.pages.pages_table import check_languages, read_contents
from explorelab.study.session.stages import Stage

TEMPLATES = Path(__file__).parent / "templates"
"""The files of a new study: study.toml, and a folder for each language."""
ENGLISH = TEMPLATES / "en"
LANGUAGES = tuple(sorted(folder.parent.name for folder in TEMPLATES.glob("*/texts.toml")))
"""The languages of the templates."""
PAGES = tuple(stage.value for stage in Stage if stage.about.text)
"""Pages of a study, each a Markdown file of that name."""
TEXTS = ("texts.toml", *(f"{page}.md" for page in PAGES))
"""What people read: in the study's folder or, if it has several languages, in a folder for each."""
STUDY = "study.toml"
FILES = (STUDY, *TEXTS)
"""The files of a study in one language."""
PLACEHOLDERS = (
    "title", "width", "height", "n_squares", "n_blocks", "n_trials", "n_training", "n_training_trials",
    "fastest", "slowest", "minutes", "currency", "base", "per_point", "most",
)  # fmt: skip
"""Placeholders that pages may use, filled in by the study. The template of study.toml explains each."""

LATER = (
    "elsewhere_title", "elsewhere_text", "ready_advice", "ready_ring", "square_suggested", "said_suggested",
    "busy", "refused_link", "refused_step", "refused_unknown", "refused_other", "choose_language",
    "ready_arms_travel", "ready_closed", "ready_time_arms", "ready_no_deadline", "ready_training_money",
    "ready_task_money", "ready_hidden", "ready_training_hidden", "ready_task_hidden", "ready_foregone", "ready_goal",
    "ready_advice_arms", "ready_keys_digits", "picture_label_plain", "money", "arms", "arms_digits", "arm", "arm_of",
    "arm_joined", "arm_reward", "said_reward_at", "said_recorded_at", "said_next_at", "said_suggested_at",
    "said_foregone", "said_open", "rule_squares_standard", "rule_squares_neighbour", "rule_arms_standard",
    "rule_line_neighbour", "rule_graph_neighbour", "rule_arms_travel", "rule_no_click", "rule_no_click_stay",
    "rule_no_deadline", "rule_one_open", "rule_some_open", "hint_too_far", "hint_closed", "paused_text_no_clock",
    "form_title", "quiz_title", "break_title", "score_title", "optional", "answer_needed", "answer_number", "answer_between",
    "answer_at_least", "answer_at_most", "answer_whole", "answer_count", "answer_wrong", "quiz_wrong", "sent_back",
    "read_again", "try_again", "break_clock", "break_free", "break_wait", "break_over", "screened_title", "screened_text",
    "closed_title", "closed_text", "arm_leads", "rule_arrows_neighbour",
)  # fmt: skip
"""Labels that studies made with earlier versions lack; those of the template are used instead, in English if need be."""

MOST_TITLE = 200

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&#!~|])")


def read_texts(folder: Path, problems: Problems, pages: tuple[Page, ...] = ()) -> Texts:
    """Labels and pages of a study, pages with their placeholders not yet filled."""
    toml = read_toml(folder / "texts.toml", problems)
    language, direction, labels = _labels(toml) if toml is not None else ("", "", {})
    needed = texts_of(pages)
    written = {page: _page(folder / f"{page}.md", problems) if f"{page}.md" in needed else "" for page in PAGES}
    title = "" if toml is None else _title(toml)
    more, forms = read_contents(folder, pages, problems, _page)
    return Texts(language, "rtl" if direction == "rtl" else "ltr", written, labels, title, more, forms)


def texts_of(pages: tuple[Page, ...]) -> tuple[str, ...]:
    """The files that people read: with pages of its own, a study needs instructions only where it shows them."""
    own = [page.file for page in pages if page.file]
    usual = [name for name in TEXTS if not pages or name != f"{Stage.INSTRUCTIONS}.md"]
    return tuple(dict.fromkeys([*usual, *own]))


def read_languages(
    folder: Path, languages: Sequence[str], problems: Problems, pages: tuple[Page, ...] = ()
) -> dict[str, Texts]:
    """The texts of a study by language: those in its folder if it names none, otherwise those in the folder of each."""
    if not languages:
        texts = read_texts(folder, problems, pages)
        return {texts.language: texts}
    found = {language: read_texts(folder / language, problems, pages) for language in languages}
    folders = {language: folder / language for language in found}
    check_languages(folders, {language: texts.forms for language, texts in found.items()}, problems)
    for language, texts in found.items():
        if texts.language not in ("", "None", language):
            file = folder / language / "texts.toml"
            problems.add(file, 1, f"language must be that of the folder, {language!r}, got {texts.language!r}.")
    return found


def is_language(code: str) -> bool:
    """Whether this is written like the code of a language."""
    return _LANGUAGE.fullmatch(code) is not None


def _title(toml: TomlFile) -> str:
    """The title in this language; empty if there is none of its own."""
    title = toml.values.get("title", "")
    if not isinstance(title, str) or len(title) > MOST_TITLE or (title and not title.isprintable()):
        toml.problem(("title",), f"title must be one line of at most {MOST_TITLE} characters, got {shown(title)}.")
        return ""
    return title.strip()


def _page(file: Path, problems: Problems) -> str:
    text = read_text(file, problems)
    if text is None:
        return ""
    if not text.strip():
        problems.add(file, 1, "expected a page of text in Markdown, got an empty file.")
    for found in _BRACES.finditer(text):
        if found[1] is not None and found[1] not in PLACEHOLDERS:
            line = text.count("\n", 0, found.start()) + 1
            known = [f"{{{name}}}" for name in PLACEHOLDERS]
            problems.add(file, line, f"{unknown_name('placeholder', found[0], known)}")
    return text


# Labels ---------------------------------------------------------------------------------------------------------------


@cache
def template_labels(language: str = "en") -> Mapping[str, str]:
    """The labels that the page needs, in this language, or in English if there is no template in it."""
    folder = TEMPLATES / language.lower().partition("-")[0]
    folder = folder if folder.name in LANGUAGES else ENGLISH
    labels: dict[str, str] = tomllib.loads((folder / "texts.toml").read_text(encoding="utf-8"))["labels"]
    return labels


def _labels(toml: TomlFile) -> tuple[str, str, dict[str, str]]:
    toml.only("setting", toml.values, ("language", "direction", "title", "labels"))
    language, direction = toml.values.get("language"), toml.values.get("direction")
    if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
        toml.problem(("language",), f'language must be a code such as "en" or "pt-BR", got {_or_none(language)}.')
    if direction not in ("ltr", "rtl"):
        toml.problem(("direction",), f'direction must be "ltr" or "rtl", got {_or_none(direction)}.')
    needed, usual = template_labels(), template_labels(str(language))
    table = toml.table("labels", known=needed)
    for key, original in needed.items():
        label = table.value(key, original if key in LATER else None)
        if label is not None:
            wrong = _wrong_label(label, original)
            if wrong:
                table.problem(key, wrong)
    return str(language), str(direction), {**{key: usual[key] for key in LATER}, **table.values}


def _wrong_label(label: object, original: str) -> str:
    """What is wrong with a label, if anything."""
    if not isinstance(label, str):
        return f"must be text in quotes, got {shown(label)}."
    if original.strip() and not label.strip():
        return f"must not be empty, got {shown(label)}."
    if len(label) > 2000:
        return f"must have at most 2000 characters, got {len(label)}."
    wanted, came = _placeholders(original), _placeholders(label)
    if wanted != came:
        return f"must have {_listed(wanted)}, got {_listed(came)}."
    return ""


def _placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{[^{}]*\}", text))


def _listed(placeholders: set[str]) -> str:
    return "no placeholders" if not placeholders else " and ".join(sorted(placeholders))


def _or_none(value: object) -> str:
    return "none" if value is None else shown(value)


# Pages ----------------------------------------------------------------------------------------------------------------


def filled(study: Study) -> Texts:
    """The texts of the study with its own numbers and names in its pages."""
    values = _values(study)

    def value(found: re.Match[str]) -> str:
        return values[found[1]] if found[1] is not None else found[0][0]

    pages, more = (
        {page: _BRACES.sub(value, text) for page, text in texts.items()} for texts in (study.texts.pages, study.texts.more)
    )
    return replace(study.texts, pages=pages, more=more)


def in_language(study: Study, texts: Texts) -> Study:
    """The study with these texts, their placeholders filled in."""
    version = replace(study, title=texts.title or study.title, texts=texts)
    return replace(version, texts=filled(version), unfilled=texts)


@lru_cache(maxsize=64)
def texts_for(study: Study, payment: Payment) -> Texts:
    """The texts for someone who was promised this payment."""
    if study.unfilled is None or payment == study.payment:
        return study.texts
    return filled(replace(study, texts=study.unfilled, payment=payment))


def _values(study: Study) -> dict[str, str]:
    """The value of each placeholder, with numbers formatted for the texts' language.

    The title is shown as written, so Markdown signs in it count as text.
    """
    locale = _locale(study.texts.language)

    def number(value: float, form: str = "#,##0.##########") -> str:
        return format_decimal(value, form, locale)

    seconds = [study.timings[timing] / 1000 for timing in study.task_timings if study.timings[timing]] or [0.0]
    first = next(iter(study.counting_scenes.values()), None)
    plays = [sum(study.choice_ms(block) * block.n_trials for block in study.plan(cell)) for cell in study.longest]
    values = {
        "title": _MARKDOWN.sub(r"\\\1", study.title),
        "width": number(study.width),
        "height": number(study.height),
        "n_squares": number(study.n_arms if first is None else first.board.n_arms),
        "n_blocks": number(study.n_task_blocks),
        "n_trials": number(study.n_trials),
        "n_training": number(len(study.training)),
        "n_training_trials": number(study.training[0].n_trials if study.training else 0),
        "fastest": number(min(seconds)),
        "slowest": number(max(seconds)),
        "minutes": number(math.ceil(max(plays) / 60_000)),
        "currency": study.payment.currency,
        "base": number(study.payment.base, "#,##0.00"),
        "per_point": number(study.payment.per_point),
        "most": number(study.payment.most, "#,##0.00"),
    }
    assert set(values) == set(PLACEHOLDERS)
    return values


def without_value(study: Study) -> dict[str, str]:
    """Placeholders that this study cannot fill in, and what it would need."""
    lacking = {} if study.width else dict.fromkeys(("width", "height"), "a block on a grid")
    if not any(study.timings[timing] for timing in study.task_timings):
        lacking |= dict.fromkeys(("fastest", "slowest"), "a block that counts and has a deadline")
    return lacking if study.design is not None else {}


@cache
def own_name(language: str) -> str:
    """The language's name for itself, such as "Deutsch"."""
    name = _locale(language).get_display_name() if _knows(language) else None
    return (name or language)[:1].upper() + (name or language)[1:]


def _knows(language: str) -> bool:
    return _locale(language).language == language.lower().partition("-")[0]


def _locale(language: str) -> Locale:
    """How a language writes numbers; English if it is unknown."""
    while language:
        try:
            return Locale.parse(language, sep="-")
        except (UnknownLocaleError, ValueError):
            language = language.rpartition("-")[0]
    return Locale("en")

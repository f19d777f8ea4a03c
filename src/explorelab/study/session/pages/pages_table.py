"""Reads the list [[pages]] of study.toml: which pages a study has, in which order, and for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from explorelab._support.checks import Unchecked
from explorelab._support.toml.toml_file import shown
from explorelab.errors import unknown_name
from explorelab.study.config.design import Study
from explorelab.study.config.fields import Problems, Table, TomlFile
from explorelab.study.session.pages.form_file import (
    NAME,
    NAMED,
    check_same,
    question_named,
    read_form,
    unknown_question,
)
from explorelab.study.session.pages.page_kinds import KINDS
from explorelab.study.session.pages.page_types import Form, Page
from explorelab.study.session.pages.show_if import CONDITION, about_answers, about_condition, read_show_if
from explorelab.study.session.stages import Stage

TABLE = "pages"
EVERY = ("kind", "name", "file", "show_if")
"""Settings of every page."""
MOST_PAGES = 100
FIRST, LAST = f"{Stage.CONSENT}.md", f"{Stage.DEBRIEFING}.md"
"""The texts that everyone reads first and last: they may be listed, and are there without it."""


def read_pages(toml: TomlFile) -> tuple[Page, ...]:
    """The pages between consent and debriefing; none for the usual course."""
    entries = toml.values.get(TABLE)
    if entries is None:
        return ()
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        toml.problem((TABLE,), f"expected pages, each below a line [[{TABLE}]], got {shown(entries)}.")
        return ()
    if len(entries) > MOST_PAGES:
        toml.problem((TABLE,), f"a study may have at most {MOST_PAGES} pages, got {len(entries)}.")
    pages: list[Page] = []
    for place, entry in enumerate(entries):
        table = Table(toml, f"[[{TABLE}]] {place + 1}", (TABLE, place), entry, True)
        if not _is_fixed(table, place, len(entries)):
            page = _page(table, place, sum(KINDS[each.kind].plays for each in pages if each.kind in KINDS))
            if page is not None:
                _check_name(table, page, pages)
                pages.append(page)
    _check_course(toml, pages)
    return tuple(pages)


def _is_fixed(table: Table, place: int, n: int) -> bool:
    """Whether the entry is the consent or the debriefing, where it is anyway."""
    file = table.values.get("file")
    for fixed, where, number in ((FIRST, "first", 0), (LAST, "last", n - 1)):
        if file == fixed and table.values.get("kind") == "text":
            table.toml.only(f"setting of the page {fixed}", table.values, ("kind", "file"), table.at)
            if place != number:
                table.problem("file", f"is {fixed}, which always comes {where}: list it {where} or not at all.")
            return True
    return False


def _page(table: Table, place: int, number: int) -> Page | None:
    kind = table.name("kind", "kind of page", KINDS)
    if kind not in KINDS:
        return None
    about = KINDS[kind]
    table.toml.only(f"setting of a page of kind {kind!r}", table.values, (*EVERY, *about.keys), table.at)
    file = _file(table, about.file, about.needs_file)
    name = table.text("name", 40) if "name" in table.values else (PurePosixPath(file).stem if file else "")
    if name and not NAME.fullmatch(name):
        table.problem("name" if "name" in table.values else "", f"must have a name of {NAMED}, got {name!r}.")
    return Page(
        name=name or f"{kind}-{place + 1}", kind=kind, file=file, settings=about.read(table), show_if=read_show_if(table),
        number=number if about.plays else 0, place=place,
    )  # fmt: skip


def _file(table: Table, suffix: str, needed: bool) -> str:
    """The page's file, below the folder of the study or of a language."""
    if not suffix:
        if "file" in table.values:
            table.problem("file", f"is for other kinds of pages, got {shown(table.values['file'])}.")
        return ""
    file = table.text("file", 200) if needed or "file" in table.values else ""
    parts = PurePosixPath(file).parts
    if file and (not file.endswith(suffix) or "\\" in file or file.startswith("/") or ".." in parts or ":" in file):
        table.problem("file", f"must be a file in the study folder whose name ends in {suffix}, got {file!r}.")
        return ""
    return file


def _check_name(table: Table, page: Page, before: list[Page]) -> None:
    if page.name == CONDITION:
        table.problem("name", f"must not be {CONDITION!r}, which show_if uses for the design.")
    if page.name in {each.name for each in before}:
        table.problem("name" if "name" in table.values else "", f"must have a name of its own, got {page.name!r} twice.")


def _check_course(toml: TomlFile, pages: list[Page]) -> None:
    """What must be true of all pages together."""
    if not any(KINDS[page.kind].plays for page in pages):
        toml.problem((TABLE,), f'[[{TABLE}]] must have an entry of kind "blocks", where people play, got none.')
    for page in pages:
        back = page.settings.get("back_to")
        if back:
            fine = [each.name for each in pages if each.place < page.place and each.kind == "text"]
            if back not in fine:
                said = str(unknown_name("earlier page of kind 'text'", str(back), fine))
                toml.problem((TABLE, page.place, "back_to"), f"[[{TABLE}]] {page.place + 1} back_to: {said}")


# Contents -------------------------------------------------------------------------------------------------------------


def read_contents(
    folder: Path, pages: tuple[Page, ...], problems: Problems, read_text: Callable[[Path, Problems], str]
) -> tuple[dict[str, str], dict[str, Form]]:
    """The texts and the questions of all pages, by file, from the folder of one language."""
    texts: dict[str, str] = {}
    forms: dict[str, Form] = {}
    for page in pages:
        about, file = KINDS[page.kind], folder / page.file
        if not page.file or page.file in texts or page.file in forms:
            continue
        if about.file == ".md":
            texts[page.file] = read_text(file, problems)
        else:
            forms[page.file] = read_form(file, problems, quiz=about.judges)
    return texts, forms


def check_languages(folders: Mapping[str, Path], forms: Mapping[str, Mapping[str, Form]], problems: Problems) -> None:
    """Note where forms differ between languages in more than their words."""
    usual, *others = forms
    for language in others:
        for file, form in forms[language].items():
            check_same(folders[language] / file, form, forms[usual][file], usual, problems)


def check_conditions(toml: TomlFile, study: Study) -> None:
    """Note conditions that can never hold: of unknown factors, values, pages and questions."""
    factors = factors_of(study)
    for page in study.pages:
        title = f"[[{TABLE}]] {page.place + 1} show_if"
        for name in about_condition(page.show_if):
            if name not in factors:
                said = unknown_name("factor of the design", name, factors)
                toml.problem((TABLE, page.place, "show_if", CONDITION, name), f"{title}.{CONDITION}: {said}")
            else:
                _check_values(toml, page, (CONDITION, name), page.show_if[f"{CONDITION}.{name}"], factors[name], title)
        earlier = {each.name: each for each in study.pages if each.place < page.place and KINDS[each.kind].asks}
        for name, wish in about_answers(page.show_if).items():
            of, _, asked = name.partition(".")
            at = (TABLE, page.place, "show_if", of, asked)
            if of not in earlier:
                toml.problem(at, f"{title}: {unknown_name('earlier page with questions', of, earlier)}")
                continue
            form = study.texts.forms[earlier[of].file]
            question = question_named(form, asked)
            if question is None:
                toml.problem(at, f"{title}.{of}: {unknown_question(asked, form)}")
            elif question.kind in ("choice", "several"):
                known = dict.fromkeys(option.value for option in question.options)
                _check_values(toml, page, (of, asked), wish, known, title)


def _check_values(
    toml: TomlFile, page: Page, name: tuple[str, str], wish: Unchecked, known: Mapping[str, object], title: str
) -> None:
    wishes = wish["not"] if isinstance(wish, dict) and "not" in wish else wish
    for value in wishes if isinstance(wishes, list) else [wishes]:
        if isinstance(value, dict) or value not in known:
            listed = ", ".join(map(repr, known))
            toml.problem(
                (TABLE, page.place, "show_if", *name),
                f"{title}.{'.'.join(name)} must be one of {listed}, got {shown(value)}.",
            )


def factors_of(study: Study) -> dict[str, dict[str, None]]:
    """What a person's condition consists of, and the values of each part."""
    found: dict[str, dict[str, None]] = {}
    for cell in study.cells:
        for name, value in cell.factors.items():
            found.setdefault(name, {})[value] = None
    return found

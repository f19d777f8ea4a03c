"""Reads a study from its folder (study.toml, texts.toml and the Markdown pages) and checks every value."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from explorelab._support.toml.toml_file import shown
from explorelab.errors import InputError
from explorelab.study.config.addresses import database_of, wrong_redirect
from explorelab.study.config.advice_table import LONGEST, agent_file, group_file
from explorelab.study.config.blocks.block_tables import TABLES as BLOCK_TABLES
from explorelab.study.config.blocks.block_tables import has_blocks
from explorelab.study.config.blocks.own_design import files_of_design, own_design
from explorelab.study.config.blocks.papers_design import papers_design
from explorelab.study.config.design import Completion, Payment, Server, Study
from explorelab.study.config.fields import Problems, TomlFile, read_toml
from explorelab.study.config.shared_files import files_of
from explorelab.study.config.texts import MOST_TITLE, STUDY, in_language, is_language, read_languages, texts_of
from explorelab.study.session.pages.exclusions import TABLE as EXCLUDE_TABLE
from explorelab.study.session.pages.exclusions import read_exclude
from explorelab.study.session.pages.pages_table import TABLE as PAGES_TABLE
from explorelab.study.session.pages.pages_table import check_conditions, read_pages
from explorelab.study.session.pages.picture_files import with_pictures

TABLES = (
    "study", "grid", "landscapes", "timings", "training", "task", *BLOCK_TABLES, "payment", "completion", "server", "advice",
    "assessment", "database", PAGES_TABLE, EXCLUDE_TABLE,
)  # fmt: skip
MOST_MONEY = 1_000_000


def load_study(folder: Path) -> Study:
    """The study in a folder; if anything in it is wrong, an `InputError` with one sentence for each problem."""
    folder = Path(folder)
    _check_study(folder)
    problems = Problems()
    toml = read_toml(folder / "study.toml", problems)
    settings = _settings(toml, folder) if toml is not None else {}
    languages = _languages(toml, folder) if toml is not None else ()
    texts = read_languages(folder, languages, problems, settings.get("pages", ()))
    problems.raise_if_any()
    study = Study(**settings, texts=next(iter(texts.values())))
    assert toml is not None
    if len({cell.name for cell in study.cells}) < len(study.cells):
        toml.problem(
            ("task",), "[task] must have names that keep conditions distinct; two become the same when joined with '-'."
        )
        problems.raise_if_any()
    longest = max((cell.name for cell in study.cells), key=len)
    if len(longest) > LONGEST:
        toml.problem(
            ("advice", "arms"),
            f"[advice] arms must leave names of conditions with at most {LONGEST} characters, got {longest!r} with "
            f"{len(longest)}; use shorter names for timings and landscapes.",
        )
        problems.raise_if_any()
    check_conditions(toml, study)
    problems.raise_if_any()
    names = (STUDY, *([f"{each}/{name}" for each in languages for name in texts_of(study.pages)] or texts_of(study.pages)))
    texts, pictures = with_pictures(folder, texts, files_of_design(toml), several=bool(languages))
    study = replace(study, pictures=pictures)
    shown_files = [picture.file for picture in pictures.values()]
    beside = (*files_of_design(toml), group_file(toml.values), agent_file(toml.values), *shown_files)
    files = files_of(folder, names, tuple(file for file in beside if file))
    versions = {language: in_language(replace(study, files=files), each) for language, each in texts.items()}
    usual = next(iter(versions.values()))
    return replace(usual, versions=versions) if len(versions) > 1 else usual


def _check_study(folder: Path) -> None:
    """Raise if this is not a study folder: a list of all missing files would hide that it is the wrong folder."""
    try:
        (folder / "study.toml").lstat()
    except (FileNotFoundError, NotADirectoryError):
        lacks = "this folder has no study.toml" if folder.is_dir() else "there is no such folder"
        raise InputError(f"{folder}: {lacks}; create a study with `explorelab study init FOLDER`.") from None
    except OSError:
        return  # reading it will say why it cannot be read


def _settings(toml: TomlFile, folder: Path) -> dict[str, Any]:
    """Everything in a `Study` except its texts."""
    pages = read_pages(toml)
    toml.only("table", toml.values, TABLES)
    about = toml.table("study", known=("name", "title", "languages"))
    name = about.text("name", 64)
    if name and not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        about.problem("name", f"must consist of letters A to Z, digits, - and _, got {name!r}.")
    played = own_design(toml, folder) if has_blocks(toml) else papers_design(toml, folder)
    return {
        "name": name,
        "title": about.text("title", MOST_TITLE),
        **played,
        "pages": pages,
        "exclude": read_exclude(toml, pages),
        "payment": _payment(toml),
        "least_per_hour": _least_per_hour(toml),
        "completion": _completion(toml),
        "server": _server(toml),
        "assessment": toml.table("assessment", known=("enabled",), needed=False).truth("enabled", Study.assessment),
        "database": database_of(toml, Study.database),
    }


def _languages(toml: TomlFile, folder: Path) -> tuple[str, ...]:
    """The languages of the study, the usual one first; empty if its texts are in the study's folder."""
    about = toml.table("study", needed=False)
    if "languages" not in about.values:
        return ()
    languages = about.names("languages", "language", ())
    for number, language in enumerate(languages):
        if not is_language(language):
            wrong = f'must be codes such as "en" or "pt-BR", each with a folder of that name, got {language!r}.'
        elif not (folder / language).is_dir():
            wrong = f"names {language!r}, but there is no folder {language} with the texts in that language."
        else:
            continue
        toml.problem(("study", "languages", number), f"[study] languages {wrong}")
    return tuple(language for language in languages if is_language(language) and (folder / language).is_dir())


def _payment(toml: TomlFile) -> Payment:
    table = toml.table("payment", known=("currency", "base", "per_point", "most", "least_per_hour"))
    currency = table.text("currency", 100)
    if currency and not re.fullmatch(r"[A-Z]{3}", currency):
        table.problem("currency", f'must be three capital letters such as "USD", got {currency!r}.')
    base, per_point, most = (table.number(key, 0, MOST_MONEY) for key in ("base", "per_point", "most"))
    return Payment(currency, base, per_point, most)


def _least_per_hour(toml: TomlFile) -> float | None:
    table = toml.table("payment", needed=False)
    return table.number("least_per_hour", 0, MOST_MONEY) if "least_per_hour" in table.values else None


def _completion(toml: TomlFile) -> Completion:
    table = toml.table("completion", known=("code", "redirect"), needed=False)
    code = table.values.get("code", "")
    if "code" in table.values and not (isinstance(code, str) and re.fullmatch(r"[!-~]{1,64}", code)):
        table.problem("code", f"must be text of 1 to 64 visible characters without spaces, got {shown(code)}.")
    redirect = table.text("redirect", 2000, "")
    if redirect:
        wrong = wrong_redirect(redirect, code if isinstance(code, str) else "-")
        if wrong:
            table.problem("redirect", wrong)
    return Completion(str(code), redirect)


def _server(toml: TomlFile) -> Server:
    usual = Server()
    table = toml.table("server", known=[each.name for each in fields(Server)], needed=False)
    return Server(
        table.number("return_within_minutes", 1, 10_080, "minutes", usual.return_within_minutes),
        table.whole("arrivals_per_minute", 1, 1_000_000, default=usual.arrivals_per_minute),
        table.whole("requests_per_second", 1, 10_000, default=usual.requests_per_second),
        table.whole("new_people_per_hour", 1, 1_000_000, default=usual.new_people_per_hour),
        table.whole("address_requests_per_second", 1, 1_000_000, default=usual.address_requests_per_second),
    )

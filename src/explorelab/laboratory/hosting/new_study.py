"""A new study of the laboratory: a folder from a template, with the name, the title and the database that it gets here."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import tomlkit

from explorelab._support.whole_folders import put_folder, workshop
from explorelab.laboratory.hosting.laboratory_folder import LaboratoryFolder, is_name
from explorelab.study.config.start_study import init_study
from explorelab.study.database.refusals import Refused, invalid


class Wish(Protocol):
    """What a new study is to be like."""

    name: str
    title: str
    template: str
    languages: list[str]
    advice: bool


def check_name(folder: LaboratoryFolder, name: str) -> None:
    """Refuse a name that no new study can have."""
    if not is_name(name) or len(name) > 40:
        raise invalid(
            "The name must be 1 to 40 lower-case letters, digits and hyphens, and begin and end with a letter or digit."
        )
    if folder.of(name).exists():
        raise Refused(409, "taken", f"There is a study called {name} already: choose another name.")


def make(folder: LaboratoryFolder, wish: Wish, database: str) -> Path:
    """The folder of a new study, whole or not at all."""
    name, title, languages = wish.name, wish.title.strip(), wish.languages
    target = folder.of(name)
    with workshop(target, "new-study", within=target.parent) as bench:
        made = bench / "study"
        init_study(made, template=wish.template, advice=wish.advice, languages=languages)
        file = made / "study.toml"
        toml = tomlkit.parse(file.read_text(encoding="utf-8"))
        _set(toml, "study", "name", name)
        _set(toml, "database", "url", database)
        if title:
            _set(toml, "study", "title", title)
        file.write_bytes(tomlkit.dumps(toml).encode())
        file.chmod(0o600)  # the database's address may have a password in it
        if title and len(languages) > 1:
            _retitle(made / languages[0] / "texts.toml", title)
        put_folder(made, target)
    return target


def _set(toml: tomlkit.TOMLDocument, table: str, key: str, value: str) -> None:
    """Set a value, keeping the comment behind it; make the table if it is missing."""
    if table not in toml:
        toml[table] = tomlkit.table()
    toml[table][key] = value


def _retitle(file: Path, title: str) -> None:
    """Of several languages each has a title of its own; the one given is in the usual language."""
    toml = tomlkit.parse(file.read_text(encoding="utf-8"))
    if "title" in toml:
        toml["title"] = title
        file.write_bytes(tomlkit.dumps(toml).encode())

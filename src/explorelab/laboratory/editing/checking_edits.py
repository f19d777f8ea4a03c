"""Whether files can be a study, and whether a browser may say what they say: no other files, no code, no other name."""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from explorelab._support.toml.toml_file import PlacedError, Toml, read_toml
from explorelab._support.toml.toml_lines import KeyPath
from explorelab.errors import InputError
from explorelab.laboratory.editing.study_files import STUDY, Files
from explorelab.study.config.checking.check_folder import look_through
from explorelab.study.config.checking.findings import Finding, in_order
from explorelab.study.config.design import Study
from explorelab.study.config.fields import WrongFilesError
from explorelab.study.config.study_folder import load_study

_ELSEWHERE = re.compile(r"^\s*(?:[/\\~]|[A-Za-z]:[/\\])|(?:^|[/\\])\.\.(?:[/\\]|$)")
"""An address of a file outside the study's folder."""
_CODE = re.compile(r"\.py\b")


class Looked(NamedTuple):
    """What was found in files, and the study that they are, if they are one."""

    findings: list[Finding]
    study: Study | None


@contextmanager
def laid_out(files: Files) -> Iterator[Path]:
    """A folder with these files, for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="explorelab-edit-") as place:
        folder = Path(place)
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield folder


def looked_at(files: Files, before: Files, name: str) -> Looked:
    """Everything wrong or doubtful in these files of the study with this name. Takes a while: not for the event loop."""
    with laid_out(files) as folder:
        forbidden = list(_forbidden(folder / STUDY, before, name))
        if any(each.level == "wrong" for each in forbidden):
            return Looked(in_order(forbidden), None)  # it must not even be tried
        try:
            study = load_study(folder)
        except WrongFilesError as error:
            wrong = [Finding(_named(file, folder), line, "wrong", "settings", said) for file, line, said in error.found]
            return Looked(in_order([*forbidden, *wrong]), None)
        except InputError as error:
            said = str(error).replace(f"{folder}/", "").replace(str(folder), "the study")
            return Looked([*forbidden, Finding(STUDY, None, "wrong", "settings", said)], None)
        return Looked(in_order([*forbidden, *look_through(study, folder)]), study)


def _forbidden(file: Path, before: Files, name: str) -> Iterator[Finding]:
    """What a browser may not say in study.toml."""
    try:
        toml = read_toml(file)
    except PlacedError:
        return  # reading the study will say why
    if "database" in toml.values:
        yield _wrong(toml, ("database",), "[database] is the laboratory's: leave it out.")
    about = toml.values.get("study")
    now, then = about.get("name") if isinstance(about, dict) else None, _name(before)
    if then is not None and now != then:
        yield _wrong(toml, ("study", "name"), f"[study] name must stay {then!r}: the data of {name!r} are kept under it.")
    yield from _values(toml, toml.values, (), before)


def _values(toml: Toml, value: object, at: KeyPath, before: Files) -> Iterator[Finding]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _values(toml, each, (*at, key), before)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _values(toml, each, (*at, number), before)
    elif isinstance(value, str):
        if _ELSEWHERE.search(value) and "://" not in value:
            yield _wrong(toml, at, f"must be something in the study's own folder, got {value!r}.")
        elif _CODE.search(value) and value.partition(":")[0] not in before:
            sentence = (
                f"names a program, {value!r}: only somebody with access to the computer can put programs into the folder."
            )
            yield _wrong(toml, at, sentence)


def _wrong(toml: Toml, at: KeyPath, sentence: str) -> Finding:
    return Finding(STUDY, toml.line_of(at), "wrong", "settings", sentence)


def _name(files: Files) -> object:
    try:
        return tomllib.loads(files[STUDY].decode()).get("study", {}).get("name")
    except (KeyError, ValueError, AttributeError):
        return None


def _named(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name

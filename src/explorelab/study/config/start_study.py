"""A new study: a folder with the paper's design and texts, ready to edit."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from explorelab._support.files import cannot_be_written
from explorelab._support.whole_folders import add_files, put_folder, workshop
from explorelab.errors import InputError, unknown_name
from explorelab.study.config.texts import ENGLISH, FILES, LANGUAGES, TEMPLATES, TEXTS

ADVICE = {"consent.md": "## What you will be paid", "instructions.md": "## With the keyboard"}
"""Pages to which a study with advice adds something, and the heading before which it stands in English."""
BEFORE_DATABASE = "# A file in this folder, or a PostgreSQL server"
TITLE = 'title = "A game of squares" '


def init_study(folder: Path, *, advice: bool = False, languages: Sequence[str] = ("en",)) -> list[Path]:
    """Create the folder with all files of a study, or change nothing; returns the files.

    With several languages, each has its own folder of texts, and the first is the usual one.
    """
    folder = Path(folder)
    _check_languages(languages)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected the name of a new folder, but this is a file.")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: expected a new or empty folder, but it is not empty.")
        with workshop(folder, "new-study", within=folder.parent) as made:
            names = _fill(made, advice, languages)
            # An existing folder is kept, not replaced: it may be someone's current directory.
            put = add_files if folder.is_dir() else put_folder
            put(made, folder)
    except OSError as error:
        raise cannot_be_written(folder, error) from None
    return [folder / name for name in names]


def _check_languages(languages: Sequence[str]) -> None:
    for number, language in enumerate(languages):
        if language not in LANGUAGES:
            raise unknown_name("language", language, LANGUAGES)
        if language in languages[:number]:
            raise InputError(f"each language must be named once, got {language!r} twice.")
    if not languages:
        raise InputError("expected at least one language, got none.")


def _fill(made: Path, advice: bool, languages: Sequence[str]) -> list[str]:
    """Write all files of the study; returns their names."""
    shutil.copyfile(TEMPLATES / "study.toml", made / "study.toml")
    if advice:
        _add(made / "study.toml", (TEMPLATES / "advice" / "study.toml").read_text(encoding="utf-8"), BEFORE_DATABASE)
    several = len(languages) > 1
    for language in languages:
        (made / language).mkdir() if several else None
        texts = made / language if several else made
        for name in TEXTS:
            shutil.copyfile(TEMPLATES / language / name, texts / name)
        for name in ADVICE if advice else ():
            more = (TEMPLATES / language / "advice" / name).read_text(encoding="utf-8")
            _add(texts / name, more, _heading(language, name))
    if several:
        quoted = ", ".join(f'"{language}"' for language in languages)
        _add(made / "study.toml", f"languages = [{quoted}]{' ' * 4}# a folder for each; the first is the usual one\n", TITLE)
    elif languages[0] != "en":
        _move_title(made)
    return ["study.toml", *(f"{language}/{name}" for language in languages for name in TEXTS)] if several else list(FILES)


def _heading(language: str, name: str) -> str:
    """The heading before which something is added: in every language the one at the same place as in English."""
    place = _headings(ENGLISH / name).index(ADVICE[name])
    return _headings(TEMPLATES / language / name)[place]


def _headings(file: Path) -> list[str]:
    return re.findall(r"^## .*$", file.read_text(encoding="utf-8"), re.MULTILINE)


def _move_title(made: Path) -> None:
    """Move the title from texts.toml to study.toml, where a study in one language has it."""
    texts = (made / "texts.toml").read_text(encoding="utf-8")
    line = re.search(r'^title = (".*").*\n', texts, re.MULTILINE)
    if line is None:
        return
    (made / "texts.toml").write_bytes(texts.replace(line[0], "", 1).encode())
    study = (made / "study.toml").read_text(encoding="utf-8")
    (made / "study.toml").write_bytes(study.replace(TITLE, f"title = {line[1]} ", 1).encode())


def _add(file: Path, more: str, before: str) -> None:
    """Add to a file before a line of it."""
    start, line, end = file.read_text(encoding="utf-8").partition(before)
    file.write_bytes(f"{start}{more}{line}{end}".encode())

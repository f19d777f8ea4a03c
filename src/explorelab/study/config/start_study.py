"""A new study: a folder with the paper's design, or another one, and texts, ready to edit."""

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
PAPER = "paper"
OWN = "own"
"""The folder with texts that all templates other than the paper's share."""
SECTIONS = {"consent.md": "## What you will do", "debriefing.md": "## What this study is about"}
"""Pages of which those templates have one section of their own, and its heading in English."""
DESIGNS = (PAPER, *sorted(file.parent.name for file in TEMPLATES.glob("*/study.toml") if file.parent.name != "advice"))
"""What a new study can be like: the paper's, or that of a folder with a study.toml."""


def init_study(
    folder: Path, *, template: str = PAPER, advice: bool = False, languages: Sequence[str] = ("en",)
) -> list[Path]:
    """Create the folder with all files of a study, or change nothing; returns the files.

    `template` is one of `DESIGNS`, and only the paper's may have advice. With several languages, each has its own folder of
    texts, and the first is the usual one.
    """
    folder = Path(folder)
    _check_languages(languages)
    if template not in DESIGNS:
        raise unknown_name("template", template, DESIGNS)
    if advice and template != PAPER:
        raise InputError(f"advice belongs to the template {PAPER!r}, got {template!r} with advice.")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected the name of a new folder, but this is a file.")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: expected a new or empty folder, but it is not empty.")
        with workshop(folder, "new-study", within=folder.parent) as made:
            names = _fill(made, advice, languages)
            if template != PAPER:
                names = _changed(made, template, languages, names)
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
            _add(texts / name, more, _heading(language, name, ADVICE[name]))
    if several:
        quoted = ", ".join(f'"{language}"' for language in languages)
        _add(made / "study.toml", f"languages = [{quoted}]{' ' * 4}# a folder for each; the first is the usual one\n", TITLE)
    elif languages[0] != "en":
        _move_title(made)
    return ["study.toml", *(f"{language}/{name}" for language in languages for name in TEXTS)] if several else list(FILES)


def _changed(made: Path, template: str, languages: Sequence[str], names: list[str]) -> list[str]:
    """Make a study with the paper's design one with another; returns the names of all files."""
    several = len(languages) > 1
    titles = {each: _title(template, each) for each in languages}
    listed = re.search(r"^languages = .*\n", (made / "study.toml").read_text(encoding="utf-8"), re.MULTILINE)
    shutil.copyfile(TEMPLATES / template / "study.toml", made / "study.toml")
    usual = f'title = "{_title(template, "en")}"'
    if several and listed is not None:
        _add(made / "study.toml", listed[0], usual)
    elif not several:
        _replace(made / "study.toml", usual, f'title = "{titles[languages[0]]}"')
    for language in languages:
        texts = made / language if several else made
        if several and language != "en":
            old = (texts / "texts.toml").read_text(encoding="utf-8")
            new = re.sub(r'^title = ".*"', f'title = "{titles[language]}"', old, count=1, flags=re.MULTILINE)
            (texts / "texts.toml").write_bytes(new.encode())
        for page, heading in SECTIONS.items():
            _replace_section(texts / page, _heading(language, page, heading), TEMPLATES / OWN / language / page)
        for source in (TEMPLATES / OWN / language, TEMPLATES / template / language):
            for file in sorted(source.iterdir()):
                if file.name not in (*SECTIONS, "title.txt"):
                    shutil.copyfile(file, texts / file.name)
                    name = f"{language}/{file.name}" if several else file.name
                    names = [*names, *([] if name in names else [name])]
    return names


def _title(template: str, language: str) -> str:
    return (TEMPLATES / template / language / "title.txt").read_text(encoding="utf-8").strip()


def _replace(file: Path, old: str, new: str) -> None:
    file.write_bytes(file.read_text(encoding="utf-8").replace(old, new, 1).encode())


def _replace_section(file: Path, heading: str, body: Path) -> None:
    """Replace what stands below a heading, up to the next."""
    start, _, rest = file.read_text(encoding="utf-8").partition(f"{heading}\n")
    following = re.search(r"^## ", rest, re.MULTILINE)
    end = rest[following.start() :] if following else ""
    file.write_bytes(f"{start}{heading}\n\n{body.read_text(encoding='utf-8')}\n{end}".encode())


def _heading(language: str, name: str, english: str) -> str:
    """The heading of a page in a language: the one at the same place as this one in English."""
    place = _headings(ENGLISH / name).index(english)
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

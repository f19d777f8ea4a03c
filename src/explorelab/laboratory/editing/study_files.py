"""The files of a study that are edited, kept in versions and compared: never its database, its backups, or its password."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import tomlkit

from explorelab._support.files import new_private_file, write_bytes
from explorelab.errors import InputError
from explorelab.study.config.shared_files import without_database
from explorelab.study.database.refusals import invalid

STUDY = "study.toml"
TEXTS = (".toml", ".md", ".csv", ".txt")
"""What can be typed."""
PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
KEPT = (*TEXTS, *PICTURES, ".py", ".nc")
"""What versions hold: also models and fits, which only somebody with access to the computer can put there."""
MOST_FILES, LARGEST_TEXT, LARGEST = 300, 60_000, 64_000_000
APART = ("backups/", "payments/")
"""Folders of what the command line writes: not everyone who may see the texts may see who was paid."""
EXPORTED = "dataset_description.json"
"""Is in every folder of exported data, which are no part of the study and must not stay in its versions."""
LONGEST_WORD = 300
"""Characters without a space in what people read: looking for addresses in a word takes as long as its length squared."""
_LONG = re.compile(rf"\S{{{LONGEST_WORD + 1}}}")
_NAME = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_-]{0,60}/){0,2}[A-Za-z0-9][A-Za-z0-9_.-]{0,80}")

type Files = dict[str, bytes]
"""Contents by name, with / between folders."""
type Edits = Mapping[str, str | None]
"""The text of each file that is changed or new; None for one that is removed."""


def read_files(folder: Path) -> Files:
    """A study's files as they are in its folder, study.toml without the database."""
    found: Files = {}
    exports = {file.parent for file in folder.rglob(EXPORTED)} - {folder}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if is_kept(name) and exports.isdisjoint(path.parents) and path.is_file() and not path.is_symlink():
            found[name] = path.read_bytes()
    if len(found) > MOST_FILES or sum(map(len, found.values())) > LARGEST:
        raise InputError(f"{folder}: a study may have at most {MOST_FILES} files of {LARGEST // 10**6} MB together.")
    if STUDY in found:
        found[STUDY] = _shown(found[STUDY])
    return found


def is_kept(name: str) -> bool:
    """Whether a file of this name belongs to the study."""
    return _NAME.fullmatch(name) is not None and name.endswith(KEPT) and not name.startswith(APART)


def with_edits(files: Files, edits: Edits) -> Files:
    """The files after these changes, which may only be texts."""
    changed = dict(files)
    for name, text in edits.items():
        check_text(name, text)
        if text is None:
            changed.pop(name, None)
        else:
            plain = text.replace("\r\n", "\n")
            changed[name] = (_ended(plain) if name == STUDY else plain).encode()
    if len(changed) > MOST_FILES:
        raise invalid(f"A study may have at most {MOST_FILES} files.")
    return changed


def check_text(name: str, text: str | None) -> None:
    """Refuse what cannot be typed: other kinds of files, names that lead elsewhere, texts without end."""
    if not is_kept(name) or not name.endswith(TEXTS):
        kinds = ", ".join(TEXTS)
        raise invalid(
            f"Only texts of the study can be changed ({kinds}), with letters, digits, - and _ in names; got {name!r}."
        )
    if text is None and name == STUDY:
        raise invalid("study.toml cannot be removed.")
    if text is not None and (len(text) > LARGEST_TEXT or "\0" in text):
        raise invalid(f"{name} must be text of at most {LARGEST_TEXT:,} characters.")
    if text is not None and name.endswith((".md", ".toml")) and name != STUDY and _LONG.search(text):
        raise invalid(f"{name} has a word of more than {LONGEST_WORD} characters.")


def put_files(files: Files, folder: Path) -> None:
    """Make the folder's files these, each completely or not at all; the study keeps its own database."""
    url = database_url(folder / STUDY)
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name == STUDY:
            with new_private_file(target) as beside:
                beside.write_bytes(_with_database(content, url))
        elif not target.is_file() or target.read_bytes() != content:
            write_bytes(target, content)
    for name in read_files(folder):
        if name not in files:
            (folder / name).unlink()


def database_url(file: Path) -> str | None:
    """The address of the database that a study.toml names; None if it names none."""
    url = tomlkit.parse(file.read_text(encoding="utf-8-sig")).get("database", {}).get("url")
    return None if url is None else str(url)


def _shown(content: bytes) -> bytes:
    try:
        return _ended(without_database(content.decode("utf-8-sig"))).encode()
    except (UnicodeDecodeError, ValueError):
        raise InputError("study.toml cannot be read: mend it in the folder.") from None


def _ended(text: str) -> str:
    """The text with one end of line at its end, where the database is added and taken away again."""
    return f"{text.rstrip()}\n"


def _with_database(content: bytes, url: str | None) -> bytes:
    """The text with the table [database] at its end."""
    text = content.decode()
    if url is None:
        return content
    table = tomlkit.table()
    table["url"] = url
    return f"{text.rstrip()}\n\n{tomlkit.dumps({'database': table})}".encode()

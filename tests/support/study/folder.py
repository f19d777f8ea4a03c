"""Study folders to change and to complain about."""

import re
from pathlib import Path

import pytest

from explorelab.errors import InputError
from explorelab.study.config.addresses import DATABASE
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study

CONTACT = "lab@uni-bonn.de"


def new_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new study, with a short name to look for in messages."""
    monkeypatch.delenv(DATABASE, raising=False)
    monkeypatch.chdir(tmp_path)
    init_study(Path("my-study"))
    return Path("my-study")


def change(file: Path, old: str, new: str) -> int:
    """Put the new text where the old one is, which must be there once outside comments; the line where it is."""
    text = file.read_text(encoding="utf-8")
    found = [at.start() for at in re.finditer(re.escape(old), text) if "#" not in text[: at.start()].rsplit("\n", 1)[-1]]
    assert len(found) == 1, f"{old!r} is {len(found)} times in {file}"
    (at,) = found
    file.write_text(text[:at] + new + text[at + len(old) :], encoding="utf-8")
    return text.count("\n", 0, at) + 1


def problems(folder: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_study(folder)
    return str(caught.value).splitlines()


def finish(folder: Path) -> None:
    """Fill in everything that a new study leaves to fill in."""
    for file in folder.rglob("*.md"):
        text = re.sub(r"\*\*\[[^]]{3,}\]\*\*", CONTACT, file.read_text(encoding="utf-8"))
        file.write_text(text, encoding="utf-8")
    toml = folder / "study.toml"
    toml.write_text(toml.read_text(encoding="utf-8").replace("CHANGE-ME", "C123"), encoding="utf-8")

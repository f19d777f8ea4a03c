"""The floor plan: small rooms, each with a name and a sentence on what is in it, and tests beside their subjects."""

from __future__ import annotations

import ast
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

import explorelab
from tests.support.longest import LONGEST

pytestmark = pytest.mark.quick

SOURCE = Path(explorelab.__file__).parent
TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
MOST_ENTRIES = 14
WITHOUT_CODE = {"static", "templates"}
"""Folders of files that the package hands out or reads."""
VERSIONS = {SOURCE / "study" / "database" / "migrations" / "versions", SOURCE / "laboratory" / "database" / "forms"}
"""Every form that a database has had: they grow, and Alembic reads them by itself."""
WITHOUT_SUBJECT = {"support", "contract", "packaging", "browser"}
"""Folders of tests that are about no single folder of the source."""


def entries(folder: Path) -> list[Path]:
    """What somebody sees who opens the folder."""
    return [path for path in sorted(folder.iterdir()) if path.name != "__pycache__" and not path.name.startswith(".")]


def folders(folder: Path) -> list[Path]:
    """The folder and all below it."""
    return [folder, *(each for below in entries(folder) if below.is_dir() for each in folders(below))]


ROOMS = [folder for folder in folders(SOURCE) if not WITHOUT_CODE & set(folder.relative_to(SOURCE).parts)]
"""Every folder of the package that holds code."""


def named(folder: Path) -> str:
    return folder.relative_to(SOURCE.parent).as_posix()


@pytest.mark.parametrize("folder", [room for room in ROOMS if room != SOURCE and room not in VERSIONS], ids=named)
def test_no_folder_has_more_entries_than_one_takes_in_at_a_glance(folder: Path) -> None:
    assert len(entries(folder)) <= MOST_ENTRIES, [path.name for path in entries(folder)]


def test_at_the_top_there_are_folders_the_errors_and_the_way_in() -> None:
    assert {path.name for path in entries(SOURCE) if path.is_file()} == {
        "__init__.py",
        "__init__.pyi",
        "__main__.py",
        "errors.py",
        "py.typed",
    }


def test_no_file_name_occurs_twice() -> None:
    names = Counter(path.name for room in ROOMS for path in room.glob("*.py") if path.name != "__init__.py")
    assert [name for name, n in names.items() if n > 1] == []


@pytest.mark.parametrize("folder", [room for room in ROOMS if room not in VERSIONS], ids=named)
def test_every_folder_says_what_is_in_it(folder: Path) -> None:
    first = folder / "__init__.py"
    assert first.is_file()
    assert ast.get_docstring(ast.parse(first.read_text(encoding="utf-8")))


def test_no_public_name_is_that_of_a_folder_which_would_take_its_place_once_loaded() -> None:
    modules = {"agents", "tasks", "theory"}
    assert {name for name in explorelab.__all__ if (SOURCE / name).is_dir()} == modules


def test_tests_lie_where_their_subjects_lie() -> None:
    about = [folder.relative_to(TESTS) for folder in folders(TESTS)]
    mirrored = [folder for folder in about if not WITHOUT_SUBJECT & set(folder.parts)]
    assert [folder.as_posix() for folder in mirrored if not (SOURCE / folder).is_dir()] == []


ABOVE = (ROOT, SOURCE, SOURCE / "agents", SOURCE / "study", ROOT / "page", ROOT / "tests")
"""Where paths on pages for contributors may start."""


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_contributors_are_sent_to_exist(page: str) -> None:
    paths = re.findall(r"`([\w.][\w./-]*/[\w./-]*)`", (ROOT / page).read_text(encoding="utf-8"))
    assert len(paths) > 10
    assert [path for path in paths if not any((folder / path).exists() for folder in ABOVE)] == []


def test_the_picture_of_the_layers_shows_those_that_are_checked() -> None:
    drawn = runpy.run_path(str(ROOT / "scripts" / "architecture.py"))["picture"]()
    assert (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8") == drawn


@pytest.mark.parametrize("folder", sorted({path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}))
def test_every_folder_of_tests_has_some_that_are_quick(folder: str) -> None:
    marked = [
        path for path in (TESTS / folder).rglob("test_*.py") if "pytest.mark.quick" in path.read_text(encoding="utf-8")
    ]
    # Those of the study all need a server.
    assert marked or folder == "study"


def test_no_file_of_tests_computes_anything_when_it_is_imported(computed_at_import: list[str]) -> None:
    """Every process of a run imports every file, so what is computed there is computed and compiled many times over."""
    assert computed_at_import == []


def test_the_files_that_run_first_exist() -> None:
    assert [name for name in LONGEST if not (TESTS / name).exists()] == []

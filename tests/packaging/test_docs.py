"""The documentation names only what exists: names in `xl`, links, and paths of the repository."""

from __future__ import annotations

import re
from functools import cache, reduce
from itertools import chain
from pathlib import Path

import pytest

import explorelab

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT)
    for path in chain(
        ROOT.glob("*.md"), (ROOT / "docs").glob("*.md"), (ROOT / "page").glob("*.md"), ROOT.glob("page/plugin/*.md")
    )
)
BUILT = ("page/dist/", "page/node_modules/", "api.d.ts", "grid-bandit.mjs")
"""Made by a build, so not in every checkout."""
PACKAGE = ROOT / "src/explorelab"
PAGE = ROOT / "page"
FOLDERS = {path.name for path in chain(ROOT.iterdir(), PACKAGE.iterdir(), PAGE.iterdir()) if path.is_dir()} | {
    "..",
    "explorelab",
}
"""A path that begins with one of these is one of the repository; others belong to a study or an export."""

XL_NAME = re.compile(r"\bxl((?:\.[A-Za-z_]\w*)+)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
MODULE = re.compile(r"\bexplorelab((?:\.[a-z_]\w*)+)")
SCRIPT = re.compile(r"python -m ((?:bench|evaluations|tests)(?:\.\w+)+)")
SOURCE = re.compile(r"\w[\w.-]*\.(?:py|ts|mjs)")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+/?")


def missing_names(text: str) -> list[str]:
    """Names such as `xl.tasks.landscape` that explorelab does not have."""
    return [f"xl{found}" for found in XL_NAME.findall(text) if not _resolves(found)]


def missing_modules(text: str) -> list[str]:
    """Dotted names such as `explorelab.theory.corrected` that do not exist."""
    return [f"explorelab{found}" for found in MODULE.findall(text) if not _resolves(found)]


def missing_scripts(text: str) -> list[str]:
    """Modules run with `python -m` that the repository does not have."""
    return [name for name in SCRIPT.findall(text) if not (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()]


def missing_links(text: str, page: Path) -> list[str]:
    """Relative links from the page that lead nowhere."""
    links = [link for link in LINK.findall(text) if not re.match(r"[a-z]+:|#", link)]
    return [link for link in links if not (ROOT / page.parent / link.partition("#")[0]).exists()]


def missing_paths(text: str, page: Path) -> list[str]:
    """Paths in backticks that exist neither at the root, in the package, nor beside the page."""
    codes = [code for code in CODE.findall(text) if PATH.fullmatch(code) and code.split("/")[0] in FOLDERS]
    places = (ROOT, ROOT / "src", PACKAGE, ROOT / page.parent)
    return [code for code in codes if not code.startswith(BUILT) and not any((place / code).exists() for place in places)]


def missing_files(text: str) -> list[str]:
    """Source files in backticks, such as `doubts.py`, that are nowhere in the repository."""
    return [code for code in CODE.findall(text) if SOURCE.fullmatch(code) and code not in {*_source_files(), *BUILT}]


def _resolves(dotted: str) -> bool:
    """Whether explorelab has this name: an attribute, or a module."""
    try:
        reduce(getattr, dotted.strip(".").split("."), explorelab)
    except AttributeError:
        return _module_has(dotted.strip("."))
    return True


def _module_has(dotted: str) -> bool:
    """Whether a module of the package, or the text of one, has this name: modules need not be imported by the package."""
    path = PACKAGE / dotted.replace(".", "/")
    if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    return module.is_file() and re.search(rf"^(?:def |class )?{path.name}\b", module.read_text(), re.MULTILINE) is not None


@cache
def _source_files() -> frozenset[str]:
    folders = ("src", "tests", "bench", "evaluations", "scripts", "page/participant", "page/plugin", "page/researcher")
    nested = chain.from_iterable((ROOT / folder).rglob("*.*s") for folder in folders)
    return frozenset(
        path.name for path in chain(nested, *((ROOT / folder).rglob("*.py") for folder in folders), PAGE.iterdir())
    )


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_names_only_what_exists(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert missing_names(text) == []
    assert missing_modules(text) == []
    assert missing_scripts(text) == []
    assert missing_links(text, page) == []
    assert missing_paths(text, page) == []
    assert missing_files(text) == []


def test_the_readme_leads_to_every_page() -> None:
    links = LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert [str(page) for page in PAGES if page.parent.name == "docs" and str(page) not in links] == []


def test_what_does_not_exist_is_found() -> None:
    text = (
        "`moon.py`, xl.tasks.moon, explorelab.moon.rock, `python -m bench.moon`, [](docs/moon.md), `src/explorelab/moon.py`"
    )
    page = Path("README.md")
    assert missing_names(text) == ["xl.tasks.moon"]
    assert missing_modules(text) == ["explorelab.moon.rock"]
    assert missing_scripts(text) == ["bench.moon"]
    assert missing_links(text, page) == ["docs/moon.md"]
    assert missing_paths(text, page) == ["src/explorelab/moon.py"]
    assert missing_files(text) == ["moon.py"]

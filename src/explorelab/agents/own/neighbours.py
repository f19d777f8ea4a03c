"""The files that a user's file imports from its own folder: they belong to the model as much as the file itself."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

INSTALLED = sys.stdlib_module_names | {"explorelab", "jax", "jaxlib", "numpy", "pandas", "scipy", "xarray"}
"""Modules that are never a neighbour, whatever files there are."""


def digest(file: str) -> str:
    """The SHA-256 of a file and of the files beside it that it imports; empty if there is no such file."""
    path = Path(file)
    if not path.is_file():
        return ""
    content = hashlib.sha256(path.read_bytes())
    for each in neighbours(path):
        content.update(each.name.encode() + hashlib.sha256(each.read_bytes()).digest())
    return content.hexdigest()


def neighbours(path: Path) -> list[Path]:
    """The files in its folder that a file imports, and those that they import in turn."""
    folder, found, new = path.resolve().parent, set[Path](), [path.resolve()]
    while new:
        for name in _imported(new.pop()) - INSTALLED:
            package = (folder / name / "__init__.py").is_file()
            files = (folder / name).rglob("*.py") if package else folder.glob(f"{name}.py")
            more = set(files) - found - {path.resolve()}
            found |= more
            new += more
    return sorted(found)


def _imported(path: Path) -> set[str]:
    """The first words of the modules that a file imports by their full names; none if it does not parse."""
    try:
        program = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names: list[str] = []
    for node in ast.walk(program):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}


@contextmanager
def importing_own(path: Path) -> Iterator[None]:
    """Let a file that is run find its own neighbours, and leave the modules of everybody else as they were.

    Two models in two folders may both import a file "helper": each gets the one beside it, as it is now.
    """
    folder = str(path.resolve().parent)
    own = {each.relative_to(folder).parts[0].removesuffix(".py") for each in neighbours(path)}
    hidden = _taken_out(own)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        _taken_out(own)
        sys.modules.update(hidden)


def _taken_out(names: set[str]) -> dict[str, ModuleType]:
    loaded = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in loaded}

"""Where a report goes: made aside, put in place at the end, so that a run leaves everything or nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from explorelab._support.files import check_writable
from explorelab.errors import InputError
from explorelab.plots.style import write_bytes


class Place(NamedTuple):
    """The page, and the folder of its figures and tables."""

    page: Path
    folder: Path

    def link(self, name: str) -> str:
        """From the page to a file of the folder."""
        return quote(Path(os.path.relpath(self.folder / name, self.page.parent)).as_posix())


def place_for(out: Path | str, figures: Path | str | None) -> Place:
    """Where everything goes, checked before any work."""
    page = Path(out).absolute()
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out}: expected a name that ends in .html, got {page.suffix or 'no ending'}.")
    check_writable(page)
    folder = Path(figures).absolute() if figures is not None else page.with_name(f"{page.stem}_files")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: expected a folder for figures, but this is a file.")
    ground = _ground(folder)
    if not os.access(ground, os.W_OK):
        raise InputError(f"{folder}: cannot be written: no permission in {ground}.")
    return Place(page, folder)


def _ground(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.is_dir())


@contextmanager
def workshop(place: Place) -> Iterator[Path]:
    """A hidden folder on the same disk as the figures, gone afterwards whatever happens."""
    aside = Path(tempfile.mkdtemp(prefix=".report-", dir=_ground(place.folder)))
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def put(aside: Path, place: Place, page: str) -> None:
    """Every file to where it belongs, the page last; other files in the folder are left alone."""
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(aside.iterdir()):
            path.replace(place.folder / path.name)
    except OSError as error:
        raise InputError(f"{place.folder}: cannot be written: {error.strerror or error}.") from None
    write_bytes(place.page, page.encode())

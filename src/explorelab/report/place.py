"""Where a report goes: built aside and moved into place at the end, so that a run leaves everything or nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from explorelab._support.files import check_writable, write_bytes
from explorelab._support.whole_folders import check_folder_writable, put_files
from explorelab.errors import InputError


class Place(NamedTuple):
    """The page and the folder of its figures and tables."""

    page: Path
    folder: Path

    def link(self, name: str) -> str:
        """A link from the page to a file in the folder."""
        return quote(Path(os.path.relpath(self.folder / name, self.page.parent)).as_posix())


def place_for(out: Path | str, figures: Path | str | None) -> Place:
    """Where everything goes, checked before any work starts."""
    page = Path(out).absolute()
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out}: expected a name ending in .html, got {page.suffix or 'no extension'}.")
    check_writable(page)
    folder = Path(figures).absolute() if figures is not None else page.with_name(f"{page.stem}_files")
    check_folder_writable(folder)
    return Place(page, folder)


def put(aside: Path, place: Place, page: str) -> None:
    """Move every file into place, the page last; other files in the folder are left alone."""
    put_files(aside, place.folder)
    write_bytes(place.page, page.encode())

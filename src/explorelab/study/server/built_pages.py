"""The built pages, and what to do if they are missing."""

from __future__ import annotations

from pathlib import Path

from explorelab.errors import InputError

STATIC = Path(__file__).parents[1] / "static"
PAGES = ("index.html", "study.js", "study.css", "admin.html", "admin.js", "admin.css", "login.html", "laboratory.html")
"""What the server sends; scripts/page.py builds it."""


def check_built() -> None:
    """Raise if pages are missing, saying what to do in a checkout or after pip."""
    missing = [name for name in PAGES if not (STATIC / name).is_file()]
    if not missing:
        return
    if (Path(__file__).parents[4] / "page" / "build.mjs").is_file():
        raise InputError("the study's pages have not been built: run `make page`, which needs Node 20 or newer.")
    raise InputError(
        f"this installation of explorelab lacks the study's pages ({missing[0]}): install it again from a wheel, "
        "or with `pip install .` in a checkout with Node 20 or newer installed."
    )

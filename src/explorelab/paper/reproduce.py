"""Making the whole reproduction: every figure, its files and the page, in one go and all at once."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from explorelab._support import checks
from explorelab._support.progress import Progress
from explorelab.errors import InputError
from explorelab.paper.exhibit import Effort
from explorelab.paper.exhibits import EXHIBITS
from explorelab.paper.paper_page import Shown, render
from explorelab.plots.style import save, style, write_bytes


def reproduce(out: Path | str, seed: int = 0, quick: bool = False, progress: bool | None = None) -> Path:
    """Make every figure of the reproduction in the folder `out`, and the page `out/index.html`, whose path comes back.

    Figures lie in `out/figures`, each as PNG, SVG and the CSV of the data drawn. Everything is made in a folder aside and
    moved into place at the end, so that what stands in `out` is always one complete run; other files there are left alone.
    `quick` uses few replicates and short horizons: a test, not a measurement. `progress` shows a bar (by default, on a
    terminal).
    """
    effort = Effort(checks.whole("seed", seed, at_least=0), bool(quick))
    place = Path(out).absolute()
    with _workshop(place) as aside, Progress("figures", len(EXHIBITS) + 1, progress) as bar:
        shown = []
        for entry in EXHIBITS:
            bar.name(entry.title)
            with style():
                exhibit = entry.make(effort)
            shown.append(Shown(entry, exhibit, save(exhibit.figure, exhibit.data, aside / "figures" / entry.name)))
            bar.advance()
        bar.name("page")
        write_bytes(aside / "index.html", render(shown, effort, _command(place, effort)).encode())
        _move(aside, place)
    return place / "index.html"


def _command(place: Path, effort: Effort) -> str:
    return f"explorelab reproduce --out {place.name} --seed {effort.seed}{' --quick' if effort.quick else ''}"


@contextmanager
def _workshop(place: Path) -> Iterator[Path]:
    """A hidden folder, on the same disk as the place, that is gone afterwards whatever happens."""
    try:
        ground = next(folder for folder in (place, *place.parents) if folder.exists())
        if (place / "figures").exists() and not (place / "figures").is_dir():
            raise FileExistsError(errno.EEXIST, "a file named figures is in the way")
        aside = Path(tempfile.mkdtemp(prefix=".reproduce-", dir=ground))
        (aside / "figures").mkdir()
    except OSError as error:
        raise _cannot_write(place, error) from None
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _move(aside: Path, place: Path) -> None:
    """Every file to where it belongs, the page last."""
    try:
        (place / "figures").mkdir(parents=True, exist_ok=True)
        for path in sorted((aside / "figures").iterdir()):
            path.replace(place / "figures" / path.name)
        (aside / "index.html").replace(place / "index.html")
    except OSError as error:
        raise _cannot_write(place, error) from None


def _cannot_write(place: Path, error: OSError) -> InputError:
    reason = (error.strerror or str(error)).lower()
    return InputError(f"cannot write into {place}: {reason}. Name a folder that can be written to with --out.")

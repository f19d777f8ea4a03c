"""Making the whole reproduction: every figure, its files and the page, in one go and all at once."""

from __future__ import annotations

import errno
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorelab._support import checks
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
    with _workshop(place) as aside, _bar(progress) as step:
        shown = []
        for entry in EXHIBITS:
            step(entry.title)
            with style():
                exhibit = entry.make(effort)
            shown.append(Shown(entry, exhibit, save(exhibit.figure, exhibit.data, aside / "figures" / entry.name)))
        step("page")
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


@contextmanager
def _bar(shown: bool | None) -> Iterator[Callable[[str], None]]:
    """A progress bar that names what is being made; the function that comes back starts the next part."""
    if not (sys.stderr.isatty() if shown is None else shown):
        yield lambda name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns: tuple[Any, ...] = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=len(EXHIBITS) + 1)
        begun = 0

        def step(name: str) -> None:
            nonlocal begun
            bar.update(task, description=name, completed=begun)
            begun += 1

        yield step

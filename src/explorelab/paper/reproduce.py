"""Make the whole reproduction: every figure, its files and the page, all or nothing."""

from __future__ import annotations

from pathlib import Path

from explorelab._support import checks
from explorelab._support.files import write_bytes
from explorelab._support.progress import Progress
from explorelab._support.whole_folders import check_folder_writable, nearest_folder, put_files, workshop
from explorelab.paper.exhibit import Effort
from explorelab.paper.exhibits import EXHIBITS
from explorelab.paper.paper_page import Shown, render
from explorelab.plots.style import save, style


def reproduce(out: Path | str, seed: int = 0, quick: bool = False, progress: bool | None = None) -> Path:
    """Make every figure of the reproduction in the folder `out`, and the page `out/index.html`; return its path.

    Figures are in `out/figures`, each as PNG, SVG and the CSV of the data drawn. Everything is made in a separate folder and
    moved into place at the end, so that `out` always holds one complete run; other files there are left alone.
    `quick` uses few replicates and short horizons: a test, not a measurement. `progress` shows a bar (by default, on a
    terminal).
    """
    effort = Effort(checks.whole("seed", seed, at_least=0), bool(quick))
    place = Path(out).absolute()
    figures = place / "figures"
    check_folder_writable(figures)
    with (
        workshop(place, "reproduce", within=nearest_folder(place)) as aside,
        Progress("figures", len(EXHIBITS) + 1, progress) as bar,
    ):
        (aside / figures.name).mkdir()
        shown = []
        for entry in EXHIBITS:
            bar.name(entry.title)
            with style():
                exhibit = entry.make(effort)
            shown.append(Shown(entry, exhibit, save(exhibit.figure, exhibit.data, aside / figures.name / entry.name)))
            bar.advance()
        bar.name("page")
        write_bytes(aside / "index.html", render(shown, effort, _command(place, effort)).encode())
        put_files(aside / figures.name, figures)
        put_files(aside, place)  # the page last
    return place / "index.html"


def _command(place: Path, effort: Effort) -> str:
    return f"explorelab reproduce --out {place.name} --seed {effort.seed}{' --quick' if effort.quick else ''}"

"""Make the whole reproduction: every figure, its files and the page, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from explorelab._support import checks
from explorelab._support.files import write_bytes
from explorelab._support.progress import Progress
from explorelab._support.whole_folders import check_folder_writable, nearest_folder, put_files, workshop
from explorelab.errors import InputError
from explorelab.paper.exhibit import CHANGEABLE, SHORTEST, Effort, Entry
from explorelab.paper.exhibits import EXHIBITS
from explorelab.paper.paper_page import Shown, render
from explorelab.plots.style import save, style


def reproduce(
    out: Path | str,
    seed: int = 0,
    quick: bool = False,
    progress: bool | None = None,
    *,
    only: Sequence[str] | None = None,
    given: Mapping[str, object] | None = None,
) -> Path:
    """Make every figure of the reproduction in the folder `out`, and the page `out/index.html`; return its path.

    Figures are in `out/figures`, each as PNG, SVG and the CSV of the data drawn. Everything is made in a separate folder and
    moved into place at the end, so that `out` always holds one complete run; other files there are left alone.
    `quick` uses few replicates and short horizons: a test, not a measurement. `progress` shows a bar (by default, on a
    terminal). `only` names some of the figures, also by their numbers in the paper; they get a page of their own, so that a
    whole reproduction in the same folder stays as it is. `given` are the horizon and the number of replicates, where they
    should be others than a figure's own.
    """
    entries = EXHIBITS if only is None else chosen(only)
    effort = Effort(checks.whole("seed", seed, at_least=0), bool(quick), changed(given or {}, entries))
    place = Path(out).absolute()
    page = "index.html" if only is None else f"{'-and-'.join(entry.short for entry in entries)}.html"
    figures = place / "figures"
    check_folder_writable(figures)
    with (
        workshop(place, "reproduce", within=nearest_folder(place)) as aside,
        Progress("figures", len(entries) + 1, progress) as bar,
    ):
        (aside / figures.name).mkdir()
        shown = []
        for entry in entries:
            bar.name(entry.title)
            with style():
                exhibit = entry.make(effort)
            shown.append(Shown(entry, exhibit, save(exhibit.figure, exhibit.data, aside / figures.name / entry.name)))
            bar.advance()
        bar.name("page")
        write_bytes(aside / page, render(shown, effort, _command(place, effort, entries)).encode())
        put_files(aside / figures.name, figures)
        put_files(aside, place)  # the page last
    return place / page


def chosen(names: Sequence[str]) -> tuple[Entry, ...]:
    """The figures with these names, or these numbers in the paper, in the order of the page."""
    by_name: dict[str, Entry] = {}
    for entry in EXHIBITS:
        numbers = [word for number in entry.figures for word in (str(number), f"figure-{number}")]
        by_name |= dict.fromkeys((entry.short, entry.name, *numbers), entry)
    if not names:
        raise InputError("only must name at least one figure, got none.")
    wanted = {str(checks.one_of("figure", name, by_name).name) for name in names}
    return tuple(entry for entry in EXHIBITS if entry.name in wanted)


def changed(given: Mapping[str, object], entries: Sequence[Entry]) -> dict[str, int]:
    """The settings, checked: known, large enough, and of figures that have them."""
    for name in given:
        checks.one_of("setting of a figure", name, dict.fromkeys(CHANGEABLE, 0))
    still = [entry.short for entry in entries if not entry.simulates]
    if given and len(still) == len(entries):
        raise InputError(f"{still[0]} simulates nothing, so it has no {' and no '.join(given)} to change.")
    return {name: checks.whole(name, value, at_least=SHORTEST[name], at_most=checks.MANY) for name, value in given.items()}


def _command(place: Path, effort: Effort, entries: Sequence[Entry]) -> str:
    words = ["explorelab", "reproduce", "--out", place.name, "--seed", str(effort.seed)]
    if len(entries) < len(EXHIBITS):
        words += ["--only", ",".join(entry.short for entry in entries)]
    for name, value in effort.given.items():
        words += ["-s", f"{name}={value}"]
    return " ".join([*words, "--quick"] if effort.quick else words)

"""Figures: one style for all, a record of every number drawn, and files that appear completely or not at all.

A `Drawing` draws and records in one step, so that the CSV beside a figure cannot differ from it. Figures are made without
pyplot: they need no window system and leave no global settings changed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import QuadMesh
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from scipy.optimize import isotonic_regression

from explorelab._support.files import write_bytes, write_whole
from explorelab.errors import InputError

BLUE, VERMILION, GREEN = "#0072b2", "#d55e00", "#009e73"
PURPLE, ORANGE, SKY = "#aa4499", "#c98a00", "#3d9cc9"
INK, GREY, PALE = "#222222", "#6b6b6b", "#d9d9d9"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
"""After Okabe & Ito: distinguishable with any colour vision and in print; yellows are darkened to be visible on white."""

FORMATS = (".png", ".svg", ".pdf")
"""File extensions of figures."""

FULL_WIDTH = 7.2
"""Inches across a page."""

STYLE: dict[str, Look] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.labelsize": 9.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "lines.linewidth": 1.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "svg.hashsalt": "explorelab",
}


type Mosaic = list[Any]
"""Names of panels, row by row; a name may be a mosaic again."""

type Look = Any
"""What matplotlib takes by name: colours, widths, limits; each of its functions has its own types for them."""


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings for our figures, until the block ends."""
    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = mpl.rcParams  # its type lists every name that matplotlib knows
        settings.update(STYLE)
        yield


class Drawing:
    """A figure, its panels by letter or name, and a record of all that is drawn on them."""

    def __init__(
        self, layout: Mosaic, width: float = FULL_WIDTH, height: float = 3.3, **grid: Sequence[float] | float
    ) -> None:
        self.figure = Figure(figsize=(width, height))
        self.axes: dict[str, Axes] = self.figure.subplot_mosaic(layout, gridspec_kw=grid or None)
        self._names: dict[str, tuple[str, str, str]] = {}
        self._records: list[pd.DataFrame] = []

    def panel(self, key: str, title: str, x: str, y: str, log: str = "", **settings: Look) -> Axes:
        """The panel of this key, with its title and axes named; `log` holds the axes that are logarithmic."""
        axes = self.axes[key]
        self._names[key] = (title, x, y)
        axes.set_title(title)
        axes.set(xlabel=x, ylabel=y, **settings)
        if "x" in log:
            axes.set_xscale("log")
            readable_log(axes.xaxis)
        if "y" in log:
            axes.set_yscale("log")
            readable_log(axes.yaxis)
        return axes

    def line(self, key: str, x: npt.ArrayLike, y: npt.ArrayLike, curve: str, **look: Look) -> None:
        """A line; it enters the legend under `label`, if there is one."""
        self.axes[key].plot(*self._record(key, x, y, curve, "line"), **look)

    def points(self, key: str, x: npt.ArrayLike, y: npt.ArrayLike, curve: str, **look: Look) -> None:
        """Single points."""
        self.axes[key].plot(*self._record(key, x, y, curve, "point"), **{"marker": "o", "ls": "none", **look})

    def band(self, key: str, x: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, curve: str, **look: Look) -> None:
        """A band between two curves, where both are known."""
        x, low, high = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in (x, low, high)))
        known = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        _, high = self._record(key, x[known], high[known], curve, "high")
        x, low = self._record(key, x[known], low[known], curve, "low")
        self.axes[key].fill_between(x, low, high, **{"alpha": 0.2, "lw": 0, **look})

    def interval(
        self,
        key: str,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        at: npt.ArrayLike,
        curve: str,
        upright: bool = False,
        **look: Look,
    ) -> None:
        """Intervals between two numbers, along the axis (or `upright` across it), each at its place."""
        ends = [self._record(key, *((at, end) if upright else (end, at)), curve, name)
                for end, name in ((low, "low"), (high, "high"))]  # fmt: skip
        place, low, high = (ends[0][0], ends[0][1], ends[1][1]) if upright else (ends[0][1], ends[0][0], ends[1][0])
        draw = self.axes[key].vlines if upright else self.axes[key].hlines
        draw(place, low, high, **look)

    def bars(
        self, key: str, at: npt.ArrayLike, start: npt.ArrayLike, length: npt.ArrayLike, curve: str, **look: Look
    ) -> BarContainer:
        """Bars that lie along the axis, from their start, for their length."""
        length, at = self._record(key, length, at, curve, "length")
        return self.axes[key].barh(at, length, left=np.asarray(start, dtype=float), **look)

    def cells(self, key: str, values: npt.ArrayLike, **look: Look) -> QuadMesh:
        """A surface of squares, `values[x][y]`, both counted from 1; the record has a curve along x for each y."""
        surface = np.asarray(values, dtype=float)
        x = np.arange(1, surface.shape[0] + 1)
        for row, along in enumerate(surface.T, start=1):
            self._record(key, x, along, f"y = {row}", "cell")
        edges = [np.arange(n + 1) + 0.5 for n in surface.shape]
        return self.axes[key].pcolormesh(*edges, surface.T, **{"edgecolors": "white", "linewidth": 0.4, **look})

    def say(self, key: str, across: float, y: float, words: str, colour: str, **look: Look) -> None:
        """Words on a panel, ending at a share of its width, at a height in its own units."""
        axes = self.axes[key]
        look = {"ha": "right", "fontsize": 8.5, **look}
        axes.text(across, y, words, color=colour, transform=axes.get_yaxis_transform(), **look)

    @property
    def data(self) -> pd.DataFrame:
        """Everything drawn, one row per point: panel, names of its axes, curve, part of the curve, x and y."""
        return pd.concat(self._records, ignore_index=True)

    def _record(self, key: str, x: npt.ArrayLike, y: npt.ArrayLike, curve: str, part: str) -> tuple[np.ndarray, np.ndarray]:
        x, y = np.broadcast_arrays(np.atleast_1d(np.asarray(x, float)), np.atleast_1d(np.asarray(y, float)))
        drawn = np.isfinite(x) & np.isfinite(y)
        x, y = x[drawn], y[drawn]
        title, x_name, y_name = self._names[key]
        names = {"panel": title or key, "x_name": x_name, "y_name": y_name, "curve": curve, "part": part}
        self._records.append(pd.DataFrame({**names, "x": x, "y": y}))
        return x, y


def readable_log(axis: Axis) -> None:
    """Ticks of a logarithmic axis at powers of ten, as 0.1, 1, 1000, and beyond as 10⁻² or 10⁴."""
    axis.set_major_locator(LogLocator(numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))
    axis.set_minor_formatter(NullFormatter())


def power_of_ten(value: float) -> str:
    """A power of ten for a reader: 0.1, 1, 1000, 10⁴."""
    if value <= 0:
        return ""
    exponent = round(np.log10(value))
    if -2 < exponent < 4:
        return f"{value:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def thousands(axis: Axis) -> None:
    """Ticks of an axis with thin spaces between thousands; where they are not whole, with the decimals that they have."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}".replace(",", "\u2009")))


def whole_ticks(axis: Axis, most: int = 5) -> None:
    """Ticks of an axis that counts something: at whole numbers only, however few of them there are."""
    axis.set_major_locator(MaxNLocator(most, integer=True, min_n_ticks=1))


def names_at_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]], gap: float = 0.055) -> None:
    """Names written beside the ends of lines, (x, y, name, colour), moved apart where they would touch.

    To be called once the axes have their limits; `gap` is the least distance of two names, in heights of the panel.
    """
    to_axes = axes.transAxes.inverted()
    heights = np.array([to_axes.transform(axes.transData.transform((x, y)))[1] for x, y, _, _ in ends])
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(ends))
    # least squares with neighbours at least a gap apart: an isotonic regression once the gaps are subtracted
    placed = isotonic_regression(heights[order] - steps).x + steps
    for height, (_, _, name, colour) in zip(placed, (ends[i] for i in order), strict=True):
        axes.annotate(name, (1.02, height), xycoords="axes fraction", color=colour, va="center", fontsize=8.5,
                      annotation_clip=False)  # fmt: skip


class SavedFigure(NamedTuple):
    """The three files of a figure."""

    png: Path
    svg: Path
    csv: Path


def save(figure: Figure, data: pd.DataFrame, stem: Path) -> SavedFigure:
    """Write `stem`.png (150 dpi), .svg (text as text) and .csv (the data drawn), each completely or not at all.

    The same figure gives the same bytes: no dates, and fixed names inside the SVG.
    """
    files = SavedFigure(*(stem.with_name(f"{stem.name}.{ending}") for ending in SavedFigure._fields))
    with style():
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.set_layout_engine("none")  # both files have the layout of the first
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    csv = data.to_csv(index=False, float_format="%.8g", lineterminator="\n").encode()
    for path, content in zip(files, (png.getvalue(), svg.getvalue(), csv), strict=True):
        write_bytes(path, content)
    return files


UNDATED: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""What leaves out when a figure was made."""


def check_format(path: Path) -> None:
    """Raise if a figure cannot be written to this file."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: a figure's name must end in .png, .svg or .pdf, got {path.suffix or 'no extension'}.")


def write_figure(draw: Callable[[], Drawing], path: Path, dpi: int = 300) -> None:
    """Write what `draw()` draws as .png, .svg or .pdf; the same figure gives the same bytes."""
    check_format(path)
    kind = path.suffix.lower()[1:]
    with style():
        figure = draw().figure
        write_whole(path, lambda beside: figure.savefig(beside, format=kind, dpi=dpi, metadata=UNDATED.get(kind)))

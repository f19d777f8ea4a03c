"""The page of a report: one self-contained file, made from a template."""

from __future__ import annotations

import io
from typing import NamedTuple

from explorelab.plots.pages import inside, rendered, width_of
from explorelab.plots.style import SavedFigure, style
from explorelab.plots.words import are_people, who_played, with_paper_named
from explorelab.report.analysis import Analysis
from explorelab.report.methods import Methods
from explorelab.report.place import Place
from explorelab.report.section import Picture, Section

LARGEST_SVG = 300_000
"""Bytes; a larger figure is shown as PNG, sharp enough to print, with its SVG in the folder."""
DPI = 220


class Shown(NamedTuple):
    """A section and the files of its figures, by their names."""

    section: Section
    saved: dict[str, SavedFigure]


def render(found: Analysis, shown: list[Shown], told: Methods, place: Place) -> str:
    """The page as HTML, with figures and style embedded."""
    figures, tables = _Numbers("Figure"), _Numbers("Table")
    sections = [_section(each, place, figures, tables) for each in shown]
    return rendered(
        "explorelab.report",
        title=_title(found),
        source=found.choices.source or "choices",
        note=_note(found),
        sections=sections,
        shorts=[each for each in sections if each["short"]],
        methods=told,
        quick=found.settings.quick,
        command=shown[-1].section.lead[-1] if len(shown[-1].section.lead) > 1 else "",
        folder=place.folder.name,
    )


def _title(found: Analysis) -> str:
    return f"How {who_played(found.choices)} explored"


def _note(found: Analysis) -> str:
    """What a reader must know first: the data's own note, and who played if it was not people."""
    choices = found.choices
    said = (
        "" if are_people(choices) else f"This report is about {who_played(choices)}; where it says people, it means these."
    )
    return " ".join(part for part in (said, with_paper_named(choices.note)) if part)


class _Numbers:
    """Figure 1, Figure 2, ..."""

    def __init__(self, what: str) -> None:
        self._what, self._n = what, 0

    def next(self) -> str:
        self._n += 1
        return f"{self._what} {self._n}"


def _section(each: Shown, place: Place, figures: _Numbers, tables: _Numbers) -> dict[str, object]:
    section = each.section
    return {
        "key": section.key,
        "title": section.title,
        "lead": list(section.lead),
        "short": section.short,
        "notes": [note for note in section.notes if note],
        "pictures": [_picture(one, each.saved[one.name], place, figures.next()) for one in section.pictures],
        "tables": [
            {"number": tables.next(), "caption": table.caption, "headings": table.headings, "rows": table.rows,
             "words": set(table.words),
             "key": f"{section.key}-table-{k}", "stack": len(set(table.words)) == len(table.headings)}
            for k, table in enumerate(section.tables, start=1)
        ],
        "files": {f"{name}.csv": place.link(f"{name}.csv") for name in section.files},
    }  # fmt: skip


def _picture(picture: Picture, files: SavedFigure, place: Place, number: str) -> dict[str, object]:
    figure = picture.drawing.figure
    return {
        "number": number,
        "caption": picture.caption,
        "alt": picture.alt,
        "width": width_of(figure),
        "ratio": f"{figure.get_figwidth():.4g} / {figure.get_figheight():.4g}",
        "image": _image(picture, files),
        "files": {name.upper(): place.link(path.name) for name, path in files._asdict().items()},
    }


def _image(picture: Picture, files: SavedFigure) -> str:
    """The figure as a data URL: SVG, or PNG if the SVG is large."""
    svg = files.svg.read_bytes()
    if len(svg) <= LARGEST_SVG:
        return inside("svg+xml", svg)
    png = io.BytesIO()
    with style():
        picture.drawing.figure.savefig(png, format="png", dpi=DPI, metadata={"Software": None})
    return inside("png", png.getvalue())

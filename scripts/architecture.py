"""Draws docs/architecture.svg: the layers that import-linter checks, from pyproject.toml, the upper ones on top."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"

WORDS = {
    "cli": "commands: parse, call one function, print",
    "laboratory": "several studies on one server, with accounts",
    "report": "the page about choices",
    "paper": "the page about the paper",
    "study": "the experiment, from consent to payment",
    "plots": "every figure and its style",
    "recovery": "can a fit find the truth? simulated people, refitted",
    "companions": "one person, live: estimate, forecast, advice",
    "comparison": "which agent describes whom best",
    "fitting": "choices × agent → estimates",
    "regret": "what people lost, and the form it follows",
    "simulation": "agent × task → runs",
    "theory": "what is promised: bounds",
    "choices": "what people did: files, checks, the table",
    "agents": "who plays: learner, limit, choice, commitment",
    "tasks": "what is played: means, noise, costs, graphs",
    "_support": "checks, whole-or-nothing files, progress, parallel work",
    "errors": "what is raised on purpose",
}
"""What each folder is about, in a few words."""
BESIDE = {
    "cli": "Rich prints here alone,\nbut for the progress bar",
    "study": "page/ (TypeScript) asks it over HTTP;\nFastAPI and SQLAlchemy here alone;\nnever fits or reports",
    "plots": "Matplotlib draws here,\nin report and in paper alone",
    "agents": "neither knows the other",
}
"""What else holds for a layer, in the margin beside it."""
COLOURS = {
    "laboratory": "#fde8d0",
    "study": "#fde8d0",
    "agents": "#dcebfa",
    "tasks": "#dcebfa",
    "_support": "#eeeeee",
    "errors": "#eeeeee",
}

LEFT, TOP, WIDTH, MARGIN = 70, 24, 700, 250
HEIGHT, GAP = 44, 10


def layers() -> list[list[str]]:
    """The folders of each layer, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [[name.strip() for name in row.split("|")] for row in rows]


def text(x: float, y: float, words: str, style: str) -> str:
    """A line of text whose middle or start is at x."""
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(words)}</text>'


def box(x: float, y: float, width: float, name: str) -> str:
    """A folder: its name, and what it is about."""
    fill = COLOURS.get(name, "#f6f6f2")
    return "\n".join(
        [
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="6" fill="{fill}" stroke="#555555"/>',
            text(x + width / 2, y + 18, f"{name}.py" if name == "errors" else f"{name}/", "name"),
            text(x + width / 2, y + 35, WORDS[name], "words"),
        ]
    )


def row(folders: list[str], y: float) -> list[str]:
    """The boxes of a layer side by side, wider if they hold more text, and the note in the margin."""
    lengths = [len(WORDS[name]) for name in folders]
    room = WIDTH - GAP * (len(folders) - 1)
    drawn, x = [], float(LEFT)
    for name, length in zip(folders, lengths, strict=True):
        width = room * length / sum(lengths)
        drawn.append(box(x, y, width, name))
        x += width + GAP
    lines = [line for name in folders for line in BESIDE.get(name, "").split("\n") if line]
    first = y + HEIGHT / 2 + 4 - 7 * (len(lines) - 1)
    return drawn + [text(LEFT + WIDTH + 14, first + 14 * i, line, "beside") for i, line in enumerate(lines)]


def picture() -> str:
    """The whole picture as SVG."""
    rows = layers()
    bottom = TOP + len(rows) * (HEIGHT + GAP) - GAP
    middle, width, height = (TOP + bottom) / 2, LEFT + WIDTH + MARGIN, bottom + 24
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
            "<title>The layers of explorelab: a folder may import those below it</title>",
            "<style>text { font-family: Helvetica, Arial, sans-serif; fill: #222222 }",
            ".name { font-size: 14px; font-weight: bold; text-anchor: middle }",
            ".words { font-size: 11.5px; text-anchor: middle } .beside { font-size: 12px; fill: #555555 }",
            ".axis { font-size: 13px; text-anchor: middle; fill: #555555 }</style>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            f'<path d="M 46 {TOP} V {bottom - 8}" stroke="#888888" stroke-width="2"/>',
            f'<path d="M 40 {bottom - 12} L 46 {bottom} L 52 {bottom - 12} z" fill="#888888"/>',
            f'<g transform="rotate(-90 30 {middle:g})">',
            text(30, middle, "a folder may import those below it, never one beside or above", "axis"),
            "</g>",
            *(part for i, folders in enumerate(rows) for part in row(folders, TOP + i * (HEIGHT + GAP))),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")

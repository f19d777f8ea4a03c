"""The jsPsych plugin alone, on a page without a server: every layout as a block of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

PAGE = Path(__file__).parents[3] / "page"
HTML = """<!doctype html><html lang="en"><head><title>A block</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><h1 hidden>A block</h1></body></html>"""
RUN = """block => {
    const jsPsych = window.jsPsychOfTest = initJsPsych({use_webaudio: false});
    jsPsych.run([{type: jsPsychGridBandit, n_trials: 5, noise: 0, ...block}]);
}"""

COLOURED = [
    {"label": "Red", "colour": "#c0392b"},
    {"label": "Blue", "colour": "#2471a3"},
    {"label": "Green", "colour": "#1e8449"},
    {"label": "Yellow", "colour": "#f1c40f"},
]
TOWN: dict[str, Any] = {
    "kind": "graph",
    "arms": ["Dock", "Market", "Mill", "4", "Tower", "Well", "7"],
    "places": [[0.1, 0.2], [0.45, 0.1], [0.85, 0.25], [0.25, 0.6], [0.6, 0.55], [0.9, 0.75], [0.45, 0.92]],
    "edges": [[0, 1], [1, 2], [0, 3], [1, 4], [3, 4], [4, 5], [2, 5], [3, 6], [6, 5]],
}
ONE_WAY: dict[str, Any] = {
    **TOWN,
    "directed": True,
    "edges": [[0, 1], [1, 2], [3, 0], [1, 4], [4, 1], [4, 3], [4, 5], [2, 5], [6, 3], [5, 6], [6, 5]],
}
"""The same town, where most streets lead one way only."""
LAYOUTS: dict[str, dict[str, Any]] = {
    "grid": {"kind": "grid", "width": 10, "height": 10},
    "buttons": {"kind": "buttons", "arms": COLOURED},
    "pictures": {
        "kind": "buttons",
        "arms": [{"picture": "data:image/gif;base64,R0lGODlhAQABAAAAACw=", "label": "Fox"}, "Owl"],
    },
    "line": {"kind": "line", "arms": ["1", "2", "3", "4", "5", "6"]},
    "long line": {"kind": "line", "arms": [""] * 20},
    "graph": TOWN,
    "arrows": ONE_WAY,
}
"""Every kind of layout, and sizes that look otherwise."""


def n_arms(layout: dict[str, Any]) -> int:
    """The number of arms."""
    return len(layout["arms"]) if "arms" in layout else int(layout["width"] * layout["height"])


def show(page: Page, layout: dict[str, Any], *, direction: str = "ltr", **block: Any) -> None:
    """Begin a block of this layout, on a page without anything else."""
    page.set_content(HTML)
    page.evaluate("direction => { document.documentElement.dir = direction; }", direction)
    for style in ("node_modules/jspsych/css/jspsych.css", "dist/grid-bandit.css"):
        page.add_style_tag(path=PAGE / style)
    for script in ("node_modules/jspsych/dist/index.browser.min.js", "dist/grid-bandit.js"):
        page.add_script_tag(path=PAGE / script)
    means = [10.0 * arm for arm in range(n_arms(layout))]
    page.evaluate(RUN, {"layout": layout, "means": means, "start": 0, **block})
    page.wait_for_selector('.grid-bandit[data-phase="choosing"]')


def cell(page: Page, arm: int) -> Any:
    """An arm on the screen."""
    return page.locator(f'[data-arm="{arm}"], [data-square="{arm}"]')


def data_of(page: Page) -> str:
    """What jsPsych has collected, as JSON."""
    page.wait_for_function("() => jsPsychOfTest.data.get().count() === 1")
    return str(page.evaluate("() => jsPsychOfTest.data.get().json()"))

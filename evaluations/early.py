"""How early the form of a person's regret is known: while they play, from a group learned on others.

    python -m evaluations.early                     # 60 people, into docs/companion.md and docs/companion-early.png
    python -m evaluations.early --load              # the same from evaluations/early.json, which the last run left
    python -m evaluations.early --n 12 --others 12  # a quick look, printed only

About five minutes on two cores. People and others are simulated: they range between the paper's two example agents.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import explorelab as xl
from explorelab.companions.assessment.assess import assess
from explorelab.plots.companions.companion_figures import draw_person
from explorelab.plots.phenotype_figure import COLOURS, DASHES
from explorelab.plots.style import GREY, INK, Drawing, write_figure
from explorelab.recovery.demo_people import demo_population
from explorelab.regret.forms import FORMS

TIMES = (15, 30, 45, 60)
BOOTSTRAP = 2000
FEWEST = 3
"""People with a form, and without, below which its area says nothing."""
DOCS = Path(__file__).parents[1] / "docs"
SAVED = Path(__file__).with_suffix(".json")


def area(score: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve: the probability that a positive scores higher than a negative, ties counting half."""
    if not positive.any() or positive.all():
        return np.nan
    above = score[positive][:, None] - score[~positive]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())


def known_at(found: xr.Dataset, t: int, rng: np.random.Generator) -> dict[str, Any]:
    """How well the final forms are known after t choices, with bootstrap errors over people."""
    score, label = found["form_probability"].sel(trial=t).values, found["label"].values
    guess = np.array(found["form"].values)[score.argmax(1)]
    draws = rng.integers(len(label), size=(BOOTSTRAP, len(label)))
    forms = {}
    for k, form in enumerate(FORMS):
        has = label == form
        if min(has.sum(), (~has).sum()) < FEWEST:
            continue
        spread = np.nanstd([area(score[at, k], has[at]) for at in draws])
        forms[form] = {"n": int(has.sum()), "area": area(score[:, k], has), "error": float(spread)}
    right = guess == label
    return {"t": t, "forms": forms, "right": float(right.mean()), "right_error": float(right[draws].mean(1).std())}


def most_frequent(found: xr.Dataset) -> tuple[str, float]:
    """The most frequent final form, and its share."""
    names, counts = np.unique(found["label"].values, return_counts=True)
    return str(names[counts.argmax()]), float(counts.max() / counts.sum())


def table(rows: list[dict[str, Any]], common: tuple[str, float]) -> str:
    """The table for the page."""
    forms = list(rows[0]["forms"])
    heads = ["after", *(f"{form} (n = {rows[0]['forms'][form]['n']})" for form in forms), "most probable form is right"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---|" * (len(heads) - 1)]
    for row in rows:
        cells = [f"{row['forms'][form]['area']:.2f} ± {row['forms'][form]['error']:.2f}" for form in forms]
        lines.append(
            f"| {row['t']} | " + " | ".join(cells) + f" | {100 * row['right']:.0f} ± {100 * row['right_error']:.0f} % |"
        )
    lines.append("")
    lines.append(f"Always saying “{common[0]}” would be right for {100 * common[1]:.0f} %.")
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]], common: tuple[str, float]) -> Drawing:
    """(a) Areas by form over time, (b) how often the most probable form is right."""
    drawing = Drawing([["a", "b"]], width=6.2, height=2.7)
    times = [row["t"] for row in rows]
    axes = drawing.panel(
        "a", "(a) Each form against the rest", "choices seen", "area under the ROC curve", ylim=(0.45, 1.02)
    )
    axes.set_xticks(times)
    for k, form in enumerate(rows[0]["forms"]):
        at = np.array(times) + 0.8 * (k - 1)
        value, error = (np.array([row["forms"][form][part] for row in rows]) for part in ("area", "error"))
        drawing.interval("a", value - error, value + error, at, f"{form}, standard error", upright=True, color=COLOURS[form])
        look = {"color": COLOURS[form], "ls": DASHES[form], "marker": "o", "ms": 4, "label": form}
        drawing.line("a", at, value, form, **look)
    drawing.line("a", [times[0], times[-1]], [0.5, 0.5], "chance", color=GREY, lw=1, ls=(0, (4, 2)))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.16), borderaxespad=0.1)
    axes = drawing.panel("b", "(b) Most probable form", "choices seen", "right (%)", ylim=(0, 103))
    axes.set_xticks(times)
    right, error = (100 * np.array([row[part] for row in rows]) for part in ("right", "right_error"))
    drawing.interval("b", right - error, right + error, times, "standard error", upright=True, color=INK)
    drawing.line("b", times, right, "right", color=INK, marker="o", ms=4)
    drawing.line("b", [times[0], times[-1]], [100 * common[1]] * 2, "most frequent form", color=GREY, lw=1, ls=(0, (4, 2)))
    drawing.say("b", 0.97, 100 * common[1] - 7, f"always “{common[0]}”", GREY)
    return drawing


def write(rows: list[dict[str, Any]], common: tuple[str, float], n: int) -> None:
    """Put the table between its marks on the page, and draw the figure."""
    page = DOCS / "companion.md"
    text = page.read_text(encoding="utf-8")
    said = f"<!-- early: {n} people, python -m evaluations.early -->\n{table(rows, common)}\n<!-- end -->"
    page.write_text(re.sub(r"<!-- early.*?<!-- end -->", lambda _: said, text, flags=re.DOTALL), encoding="utf-8")
    write_figure(lambda: draw(rows, common), DOCS / "companion-early.png", dpi=150)


def picture(group: xr.DataTree, points: int) -> None:
    """One person from choice to choice, for the top of the page."""
    people, row = demo_population(0, 16), 4
    one = people.choices.rows([row])
    found = assess(one, None, group, every=3, n_points=points, progress=False)
    truth = {name: float(people.truth[name].iloc[row]) for name in map(str, found["parameter"].values)}
    write_figure(lambda: draw_person(found, 0, truth), DOCS / "companion.png", dpi=150)


def main() -> None:
    """Simulate, assess and write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=60, help="people who are assessed")
    options.add_argument("--others", type=int, default=40, help="people from whom the group is learned")
    options.add_argument("--points", type=int, default=128)
    options.add_argument("--write", action="store_true", help="write the page even for another number of people")
    options.add_argument("--load", action="store_true", help="read what was found last time")
    given = options.parse_args()
    if given.load:
        kept = json.loads(SAVED.read_text(encoding="utf-8"))
        write(kept["rows"], tuple(kept["most_frequent"]), kept["n"])
        return
    group = xl.fit(demo_population(1, given.others).choices, "stochastic-ucl", "em", n_starts=2)
    found = assess(demo_population(0, given.n).choices, None, group, every=15, n_points=given.points)
    rng = np.random.default_rng(0)
    rows, common = [known_at(found, t, rng) for t in TIMES], most_frequent(found)
    print(table(rows, common))
    if given.write or given.n >= 60:
        kept = {"n": given.n, "others": given.others, "rows": rows, "most_frequent": common}
        SAVED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        picture(group, given.points)
        write(rows, common, given.n)


if __name__ == "__main__":
    main()

"""The page about schedules: what was measured, as tables and one figure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaluations.schedules import MODELS, PLAIN
from evaluations.schedules_models import FEEDBACK, n_parameters
from evaluations.schedules_simulated import NAMES, POSSIBLE
from evaluations.schedules_words import INTRODUCTION, LIMITS, PEOPLE, SIMULATED

SETS = {"wu2018": "wu2018, 80 people", "meder2025": "meder2025, 103 people"}
WITH = ("habits", "no habits")


class Result(NamedTuple):
    """One model's left-out rounds, over the halves that were measured: sums for each person."""

    nll: np.ndarray
    chance: float
    n_choices: np.ndarray
    group: list[dict[str, float]]
    n_halves: int


def result(kept: dict[str, Any], *name: str) -> Result | None:
    """The result of this name, or None if it was not measured."""
    found = [kept[full] for number in (1, 2) if (full := " | ".join([*name, f"half {number}"])) in kept]
    if not found:
        return None
    nll, n = (np.sum([one[what] for one in found], axis=0) for what in ("nll", "n_choices"))
    return Result(nll, sum(one["chance"] for one in found), n, [one["group"] for one in found], len(found))


def results(kept: dict[str, Any], *name: str, models: tuple[tuple[str, str], ...] = MODELS) -> dict[tuple[str, str], Result]:
    """Every model measured on the same halves as the plain one."""
    found = {model: one for model in models if (one := result(kept, *name, *model)) is not None}
    if PLAIN not in found:
        return {}
    return {model: one for model, one in found.items() if one.n_halves == found[PLAIN].n_halves}


def gain(one: Result, plain: Result) -> tuple[float, float]:
    """How much better than the plain model, in nats a choice, with its standard error over people."""
    each = (plain.nll - one.nll) / one.n_choices
    return float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))


def said(model: tuple[str, str]) -> str:
    """A model in words."""
    return f"{model[0]} | {model[1]}"


def family(found: dict[tuple[str, str], Result], at: int) -> dict[tuple[str, str], Result]:
    """The models that differ from the plain one at most in the credibility (0) or the cooling (1)."""
    return {model: one for model, one in found.items() if model[1 - at] == "constant"}


def selected(found: dict[tuple[str, str], Result]) -> dict[tuple[str, str], tuple[float, float]]:
    """Frequency and protected exceedance probability of each model."""
    import explorelab as xl

    chosen = xl.group_selection(np.stack([-one.nll for one in found.values()], 1), list(map(said, found)))
    numbers = zip(chosen["frequency"].values, chosen["protected_exceedance"].values, strict=True)
    return dict(zip(found, ((float(a), float(b)) for a, b in numbers), strict=True))


# Tables ---------------------------------------------------------------------------------------------------------------


def people_table(kept: dict[str, Any], name: str, habits: str) -> list[str]:
    """Every model of a data set, with or without habits."""
    found = results(kept, name, habits)
    if not found:
        return []
    chosen = [selected(family(found, at)) for at in (0, 1)]
    lines = [
        "| credibility | cooling | parameters | R2 | gain, nats a choice | people better | frequency (exceedance) |",
        "|---" * 7 + "|",
    ]
    for model, one in found.items():
        more, error = gain(one, found[PLAIN])
        better = int((one.nll < found[PLAIN].nll).sum())
        own = [f"{chosen[at][model][0]:.2f} ({chosen[at][model][1]:.2f})" for at in (0, 1) if model in chosen[at]]
        cells = [
            *model,
            str(1 if model[1] == FEEDBACK else n_parameters(*model, habits == "habits")),
            f"{1 - one.nll.sum() / one.chance:.4f}",
            "" if model == PLAIN else f"{more:+.4f} ± {error:.4f}",
            "" if model == PLAIN else str(better),
            " / ".join(own),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


class Confusion(NamedTuple):
    """Which model predicts left-out blocks best, given which one made them."""

    models: list[tuple[str, str]]
    share: np.ndarray
    """Made by x fitted: share of people whom this model predicts best."""
    behind: np.ndarray
    """Made by x fitted: how far behind the truth, in nats a person."""
    error: np.ndarray


def confusion(kept: dict[str, Any], design: str, variant: str) -> Confusion | None:
    """All models fitted to the choices of each, on one design; None if some are missing."""
    rows = []
    for truth in POSSIBLE:
        found = results(kept, design, variant, *truth, models=POSSIBLE)
        if len(found) == len(POSSIBLE):
            rows.append((truth, np.stack([found[model].nll for model in POSSIBLE], 1)))
    if not rows:
        return None
    best = [np.bincount(nll.argmin(1), minlength=len(POSSIBLE)) / len(nll) for _, nll in rows]
    lost = [nll - nll[:, [POSSIBLE.index(truth)]] for truth, nll in rows]
    error = [one.std(0, ddof=1) / np.sqrt(len(one)) for one in lost]
    return Confusion([truth for truth, _ in rows], np.array(best), np.array([one.mean(0) for one in lost]), np.array(error))


def confusion_table(found: Confusion) -> list[str]:
    """How far behind the truth each model is, in nats a person, and the share of people that the truth wins."""
    heads = ["made by", *(short(model) for model in POSSIBLE), "truth best for"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for i, truth in enumerate(found.models):
        own = POSSIBLE.index(truth)
        cells = ["0" if j == own else f"{found.behind[i, j]:.1f} ± {found.error[i, j]:.1f}" for j in range(len(POSSIBLE))]
        lines.append("| " + " | ".join([short(truth), *cells, f"{100 * found.share[i, own]:.0f} %"]) + " |")
    return lines


SHORT = {
    ("constant", "constant"): "both constant", ("none", "constant"): "no bonus", ("1/(K t)", "constant"): "bonus 1/(K t)",
    ("1/(K t^a)", "constant"): "bonus 1/(K t^a)", ("t^b", "constant"): "bonus t^b",
    ("1/(K trials left)", "constant"): "bonus 1/(K left)", ("horizon^h", "constant"): "bonus T^h",
    ("constant", "nu / log t"): "ν / log t", ("constant", "t^-c"): "temp. t^-c",
    ("constant", "spread / log t"): "spread / log t", ("constant", "horizon^h"): "temp. T^h",
    ("1/(K t)", "nu / log t"): "1/(K t), ν / log t", ("t^b", "t^-c"): "t^b, t^-c",
    ("1/(K t)", FEEDBACK): "1/(K t), feedback",
}  # fmt: skip
"""Models in figures and narrow tables."""


def short(model: tuple[str, str]) -> str:
    """A model in a few letters."""
    return SHORT[model]


# The figure -----------------------------------------------------------------------------------------------------------


ROWS = (
    ("none", "constant"), ("1/(K t)", "constant"), ("1/(K t^a)", "constant"), ("t^b", "constant"),
    ("1/(K trials left)", "constant"), ("horizon^h", "constant"), ("constant", "nu / log t"), ("constant", "t^-c"),
    ("constant", "spread / log t"), ("constant", "horizon^h"), ("1/(K t)", "nu / log t"), ("t^b", "t^-c"),
)  # fmt: skip
"""Models of the figure, from above."""
LOWEST = -0.27
"""Where the axis of gains ends; what lies beyond is written."""


def drawn(model: tuple[str, str]) -> str:
    """A model's label in the figure, with its powers raised."""
    return re.sub(r"\^(-?\w)", r"$^{\1}$", short(model))


def draw(kept: dict[str, Any], file: Path) -> None:
    """People above: what each schedule gains over constant ones. Simulated people below: who is taken for whom."""
    from explorelab.plots.style import Drawing, style

    measured = [results(kept["people"], name, habits) for name in SETS for habits in WITH]
    shown = [model for model in ROWS if any(model in found for found in measured)]
    with style():
        drawing = Drawing([["A", "B"], ["C", "D"]], height=7.4, height_ratios=[1.0, 1.0])
        for letter, (name, title) in zip("AB", SETS.items(), strict=True):
            _gains(drawing, letter, f"({letter.lower()}) {title}", kept["people"], name, shown)
        for letter, design in zip("CD", NAMES, strict=True):
            title = f"({letter.lower()}) Simulated, design of {'wu2018' if design == 'wu2018' else 'the study'}"
            _matrix(drawing, letter, title, confusion(kept.get("simulated", {}), design, "no habits"))
        for letter in "BD":
            drawing.axes[letter].tick_params(labelleft=False)
            drawing.axes[letter].set_ylabel("")
        handles, said_of = drawing.axes["A"].get_legend_handles_labels()
        drawing.figure.legend(handles, said_of, loc="outside upper right", ncols=2)
        drawing.figure.savefig(file, dpi=150, metadata={"Software": None})


def _gains(drawing: Any, letter: str, title: str, kept: dict[str, Any], name: str, shown: list[tuple[str, str]]) -> None:
    from explorelab.plots.style import BLUE, INK, VERMILION

    axes = drawing.panel(letter, title, "gain (nats a choice)", "")
    axes.axvline(0, color=INK, lw=0.8)
    for shift, colour, habits in ((-0.14, BLUE, "habits"), (0.14, VERMILION, "no habits")):
        found = results(kept, name, habits)
        for row, model in enumerate(shown):
            if model in found:
                middle, error = gain(found[model], found[PLAIN])
                if middle < LOWEST:
                    axes.text(LOWEST, row + shift, f"◂ {middle:.2f}", color=colour, va="center", fontsize=8.5)
                else:
                    axes.errorbar(middle, row + shift, xerr=1.96 * error, fmt="o", ms=4, color=colour, capsize=2)
        axes.plot([], [], "o", ms=4, color=colour, label="with habits" if habits == "habits" else "without habits")
    axes.set_yticks(range(len(shown)), [drawn(model) for model in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(LOWEST - 0.01, 0.06)
    axes.set_xticks([-0.2, -0.1, 0.0])


def _matrix(drawing: Any, letter: str, title: str, found: Confusion | None) -> None:
    axes = drawing.panel(letter, title, "best on left-out blocks", "made by")
    if found is None:
        axes.set_axis_off()
        return
    axes.grid(False)
    axes.imshow(100 * found.share, cmap="Blues", vmin=0, vmax=100, aspect="auto")
    for i in range(len(found.models)):
        winner = int(found.behind[i].argmin())
        for j in range(len(POSSIBLE)):
            share = 100 * found.share[i, j]
            look = {"color": "white" if share > 55 else "#222222", "weight": "bold" if j == winner else "normal"}
            axes.text(j, i, f"{share:.0f}", ha="center", va="center", fontsize=8.5, **look)
    axes.set_xticks(range(len(POSSIBLE)), [drawn(model) for model in POSSIBLE], rotation=45, ha="right")
    axes.set_yticks(range(len(found.models)), [drawn(model) for model in found.models])


# The page -------------------------------------------------------------------------------------------------------------


def write_page(kept: dict[str, Any], docs: Path) -> None:
    """Write docs/schedules.md and its figure."""
    draw(kept, docs / "schedules.png")
    made = kept.get("simulated", {})
    parts = [INTRODUCTION, "## People\n", PEOPLE]
    for name, title in SETS.items():
        for habits in WITH:
            lines = people_table(kept["people"], name, habits)
            if lines:
                parts.append(
                    f"### {title}, with{'out' if habits == 'no habits' else ''} habits\n\n" + "\n".join(lines) + "\n"
                )
    parts += ["## Simulated people of known schedules\n", SIMULATED]
    for variant, words in VARIANT_WORDS.items():
        for design, title in NAMES.items():
            found = confusion(made, design, variant)
            if found is not None:
                parts.append(f"### {words[0].upper()}{words[1:]}: {title}\n\n" + "\n".join(confusion_table(found)) + "\n")
    parts.append(LIMITS)
    (docs / "schedules.md").write_text("\n".join(parts), encoding="utf-8")


VARIANT_WORDS = {
    "no habits": "people without habits, with a clear bonus",
    "habits": "people with the habits of wu2018",
    "habits left out": "people with habits, fitted without",
}

"""The page and figure of bench/people.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bench import people_bayes

ROOT = Path(__file__).resolve().parent.parent


def write(results: dict[str, Any]) -> None:
    """Write docs/benchmarks-people.md and docs/people-scaling.png."""
    draw(results["fits"], ROOT / "docs" / "people-scaling")
    (ROOT / "docs" / "benchmarks-people.md").write_text(page(results), encoding="utf-8")


def draw(fits: list[dict[str, Any]], stem: Path) -> None:
    """Seconds against the number of people, with the straight line through them."""
    from explorelab.plots.style import BLUE, GREY, Drawing, style

    n, seconds = (np.array([one[name] for one in fits]) for name in ("people", "seconds"))
    slope, base = np.polyfit(n, seconds, 1)
    with style():
        drawing = Drawing("A", width=4.6, height=3.0)
        drawing.panel("A", "MAP fit of four parameters, 10 starts", "people", "seconds, first call")
        at = np.array([0, n.max() * 1.05])
        label = f"{base:.0f} s + {1e3 * slope:.0f} ms per person"
        drawing.line("A", at, base + slope * at, "line", color=GREY, ls="--", label=label)
        drawing.points("A", n, seconds, "measured", color=BLUE)
        drawing.axes["A"].legend(loc="upper left")
        drawing.axes["A"].set(xlim=(0, None), ylim=(0, None))
        drawing.figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})


def page(results: dict[str, Any]) -> str:
    """The page as Markdown."""
    fits, floor, refit, gpu = (results.get(name) for name in ("fits", "numpy", "refit", "gpu"))
    last = fits[-1]
    per_person, floor_each = last["seconds"] / last["people"], floor["seconds"] / floor["people"]
    lines = [
        "# Benchmarks: fitting people",
        "",
        "<!-- Written by bench/people.py (make bench): change that, not this. -->",
        "",
        f"Two cores, load {results['load']:.2f} before the run. The stochastic UCL with its four parameters (prior mean,",
        "prior variance, length scale, temperature) fitted by MAP from 10 starts to simulated people on the paper's task",
        "(100 arms, 90 choices each). Each size runs in its own process; compilation is included.",
        "",
        "| people | seconds | processor s | peak memory, MiB | starts that reach the optimum |",
        "|---|---|---|---|---|",
        *(
            f"| {one['people']} | {one['seconds']:.0f} | {one['processor_s']:.0f} | {one['peak_mib']:.0f} "
            f"| {one['starts_at_best']:.0%} |"
            for one in fits
        ),
        "",
        "![Seconds against the number of people: a straight line](people-scaling.png)",
        "",
        f"The target was 180 s and 2 048 MiB for 326 people; measured: {last['seconds']:.0f} s and "
        f"{last['peak_mib']:.0f} MiB.",
        "",
        "The floor is the same objective in NumPy (one Cholesky factor per person, no loop over trials), minimised by",
        f"SciPy's L-BFGS-B with numerical gradients from the same 10 starts, one core, {floor['people']} people: "
        f"{floor_each:.1f} s per person ({floor['evaluation_ms']:.2f} ms per evaluation). Ours: {per_person:.2f} s "
        f"per person on two cores, {last['processor_s'] / last['people']:.2f} s of processor time, "
        f"{floor_each / per_person:.0f} times faster "
        f"({floor_each * last['people'] / last['processor_s']:.0f} by processor time).",
        "",
    ]
    lines += people_bayes.lines(results)
    if refit:
        lines += [
            "## Leave-one-round-out refit of a published model",
            "",
            f"Localised GP-UCB of Wu et al. (2018), {refit['folds']} folds, 3 parameters: {refit['seconds']:.0f} s "
            f"({refit['processor_s']:.0f} s of processor time, {refit['peak_mib']:.0f} MiB); mean out-of-sample R2 "
            f"{refit['mean_r2']:.3f}. The target was 300 s; a careful NumPy version took 396 s on two cores like these.",
            "",
        ]
    if gpu:
        lines += ["## On an H200", "", *gpu, ""]
    return "\n".join(lines)

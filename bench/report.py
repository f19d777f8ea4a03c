"""`docs/benchmarks.md` and its figure, from what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import no_hang
from bench.work import WORKS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURE = ROOT / "docs" / "benchmarks.png"
GPU = ROOT / "bench" / "gpu.md"

WORDS = {
    "A": "10 independent arms, 10 000 steps",
    "B": "100 independent arms, 1 000 steps",
    "C": "100 correlated arms, 90 steps",
}
TARGETS = {"A": 1.2, "B": 1.2, "C": 1.5}
LOADED = 0.5
"""Load per core above which timings should be read with care."""


def write(results: dict[str, Any]) -> None:
    """The page, and the figure beside it."""
    draw(results["growth"])
    parts = [_head(results), _short(results), _floor(results), _peers(results), _growth(results), _memory(results)]
    PAGE.write_text("\n\n".join([*parts, _gpu(), _no_hang(results), _method(results)]) + "\n")


def _head(results: dict[str, Any]) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        "<!-- Written by bench/run.py (make bench): change that, not this. -->",
        "",
        f"Measured on {results['days']['floor']} (UTC) on {machine['cores']} cores of an {machine['cpu']} with "
        f"{machine['memory_gib']:.0f} GiB of memory, {machine['system']}; {versions}. "
        "All ratios compare times from the same run; absolute times are for this machine.",
    ]
    load = results["loads"]["floor"]
    if load > LOADED:
        lines += [
            "",
            f"> **The machine was not idle**: its load was {load:.1f} per core before the run began. Ratios of best times "
            "and of processor times suffer least from that, medians most.",
        ]
    else:
        lines += ["", f"The machine was idle: its load was {load:.2f} per core before the run began."]
    return "\n".join(
        [*lines, "", "To repeat: `make bench` (a few minutes; later runs reuse the environments and are quicker)."]
    )


def _short(results: dict[str, Any]) -> str:
    rows = []
    for it in results["floor"]:
        ours, name = it["ways"]["explorelab"], it["work"]
        beside = [p for p in results.get("peers", []) if p.get("work") == name]
        fastest = min(beside, key=lambda p: p["ns_per_decision"], default=None)
        against = f"{fastest['ns_per_decision'] / ours['best_ns']:,.0f} x {fastest['library']}" if fastest else "-"
        rows.append(
            f"| {name}: {WORDS[name]} | {ours['best_ns']:.1f} ns | {1e9 / ours['best_ns']:,.0f} | {it['ratio']:.2f} "
            f"({it['ratio_cpu']:.2f}) | {TARGETS[name]:.1f} | {against} | {it['compile_s']:.1f} s |"
        )
    return "\n".join(
        [
            "## In short",
            "",
            "| work | per decision | decisions per second | time, floor = 1 (processor) | target, at most | faster than the "
            "fastest library | compiled once in |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            "The floor is a plain loop compiled by Numba for this one algorithm, on the same cores.",
        ]
    )


def _floor(results: dict[str, Any]) -> str:
    lines = [
        "## Against loops written by hand",
        "",
        "`xl.simulate` with results included (mean and standard error over replicates of regret, reward, transitions, cost "
        "and visits) against loops that run this one algorithm and only sum the regret, on the same cores. The *floor* "
        "is the fastest of the plain Numba loops, written the obvious way. Below it are loops tuned by hand for this one "
        "algorithm: with their own generator, or replicates or rows arranged for the vector unit. They show what generality "
        "costs.",
    ]
    for it in results["floor"]:
        base = it["ways"][it["floor"]]
        lines += [
            "",
            f"**{it['work']}: {WORDS[it['work']]}**, {it['replicates']:,} replicates, {it['recorded_times']} times "
            f"recorded; first call {it['first_call_s']:.1f} s, of which compiling {it['compile_s']:.1f} s.",
            "",
            "| | best, ns | median, ns | processor, ns | best, floor = 1 | processor, floor = 1 | regret at the end |",
            "|---|---|---|---|---|---|---|",
        ]
        for label, way in it["ways"].items():
            shown = f"{label} (**floor**)" if label == it["floor"] else label
            wall, processor = way["best_ns"] / base["best_ns"], way["cpu_ns"] / base["cpu_ns"]
            lines.append(
                f"| {shown} | {way['best_ns']:.1f} | {way['median_ns']:.1f} | {way['cpu_ns']:.1f} | {wall:.2f} | "
                f"{processor:.2f} | {way['regret']:.2f} ± {way['regret_se']:.2f} |"
            )
        worst = max(it["agreement"].values(), key=abs)
        lines += ["", f"All regrets agree with explorelab's within {abs(worst):.1f} standard errors (4 are allowed)."]
    return "\n".join(lines)


def _peers(results: dict[str, Any]) -> str:
    ours = {it["work"]: it["ways"]["explorelab"]["best_ns"] for it in results["floor"]}
    lines = [
        "## Against other libraries",
        "",
        "Each library runs through its public interface, with its policy closest to UCL, in its own environment, on the "
        "same bandits, results included; best of three repeats. There are fewer replicates than above where it would take "
        "too long; all figures are per decision.",
    ]
    for name in WORKS:
        rows = sorted((p for p in results.get("peers", []) if p.get("work") == name), key=lambda p: p["ns_per_decision"])
        lines += [
            "",
            f"**{name}: {WORDS[name]}**",
            "",
            "| library | policy | call | ns per decision | explorelab is faster by | steps x replicates | regret |",
            "|---|---|---|---|---|---|---|",
        ]
        for p in rows:
            regret = f"{p['regret']:.0f}" + (f" ± {p['regret_se']:.0f}" if p["regret_se"] is not None else "")
            if p["horizon"] < WORKS[name].horizon:
                regret += f" at {p['horizon']:,}"
            lines.append(
                f"| {p['library']} {p['version']} | {p['policy']} | `{p['call']}` | {p['ns_per_decision']:,.0f} | "
                f"**{p['ns_per_decision'] / ours[name]:,.0f} x** | {p['horizon']:,} x {p['replicates']:,} | {regret} |"
            )
    missing = [p for p in results.get("peers", []) if "missing" in p]
    if missing:
        lines += ["", "Did not install or run here:", ""]
        lines += [f"- {p['library']}: {p['missing']}" for p in missing]
    lines += [
        "",
        "pymab's policy runs in Rust; most of its time goes into checking and copying its results. With a fixed quantile a "
        "policy may lock on to a wrong arm, so its regret at one horizon says nothing about the next. SMPyBandits could use "
        "both cores, but its parallel mode fails on Python 3.11 (it seeds with NumPy integers); halve its time to "
        "compare.",
    ]
    return "\n".join(lines)


def _growth(results: dict[str, Any]) -> str:
    lines = [
        "## As arms, steps and replicates grow",
        "",
        "![Cost per decision against arms, steps and replicates](benchmarks.png)",
        "",
        "Nanoseconds per decision, compiled; the Numba loop is the plain one in float32 with fast maths.",
    ]
    for grows, points in results["growth"].items():
        fixed = {
            "arms": "1 000 steps",
            "steps": "10 arms",
            "replicates": "10 arms, 1 000 steps",
        }[grows]
        shown = " | ".join(f"{p[grows]:,}" for p in points)
        lines += [
            "",
            f"| {grows} ({fixed}) | {shown} |",
            "|---" * (len(points) + 1) + "|",
            "| explorelab | " + " | ".join(f"{p['explorelab_ns']:,.1f}" for p in points) + " |",
            "| Numba loop | " + " | ".join(f"{p['numba_ns']:,.1f}" for p in points) + " |",
            "| ratio | " + " | ".join(f"{p['explorelab_ns'] / p['numba_ns']:.2f}" for p in points) + " |",
            "| compiling, s | " + " | ".join(f"{p['compile_s']:.1f}" for p in points) + " |",
        ]
    return "\n".join(lines)


def _memory(results: dict[str, Any]) -> str:
    lines = [
        "## Memory",
        "",
        "The largest resident set of a process that makes one call with default arguments, all libraries included. By "
        "default `simulate` keeps every replicate's curve if all of them are small, and otherwise only sums; it works in "
        "tiles, so the number of replicates does not matter.",
        "",
        "| arms | steps | replicates | peak | before the call | each replicate kept | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for it in results["memory"]:
        kept = "yes" if it["kept_each_replicate"] else "no"
        lines.append(
            f"| {it['arms']} | {it['horizon']:,} | {it['replicates']:,} | {it['peak_bytes'] / 2**20:,.0f} MiB | "
            f"{it['before_bytes'] / 2**20:,.0f} MiB | {kept} | {it['seconds']:,.1f} |"
        )
    return "\n".join(lines)


def _gpu() -> str:
    inside = (
        GPU.read_text().strip()
        if GPU.exists()
        else "Not measured yet: `python -m bench.gpu FOLDER` on a machine with a GPU."
    )
    return f"## On a GPU\n\n<!-- gpu:begin -->\n{inside}\n<!-- gpu:end -->"


def _no_hang(results: dict[str, Any]) -> str:
    lines = [
        "## Batched gradients do not hang",
        "",
        "Older XLA could deadlock on two cores in batched linear algebra. The test is the gradient of the likelihood of "
        "326 people (90 trials, 100 arms, correlated belief; `bench/no_hang.py`), each run in its own process with a "
        "time limit, with the oldest JAX that explorelab supports, the one installed, and one known to hang:",
        "",
    ]
    if not results.get("no_hang"):
        return "\n".join([*lines, "Not run yet: `python -m bench.run --full`."])
    return "\n".join([*lines, no_hang.HEADER, *(no_hang.row(it) for it in results["no_hang"])])


def _method(results: dict[str, Any]) -> str:
    return "\n".join(
        [
            "## How it was measured",
            "",
            "- A and B: Gaussian rewards, means evenly from 0 to 1, sd 1, UCL with an uninformative prior. C: landscape B "
            "on a 10 x 10 grid, Gaussian noise of variance 10, exponential kernel of length scale 4, prior mean 200, prior "
            "variance 10.",
            "- explorelab and the loops take turns, once each in each of five rounds, after a first call that compiles; the "
            "best and the median are over rounds. Times are wall-clock; *processor* is the time of all threads together.",
            "- `explorelab` computes what the loops compute, statistics only; *default arguments* also keeps every "
            "replicate's curve.",
            "- The libraries run afterwards, one at a time, with nothing else of ours running.",
            "- Each part is from the last run that measured it (in brackets, the load per core before it began): "
            + ", ".join(f"{name} {day} ({results['loads'][name]:.1f})" for name, day in results["days"].items())
            + ".",
        ]
    )


def draw(growth: dict[str, list[dict[str, float]]]) -> None:
    """Cost per decision against arms, steps and replicates."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib import ticker

    labels = {
        "arms": "arms (1 000 steps)",
        "steps": "steps (10 arms)",
        "replicates": "replicates (10 arms, 1 000 steps)",
    }
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), sharey=True, layout="constrained")
    plain = ticker.FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", " "))
    for axis, (grows, points) in zip(axes, growth.items(), strict=True):
        x = [p[grows] for p in points]
        axis.loglog(x, [p["numba_ns"] for p in points], "s--", color="#b35806", ms=4, label="Numba loop")
        axis.loglog(x, [p["explorelab_ns"] for p in points], "o-", color="#2166ac", ms=4, label="explorelab")
        axis.set_xlabel(labels[grows])
        axis.xaxis.set_major_formatter(plain)
        axis.tick_params(labelsize=8)
        axis.grid(which="major", color="0.9")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].yaxis.set_major_formatter(plain)
    axes[0].set_ylim(bottom=5)
    axes[0].set_ylabel("nanoseconds per decision")
    axes[0].legend(frameon=False)
    figure.savefig(FIGURE, dpi=150)
    plt.close(figure)

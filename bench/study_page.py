"""The page and figure of bench/study_load.py and of tests/support/study/faults.py: `python -m bench.study_page`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


def write(results: dict[str, Any]) -> None:
    """Write docs/benchmarks-study.md and docs/study-load.png."""
    measured = {name: results["load"][name] for name in NAMES if results["load"].get(name)}
    draw(measured, ROOT / "docs" / "study-load")
    (ROOT / "docs" / "benchmarks-study.md").write_text(page(results, measured), encoding="utf-8")


def draw(measured: dict[str, Any], stem: Path) -> None:
    """The share of requests that take longer than a given time, and the server's memory over the minute."""
    from explorelab.plots.style import BLUE, VERMILION, Drawing, style

    colours = dict(zip(NAMES, (BLUE, VERMILION), strict=True))
    with style():
        drawing = Drawing("AB", height=3.0)
        drawing.panel("A", "Choices and control", "milliseconds", "share that takes longer", log="xy")
        drawing.panel("B", "The server's memory", "seconds", "MiB")
        for name, one in measured.items():
            for what, line in (("choice", "-"), ("control", ":")):
                quantile, ms = np.array(one[what]["quantiles"]).T
                kept = quantile < 1
                label = f"{NAMES[name]}, {'choices' if what == 'choice' else 'nothing'}"
                drawing.line("A", ms[kept], 1 - quantile[kept], label, color=colours[name], ls=line, label=label)
            seconds, mib = np.array(one["memory_mib"]).T
            drawing.line("B", seconds, mib, NAMES[name], color=colours[name], label=NAMES[name])
        # Below the panels: inside, it would hide one curve or another.
        drawing.figure.legend(*drawing.axes["A"].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        drawing.axes["B"].set(ylim=(0, None))
        drawing.figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})


def page(results: dict[str, Any], measured: dict[str, Any]) -> str:
    """The page as Markdown."""
    load, settings = results["load"], results["load"]["settings"]
    rate, control = settings["people"] / settings["clock_s"], f"{settings['control_s']:.0f}"
    lines = [
        "# Benchmarks: serving a study",
        "",
        "<!-- Written by bench/study_page.py from bench/study.json: change that, not this. -->",
        "",
        f"## {settings['people']} people at once",
        "",
        f"{settings['people']} simulated people, one choice each every {settings['clock_s']:g} s, evenly spread in time:",
        f"{rate:.0f} choices per second for {settings['seconds']:.0f} s, on {load['cores']} cores",
        f"shared by server, database and the simulated people (load {load['load_before']:.1f} before the run). The control",
        f"is a request that does nothing, over the same connections at the same rate, for {control} s",
        f"before and {control} s after. A choice is answered once it is on disk.",
        "",
        f"| | {' | '.join(NAMES[name] for name in measured)} |",
        f"|---{'|---' * len(measured)}|",
        *_rows(measured),
        "",
        "![Share of requests that take longer than a given time, and memory over the minute](study-load.png)",
        "",
    ]
    if results.get("forms"):
        lines += _forms(results["forms"])
    if results.get("closed_loop"):
        lines += _closed(results["closed_loop"])
    if results.get("advice"):
        lines += _advice(results["advice"])
    if results.get("faults"):
        lines += _faults(results["faults"])
    return "\n".join(lines)


def _forms(part: dict[str, Any]) -> list[str]:
    """People who fill in forms among those who choose."""
    settings = part["settings"]
    rows = [
        f"| {NAMES[name]} | {one['choice']['n']} / {one['stored']} | {one['form']['n']} / {one['forms_stored']} "
        f"| {_latency(one['choice'])} | {_latency(one['form'])} | {_latency(one['control'])} | {one['n_errors']} |"
        for name in NAMES if (one := part.get(name))
    ]  # fmt: skip
    return [
        "## With forms",
        "",
        f"{settings['people']} people of whom {settings['forms']:.0%} fill in a form of ten questions every",
        f"{settings['clock_s']:g} s, while the others choose, for {settings['seconds']:.0f} s",
        f"(load {part['load_before']:.1f} before: on a busy machine, times say little, and counts do).",
        "",
        "|  | choices: acknowledged / stored | forms: acknowledged / stored "
        "| choice, ms: p50 / p99 / max | form, ms: p50 / p99 / max | control, ms: p50 / p99 / max | errors |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _latency(one: dict[str, Any]) -> str:
    return f"{one['p50']:.1f} / {one['p99']:.1f} / {one['max']:.0f}"


def _rows(measured: dict[str, Any]) -> list[str]:
    def row(label: str, cell: Any) -> str:
        return f"| {label} | {' | '.join(cell(one) for one in measured.values())} |"

    def latency(what: str) -> Any:
        return lambda one: _latency(one[what])

    def memory(one: Any) -> str:
        mib = [value for _, value in one["memory_mib"]]
        return f"{mib[0]:.0f} / {mib[len(mib) // 2]:.0f} / {mib[-1]:.0f}"

    def processor(one: Any) -> str:
        return ", ".join(f"{name} {share:.0%}" for name, share in one["processor_share"].items())

    return [
        row("server processes", lambda one: str(one["workers"])),
        row("choices acknowledged", lambda one: f"{one['choice']['n']}"),
        row("choices in the database", lambda one: f"{one['stored']}"),
        row("errors", lambda one: str(one["n_errors"])),
        row("choices per second", lambda one: f"{one['choices_per_s']:.0f}"),
        row("choice, ms: p50 / p99 / max", latency("choice")),
        row("control, ms: p50 / p99 / max", latency("control")),
        row("added at p99, ms", lambda one: f"{one['added_p99_ms']:.1f}"),
        row("one fsync on this disk, ms: p50 / p99", lambda one: "{p50:.1f} / {p99:.1f}".format(**one["sync_ms"])),
        row("server memory, MiB: start / middle / end", memory),
        row("processor, share of one core", processor),
    ]


def _operator(one: dict[str, Any], *what: str) -> str:
    """How often operators did this; a dash if it was not tried."""
    return ", ".join(str(one["operator"].get(name, 0)) for name in what) if "operator" in one else "-"


def _closed(part: dict[str, Any]) -> list[str]:
    """People whose next clock starts with the answer."""
    settings, cores, load = part["settings"], part["cores"], part["load_before"]
    columns = (
        "", "people", "choices per second", "choice, ms: p50 / p99 / max", "control, ms: p99", "put off", "errors",
        "acknowledged / stored",
    )  # fmt: skip
    lines = [
        "## In a closed loop",
        "",
        f"The same, but each person's next clock of {settings['clock_s']:g} s starts when the last choice is answered, as",
        "in the browser, and hardly varies: people who are answered together also choose together next time, which evenly",
        f"spaced requests cannot show. {settings['seconds']:.0f} s each, on {cores} cores (load {load:.1f} before).",
        "Put off: requests answered with 503 and the time after which to try again, because too many were waiting; their",
        "waiting time is included.",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    for database, name in NAMES.items():
        for people, one in sorted(part.get(database, {}).items(), key=lambda item: int(item[0])):
            cells = (
                name, people, f"{one['choices_per_s']:.0f}", "{p50:.1f} / {p99:.1f} / {max:.0f}".format(**one["choice"]),
                f"{one['control']['p99']:.1f}", one["put_off"], one["n_errors"], f"{one['choice']['n']} / {one['stored']}",
            )  # fmt: skip
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, ""]


def _advice(part: dict[str, Any]) -> list[str]:
    """People with personal advice, beside the same number without."""
    settings, load = part["settings"], part["load_before"]
    columns = (
        "", "choice, ms: p50 / p99 / max", "advice in time", "advice, ms: p50 / p99", "errors",
        "counted / stored, warm-up included", "processor, share of one core",
    )  # fmt: skip
    lines = [
        "## With advice",
        "",
        f"{settings['people']} people with personal advice, in a closed loop with clocks of {settings['clock_s']:g} s,",
        f"beside as many without; the two took turns of {settings['seconds']:.0f} s on {part['cores']} cores",
        f"(load {load:.1f} before), with SQLite. {part['processes']} processes at low priority compute advice. In time:",
        "before the study's deadline, 300 ms after the clock started on the person's side. `python -m bench.study_advice`",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    for kind in ("without", "with"):
        one = part[kind]
        given = "{p50:.0f} / {p99:.0f}".format(**one["advice"]) if one["advice"] else ""
        cells = (
            f"{kind} advice", "{p50:.1f} / {p99:.1f} / {max:.0f}".format(**one["choice"]),
            f"{one['in_time']:.1%}" if one["n_advice"] else "", given, one["n_errors"],
            f"{one['choice']['n']} / {one['stored']}",
            ", ".join(f"{name} {share:.0%}" for name, share in one["processor_share"].items()),
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, "", f"Ratio of the 99th percentiles: {part['ratio_p99']:.2f}.", ""]


def _faults(faults: dict[str, Any]) -> list[str]:
    """What was broken on purpose, and the outcome."""
    there = [name for name in NAMES if name in faults]

    def row(label: str, cell: Any) -> str:
        return f"| {label} | {' | '.join(cell(faults[name]) for name in there)} |"

    return [
        "## Broken on purpose",
        "",
        "`tests/support/study/faults.py`: 20 people at a time with clocks of 20 and 40 ms take part as a browser does,",
        "while the server is killed (`kill -9`) at random moments and restarted, pages are reloaded, the study is opened",
        "in second tabs, connections are cut before, during and after requests and answers, and requests are repeated",
        "seconds later. Databases are deleted, replaced and restored under the running server, which must stop by itself",
        "and lose nothing once they are put back. What people were shown is recorded outside the server and compared with",
        "the database at the end.",
        "",
        f"| | {' | '.join(NAMES[name] for name in there)} |",
        f"|---{'|---' * len(there)}|",
        row("server kills (of which one worker)", lambda one: f"{one['kills']} ({one['of one worker']})"),
        row("reloads", lambda one: str(one["reloads"])),
        row("second tabs", lambda one: str(one["tabs"])),
        row("connections cut", lambda one: str(one["cuts"])),
        row("requests repeated late", lambda one: str(one["cut"].get("repeated", 0))),
        row("databases deleted, replaced, truncated or overwritten", lambda one: _operator(one, "attacks")),
        row("backups under load, after a kill", lambda one: _operator(one, "backups under load", "backups after a kill")),
        row("killed, broken and restored from a backup", lambda one: _operator(one, "restores")),
        row("full disks", lambda one: _operator(one, "full disks")),
        row("people, all of whom finished", lambda one: str(one["people"])),
        row("choices shown", lambda one: str(one["shown"])),
        row("choices in the database", lambda one: str(one["stored"])),
        row("rewards shown and compared", lambda one: str(one["rewards_compared"])),
        row("choices sent more than once", lambda one: str(one["flags"].get("retried", 0))),
        row("**differences**", lambda one: f"**{one['differences']}**"),
        "",
    ]


if __name__ == "__main__":
    write(json.loads((Path(__file__).parent / "study.json").read_text()))

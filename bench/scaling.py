"""Measure one recovery on more and more processes, and what each kind of unit costs to send: `python -m bench.scaling`.

Processes are started and have compiled before the clock runs, as they have after the first minute of a long run. Results go
to bench/scaling.json and docs/scaling.png. The last bit is compared too.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS, FIGURE = HERE / "scaling.json", HERE.parent / "docs" / "scaling.png"
AGENT = "stochastic-ucl:prior_mean=60"


def recovery(n: int, **how: Any) -> Any:
    """A recovery of n people on the paper's task: 100 arms, 90 choices, 10 starts each."""
    import explorelab as xl

    design = xl.blank_choices(xl.tasks.landscape("B"), n, 1, 90)
    return xl.recover_parameters(design, AGENT, n_people=n, n_starts=10, seed=0, progress=False, **how)


def seconds_on(processes: int, n: int) -> tuple[float, Any]:
    """Seconds that the recovery takes on so many processes, and its result."""
    import explorelab as xl

    with xl.workers(processes) as executor:
        recovery(max(4, 2 * processes), executor=executor)
        began = time.perf_counter()
        result = recovery(n, executor=executor)
        return time.perf_counter() - began, result


def sent(n: int) -> list[dict[str, Any]]:
    """Every kind of unit in examples: bytes there and back, and the processor's milliseconds to write it and to do it."""
    import explorelab as xl
    from bench.people import population
    from explorelab._support.work import distributing
    from explorelab._support.work.payload import opened, payload, perform

    rows: dict[str, list[tuple[float, ...]]] = {}
    people = population(n)
    what = ""

    def noted(function: Any, units: Any, executor: object) -> Any:
        for i, arguments in units:
            began = time.process_time()
            there = payload(function, arguments)
            packed = time.process_time()
            back = perform(there)
            done = time.process_time()
            rows.setdefault(what, []).append((len(there), len(back), (packed - began) * 1e3, (done - packed) * 1e3))
            yield i, opened(back)

    plain: dict[str, Any] = {"seed": 0, "progress": False, "executor": _Nobody()}
    examples = {
        "tile of `simulate` (10 000 x 100 arms)": lambda: xl.simulate("ucb1", xl.tasks.landscape("B"), 90, 10_000, **plain),
        "share of `fit` (map)": lambda: xl.fit(people, AGENT, "map", **plain),
        "share of a round of `fit` (em)": lambda: xl.fit(people, AGENT, "em", n_starts=1, **plain),
        "person of `forecast`": lambda: xl.forecast(people, AGENT, n_folds=2, n_points=64, **plain),
    }
    from explorelab._support.work import units as module

    before, module.distributed = module.distributed, noted  # type: ignore[assignment]
    try:
        for what, example in examples.items():  # noqa: B007
            example()
    finally:
        module.distributed = before
    assert distributing.distributed is before
    return [{"unit": name, "n": len(all_), **_middle(all_)} for name, all_ in rows.items()]


class _Nobody:
    """An executor that is never asked."""

    def submit(self, *args: object) -> None:
        raise AssertionError


def _middle(all_: list[tuple[float, ...]]) -> dict[str, float]:
    import numpy as np

    names = ("bytes_there", "bytes_back", "ms_to_write", "ms_of_work")
    return {name: float(np.median([each[i] for each in all_])) for i, name in enumerate(names)}


def overhead() -> float:
    """Milliseconds for a unit that does nothing, there and back through a process."""
    import explorelab as xl
    from explorelab._support.work import units

    @units.long_work
    def nothing(executor: object) -> None:
        list(units.results(pickle.dumps, [(i,) for i in range(500)], progress=False))

    with xl.workers(1) as executor:
        nothing(executor)
        began = time.perf_counter()
        nothing(executor)
        return (time.perf_counter() - began) / 500 * 1e3


def draw(rows: list[dict[str, Any]], n: int) -> None:
    """How many times faster than one process, beside what would be perfect."""
    from matplotlib.figure import Figure

    from explorelab.plots.style import style

    with style():
        figure = Figure(figsize=(4.2, 3.2), layout="constrained")
        axes = figure.subplots()
        many = [row["processes"] for row in rows]
        axes.plot(many, many, color="0.7", linewidth=1)
        axes.plot(many, [rows[0]["seconds"] / row["seconds"] for row in rows], "o-")
        axes.set(xlabel="processes", ylabel="times as fast as one", title=f"Recovery of {n} people", xticks=many)
        figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", default="1,2", help="comma-separated numbers of processes")
    parser.add_argument("--people", type=int, default=64)
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    first = None
    for processes in map(int, asked.processes.split(",")):
        seconds, result = seconds_on(processes, asked.people)
        first = result if first is None else first
        assert result.identical(first)
        share = rows[0]["seconds"] * rows[0]["processes"] / (seconds * processes) if rows else 1.0
        rows.append({"processes": processes, "seconds": seconds, "efficiency": share})
        print(rows[-1], flush=True)
    found = {"people": asked.people, "scaling": rows, "overhead_ms": overhead(), "units": sent(8)}
    print(json.dumps(found, indent=1))
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    draw(rows, asked.people)


if __name__ == "__main__":
    main()

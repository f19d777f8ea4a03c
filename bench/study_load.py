"""A study under load: 500 people who choose every 1.5 s, for a minute, against a request that does nothing at the same rate.

    python -m bench.study_load            # both databases, into bench/study.json and docs/benchmarks-study.md
    python -m bench.study_load --closed-loop --people 20,500,1000,1500     # people whose clocks start with each answer

A separate process (study_crowd.py) simulates the people. A choice counts as made when its answer has arrived, which the
server sends once the choice is on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "study.json"
LATENCIES = ("choice", "form", "control")
TICKS = os.sysconf("SC_CLK_TCK")


def resident_mib(pids: list[int]) -> float:
    """Total memory of these processes; shared memory is counted once for each."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_s(pids: list[int]) -> float:
    """Processor time of these processes so far."""
    return (
        sum(sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:13])) for pid in pids) / TICKS
    )


def processor_of_postgres(folder: Path) -> float:
    """Processor time of all processes of the PostgreSQL server in this folder, including those that have ended."""
    first = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    ended = sum(map(int, Path(f"/proc/{first}/stat").read_text().rpartition(") ")[2].split()[13:15])) / TICKS
    children = [int(pid) for pid in Path(f"/proc/{first}/task/{first}/children").read_text().split()]
    return ended + processor_s([first, *children])


def sync_ms(folder: Path) -> dict[str, float]:
    """How long this disk takes to sync 4 KiB: the least that any choice can wait."""
    import numpy as np

    times = []
    with (folder / "sync").open("wb") as file:
        for _ in range(300):
            began = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fdatasync(file.fileno())
            times.append(1e3 * (time.perf_counter() - began))
    return {"p50": float(np.median(times)), "p99": float(np.quantile(times, 0.99))}


def measure(database: str, workers: int, settings: dict[str, Any], cluster_folder: Path | None) -> dict[str, Any]:
    """One database: everything measured, from a server that has just started."""
    from sqlalchemy import func, select

    from bench.study_forms import add_forms
    from explorelab.study.database.store import engine_for
    from explorelab.study.database.tables import choices, visits
    from tests.support.study.server import Served, write_study

    with tempfile.TemporaryDirectory(prefix="load-") as temporary:
        folder = Path(temporary) / "study"
        clock_ms = round(1e3 * settings["clock_s"] / 2)
        write_study(folder, database, fast_ms=clock_ms, slow_ms=clock_ms, training=(), n_trials=1000)
        if settings["forms"]:
            add_forms(folder, settings["seconds"], settings["clock_s"])
        served = Served(folder, workers)
        asyncio.run(served.start())
        try:
            disk = sync_ms(folder)
            phases, memory, used = _watched(served, settings, cluster_folder)
        finally:
            served.stop()
        said = served.log()
        engine = engine_for(database, folder)
        with engine.connect() as connection:
            stored, left = (
                int(connection.execute(select(func.count()).select_from(each)).scalar_one()) for each in (choices, visits)
            )
        engine.dispose()
    control = {"seconds": [], "errors": []}
    for name in ("control before", "control after"):
        control = {key: control[key] + phases[name][key] for key in control}
    choice = phases["choices"]
    result = {
        "workers": workers,
        "sync_ms": disk,
        "arrivals_s": phases["arrived"]["seconds"],
        "choice": summary(choice["seconds"]),
        "control": summary(control["seconds"]),
        "choices_per_s": len(choice["seconds"]) / choice["took_s"],
        "control_per_s": len(phases["control before"]["seconds"]) / phases["control before"]["took_s"],
        "errors": (choice["errors"] + control["errors"])[:20],
        "n_errors": len(choice["errors"]) + len(control["errors"]),
        "put_off": choice["put_off"],
        "stored": stored,
        "memory_mib": memory,
        "processor_share": {name: value / choice["took_s"] for name, value in used.items()}
        | {"generator": choice["processor_s"] / choice["took_s"]},
        **({"form": summary(choice["forms"]), "forms_stored": left - settings["people"]} if settings["forms"] else {}),
        "failed": said[-500:] if "Traceback" in said else "",
    }
    result["added_p99_ms"] = result["choice"]["p99"] - result["control"]["p99"]
    return result


def _watched(served: Any, settings: dict[str, Any], cluster_folder: Path | None) -> tuple[Any, list[Any], dict[str, float]]:
    """Run the people beside the server; returns what they saw, its memory each second, and processor time of the choices."""
    command = [sys.executable, "-m", "bench.study_crowd", json.dumps({"port": served.port, **settings})]
    phases: dict[str, Any] = {}
    memory: list[tuple[float, float]] = []
    marks: list[dict[str, float]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as people:
        assert people.stdout is not None
        began, stop = 0.0, threading.Event()

        def sample() -> None:
            while not stop.wait(1.0):
                memory.append((time.perf_counter() - began, resident_mib(served.pids)))

        def mark() -> dict[str, float]:
            used = {"server": processor_s(served.pids)}
            return used | ({"postgresql": processor_of_postgres(cluster_folder)} if cluster_folder else {})

        sampler = threading.Thread(target=sample)
        for line in people.stdout:
            told = json.loads(line)
            if told["phase"] == "choices":
                marks.append(mark())
                if "begins" in told:
                    began = time.perf_counter()
                    memory.append((0.0, resident_mib(served.pids)))
                    sampler.start()
                else:
                    stop.set()
                    sampler.join()
                    memory.append((time.perf_counter() - began, resident_mib(served.pids)))
            if "begins" not in told:
                phases[told["phase"]] = told
    if people.returncode:
        raise RuntimeError("the simulated people stopped before the end")
    return phases, memory, {name: marks[1][name] - marks[0][name] for name in marks[0]}


def summary(seconds: list[float]) -> dict[str, Any]:
    """Latency in milliseconds."""
    import numpy as np

    ms = 1e3 * np.sort(seconds)
    at = np.concatenate([np.linspace(0, 0.98, 99), np.linspace(0.981, 1, 20)])
    return {
        "n": len(ms),
        **{name: round(float(np.quantile(ms, q)), 3) for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))},
        "quantiles": [[round(float(q), 4), round(float(np.quantile(ms, q)), 3)] for q in at],
    }


def measured(database: str, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The measurements on this database, with a summary printed; None if it is not installed."""
    from tests.support.study import postgres

    if database == "sqlite":
        one = measure("sqlite:///study.db", 1, settings, None)
    elif postgres.programs() is None:
        print(postgres.MISSING)
        return None
    else:
        with postgres.cluster() as cluster:
            one = measure(cluster.new_database(), 2, settings, cluster.folder)
    shown = {name: value for name, value in one.items() if name not in (*LATENCIES, "memory_mib")}
    few = {name: {k: v for k, v in one[name].items() if k != "quantiles"} for name in LATENCIES if name in one}
    print(json.dumps({"database": database, **settings, **few, **shown, "memory_mib": one["memory_mib"][::15]}, indent=1))
    return one


def several(text: str) -> list[str]:
    """The words of a comma-separated list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=several, default=["500"], help="how many; with --closed-loop several: 500,1000")
    parser.add_argument("--clock", type=float, default=1.5, help="seconds for a choice")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long choices are made")
    parser.add_argument("--control", type=float, default=20.0, help="how long the control runs, before and after")
    parser.add_argument("--database", type=several, default=["sqlite", "postgresql"], help="sqlite,postgresql")
    parser.add_argument(
        "--closed-loop", action="store_true", help="each clock starts with the answer before, as in the browser"
    )
    parser.add_argument(
        "--forms", type=float, default=0.0, help="share of people who fill in a form of ten questions instead"
    )
    told = parser.parse_args()
    from bench import study_page

    crowds = [int(number) for number in told.people]
    if len(crowds) > 1 and not told.closed_loop:
        parser.error("several numbers of people need --closed-loop")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    timing = {
        "clock_s": told.clock,
        "seconds": told.seconds,
        "control_s": told.control,
        "closed": told.closed_loop,
        "forms": told.forms,
    }
    where = {"cores": os.cpu_count(), "load_before": os.getloadavg()[0]}
    if told.forms and told.closed_loop:
        parser.error("--forms is for people in an open loop")
    part = results.setdefault("closed_loop" if told.closed_loop else "forms" if told.forms else "load", {})
    part |= {"settings": timing | ({} if told.closed_loop else {"people": crowds[0]}), **where}
    for database in told.database:
        for people in crowds:
            one = measured(database, {"people": people, **timing})
            if one is None:
                break
            if told.closed_loop:
                part.setdefault(database, {})[str(people)] = one
            else:
                part[database] = one
            RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    study_page.write(results)


if __name__ == "__main__":
    main()

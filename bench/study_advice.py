"""A study with advice under load: 100 people who play fast at once, all with personal advice, beside the same without.

    python -m bench.study_advice [--people 100] [--rounds 2]      # part of `make bench`; into bench/study.json and the page

The two take turns, each on a server that has just started, so that both meet the same machine. People's clocks start with
each answer, as in the browser (study_crowd.py). Counted are how long choices take to be acknowledged, and the share of
advice that came in time: before its deadline, counted from the start of the clock on the person's side.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.study_load import RESULTS, ROOT, processor_s, summary

WITHOUT, WITH = "without", "with"
WARM_S = 8.0
"""How long people play before anything is counted, with advice and without."""


def descendants(pid: int) -> list[int]:
    """The process and all that it has started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(deeper for child in children for deeper in descendants(int(child)))]


def measure(policy: str | None, settings: dict[str, Any], processes: int) -> dict[str, Any]:
    """One server: what its people saw."""
    from sqlalchemy import func, select

    from explorelab.study.database.store import engine_for
    from explorelab.study.database.tables import choices
    from tests.support.study.server import Served, write_study

    with tempfile.TemporaryDirectory(prefix="advice-") as temporary:
        folder = Path(temporary) / "study"
        clock_ms = round(1e3 * settings["clock_s"] / 2)
        advice = "" if policy is None else f'arms = ["{policy}"]\nprocesses = {processes}\n'
        url = "sqlite:///study.db"
        write_study(folder, url, fast_ms=clock_ms, slow_ms=clock_ms, training=(), n_trials=90, advice=advice)
        served = Served(folder, 1)
        asyncio.run(served.start())
        try:
            asked = {"port": served.port, "wait_for_advice": policy is not None, **settings}
            command = [sys.executable, "-m", "bench.study_crowd", json.dumps(asked)]
            phases, marks = {}, []
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as people:
                assert people.stdout is not None
                for line in people.stdout:
                    told = json.loads(line)
                    if told["phase"] == "choices":
                        marks.append(processor_s(sorted({pid for first in served.pids for pid in descendants(first)})))
                    phases[told["phase"]] = told
            if people.returncode:
                raise RuntimeError(f"the simulated people stopped before the end:\n{served.log()[-2000:]}")
        finally:
            served.stop()
        engine = engine_for(url, folder)
        with engine.connect() as connection:
            stored = int(connection.execute(select(func.count()).select_from(choices)).scalar_one())
        engine.dispose()
    seen = phases["choices"]
    return {
        "seconds": seen["seconds"], "advice": seen["advice"], "n_errors": len(seen["errors"]), "errors": seen["errors"][:5],
        "put_off": seen["put_off"], "took_s": seen["took_s"], "stored": stored,
        "processor_share": {
            "server": (marks[1] - marks[0]) / seen["took_s"], "people": seen["processor_s"] / seen["took_s"]
        },
    }  # fmt: skip


def joined(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Several turns of one kind as one."""
    advice = [one for turn in rounds for one in turn["advice"]]
    in_time = [reason not in ("late", "failed") for reason, _ in advice]
    return {
        "choice": summary([s for turn in rounds for s in turn["seconds"]]),
        "p99_of_each": [summary(turn["seconds"])["p99"] for turn in rounds],
        "n_advice": len(advice),
        "in_time": sum(in_time) / len(in_time) if advice else None,
        "advice": summary([1e-3 * ms for _, ms in advice]) if advice else None,
        **{name: sum(turn[name] for turn in rounds) for name in ("n_errors", "put_off", "stored")},
        "errors": rounds[0]["errors"],
        "processor_share": rounds[-1]["processor_share"],
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--clock", type=float, default=1.5, help="seconds for a choice")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long choices are made in each turn")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each kind")
    parser.add_argument("--processes", type=int, default=2, help="that compute advice")
    told = parser.parse_args()
    from bench import study_page

    settings = {"people": told.people, "clock_s": told.clock, "seconds": told.seconds, "control_s": 0.0, "closed": True}
    settings["warm_s"] = WARM_S
    turns: dict[str, list[dict[str, Any]]] = {WITHOUT: [], WITH: []}
    before = os.getloadavg()[0]
    for _ in range(told.rounds):
        for kind, policy in ((WITHOUT, None), (WITH, "personal")):
            turns[kind].append(measure(policy, settings, told.processes))
    found: dict[str, Any] = {kind: joined(rounds) for kind, rounds in turns.items()}
    found |= {"settings": settings, "processes": told.processes, "cores": os.cpu_count(), "load_before": before}
    found["ratio_p99"] = found[WITH]["choice"]["p99"] / found[WITHOUT]["choice"]["p99"]
    brief = json.dumps(found, default=str)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["advice"] = json.loads(brief)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for kind in (WITHOUT, WITH):
        shown = {k: v for k, v in found[kind].items() if k not in ("choice", "advice")}
        latency = {name: found[kind]["choice"][name] for name in ("n", "p50", "p99", "max")}
        print(json.dumps({kind: {"choice_ms": latency, **shown}}, indent=1))
    print(f"ratio at the 99th percentile: {found['ratio_p99']:.2f}")
    study_page.write(results)


if __name__ == "__main__":
    main()

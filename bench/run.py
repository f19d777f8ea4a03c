"""Measure explorelab against hand-written loops and other libraries, and write docs/benchmarks.md: `make bench`.

By default it measures everything that takes minutes; `--full` adds a million replicates of ten thousand steps and many runs
of the check that batched gradients finish. Results that are not measured again are kept in bench/results.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "results.json"
PEER_LIMIT_S = 240

PEERS = {
    "pymab": "AB",
    "river": "AB",
    "smpybandits": "AB",
    "mabby": "AB",
    "mabwiser": "AB",
    "bayesianbandits": "AB",
    "sklearn": "C",
    "botorch": "C",
}
"""Which work each library can do."""

SINGLE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""For the libraries' linear algebra: on 90 x 90 matrices a second thread gains nothing, and suffers on a busy machine."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also what takes long: a million replicates, and no_hang")
    parser.add_argument("--small", action="store_true", help="small sizes, to try the script out; writes nothing")
    parser.add_argument("--only", nargs="+", choices=["floor", "peers", "growth", "memory", "no_hang"], default=None)
    parser.add_argument("--render", action="store_true", help="measure nothing, write the page from what is kept")
    given = parser.parse_args()

    from bench import report

    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not given.render:
        wanted = given.only or ["floor", "peers", "growth", "memory", *(["no_hang"] if given.full else [])]
        results = _measured(results, wanted, given.full, given.small)
    if given.small:
        print(json.dumps(results, indent=1))
        return 0
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    report.write(results)
    print(f"written: {report.PAGE.relative_to(ROOT)}, {report.FIGURE.relative_to(ROOT)}")
    return _verdict(results)


def _measured(results: dict[str, Any], wanted: list[str], full: bool, small: bool) -> dict[str, Any]:
    from bench import environments, speed

    # Environments first, so that nothing is installed while something is timed.
    reasons = {name: environments.make(environments.ENVIRONMENTS[name]) for name in PEERS if "peers" in wanted}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    parts: dict[str, Callable[[], Any]] = {
        "floor": lambda: [speed.against_floor(name, small) for name in speed.REPLICATES],
        "peers": lambda: [found for name in PEERS for found in _peer(name, reasons[name])],
        "growth": lambda: speed.growth(small),
        "memory": lambda: _memory(full, small, results.get("memory", [])),
        "no_hang": lambda: _no_hang(environments, 1 if small else 20),
    }
    results = {"days": {}, "loads": {}, **results, "machine": _machine()}
    # Other load on the machine, before we add ours.
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    for name in wanted:
        print(f"measuring: {name} (load per core before the start: {load:.2f})", flush=True)
        results[name] = parts[name]()
        results["days"][name], results["loads"][name] = today, load
    return results


def _peer(name: str, reason: str) -> list[dict[str, Any]]:
    """The results of a library's script, or why there are none."""
    from bench import environments

    if reason:
        return [{"library": name, "missing": f"did not install here ({reason})"}]
    # Without the script's own folder on the path, where it would shadow the library of the same name.
    command = [str(environments.ENVIRONMENTS[name].interpreter), "-P", str(HERE / "peers" / f"{name}.py"), *PEERS[name]]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=PEER_LIMIT_S,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), **SINGLE_THREAD},
        )
    except subprocess.TimeoutExpired:
        return [{"library": name, "missing": f"was not done within {PEER_LIMIT_S} s"}]
    said = _said(done.stdout)
    for it in said:
        print(f"  {it['library']} {it['work']}: {it['ns_per_decision']:,.0f} ns", flush=True)
    if done.returncode or not said:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return [*said, {"library": name, "missing": f"did not run here ({last[:200]})"}]
    return said


def _memory(full: bool, small: bool, before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sizes = [(10, 1_000, 50_000), (10, 1_000, 100_000), *([(10, 10_000, 1_000_000)] if full else [])]
    if small:
        sizes = [(10, 100, 1_000)]
    found = []
    for size in sizes:
        command = [sys.executable, "-m", "bench.memory", *(str(n) for n in size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        found += _said(done.stdout)
    measured = {(it["horizon"], it["replicates"]) for it in found}
    return found + [it for it in before if (it["horizon"], it["replicates"]) not in measured]


def _no_hang(environments: Any, runs: int) -> list[dict[str, Any]]:
    from bench import no_hang

    found = []
    for name, times, limit_s in (("jax-lowest", runs, 120.0), (None, runs, 120.0), ("jax-older", min(runs, 3), 60.0)):
        if name is None:
            found.append(no_hang.check(sys.executable, times, limit_s))
        elif not environments.make(environments.ENVIRONMENTS[name]):
            found.append(no_hang.check(str(environments.ENVIRONMENTS[name].interpreter), times, limit_s))
        print("  " + no_hang.row(found[-1]), flush=True)
    return found


def _said(output: str) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("RESULT ")) for line in output.splitlines() if line.startswith("RESULT ")]


def _machine() -> dict[str, Any]:
    model = "processor of unknown make"
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu": model,
        "memory_gib": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {
            "Python": platform.python_version(),
            **{name: version(name) for name in ("explorelab", "jax", "jaxlib", "numpy", "numba")},
        },
    }


def _verdict(results: dict[str, Any]) -> int:
    """Zero if results can be trusted: regrets agree and memory stays within its limit. Speed is only reported."""
    wrong = [
        f"{it['work']}: {label} ends {z:.1f} standard errors from explorelab"
        for it in results.get("floor", [])
        for label, z in it["agreement"].items()
        if abs(z) > 4
    ]
    wrong += [
        f"{it['replicates']:,} replicates took {it['peak_bytes'] / 2**30:.2f} GiB"
        for it in results.get("memory", [])
        if not it["within_limit"]
    ]
    wrong += [
        f"JAX {it['jax']}: {it['ended']} of {it['runs']} gradients ended"
        for it in results.get("no_hang", [])[:2]
        if it["ended"] < it["runs"] or not it["finite"]
    ]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

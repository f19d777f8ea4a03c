"""Whether effects of conditions are estimated with intervals that hold: coverage, false alarms and power.

    python -m evaluations.effects       # simulate, fit, write docs/effects-coverage.csv and its table in docs/effects.md
    python -m evaluations.effects --n 40 --design within --out found.csv    # fewer data sets, of one design
    python -m evaluations.effects --parts a.csv b.csv    # put together what runs with --rows found

Each data set: 40 people play a four-armed bandit, in two groups (one block of 80 choices each, or of 130 and 30 in turn),
or all of them in two sessions (a block of 60 each). One of the two parameters of a delta rule differs between the
conditions, and the other does not, in turn.
Every process has a core of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

MEANS = (0.0, 0.5, 1.0, 1.5)
NOISE_VAR = 1.0
PEOPLE = 40
TRIALS = {"between": 80, "uneven": 130, "within": 60}
FEW = 30
"""With `uneven`, every second person makes only so many choices."""
TYPICAL = {"learning_rate": 0.3, "temperature": 0.35}
SD = {"learning_rate": 0.8, "temperature": 0.5}
"""Of people, on the parameter's own scale: logits and logarithms."""
SLOPE_SD = {"learning_rate": 0.4, "temperature": 0.25}
"""Of people's own differences between sessions."""
EFFECT = {
    "between": {"learning_rate": 0.8, "temperature": 0.5},
    "uneven": {"learning_rate": 0.8, "temperature": 0.5},
    "within": {"learning_rate": 0.5, "temperature": 0.3},
}
AGENT = "delta-rule:prior_mean=0"
PAGE = Path(__file__).parents[1] / "docs" / "effects-coverage.csv"
FIRST_SEED = 2000
"""Data sets with lower seeds were looked at while the method was made: they judge nothing."""


def people(design: str, moved: str, seed: int):
    """Choices of 40 simulated people, in two groups or two sessions."""
    import explorelab as xl

    rng = np.random.default_rng([seed, [*TRIALS].index(design), moved == "temperature"])
    second = np.tile([0, 1], PEOPLE) if design == "within" else np.repeat([0, 1], PEOPLE // 2)
    who = np.repeat(np.arange(PEOPLE), 2) if design == "within" else np.arange(PEOPLE)
    params = {}
    for name, typical in TYPICAL.items():
        centre = np.log(typical / (1 - typical)) if name == "learning_rate" else np.log(typical)
        effect = EFFECT[design][name] if name == moved else 0.0
        line = centre + SD[name] * rng.standard_normal(PEOPLE)[who] + effect * second
        if design == "within":
            line += SLOPE_SD[name] * rng.standard_normal(PEOPLE)[who] * second
        params[name] = 1 / (1 + np.exp(-line)) if name == "learning_rate" else np.exp(line)
    task = xl.tasks.bandit(list(MEANS), noise_var=NOISE_VAR)
    blank = xl.blank_choices(task, len(who), 1, horizon=TRIALS[design])
    played = xl.simulate_choices(blank, AGENT, params, seed=int(rng.integers(2**31)), progress=False)
    labels = tuple(f"p{i + 1}" for i in range(PEOPLE))
    there = np.arange(TRIALS[design]) < np.where((design == "uneven") & (who % 2 == 1), FEW, TRIALS[design])[:, None]
    return replace(
        played,
        participants=labels,
        participant=who,
        **{name: getattr(played, name) & there for name in ("observed", "scored", "present")},
        block=(second + 1 if design == "within" else np.ones(len(who), int)).astype(str),
        conditions={"condition": np.where(second, "b", "a").astype(object)},
    )


def one(job: tuple[str, str, int, bool]) -> list[dict[str, object]]:
    """Every method's answer on one data set, for both parameters."""
    import explorelab as xl

    design, moved, seed, alone = job
    choices = people(design, moved, seed)
    fit = xl.fit(
        choices,
        AGENT,
        "em",
        effects="learning_rate ~ condition; temperature ~ condition",
        n_starts=4,
        progress=False,
    )
    spread = dict(zip(fit["space"]["parameter"].values, fit["space"]["spread"].values, strict=True))
    rows: list[dict[str, object]] = []
    single = {} if alone else _single(choices)
    for line in xl.effects(fit).query("effect != 'Intercept'").itertuples():
        truth = EFFECT[design][line.parameter] if line.parameter == moved else 0.0
        unit = spread[line.parameter]
        told = {"design": design, "moved": moved, "seed": seed, "parameter": line.parameter, "truth": truth}
        rows.append({**told, "method": "effects", "estimate": line.estimate * unit, "se": line.standard_error * unit,
                     "low": line.low * unit, "high": line.high * unit, "p": line.p})  # fmt: skip
        rows += [{**told, "method": name, **_t_test(design, z[line.parameter] * unit)} for name, z in single.items()]
    return rows


def _single(choices) -> dict[str, dict[str, np.ndarray]]:
    """Estimates for each block by methods that know nothing of conditions, in standard units."""
    import explorelab as xl

    alone = _apart(choices)
    found = {}
    for method in ("ml", "map"):
        fit = xl.fit(alone, AGENT, method, n_starts=4, progress=False)["estimates"]
        found[f"t-test on {method}"] = {str(name): fit["z"].sel(parameter=name).values for name in fit["parameter"].values}
    fit = xl.fit(alone, AGENT, "em", n_starts=4, progress=False)["estimates"]
    found["t-test on em without effects"] = {
        str(name): fit["z"].sel(parameter=name).values for name in fit["parameter"].values
    }
    return found


def _apart(choices):
    """Every block as if somebody else had played it, for fits of single blocks."""
    labels = tuple(f"{choices.participants[i]}-{b}" for i, b in zip(choices.participant, choices.block, strict=True))
    return replace(choices, participants=labels, participant=np.arange(choices.n_rows), conditions={})


def _t_test(design: str, values: np.ndarray) -> dict[str, float]:
    from scipy.stats import ttest_ind, ttest_rel

    a, b = (values[::2], values[1::2]) if design == "within" else (values[: PEOPLE // 2], values[PEOPLE // 2 :])
    test = ttest_rel(b, a) if design == "within" else ttest_ind(b, a)
    low, high = test.confidence_interval(0.95)
    return {"estimate": float(b.mean() - a.mean()), "se": np.nan, "low": low, "high": high, "p": float(test.pvalue)}


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Coverage, false alarms and power by design, parameter and method, in percent, each with its standard error."""
    found = found.assign(covered=(found.low <= found.truth) & (found.truth <= found.high), alarm=found.p < 0.05)
    rows = []
    for (design, parameter, method), part in found.groupby(["design", "parameter", "method"], sort=False):
        none, some = part[part.truth == 0], part[part.truth != 0]
        rows.append({
            "design": design, "parameter": parameter, "method": method, "data_sets": len(part),
            "coverage": 100 * part.covered.mean(), "coverage_se": 100 * _se(part.covered),
            "false_alarms": 100 * none.alarm.mean(), "false_alarms_se": 100 * _se(none.alarm),
            "power": 100 * some.alarm.mean(), "power_se": 100 * _se(some.alarm),
            "bias": (some.estimate - some.truth).mean(), "truth": some.truth.mean(),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _se(hits: pd.Series) -> float:
    share = hits.mean()
    return float(np.sqrt(share * (1 - share) / max(len(hits), 1)))


def write_table(lines: list[str], mark: str) -> None:
    """Put a table into docs/effects.md, in the place of the one between its marks."""
    text = PAGE.with_name("effects.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(f"<!-- {mark} -->\n")
    after = rest.partition("<!-- end -->")[2]
    told = "\n".join([before + f"<!-- {mark} -->", *lines, "<!-- end -->"]) + after
    PAGE.with_name("effects.md").write_text(told, encoding="utf-8")


def table(found: pd.DataFrame) -> list[str]:
    """The summary as lines of a page."""
    lines = ["| design | parameter | method | data sets | coverage (%) | false alarms (%) | power (%) |", "|" + "---|" * 7]
    for row in found.itertuples():
        names = ("coverage", "false_alarms", "power")
        cells = [f"{getattr(row, name):.1f} ± {getattr(row, f'{name}_se'):.1f}" for name in names]
        lines.append("| " + " | ".join([row.design, row.parameter, row.method, str(row.data_sets), *cells]) + " |")
    return lines


def _begin(cores: list[int], taken) -> None:
    """Give each process a core of its own, so that they do not wait for each other."""
    with taken.get_lock():
        at = taken.value
        taken.value += 1
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {cores[at % len(cores)]})


def main() -> None:
    """Run the evaluation from the command line."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--n", type=int, default=500, help="data sets for each design and parameter")
    ask.add_argument("--first", type=int, default=FIRST_SEED, help="seed of the first data set")
    ask.add_argument("--design", choices=sorted(TRIALS), help="only this one")
    ask.add_argument("--alone", action="store_true", help="without the t-tests")
    ask.add_argument("--out", type=Path, default=PAGE)
    ask.add_argument("--rows", type=Path, help="also write every data set's answers to this file")
    ask.add_argument("--parts", type=Path, nargs="+", help="put these files of --rows together, and simulate nothing")
    ask.add_argument("--processes", type=int, default=None)
    told = ask.parse_args()
    found = pd.concat(map(pd.read_csv, told.parts)) if told.parts else _found(told)
    seeds = f"{found.seed.min()} to {found.seed.max()}"
    summary(found).round(4).assign(seeds=seeds).to_csv(told.out, index=False)
    if told.out == PAGE:
        write_table(table(summary(found)), "coverage")
    if told.rows is not None:
        found.to_csv(told.rows, index=False)
    print(summary(found).round(3).to_string(index=False))


def _found(told: argparse.Namespace) -> pd.DataFrame:
    """Every method's answers on every data set."""
    designs = [told.design] if told.design else list(TRIALS)
    seeds = range(told.first, told.first + told.n)
    jobs = [(design, moved, seed, told.alone) for seed in seeds for design in designs for moved in TYPICAL]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    spawn, began, rows = mp.get_context("spawn"), time.time(), []
    many = told.processes or len(cores)
    with ProcessPoolExecutor(many, spawn, initializer=_begin, initargs=(cores, spawn.Value("i", 0))) as pool:
        for done, part in enumerate(pool.map(one, jobs, chunksize=2), 1):
            rows += part
            if done % 50 == 0:
                print(f"{done} of {len(jobs)} after {time.time() - began:.0f} s", file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main()

"""Why a tracker's drift is recovered less well than the literature's parameters of trackers.

    python -m evaluations.restless_limits              # 80 people a row, into docs/changing-tasks.md
    python -m evaluations.restless_limits --load       # the page from evaluations/restless_limits.json

About two minutes of processor time. Danwitz et al. (2022) recover inverse temperature, bonus and perseveration of a Kalman
filter that knows how the means walk. The first rows do that; in the others the drift alone is unknown.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import explorelab as xl
from evaluations.restless import KNOWN, SPREADS, WORDS, correlation, truth

PAGE = Path(__file__).parents[1] / "docs" / "changing-tasks.md"
SAVED = Path(__file__).with_suffix(".json")
TASKS_OWN = 2.8**2
"""The drift variance of the task's own walks."""
LITERATURE = ("temperature", "bonus", "stickiness")

type True_ = dict[str, np.ndarray]


def people_of_the_literature(n: int, seed: int) -> True_:
    """Choices differ, drift does not. Perseveration is in points of reward, as in the literature, and in log-odds here.

    How theirs were drawn was not checked: these numbers are ours, and were fixed before anything was run.
    """
    rng = np.random.default_rng(seed)
    inverse = np.exp(rng.normal(np.log(0.2), 0.4, n))
    return {
        "temperature": 1 / inverse,
        "bonus": rng.normal(1.0, 1.0, n),
        "stickiness": inverse * rng.normal(5.0, 5.0, n),
    }


class Case(NamedTuple):
    """One way to recover parameters."""

    words: str
    truth: Callable[[int, int], True_]
    free: tuple[str, ...]
    habits: str = ""


def _only_drift(n: int, seed: int) -> True_:
    """All choose alike: temperature 4 and bonus 0.5."""
    return {
        "drift_var": truth(n, SPREADS["alike"], seed)["drift_var"],
        "bonus": np.full(n, 0.5),
        "temperature": np.full(n, 4.0),
    }


CASES = (
    Case("drift known, as in the literature", people_of_the_literature, LITERATURE, habits="+stay"),
    Case("drift estimated, all else known", _only_drift, ("drift_var",)),
)


def recovered(case: Case, n: int, n_trials: int, seed: int) -> dict[str, Any]:
    """Rank correlations of true and estimated parameters."""
    true = case.truth(n, seed)
    known = {**KNOWN, "drift_var": TASKS_OWN, "temperature": 4.0, "bonus": 0.5}
    agent = xl.agents.restless_kalman(**known)
    if case.habits:
        agent = xl.agents.with_habits(agent, *case.habits.strip("+").split("+"))
    design = xl.blank_choices(xl.tasks.restless(4), n, 1, n_trials, seed=seed)
    choices = xl.simulate_choices(design, agent, true, seed=seed, progress=False)
    fit = xl.fit(choices, agent, "map", free=case.free, n_starts=2, seed=seed, progress=False)
    table = fit["estimates"].to_dataset()
    found = {name: table["estimate"].sel(parameter=name).values for name in case.free}
    row: dict[str, Any] = {name: correlation(true[name], found[name]) for name in case.free}
    return {"case": case.words, "trials": n_trials, "n": n, **row}


def table(kept: list[dict[str, Any]]) -> str:
    """A row for each way and number of trials."""
    names = ("drift_var", "bonus", "temperature", "stickiness")
    words = {**WORDS, "stickiness": "perseveration"}
    lines = ["| | trials | " + " | ".join(words[name] for name in names) + " |", "|---" * (len(names) + 2) + "|"]
    last = ""
    for row in kept:
        cells = [f"{row[name]['rank']:.2f} ± {row[name]['error']:.2f}" if name in row else "" for name in names]
        lines.append(f"| {row['case'] if row['case'] != last else ''} | {row['trials']} | " + " | ".join(cells) + " |")
        last = row["case"]
    return "\n".join(lines)


def main() -> None:
    """Simulate, refit and write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=80, help="people for each number of trials")
    options.add_argument("--trials", type=int, nargs="+", default=[100, 300])
    options.add_argument("--load", action="store_true", help="read what was found last time")
    given = options.parse_args()
    kept = json.loads(SAVED.read_text(encoding="utf-8")) if given.load else []
    for case in () if given.load else CASES:
        for n_trials in given.trials:
            kept.append(recovered(case, given.n, n_trials, seed=1000 + n_trials))
            print(kept[-1], file=sys.stderr, flush=True)
            SAVED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    said = f"<!-- limits: python -m evaluations.restless_limits -->\n{table(kept)}\n<!-- end -->"
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(r"<!-- limits:.*?<!-- end -->", lambda _: said, text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()

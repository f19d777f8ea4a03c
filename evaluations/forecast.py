"""Real people whom the group has never seen, one choice ahead: `explorelab forecast` on two published data sets.

    python -m evaluations.forecast DATA                        # all of it, into docs/companion.md
    python -m evaluations.forecast DATA --only meder2025 --agent situated-ucl
    python -m evaluations.forecast --load                      # the page again, from evaluations/forecast.json

DATA holds the folders wu2018 and meder2025, which are not part of the project. Each run is added to
evaluations/forecast.json as soon as it is done.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import explorelab as xl
from explorelab._support.parallel import cores
from explorelab.choices.table import Choices
from explorelab.choices.task_file import DataTask, grid_layout

SAVED = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parents[1] / "docs" / "companion.md"
AGENTS = ("situated-ucl", "roving-ucl")
FOLDS = 10


def meder2025(folder: Path) -> Choices:
    """Meder et al. (2025): 103 people on 8 x 8 squares, without the tutorial and the bonus round."""
    frame = pd.read_csv(folder / "choices.csv")
    frame = frame[frame["round"].between(2, 9)].rename(columns={"round": "block"})
    frame["forced"] = frame["trial"] == 0
    layout = replace(grid_layout(8, 8), noise_var=1.0, name="meder2025")
    return xl.choices_from_frame(frame, DataTask(layout, noise_var=1.0), source="meder2025/choices.csv")


class People(NamedTuple):
    """A data set."""

    read: Callable[[Path], Choices]
    title: str


DATA = {
    "wu2018": People(xl.load_wu2018, "Wu et al. (2018), experiment 2: 80 people, 121 squares"),
    "meder2025": People(meder2025, "Meder et al. (2025), rounds 2 to 9: 103 people, 64 squares"),
}


def measured(choices: Choices, agent: str) -> dict[str, Any]:
    """What the command says of these people, and what it took."""
    with tempfile.TemporaryDirectory() as place:
        xl.write_choices(choices, Path(place) / "choices.csv")
        asked = ["forecast", "choices.csv", "--agent", agent, "--folds", str(FOLDS), "--csv", "people.csv", "--json"]
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "explorelab", *asked], cwd=place, stdout=subprocess.PIPE, text=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        people = pd.read_csv(Path(place) / "people.csv")
    return {
        **json.loads(done.stdout),
        "command": "explorelab " + " ".join(asked),
        "nats_of_people": people["nats"].round(5).tolist(),
        "processor_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
        "seconds": round(time.perf_counter() - began),
        "cores": cores(),
    }


def table(found: dict[str, dict[str, Any]]) -> str:
    """The table for the page, and a sentence on each data set with both agents."""
    heads = ("data", "agent", "parameters", "one step ahead", "R²", "group alone", "how far others moved", "processor time")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    told = []
    for name, people in DATA.items():
        runs = {agent: found[f"{name} {agent}"] for agent in AGENTS if f"{name} {agent}" in found}
        best = min(runs, key=lambda agent: runs[agent]["nats_per_choice"], default=None)
        for i, (agent, run) in enumerate(runs.items()):
            mark = "**" if agent == best and len(runs) > 1 else ""
            cells = (
                people.title if not i else "",
                f"{mark}{agent}{mark}",
                run["n_parameters"],
                f"{mark}{run['nats_per_choice']:.3f} ± {run['nats_standard_error']:.3f}{mark}",
                f"{run['r2']:.3f}",
                f"{run['nats_per_choice_group']:.3f}",
                f"{run['nats_per_choice_table']:.3f}",
                f"{run['processor_s'] / 60:.0f} min",
            )
            lines.append("| " + " | ".join(map(str, cells)) + " |")
        if len(runs) == len(AGENTS):
            told.append(f"{gain(*(np.array(runs[agent]['nats_of_people']) for agent in AGENTS))} in {name}")
    if told:
        lines += ["", f"The paired gain of {AGENTS[1]} over {AGENTS[0]} is {', and '.join(told)}."]
    return "\n".join(lines)


def gain(before: np.ndarray, after: np.ndarray) -> str:
    """By how much each person is predicted better."""
    each = before - after
    error = each.std(ddof=1) / np.sqrt(len(each))
    return f"{each.mean():.3f} ± {error:.3f} nats ({(each > 0).sum()} of {len(each)} people)"


def write(found: dict[str, dict[str, Any]]) -> None:
    """Put the table between its marks on the page."""
    text = PAGE.read_text(encoding="utf-8")
    said = f"<!-- forecast: python -m evaluations.forecast DATA -->\n{table(found)}\n<!-- end -->"
    PAGE.write_text(re.sub(r"<!-- forecast.*?<!-- end -->", lambda _: said, text, flags=re.DOTALL), encoding="utf-8")


def main() -> None:
    """Run, keep and write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path, nargs="?", help="folder with wu2018 and meder2025")
    options.add_argument("--only", choices=DATA, nargs="*", default=list(DATA), help="data sets")
    options.add_argument("--agent", choices=AGENTS, nargs="*", default=list(AGENTS), help="agents")
    options.add_argument("--load", action="store_true", help="write the page from what was found last time")
    given = options.parse_args()
    found = json.loads(SAVED.read_text(encoding="utf-8")) if SAVED.exists() else {}
    if not given.load and given.data is None:
        options.error("expected the folder of the data, or --load")
    for name in given.only if not given.load else ():
        choices = DATA[name].read(given.data / name)
        for agent in given.agent:
            found[f"{name} {agent}"] = run = measured(choices, agent)
            print(name, agent, {key: value for key, value in run.items() if key != "nats_of_people"}, flush=True)
            SAVED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(table(found))
    if len(found) == len(DATA) * len(AGENTS):
        write(found)
    else:
        print("The page is written once all of these have been run.")


if __name__ == "__main__":
    main()

"""Restless bandits: what is lost on them, whether a tracker's drift can be recovered, and the horizon task.

    python -m evaluations.restless                        # 80 people per cell, into docs/changing-tasks.md and two figures
    python -m evaluations.restless --n 300 --trials 50 100 200 300 500   # more people and lengths
    python -m evaluations.restless --load                 # the page and figures from evaluations/restless.json

About five minutes on two cores. People are simulated: Kalman filters whose drift, decay and choices differ from person to
person, each on a path of their own (Daw et al. 2006). Everybody is refitted by maximum a posteriori.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import explorelab as xl
from explorelab.plots.style import BLUE, GREEN, GREY, INK, PALETTE, Drawing, whole_ticks, write_figure

DOCS = Path(__file__).parents[1] / "docs"
SAVED = Path(__file__).with_suffix(".json")
BOOTSTRAP = 1000
FREE = ("drift_var", "bonus", "temperature")
KNOWN = {"prior_mean": 50.0, "prior_var": 240.0, "decay": 0.9836, "decay_centre": 50.0, "noise_var": 16.0}
"""What everybody believes: the task's own numbers."""
WORDS = {"drift_var": "drift variance", "bonus": "bonus", "temperature": "temperature"}


SPREADS = {"alike": 1.2, "unlike": 2.4}
"""Two populations: the standard deviation of the logarithm of people's drift variance."""


def truth(n: int, spread: float, seed: int) -> dict[str, np.ndarray]:
    """Parameters of n people, whose drift is about the task's own."""
    rng = np.random.default_rng(seed)
    return {
        "drift_var": np.exp(rng.normal(np.log(8.0), spread, n)),
        "bonus": rng.normal(0.5, 0.7, n),
        "temperature": np.exp(rng.normal(np.log(4.0), 0.5, n)),
    }


def recovered(n: int, n_trials: int, population: str) -> dict[str, Any]:
    """Rank correlations between true and estimated parameters of people with one block of this length."""
    seed = n_trials
    true = truth(n, SPREADS[population], seed)
    agent = xl.agents.restless_kalman(**KNOWN)
    design = xl.blank_choices(xl.tasks.restless(4), n, 1, n_trials, seed=seed)
    choices = xl.simulate_choices(design, agent, true, seed=seed)
    fit = xl.fit(choices, agent, "map", free=FREE, n_starts=2, seed=seed)
    table = fit["estimates"]["estimate"]
    found = {name: table.sel(parameter=name).values for name in FREE}
    return {
        "trials": n_trials,
        "n": n,
        "population": population,
        **{name: correlation(true[name], found[name]) for name in FREE},
    }


def correlation(true: np.ndarray, found: np.ndarray) -> dict[str, float]:
    """Rank correlation with a bootstrap error over people."""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(true), size=(BOOTSTRAP, len(true)))
    spread = np.std([spearmanr(true[at], found[at]).statistic for at in draws])
    return {"rank": float(spearmanr(true, found).statistic), "error": float(spread)}


RIVALS = {
    "Kalman filter with drift and decay": xl.agents.restless_kalman(**KNOWN, drift_var=7.84, temperature=4),
    "the same with a bonus": xl.agents.restless_kalman(**KNOWN, drift_var=7.84, temperature=4, bonus=0.5),
    "delta rule": xl.agents.delta_rule(learning_rate=0.5, temperature=4, prior_mean=50),
    "win-stay, lose-shift": xl.agents.win_stay_lose_shift(),
    "Kalman filter without drift": xl.agents.kalman_value(prior_mean=50, prior_var=240, temperature=4),
    "deterministic UCL": xl.agents.deterministic_ucl(),
}


def losses(n_replicates: int) -> list[dict[str, Any]]:
    """Regret of several agents on the same restless bandits, over 300 trials."""
    rows = []
    for name, agent in RIVALS.items():
        runs = xl.simulate(agent, xl.tasks.restless(4), 300, n_replicates, progress=False)
        last = runs.isel(time=-1)
        rows.append(
            {
                "agent": name,
                "times": runs.time.values.tolist()[::5],
                "curve": np.round(runs.regret_mean.values[::5], 2).tolist(),
                "regret": [float(last.regret_mean), float(last.regret_se)],
                "hindsight": [float(last.hindsight_regret_mean), float(last.hindsight_regret_se)],
            }
        )
    return rows


def one_walk() -> dict[str, Any]:
    """One path, and the choices of one agent on it."""
    runs = xl.simulate(
        RIVALS["the same with a bonus"], xl.tasks.restless(4, seed=11), 300, 1, 1, keep="trajectories", progress=False
    )
    return {"means": np.round(runs.means.values[0], 3).tolist(), "choice": runs.choice.values[0].tolist()}


def horizon_choices(n_games: int) -> list[dict[str, Any]]:
    """On the first free choice: how often the arm seen once is taken, and how often the worse arm, by length of the game.

    The agent of each length is a Kalman filter; with six choices to come its bonus and its temperature are larger.
    """
    rows = []
    games = xl.tasks.horizon_task(n_games)
    for free, bonus, temperature in ((1, 0.0, 4.0), (6, 3.0, 8.0)):
        agent = xl.agents.kalman_ucb(prior_mean=50, prior_var=240, bonus=bonus, temperature=temperature)
        own = [game for game in games if game.conditions["free_choices"] == free]
        choices = xl.simulate_choices(xl.blank_choices(own), agent, progress=False)
        first = choices.arm[:, 4]
        informative = choices.conditions["informative_arm"]
        unequal = informative >= 0
        worse = (choices.conditions["difference"] > 0) == (first == 0)
        for what, hit in (("more informative", (first == informative)[unequal]), ("worse mean", worse[~unequal])):
            error = np.sqrt(hit.mean() * (1 - hit.mean()) / len(hit))
            rows.append({"free": free, "what": what, "share": float(hit.mean()), "error": float(error)})
    return rows


# The page -------------------------------------------------------------------------------------------------------------


def recovery_table(kept: dict[str, Any]) -> str:
    """Rank correlations by number of trials."""
    heads = ["people", "trials", *(WORDS[name] for name in FREE)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in kept["recovery"]:
        cells = [f"{row[name]['rank']:.2f} ± {row[name]['error']:.2f}" for name in FREE]
        who = f"{row['population']} (sd {SPREADS[row['population']]})"
        lines.append(f"| {who} | {row['trials']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def losses_table(kept: dict[str, Any]) -> str:
    """Regret at the end, against the best arm of each moment and the best fixed arm."""
    lines = ["| agent | regret against the best arm of each moment | against the best fixed arm |", "|---|---|---|"]
    for row in kept["losses"]:
        cells = [f"{value:,.0f} ± {error:.0f}" for value, error in (row["regret"], row["hindsight"])]
        lines.append(f"| {row['agent']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def horizon_table(kept: dict[str, Any]) -> str:
    """First free choices by length of the game."""
    lines = ["| free choices | takes the arm seen once | takes the worse arm |", "|---|---|---|"]
    for free in (1, 6):
        cells = [f"{100 * row['share']:.0f} ± {100 * row['error']:.1f} %" for row in kept["horizon"] if row["free"] == free]
        lines.append(f"| {free} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw_task(kept: dict[str, Any]) -> Drawing:
    """(a) A path and choices on it, (b) regret of several agents."""
    drawing = Drawing([["a", "b"]], height=3.1)
    means, choice = np.array(kept["walk"]["means"]), np.array(kept["walk"]["choice"])
    times = np.arange(1, len(means) + 1)
    drawing.panel("a", "(a) Means, and who was chosen", "choice t", "mean reward", xlim=(0, len(means)))
    for arm in range(means.shape[1]):
        drawing.line("a", times, means[:, arm], f"arm {arm}", color=PALETTE[arm], lw=1.2)
        at = choice == arm
        drawing.points("a", times[at], np.full(at.sum(), -3.0 - 2.5 * arm), f"chosen {arm}", color=PALETTE[arm], ms=1.5)
    drawing.say("a", 0.97, -1, "choices", GREY)
    axes = drawing.panel("b", "(b) Regret, best arm of each moment", "choice t", "regret", xlim=(0, 300))
    whole_ticks(axes.xaxis)
    for colour, row in zip((*PALETTE, INK), kept["losses"], strict=False):
        drawing.line("b", row["times"], row["curve"], row["agent"], color=colour)
    axes.set_ylim(bottom=0)
    axes.legend([row["agent"] for row in kept["losses"]], fontsize=6.5)
    return drawing


def draw_recovery(kept: dict[str, Any]) -> Drawing:
    """(a) Rank correlations of the drift against trials, (b) first free choices of the horizon task."""
    drawing = Drawing([["a", "b"]], width=6.2, height=2.7)
    axes = drawing.panel("a", "(a) Recovery of the drift", "trials", "rank correlation", ylim=(0, 1.02))
    for population, colour in zip(SPREADS, (BLUE, GREEN), strict=True):
        rows = [row for row in kept["recovery"] if row["population"] == population]
        times = [row["trials"] for row in rows]
        rank, error = (np.array([row["drift_var"][part] for row in rows]) for part in ("rank", "error"))
        drawing.interval("a", rank - error, rank + error, times, f"{population}, error", upright=True, color=colour)
        drawing.line("a", times, rank, population, color=colour, marker="o", ms=4, label=f"people {population}")
    axes.set_xticks(times)
    axes.legend(loc="lower right")
    axes = drawing.panel("b", "(b) First free choice", "free choices", "share (%)", ylim=(0, 100))
    axes.set_xticks([0, 1], ["1", "6"])
    for what, words, colour in (("more informative", "more informative", BLUE), ("worse mean", "worse", PALETTE[1])):
        rows = [row for row in kept["horizon"] if row["what"] == what]
        share, error = (100 * np.array([row[part] for row in rows]) for part in ("share", "error"))
        drawing.interval("b", share - 2 * error, share + 2 * error, [0, 1], f"{what}, 95 %", upright=True, color=colour)
        drawing.line("b", [0, 1], share, what, color=colour, marker="o", ms=4, label=f"takes the {words} arm")
    axes.legend(loc="upper left")
    return drawing


def write(kept: dict[str, Any]) -> None:
    """Put the tables between their marks on the page, and draw the figures."""
    page = DOCS / "changing-tasks.md"
    text = page.read_text(encoding="utf-8")
    for name, table in (("recovery", recovery_table), ("losses", losses_table), ("horizon", horizon_table)):
        said = f"<!-- {name}: python -m evaluations.restless -->\n{table(kept)}\n<!-- end -->"
        text = re.sub(rf"<!-- {name}:.*?<!-- end -->", lambda _, said=said: said, text, flags=re.DOTALL)  # type: ignore[misc]
    page.write_text(text, encoding="utf-8")
    write_figure(lambda: draw_task(kept), DOCS / "changing-tasks.png", dpi=150)
    write_figure(lambda: draw_recovery(kept), DOCS / "changing-recovery.png", dpi=150)


def main() -> None:
    """Simulate, refit and write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=80, help="people for each number of trials")
    options.add_argument("--trials", type=int, nargs="+", default=[50, 100, 300])
    options.add_argument("--replicates", type=int, default=500, help="replicates of each agent")
    options.add_argument("--load", action="store_true", help="read what was found last time")
    given = options.parse_args()
    if given.load:
        write(json.loads(SAVED.read_text(encoding="utf-8")))
        return
    kept = {
        "walk": one_walk(),
        "losses": losses(given.replicates),
        "horizon": horizon_choices(20_000),
        "recovery": [recovered(given.n, n, population) for population in SPREADS for n in given.trials],
        "n": given.n,
        "replicates": given.replicates,
    }
    SAVED.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    write(kept)


if __name__ == "__main__":
    main()

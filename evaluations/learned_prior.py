"""An automaton that plays with an operator's learned prior. Writes docs/companion-prior.md and its figure.

    python -m evaluations.learned_prior [--operators N] [--render]

About twenty minutes on two cores; what was measured is kept in evaluations/learned_prior.json.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULTS = HERE / "learned_prior.json"
SIZES = {30: (30, 1), 90: (90, 1), 180: (90, 2), 360: (90, 4)}
"""Number of choices learned from: choices in a block, blocks."""
HORIZON = 90
VAR, LENGTH, TEMPERATURE = 60.0, 3.0, 3.0
"""How landscapes differ from what is typical, which the operator knows, and how sharply the operator chooses."""
PLAYERS = {
    "operator": "the operator",
    "learned": "automaton with the learned prior",
    "blind": "the same, unguarded",
    "without": "automaton without it",
    "true": "automaton with the operator's own prior",
}


def landscapes(n: int, rng: np.random.Generator) -> list[Any]:
    """Landscapes of a family: landscape B, and a smooth deviation from it that is different each time."""
    from explorelab import tasks

    typical = tasks.landscape("B")
    root = np.linalg.cholesky(VAR * (np.exp(-typical.distances / LENGTH) + 1e-6 * np.eye(typical.n_arms)))
    return [replace(typical, means=typical.means + root @ rng.standard_normal(typical.n_arms)) for _ in range(n)]


def operator(right: bool) -> Any:
    """An operator who knows what landscapes are typically like, or one who has it upside down."""
    from explorelab import agents, tasks

    means = tasks.landscape("B").means
    expected = means if right else means.max() + means.min() - means
    return agents.stochastic_ucl(prior_mean=expected, prior_var=VAR, length_scale=LENGTH, temperature=TEMPERATURE)


def played(player: Any, task: Any, noise: np.ndarray) -> float:
    """Expected regret of an automaton's block."""
    regret = 0.0
    for deviation in noise:
        arm = player.choose()
        regret += float(task.gaps[arm])
        player = player.observe(arm, float(task.means[arm] + deviation))
    return regret


def measure(n_operators: int) -> list[dict[str, Any]]:
    """A row for each operator and number of choices learned from."""
    import explorelab as xl
    from explorelab.companions.expert import expert_of
    from explorelab.companions.operator_prior import Automaton, Weighted
    from explorelab.companions.past import Past

    rows = []
    for right in (True, False):
        person = operator(right)
        expected = np.asarray(person.params["prior_mean"])
        own = xl.agents.deterministic_ucl(
            prior_mean=expected, prior_cov=VAR * np.exp(-landscapes(1, np.random.default_rng(0))[0].distances / LENGTH)
        )
        for i in range(n_operators):
            rng = np.random.default_rng([i, right])
            known, test = landscapes(4, rng), landscapes(1, rng)[0]
            noise = rng.integers(-5, 6, HORIZON).astype(float)
            alone = xl.simulate_choices(
                xl.blank_choices(test, 1, 1, HORIZON), person, {}, i, noise="integer", progress=False
            )
            regret_alone = float(test.gaps[alone.arm[0]].sum())
            for size, (horizon, n_blocks) in SIZES.items():
                blank = xl.blank_choices(known[:n_blocks], 1, horizon=horizon)
                prior = xl.learn_prior(xl.simulate_choices(blank, person, {}, 100 + i, noise="integer", progress=False))
                truth = expert_of(own, prior.layout, prior.noise_var, HORIZON)
                players = {
                    "learned": xl.automaton(prior),
                    "blind": xl.automaton(prior, guard=0.0),
                    "without": xl.automaton(prior, guard=1.0),
                    "true": Automaton(prior.layout, (Weighted(truth, 0.0),), Past()),
                }
                regrets = {name: played(player, test, noise) for name, player in players.items()}
                within = np.abs(prior.mean - expected) <= 1.96 * prior.estimates.prior_mean_sd.values
                rows.append(
                    {
                        "right": right,
                        "operator_number": i,
                        "size": size,
                        "operator": regret_alone,
                        **regrets,
                        "trust": players["learned"].trust,
                        "correlation": float(np.corrcoef(prior.mean, expected)[0, 1]),
                        "covered": float(within.mean()),
                    }  # fmt: skip
                )
                print(rows[-1], flush=True)
    return rows


def _mean(rows: list[dict[str, Any]], name: str) -> tuple[float, float]:
    values = np.array([row[name] for row in rows])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def draw(rows: list[dict[str, Any]], stem: Path) -> None:
    """Regret against the number of choices learned from."""
    from explorelab.plots.style import BLUE, GREEN, GREY, INK, VERMILION, Drawing, style

    colours = dict(zip(PLAYERS, (INK, BLUE, VERMILION, GREY, GREEN), strict=True))
    with style():
        drawing = Drawing("AB", height=3.2)
        for key, right in (("A", True), ("B", False)):
            title = "(a) An operator who is right" if right else "(b) An operator who is wrong"
            axes = drawing.panel(key, title, "choices learned from", "regret", log="x")
            for name, words in PLAYERS.items():
                found = [
                    _mean([row for row in rows if row["right"] is right and row["size"] == size], name) for size in SIZES
                ]
                mean, error = np.array(found).T
                drawing.line(key, list(SIZES), mean, words, color=colours[name], lw=1.3, marker="o", ms=3, label=words)
                drawing.band(key, list(SIZES), mean - error, mean + error, f"{words}, standard error", color=colours[name])
            axes.set_xticks(list(SIZES), [str(size) for size in SIZES])
            axes.set_ylim(bottom=0)
        handles, said = drawing.axes["A"].get_legend_handles_labels()
        drawing.figure.legend(handles, said, loc="outside lower center", ncols=2)
        drawing.figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})
        drawing.data.to_csv(stem.with_suffix(".csv"), index=False, float_format="%.6g")


def table(rows: list[dict[str, Any]], right: bool) -> str:
    """A row for each number of choices."""
    names = [*PLAYERS, "trust", "correlation", "covered"]
    lines = ["| choices | " + " | ".join([*PLAYERS.values(), "trust in it", "correlation", "within 95 %"]) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for size in SIZES:
        here = [row for row in rows if row["right"] is right and row["size"] == size]
        cells = ["{:.0f} ± {:.0f}".format(*_mean(here, name)) for name in PLAYERS]
        cells += [
            f"{_mean(here, 'trust')[0]:.2f}",
            f"{_mean(here, 'correlation')[0]:.2f}",
            f"{100 * _mean(here, 'covered')[0]:.0f} %",
        ]
        lines.append(f"| {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page(rows: list[dict[str, Any]]) -> str:
    """The page as Markdown."""
    n = len({row["operator_number"] for row in rows})
    return f"""# Playing with an operator's knowledge

<!-- Written by evaluations/learned_prior.py: change that, not this. -->

A trained operator knows where to expect reward. `xl.learn_prior` learns that from their choices, as a prior mean that differs
between arms, with its variance and length scale; `xl.automaton` plays in their place: UCL with the learned prior, without the
operator's chance choices. It is guarded by a weak prior: each of the two counts as far as it foresees rewards, those that the
operator saw included.

Landscapes of a family are landscape B plus a smooth deviation (variance {VAR:g}, length scale {LENGTH:g}) that is different in every
block. One operator knows what is typical, the other has it upside down; both choose by stochastic UCL at temperature
{TEMPERATURE:g}. Everybody then plays a new landscape of the family, {HORIZON} choices. Expected regret, mean ± standard error of {n}
operators; *trust* is the automaton's probability, before its first choice, that the operator's prior is better than the weak one;
*correlation* is that of the learned prior mean with the true one over arms; the last column is the share of arms whose true
prior mean lies within the 95 % interval.

![Regret against the number of choices learned from](companion-prior.png)

## An operator who is right

{table(rows, True)}

## An operator who is wrong

{table(rows, False)}

The automaton without a prior knows the mean, variance and smoothness of the rewards that the operator saw, and nothing about
where they lie.
"""


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operators", type=int, default=12, help="number of operators of each kind")
    parser.add_argument("--render", action="store_true", help="measure nothing; write the page from what is kept")
    given = parser.parse_args()
    if not given.render:
        RESULTS.write_text(json.dumps(measure(given.operators), indent=1) + "\n")
    rows = json.loads(RESULTS.read_text())
    draw(rows, ROOT / "docs" / "companion-prior")
    (ROOT / "docs" / "companion-prior.md").write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

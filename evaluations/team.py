"""Does advice help? Simulated teams of person and adviser. Writes docs/companion-team.md and its figure.

    python -m evaluations.team [--only NAME ...] [--wu2018 FOLDER] [--fit FILE] [--people N] [--render]

About half an hour on two cores. What was measured is kept in evaluations/team.json, and `--only` measures some of it again.
The people of Wu et al. (2018), which are not part of the project, are needed for `wu2018` alone; FILE is a saved em fit of
situated-ucl to them, which is made if it is not given.
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
RESULTS = HERE / "team.json"
OTHERS = 48
"""Simulated people from whom the companion learns what people are like."""

WRONG = """\
The expert expects landscape B upside down: the worst region is the best. One is certain (standard deviation 1), the
other open to doubt (10). An adviser goes silent when rewards lie far from what it expected, or when suggestions that
were taken paid less than the person's own choices; personal advice can also fall back on the person's own prior, if
that foresees rewards better. A certain expert is found out after two rewards, which costs next to nothing. One who is
open to doubt learns, but slowly. These tables were made with an earlier rule (silent after five suggestions taken, two
standard errors below own choices, and nothing suggested afterwards), under which impersonal advice of this kind did
harm to logarithmic people before it was noticed; personal advice has not been measured since."""
NOTICED = """\
With the rule as it is now, an adviser is silent once three suggestions were taken that paid one standard error less
than own choices. From then on it may only suggest the arm that has paid most in this block, if it paid 1.5 standard
deviations more than the person's own choices do. The rule was chosen on the people above at 0.6; these are others
(another seed, {} of each kind). No interval of impersonal advice lies above zero, and linear people, who choose badly
alone, gain as before. The other tables of this page were made with the earlier rule too; with experts who are right,
impersonal advice was never silent under either. That does not make it harmless: on one more set of people
(seed 8, 12 of a kind) logarithmic people who follow 0.3 of the suggestions of an expert who is right lost 8.5 % more with
impersonal advice than without (0.1 to 16.9), one of nine such intervals."""
ELSEWHERE = """\
Landscape A, and two random landscapes (mean 30, standard deviation 17, Matern 3/2 of length scale 3) on which no
policy was tried before. The expert's prior is that of landscapes A and B."""
WU2018 = """\
People drawn from the group of `situated-ucl` fitted by em to {} people of Wu et al. (2018), 40 choices on one of its
surfaces; the expert's prior is that of the other surfaces of the kind."""


def _group() -> Any:
    """What people are like, learned from simulated people other than those who are advised."""
    import explorelab as xl
    from explorelab.recovery.demo_people import demo_population

    return xl.fit(demo_population(seed=100, n=OTHERS).choices, "stochastic-ucl", "em", n_starts=2, progress=False)


def measure_landscape(given: argparse.Namespace) -> dict[str, Any]:
    """The paper's landscape B: three phenotypes."""
    from explorelab import simulate_team, tasks
    from explorelab.companions.team.team_result import team_summary

    result = simulate_team(tasks.landscape("B"), group=_group(), n_people=given.people, seed=1)
    return team_summary(result)


def measure_elsewhere(given: argparse.Namespace) -> dict[str, Any]:
    """Landscapes other than the ones that policies were compared on while they were made."""
    from explorelab import simulate_team, tasks
    from explorelab.agents.learners.kernels import matern32
    from explorelab.companions.expert import prior_for
    from explorelab.companions.team.team_result import team_summary

    family = [tasks.landscape(name) for name in "AB"]
    group, n = _group(), max(given.people // 2, 2)
    found = {"landscape A": team_summary(simulate_team(family[0], group=group, follow=(0.6,), n_people=n, seed=2))}
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        field = np.linalg.cholesky(
            np.asarray(matern32(family[0].distances / 3.0)) + 1e-6 * np.eye(100)
        ) @ rng.standard_normal(100)
        task = replace(family[0], means=30 + 17 * field, name=f"random landscape {seed}")
        result = simulate_team(task, group=group, expert=prior_for(family), follow=(0.6,), n_people=n, seed=2)
        found[task.name] = team_summary(result)
    return found


def measure_wrong(given: argparse.Namespace) -> dict[str, Any]:
    """An expert who is certain that the worst region is the best, and one who is open to doubt."""
    from explorelab import simulate_team, tasks
    from explorelab.companions.team.team_result import team_summary

    task, n = tasks.landscape("B"), max(given.people // 2, 2)
    return {
        words: team_summary(simulate_team(task, group=_group(), expert=wrong, n_people=n, seed=3))
        for words, wrong in _wrong_experts(task).items()
    }


def measure_noticed(given: argparse.Namespace) -> dict[str, Any]:
    """Impersonal advice of the wrong experts, to people on whom the rule for silence was not chosen."""
    from explorelab import simulate_team, tasks
    from explorelab.companions.team.team_result import team_summary

    task, n = tasks.landscape("B"), max(given.people // 2, 2)
    return {
        words: team_summary(simulate_team(task, expert=wrong, policies=["impersonal"], n_people=n, seed=7))
        for words, wrong in _wrong_experts(task).items()
    }


def _wrong_experts(task: Any) -> dict[str, Any]:
    """Who expect the landscape upside down."""
    from explorelab import agents

    means = task.means.max() + task.means.min() - task.means
    return {
        words: agents.deterministic_ucl(prior_mean=means, prior_cov=var * np.exp(-task.distances / 2), ties="random")
        for words, var in (("certain", 1.0), ("open to doubt", 100.0))
    }


def measure_wu2018(given: argparse.Namespace) -> dict[str, Any]:
    """People drawn from the group of situated-ucl fitted to wu2018, on its surfaces."""
    import explorelab as xl
    from explorelab.companions.expert import prior_for
    from explorelab.companions.team.team_result import team_summary

    if given.wu2018 is None:
        raise SystemExit("wu2018 needs --wu2018 FOLDER")
    choices = xl.load_wu2018(given.wu2018)
    fit = xl.load_fit(given.fit) if given.fit else xl.fit(choices, "situated-ucl", "em", n_starts=2)
    surfaces = choices.conditions["surface"]
    assert choices.means is not None
    found = {}
    for kernel in ("rough", "smooth"):
        names = sorted({str(name) for name in surfaces if str(name).startswith(kernel)})
        means = [choices.means[np.flatnonzero(surfaces == name)[0]] for name in names]
        all_tasks = [replace(xl.tasks.bandit(m, 1.0, name=f"wu2018 {kernel}"), places=choices.layout.places) for m in means]
        # The adviser knows the other surfaces of the kind, not the one that is played.
        result = xl.simulate_team(
            all_tasks[0], people=fit, expert=prior_for(all_tasks[1:]), horizon=40, n_people=given.people, seed=4
        )
        found[kernel] = {**team_summary(result), "fitted_to": int(fit.attrs["n_participants"])}
    return found


MEASURES = {
    "landscape B": measure_landscape,
    "wrong expert": measure_wrong,
    "noticed": measure_noticed,
    "elsewhere": measure_elsewhere,
    "wu2018": measure_wu2018,
}


def draw(summary: dict[str, Any], stem: Path) -> None:
    """Draw the figure and write its data."""
    import pandas as pd

    from explorelab.plots.advice_figures import draw_team
    from explorelab.plots.style import style

    teams = pd.DataFrame(summary["teams"]).rename(columns={"regret": "mean"})
    axes = ["kind", "follow", "policy"]
    result = teams.set_index(axes)[["mean", "standard_error"]].to_xarray()
    with style():
        drawing = draw_team(result.reindex({axis: teams[axis].unique() for axis in axes}))
        drawing.figure.savefig(stem.with_suffix(".png"), dpi=150, metadata={"Software": None})
        drawing.data.to_csv(stem.with_suffix(".csv"), index=False, float_format="%.6g")


def table(summary: dict[str, Any]) -> str:
    """A row for each team."""
    rows = [
        "| person | follows | advice | regret | against none, % | against impersonal, % | silent, % |",
        "|---|---|---|---|---|---|---|",
    ]
    for team in summary["teams"]:
        if team["policy"] == "none" and team["follow"] != summary["teams"][0]["follow"]:
            continue
        told = "" if team["policy"] == "none" else f"{team['follow']:g}"
        compared = [_interval(team, "none") if team["policy"] != "none" else "", _interval(team, "impersonal")]
        compared[1] = "" if team["policy"] in ("none", "impersonal") else compared[1]
        regret = f"{team['regret']:.0f} ± {team['standard_error']:.0f}"
        silent = "" if team["policy"] in ("none", "oracle") else f"{100 * team['silent']:.0f}"
        rows.append(f"| {team['kind']} | {told} | {team['policy']} | {regret} | {' | '.join(compared)} | {silent} |")
    return "\n".join(rows)


def _interval(team: dict[str, Any], base: str) -> str:
    middle, low, high = team[f"vs_{base}"]
    return f"{middle:+.1f} ({low:+.1f} to {high:+.1f})"


def verdict(summary: dict[str, Any]) -> str:
    """Which targets are met, and by how much the oracle bounds them."""
    by = {(t["kind"], t["follow"], t["policy"]): t for t in summary["teams"]}
    rows = [
        "| person | follows | 30 % below none | the oracle | 10 % below impersonal | the oracle | harm |",
        "|---|---|---|---|---|---|---|",
    ]
    for (kind, follow, policy), team in by.items():
        if policy != "personal":
            continue
        oracle = by[kind, follow, "oracle"]
        none, impersonal = team["vs_none"], team["vs_impersonal"]
        harm = "none" if none[1] <= 0 else f"{none[0]:+.1f} %"
        rows.append(
            f"| {kind} | {follow:g} | {_met(none, -30)} | {oracle['vs_none'][0]:+.1f} % | {_met(impersonal, -10)} "
            f"| {oracle['vs_impersonal'][0]:+.1f} % | {harm} |"
        )
    return "\n".join(rows)


def reached(summary: dict[str, Any]) -> str:
    """In how many groups each target is met, by personal advice and by the oracle."""
    teams = summary["teams"]

    def count(policy: str, base: str, target: float) -> str:
        of = [team[f"vs_{base}"][0] <= target for team in teams if team["policy"] == policy]
        return f"{sum(of)} of {len(of)}"

    first, second = ("none", -30), ("impersonal", -10)
    return (
        f"Personal advice reaches 30 % below none in {count('personal', *first)} groups (the oracle in "
        f"{count('oracle', *first)}), and 10 % below\nimpersonal in {count('personal', *second)} "
        f"(the oracle in {count('oracle', *second)})."
    )


def _met(found: list[float], target: float) -> str:
    return f"{'yes' if found[0] <= target else 'no'}, {found[0]:+.1f} %"


def page(results: dict[str, Any]) -> str:
    """The page as Markdown."""
    best = results["landscape B"]
    parts = [
        f"""# Does advice help?

<!-- Written by evaluations/team.py: change that, not this. -->

Simulated people play with and without an adviser (`explorelab team`, `xl.simulate_team`). The adviser is the one that
advises people: it sees choices and rewards, estimates the person as they play from what {OTHERS} other simulated people were
like, and knows neither the task's means nor the person's parameters. Its expert starts from the prior of the family of
landscapes: the mean, variance and length scale of landscapes A and B taken together (`prior_for`). Impersonal advice has the
same expert. Everybody meets the same chance with every adviser, so that differences are paired. Regret is the expected one
after {best["horizon"]} choices, mean ± standard error of {best["n"]} people of each kind; differences with 95 % intervals.
The *oracle* knows the best arm and always suggests it.

![Regret of people alone and with each adviser](companion-team.png)

{table(best)}

The adviser alone, playing by itself: {best["expert_alone"]:.0f}.

## What was asked for, and what is possible

{verdict(best)}

{reached(best)}
Targets are judged by the mean. Where the oracle itself does not reach one, no adviser can that wants to show the best
arm. Somebody who follows with probability 0.3 makes 63 of 90 choices alone. The linear person tries every arm once,
because they believe that neighbours have nothing in common: nothing that they are shown changes where they go, and what
they lose alone is the bound. The logarithmic person starts out expecting far too much of every arm and has to be
disappointed by all regions before they settle; suggestions take the place of choices at the end, which would have been
good ones.

At 0.9 the oracle leaves room, but it need not look for the best arm. An adviser that explores less does better on
landscape B (values of information divided by 4: 12 % below impersonal for linear people at 0.9, 19 % for logarithmic
ones, in a prototype that knew the person and is not kept), but gets stuck on other smooth landscapes (up to 60 % above
impersonal). It was not taken.

What personal advice does differently: it weighs what a sample would teach by how many choices are left and how many of
them follow; it learns along which axis the landscape is smooth; and it does not use up good arms that the person would
have tried by themselves anyway, but suggests the same one again."""
    ]
    if "wrong expert" in results:
        parts.append(_section("An adviser that is wrong", WRONG, results["wrong expert"]))
    if "noticed" in results:
        n = results["noticed"]["certain"]["n"]
        parts.append(_section("Noticed sooner", NOTICED.format(n), results["noticed"]))
    if "elsewhere" in results:
        parts.append(_section("On other landscapes", ELSEWHERE, results["elsewhere"]))
    if "wu2018" in results:
        parts.append(
            _section(
                "People like those of wu2018", WU2018.format(results["wu2018"]["rough"]["fitted_to"]), results["wu2018"]
            )
        )
    return "\n\n".join(parts) + "\n"


def _section(title: str, words: str, found: dict[str, Any]) -> str:
    tables = "".join(f"\n\n### {name}\n\n{table(one)}" for name, one in found.items())
    return f"## {title}\n\n{words}{tables}"


def main() -> int:
    """Measure what is asked for and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), default=None)
    parser.add_argument("--wu2018", type=Path, default=None, help="folder with the data of Wu et al. (2018)")
    parser.add_argument("--fit", type=Path, default=None, help="saved em fit of situated-ucl to them")
    parser.add_argument("--people", type=int, default=24, help="number of simulated people of each kind")
    parser.add_argument("--render", action="store_true", help="measure nothing; write the page from what is kept")
    given = parser.parse_args()
    wanted = given.only or [name for name in MEASURES if name != "wu2018" or given.wu2018]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in () if given.render else wanted:
        results[name] = MEASURES[name](given)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print("measured", name, flush=True)
    draw(results["landscape B"], ROOT / "docs" / "companion-team")
    (ROOT / "docs" / "companion-team.md").write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether the intervals of a report's comparisons between conditions hold, with people as the units.

    python -m evaluations.conditions

Simulated numbers for every block stand for an outcome such as regret: people differ, their blocks are alike, and people
differ more at one level than at the other. Each design is compared as a report does it (`regret.by_condition`), with rows
taken for independent, and one condition at a time. The last table has the test of shared frequencies of agents.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.stats import t as t_distribution

from explorelab.choices.conditions import MIXED, Condition, Sorted
from explorelab.comparison.by_group import same_frequencies
from explorelab.regret.by_condition import compared
from explorelab.regret.differences import difference, per_person

EFFECT = 10.0
type Design = Callable[[int, np.random.Generator], tuple[np.ndarray, dict[str, np.ndarray]]]


def study(n: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The study's own: two blocks each; timing and landscape switch, and the dynamics are two of three."""
    first = np.stack([rng.permutation(np.arange(n) % k) for k in (2, 3, 2)], axis=1)
    second = np.stack([1 - first[:, 0], (first[:, 1] + rng.integers(1, 3, n)) % 3, 1 - first[:, 2]], axis=1)
    levels = np.stack([first, second], axis=1).reshape(-1, 3)
    return np.repeat(np.arange(n), 2), dict(zip(("timing", "dynamic", "landscape"), levels.T, strict=True))


def groups(n: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """A third of people in the second group, another condition that goes with it, and one to four blocks each."""
    group = (np.arange(n) % 3 == 0).astype(int)
    sex = (rng.random(n) < 0.35 + 0.3 * group).astype(int)
    who = np.repeat(np.arange(n), rng.integers(1, 5, n))
    return who, {"group": group[who], "sex": sex[who]}


def some_of_each(n: int, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two sessions for half of the people, one for the others."""
    who = np.repeat(np.arange(n), 2)
    session = np.tile([0, 1], n)
    single = np.arange(n) % 2 == 1
    keep = ~single[who] | (session == (np.arange(n) // 2 % 2)[who])
    return who[keep], {"session": session[keep]}


DESIGNS: dict[str, Design] = {"study": study, "groups": groups, "some of each": some_of_each}


def outcome(who: np.ndarray, levels: dict[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """The first condition has the effect that is sought; others move the outcome too."""
    first, *others = levels.values()
    person = 20 * rng.normal(size=who.max() + 1)
    moved = sum((40.0 * level * (-1) ** k for k, level in enumerate(others)), np.zeros(len(who)))
    return person[who] * (1 + 0.5 * first) + EFFECT * first + moved + 10 * rng.normal(size=len(who))


def rows_alone(values: np.ndarray, levels: dict[str, np.ndarray]) -> tuple[float, float]:
    """The interval of least squares that takes rows for independent."""
    columns = [(level[:, None] == np.unique(level)[1:]).astype(float) for level in levels.values()]
    design = np.hstack([np.ones((len(values), 1)), *columns])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ design.T @ values
    freedom = len(values) - design.shape[1]
    error = np.sqrt(((values - design @ coefficients) ** 2).sum() / freedom * inverse[1, 1])
    half = float(t_distribution.ppf(0.975, freedom) * error)
    return float(coefficients[1]) - half, float(coefficients[1]) + half


def measured(name: str, n: int, sets: int) -> None:
    """Print coverage and mean width for one design."""
    found: dict[str, list[tuple[float, float]]] = {"as in a report": [], "rows independent": [], "one at a time": []}
    for seed in range(sets):
        rng = np.random.default_rng([seed, n])
        who, levels = DESIGNS[name](n, rng)
        values = outcome(who, levels, rng)
        columns = Sorted(tuple(
            Condition(each, tuple("abc"[: level.max() + 1]), level, MIXED) for each, level in levels.items()
        ))  # fmt: skip
        row = compared(values, who, columns).differences.iloc[0]
        found["as in a report"].append((row["low"], row["high"]))
        found["rows independent"].append(rows_alone(values, levels))
        first = next(iter(levels.values()))
        one = difference(*(per_person(values[first == k], who[first == k], n) for k in (1, 0)))
        found["one at a time"].append((one.low, one.high))
    for how, ends in found.items():
        low, high = np.array(ends).T
        holds = np.mean((low <= EFFECT) & (high >= EFFECT))
        error = np.sqrt(holds * (1 - holds) / sets)
        print(f"| {name} | {n} | {how} | {100 * holds:.1f} ± {100 * error:.1f} | {np.mean(high - low):.1f} |")


def frequencies(n: int, sets: int, apart: float) -> None:
    """Print how the probability of shared frequencies comes out for groups that share them or differ by `apart`."""
    found = []
    for seed in range(sets):
        rng = np.random.default_rng([seed, n, 1])
        group = np.repeat([0, 1], n // 2)
        model = (rng.random(n) < 0.5 + apart * (group - 0.5)).astype(int)
        evidence = 5 * np.eye(2)[model] + 2 * rng.normal(size=(n, 2))
        found.append(same_frequencies(evidence, group))
    told = np.array(found)
    print(f"| {n} | {0.5 - apart / 2:.2f}, {0.5 + apart / 2:.2f} | {np.median(told):.2f} | "
          f"{100 * np.mean(told < 0.05):.1f} | {100 * np.mean(told > 0.95):.1f} |")  # fmt: skip


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000, help="simulated data sets of each design")
    sets = parser.parse_args().sets
    print("| design | people | intervals | coverage (%) | mean width |\n|---|---|---|---|---|")
    for name in DESIGNS:
        for n in (12, 40):
            measured(name, n, sets)
    print("\n| people | shares of an agent | median probability | below 0.05 (%) | above 0.95 (%) |\n|---|---|---|---|---|")
    for n in (20, 40, 100):
        for apart in (0.0, 0.6):
            frequencies(n, min(sets, 500), apart)


if __name__ == "__main__":
    main()

"""Which schedule of credibility and which cooling do people follow? The paper's open question. Writes docs/schedules.md.

    python -m evaluations.schedules FOLDER [--only TEXT ...]   # people: wu2018 and meder2025 in FOLDER
    python -m evaluations.schedules --simulated [--only TEXT ...]   # simulated people of known schedules, on two designs
    python -m evaluations.schedules --render                   # the page and figure from what was measured

Every model is fitted to half of each person's rounds, with a group prior learned from the same rounds, and predicts the
other half; with `--halves 1 2`, then the other way round too. What was measured is kept in evaluations/schedules.json, model
by model, so that a run that was stopped goes on where it was; `--only` measures the models whose name contains one of the
texts. What is kept took 13 minutes of processor time; not all of MODELS is.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

RESULTS = Path(__file__).with_suffix(".json")
PLAIN = ("constant", "constant")
"""The model from whose estimates all others start, and to which they are compared."""
MODELS = (
    PLAIN,
    ("1/(K t)", "constant"),
    ("constant", "nu / log t"),
    ("constant", "t^-c"),
    ("1/(K trials left)", "constant"),
    ("none", "constant"),
    ("t^b", "constant"),
    ("1/(K t^a)", "constant"),
    ("constant", "spread / log t"),
    ("1/(K t)", "nu / log t"),
    ("t^b", "t^-c"),
    ("horizon^h", "constant"),
    ("constant", "horizon^h"),
    ("1/(K t)", "feedback"),
)  # fmt: skip
"""Credibility and cooling of each model, the most telling first."""
KNOWN = {
    "wu2018": {"prior_var": 500.0, "noise_var": 1.0},
    "meder2025": {"prior_var": 100.0, "noise_var": 0.25},
    "study": {"prior_var": 300.0, "noise_var": 10.0},
}
"""The prior variance is fixed at about the variance of the rewards: a bonus that is free makes up for any other."""
STARTS = 2
ROUNDS, TOLERANCE = 8, 0.02
"""Plain rounds of empirical Bayes at most, and when the group counts as settled."""


class Half(NamedTuple):
    """Rounds to learn from and rounds to predict, of each person."""

    training: list[np.ndarray]
    left_out: list[np.ndarray]


class Fit(NamedTuple):
    """One model, fitted to one half."""

    z: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    settled: bool
    nll: np.ndarray
    """Of each person's left-out rounds."""
    names: list[str]
    natural: dict[str, float]
    """The group's mean of each parameter."""


def halves(choices: Any, within: str | None = None) -> list[Half]:
    """Every other round of each person, among those of the same condition; and the others."""
    kinds = np.zeros(choices.n_rows) if within is None else choices.conditions[within]
    second = np.zeros(choices.n_rows, bool)
    for who in range(choices.n_participants):
        for kind in np.unique(kinds):
            own = np.flatnonzero((choices.participant == who) & (kinds == kind))
            second[own[1::2]] = True
    people = range(choices.n_participants)
    parts = [[np.flatnonzero((choices.participant == who) & (second == each)) for who in people] for each in (False, True)]
    return [Half(parts[0], parts[1]), Half(parts[1], parts[0])]


def fit_half(choices: Any, agent: Any, half: Half, starts: np.ndarray | None, free: Any = None) -> Fit:
    """Everyone's estimates under a group prior learned from the training rounds, and how well they predict the others."""
    from explorelab.fitting.empirical_bayes import group_from
    from explorelab.fitting.model import prepare
    from explorelab.fitting.results import on_natural_scale
    from explorelab.fitting.search.best import best_of_starts, with_prior
    from explorelab.fitting.search.solve import minimised, predicted, problems

    fitted = prepare(choices, agent, free, seen=np.concatenate(half.training))
    if starts is None:
        starts = best_of_starts(fitted, with_prior(fitted, half.training, prior=True), STARTS, 0, "fitting", False).z
    mean, covariance, settled = group_from(fitted, half.training, starts, ROUNDS, TOLERANCE, progress=False)
    each = problems(half.training, mean, np.linalg.inv(covariance))
    z = np.asarray(minimised(fitted, each, starts, "fitting", False).z)
    rows = np.concatenate(half.left_out)
    owner = np.repeat(np.arange(len(z)), [len(own) for own in half.left_out])
    lost = -predicted(fitted, rows, z[owner][:, None], False)[:, 0]
    names = [dimension.name for dimension in fitted.space]
    natural = dict(zip(names, on_natural_scale(fitted.space, mean).tolist(), strict=True))
    return Fit(z, mean, covariance, settled, np.bincount(owner, lost, len(z)), names, natural)


def fit_model(
    choices: Any, known: dict[str, float], model: tuple[str, str], habits: bool, half: Half, plain: Fit | None
) -> Fit:
    """One model; it starts where the plain one, fitted to the same rounds, ended."""
    from evaluations.schedules_models import FEEDBACK, scheduled

    if model[1] != FEEDBACK:
        return fit_half(choices, scheduled(*model, habits, known), half, None if plain is None else plain.z)
    assert plain is not None
    # Almost every choice is certain or impossible to it, so that the likelihood is flat along all but the lapse.
    fixed = {name: plain.natural[name] for name in ("prior_mean", "length_scale", "bonus")}
    return fit_half(choices, scheduled(*model, habits, {**known, **fixed}), half, None, ("lapse",))


# People ---------------------------------------------------------------------------------------------------------------


def people(folder: Path, name: str) -> tuple[Any, str | None]:
    """The choices of a data set, and the condition within which its rounds are halved."""
    if name == "wu2018":
        from explorelab.choices.wu2018 import load_wu2018

        return load_wu2018(folder / name), "horizon"
    from evaluations.meder2025 import people as of_meder

    return of_meder(folder / name), None


def applies(name: str, model: tuple[str, str]) -> bool:
    """Whether the model differs from the constant one: where all blocks are alike, their length tells nothing."""
    return name == "wu2018" or "horizon^h" not in model


def measure_people(folder: Path, wanted: Any, numbers: list[int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every wanted model of every data set, with and without habits."""
    for number in numbers:
        for name in ("wu2018", "meder2025"):
            for habits in (True, False):
                keys = {key(name, habits, model, number): model for model in MODELS if applies(name, model)}
                keys = {each: model for each, model in keys.items() if wanted(each)}
                if keys:
                    choices, within = people(folder, name)
                    half = halves(choices, within)[number - 1]
                    yield from measured(choices, half, KNOWN[name], habits, keys)


def key(name: str, habits: bool, model: tuple[str, str], number: int) -> str:
    """The name of a result."""
    return " | ".join([name, "habits" if habits else "no habits", *model, f"half {number}"])


def measured(
    choices: Any, half: Half, known: dict[str, float], habits: bool, models: dict[str, tuple[str, str]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The result of each model: what every person's left-out rounds cost, and the group's parameters."""
    from explorelab.fitting.criteria import chance_nll

    chance, owner = chance_nll(choices, by_row=True), np.concatenate(half.left_out)
    counted = np.bincount(choices.participant[owner], choices.scored[owner].sum(1), choices.n_participants)
    began = time.process_time()
    plain = fit_model(choices, known, PLAIN, habits, half, None)
    for name, model in models.items():
        fit = plain if model == PLAIN else fit_model(choices, known, model, habits, half, plain)
        spent, began = time.process_time() - began, time.process_time()
        yield (
            name,
            {
                "nll": np.round(fit.nll, 2).tolist(),
                "chance": round(float(chance[owner].sum()), 2),
                "n_choices": counted.astype(int).tolist(),
                "group": {each: round(value, 4) for each, value in fit.natural.items()},
                "spread": dict(zip(fit.names, np.sqrt(np.diagonal(fit.covariance)).round(3).tolist(), strict=True)),
                "settled": fit.settled,
                "processor_s": round(spent, 1),
            },
        )


# The command ----------------------------------------------------------------------------------------------------------


def kept(results: Path, text: str) -> dict[str, Any]:
    """What has been measured so far."""
    return json.loads(results.read_text()).get(text, {}) if results.exists() else {}


def main() -> int:
    """Measure what is asked for, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="holds the folders wu2018 and meder2025")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--halves", nargs="+", type=int, choices=[1, 2], default=[1])
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--render", action="store_true", help="measure nothing; write the page from what is kept")
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args()
    part = "simulated" if given.simulated else "people"

    def wanted(name: str) -> bool:
        return name not in kept(given.results, part) and any(text in name for text in given.only)

    found: Iterator[tuple[str, dict[str, Any]]] = iter(())
    if given.simulated:
        from evaluations.schedules_simulated import measure_simulated

        found = measure_simulated(wanted, given.halves)
    elif given.folder is not None:
        found = measure_people(given.folder, wanted, given.halves)
    for name, one in found:
        every = json.loads(given.results.read_text()) if given.results.exists() else {}
        every.setdefault(part, {})[name] = one
        given.results.write_text(json.dumps(every) + "\n")
        print(f"{name}: {one.get('processor_s', 0):.0f} s", file=sys.stderr, flush=True)
    if given.render:
        from evaluations.schedules_page import write_page

        write_page(json.loads(given.results.read_text()), Path(__file__).parents[1] / "docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Example data for the report: 326 simulated people, ranging between the paper's two example agents.

Section V.C of the paper shows two agents, one whose regret grows linearly and one whose regret grows logarithmically;
section V.B labels 59.2 % of 326 people linear, 21.5 % logarithmic and 19.3 % power. If each phenotype were such an agent,
193 people would be the linear one, 70 the logarithmic one, and 63 somewhere between. That is this population.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from explorelab._support import checks
from explorelab._support.counted import plural
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.regret import paper_people
from explorelab.regret.paper_people import ENDS, SCATTER, on_the_line

KINDS = {"linear": "linear", "between": "power", "log": "log"}
"""The kinds of people, each with the phenotype of the paper that gives its share."""
if TYPE_CHECKING:
    from explorelab.agents.factors import Agent


class Population(NamedTuple):
    """Simulated people and their true parameters."""

    choices: Choices
    truth: pd.DataFrame
    """One row per person: participant, kind, place on the line (0 linear, 1 logarithmic), parameters."""


def demo_population(seed: int = 0, n: int = paper_people.PEOPLE, horizon: int = 90) -> Population:
    """Simulated people with one block each on landscape B, with whole-number noise from -5 to 5.

    Shares of the kinds are the paper's shares of phenotypes. A person of kind between has a place w, uniform between the
    agents (w = 0 linear, w = 1 logarithmic); prior mean and length scale are interpolated as they are, prior variance and
    temperature by their logarithms. Then every parameter of everyone is multiplied by exp(0.2 g), g standard normal.
    """
    from explorelab.recovery.designs import blank_choices
    from explorelab.recovery.simulated_choices import simulate_choices
    from explorelab.tasks import landscape

    rng = np.random.default_rng(np.random.SeedSequence([checks.whole("seed", seed, at_least=0), 326]))
    kinds = _kinds(checks.whole("the number of people", n, at_least=3, at_most=checks.MANY))
    place = np.where(kinds == "log", 1.0, np.where(kinds == "linear", 0.0, rng.uniform(size=n)))
    params = {name: on_the_line(name, place) * np.exp(SCATTER * rng.standard_normal(n)) for name in ENDS}
    order = rng.permutation(n)
    kinds, place, params = kinds[order], place[order], {name: values[order] for name, values in params.items()}
    blank = blank_choices(landscape("B"), n, 1, horizon)
    blank = replace(blank, conditions={"made_as": kinds.astype(str)})
    agent = _agent()
    choices = simulate_choices(blank, agent, params, seed, noise="integer", progress=False)
    note = f"{_story(kinds)} {choices.note}".strip()
    truth = pd.DataFrame({"participant": choices.participants, "made_as": kinds, "place": place, **params})
    return Population(replace(choices, source="simulated population", note=note), truth)


def _story(kinds: np.ndarray) -> str:
    """A description of the population, in words."""
    n = {kind: int((kinds == kind).sum()) for kind in KINDS}
    ends = [f"prior mean {a:g}, prior variance {b:g}, length scale {c:g}, temperature {d:g}"
            for a, b, c, d in zip(*ENDS.values(), strict=True)]  # fmt: skip
    are, lie = plural(n["linear"], "is", "are"), plural(n["between"], "lies", "lie")
    return (
        f"Simulated people, not real ones: {n['linear']} {are} the linear agent of {paper_people.NAME} ({ends[0]}), "
        f"{n['log']} its logarithmic agent ({ends[1]}), and {n['between']} {lie} between them, spread evenly along the line "
        "from one to the other (logarithms of variance and temperature, the other two as they are); then every parameter of "
        f"everyone was multiplied by exp({SCATTER:g} g), g standard normal. The three numbers are the paper's shares of "
        "linear, logarithmic and power regret."
    )


def _agent() -> Agent:
    from explorelab.agents.named.ucl import stochastic_ucl

    return stochastic_ucl(prior_mean=30, prior_var=1000, length_scale=1, temperature=4)


def _kinds(n: int) -> np.ndarray:
    """The kind of each of n people, in the paper's shares; the largest group absorbs rounding."""
    counts = {kind: round(paper_people.SHARES[form] * n) for kind, form in KINDS.items()}
    counts["linear"] += n - sum(counts.values())
    return np.repeat(list(counts), list(counts.values()))


def write_population(folder: Path | str, seed: int = 0, n: int = paper_people.PEOPLE) -> Path:
    """Write choices.csv, the task file choices.toml and true_parameters.csv into the folder; return the first."""
    from explorelab._support.files import write_whole
    from explorelab.choices.writing import write_choices

    population = demo_population(seed, n)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: cannot create the folder: {error.strerror or error}.") from None
    write_whole(place / "true_parameters.csv", lambda path: population.truth.to_csv(path, index=False, float_format="%.6g"))
    return write_choices(population.choices, place / "choices.csv")

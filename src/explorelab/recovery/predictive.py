"""Posterior predictive checks: people compared with simulations at their fitted parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Floats, Variables
from explorelab._support.door import door
from explorelab._support.rounding import without_rounding
from explorelab.agents import Agent
from explorelab.choices.table import Choices
from explorelab.comparison.left_out_blocks import posterior_draws
from explorelab.errors import InputError
from explorelab.fitting.known import Known, fitted_of, same_people
from explorelab.fitting.results import on_natural_scale
from explorelab.recovery.behaviour import CURVES, Each, mean_known, of_each
from explorelab.recovery.simulated_choices import simulate_choices
from explorelab.recovery.truth import known_of
from explorelab.regret.forms import PowerFit

MOST_WALKS = 40
"""The most classes in which walks are counted, each as wide as the shortest walk; the last holds all longer ones."""
AT_ONCE = 20_000
"""Blocks simulated at once; only their statistics are kept, not their trials."""


@door
def predictive_check(
    choices: Choices,
    agent: str | Agent | None,
    fit: xr.DataTree,
    n_copies: int = 100,
    seed: int = 0,
    *,
    noise: str = "gaussian",
    power: PowerFit = "raw",
    uncertain: bool = True,
    progress: bool | None = None,
) -> xr.Dataset:
    """Compare a group's behaviour with that of the fitted agent, which plays the same blocks `n_copies` times.

    For each statistic: `human`; `simulated`, the mean over copies; `low` and `high`, 95 % of copies; `p`, twice the share of
    copies at least as far off on that side (small: the agent does not do what people do; at least 2 / (n_copies + 1)).

    These names hold the statistics over `statistic` (final regret, mean reward, repeats, walks, shares of new arms and of
    phenotypes). Curves over `time` (regret, reward, repeat, travel, unique) are `regret_human`, `regret_simulated`, ...; the
    distribution of distances moved, over `walk`, is `walk_human`, ... (no travel and walks if arms have no places). Where
    blocks differ in length, curves are means over the blocks that last that long, the same ones on both sides. The attribute
    `warning` says whether the fit failed to converge; it is empty if all is well.

    Parameters
    ----------
    choices
        People's choices.
    agent
        Agent or its name; None for the agent of the fit.
    fit
        Fit of the agent to these choices.
    n_copies
        Number of times to simulate the whole group.
    seed
        Same seed, same result.
    noise
        Noise of simulated rewards: "gaussian" or "integer", or one added with `add_noise`.
    power
        How the power law is fitted: "raw" or "log-log", as in `fit_regret_curves`.
    uncertain
        Whether each copy draws everyone's parameters from their own posterior (Laplace's approximation, within the bounds);
        otherwise everyone is simulated at their estimates.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    n_copies = checks.whole("n_copies", n_copies, at_least=1, at_most=checks.MANY)
    seed = checks.whole("seed", seed, at_least=0)
    known = known_of(choices, agent, fit)
    same_people(choices, fit)
    classes = _classes(choices)
    params = posterior_parameters(choices, known, n_copies if uncertain else 1, seed)
    per_call = max(1, AT_ONCE // choices.n_rows)
    copies: list[Summary] = []
    for first in range(0, n_copies, per_call):
        now = min(per_call, n_copies - first)
        values = {name: v[first : first + now].ravel() if uncertain else v.ravel() for name, v in params.items()}
        own = int(np.random.SeedSequence([seed, first]).generate_state(1)[0])
        simulated = simulate_choices(choices, known.agent, values, own, now, noise=noise, progress=progress)
        copies += _summaries(of_each(simulated, power), now, classes)
    human = _summaries(of_each(choices, power), 1, classes)[0]
    attrs = {"agent": known.agent.name, "method": str(fit.attrs["method"]), "n_copies": n_copies, "seed": seed}
    return _beside(human, copies, classes).assign_attrs(**attrs, source=choices.source, power=power, warning=known.warning)


def posterior_parameters(choices: Choices, known: Known, n: int, seed: int) -> dict[str, np.ndarray]:
    """Parameters by name, in natural units (draw x participant), from everyone's posterior; if n is 1, the estimates."""
    table = known.estimates.sel(parameter=list(known.names))
    if n == 1:
        return {name: table["estimate"].sel(parameter=name).values[None] for name in known.names}
    if "z_covariance" not in table:
        raise InputError("the fit does not give the uncertainty of its estimates: use uncertain=False.")
    covariance = table["z_covariance"].sel(parameter_2=list(known.names)).values
    # A direction that the choices say nothing about has a huge variance; one standard unit was plausible beforehand.
    covariance = _within_reason(covariance)
    z = posterior_draws(fitted_of(choices, known), table["z"].values, covariance, n, seed)
    natural = on_natural_scale(known.space, z)
    return {name: natural[:, :, i].T for i, name in enumerate(known.names)}


def _within_reason(covariance: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(covariance)
    return np.einsum("nij,nj,nkj->nik", vectors, np.clip(values, 0.0, 1.0), vectors)


class Summary(NamedTuple):
    """Statistics of one group."""

    curves: dict[str, Floats]
    numbers: dict[str, float]
    walks: Floats | None
    """Share of choices in each class of walks."""


def _classes(choices: Choices) -> Floats:
    """The walk in the middle of every class: none, the shortest, twice that, ..."""
    walks = choices.layout.walks
    if walks is None or not (walks > 0).any():
        return np.zeros(1)
    unit = walks[walks > 0].min()
    return unit * np.arange(min(round(walks.max() / unit), MOST_WALKS) + 1)


def _summaries(each: Each, copies: int, classes: Floats) -> list[Summary]:
    """A summary for each copy; the rows are in order of copies."""

    def parted(values: Floats) -> Floats:
        return values.reshape(copies, -1, *values.shape[1:])

    curves = {name: mean_known(parted(values), 1) for name, values in each.curves.items()}
    numbers = {name: mean_known(parted(values), 1) for name, values in each.numbers.items()}
    walks = [None] * copies if each.walks is None else [_shares(w, classes) for w in parted(each.walks)]
    return [
        Summary({name: v[c] for name, v in curves.items()}, {name: float(v[c]) for name, v in numbers.items()}, walks[c])
        for c in range(copies)
    ]


def _shares(walks: Floats, classes: Floats) -> Floats:
    unit = classes[1] if len(classes) > 1 else 1.0
    far = np.minimum(np.rint(walks[np.isfinite(walks)] / unit), len(classes) - 1).astype(int)
    return np.bincount(far, minlength=len(classes)) / max(len(far), 1)


def _beside(human: Summary, copies: list[Summary], classes: Floats) -> xr.Dataset:
    names = list(human.numbers)
    numbers = (np.array([human.numbers[name] for name in names]), [np.array(list(c.numbers.values())) for c in copies])
    variables = {part: ("statistic", values) for part, values in compared(*numbers).items()}
    for name in human.curves:
        for part, values in compared(human.curves[name], [c.curves[name] for c in copies]).items():
            variables[f"{name}_{part}"] = ("time", values, {"long_name": CURVES[name]})  # type: ignore[assignment]
    n_trials = len(human.curves["regret"])
    coords: Variables = {"statistic": names, "time": np.arange(1, n_trials + 1)}
    if human.walks is not None:
        of_copies = [c.walks for c in copies if c.walks is not None]
        for part, values in compared(human.walks, of_copies).items():
            variables[f"walk_{part}"] = ("walk", values)
        coords["walk"] = classes
    return xr.Dataset(variables, coords)


def compared(human: Floats, copies: list[Floats]) -> dict[str, Floats]:
    """Human, simulated (mean), low and high (95 % of copies), and p."""
    drawn = np.stack(copies)
    unknown = np.isnan(human) | np.isnan(drawn).any(0)
    # A sum in another order is the same number: rounding must not put people outside a range that they agree with.
    drawn = human + without_rounding(drawn - human, drawn, human)
    filled = np.where(unknown, 0.0, drawn)
    low, high = np.quantile(filled, [0.025, 0.975], axis=0)
    above, below = ((1 + at.sum(0)) / (1 + len(drawn)) for at in (filled >= human, filled <= human))
    p = np.minimum(1.0, 2 * np.minimum(above, below))
    found = {"simulated": filled.mean(0), "low": low, "high": high, "p": p}
    return {"human": human, **{name: np.where(unknown, np.nan, values) for name, values in found.items()}}

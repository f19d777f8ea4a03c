"""What a plan found, as a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import xarray as xr

from explorelab._support.checks import Floats, Variables
from explorelab.recovery.parameter_recovery import rank_interval
from explorelab.recovery.planning import plan_words
from explorelab.recovery.planning.effect_power import EffectPower, Goal, Planned
from explorelab.recovery.planning.plan_designs import PlannedDesign
from explorelab.recovery.planning.plan_people import Population
from explorelab.recovery.planning.pooled_power import (
    PowerAt,
    found_by_group,
    power_of,
    rank_correlations,
    sizes,
)
from explorelab.regret.clusters import wilson

N_CURVE = 60
"""Numbers of people at which a curve is told."""
N_DEALT = {"recover": 1000, "agents": 100}
"""Studies that are made up of the people of a pool."""
LEAST_CORRELATED = 8
"""Of fewer people, a correlation says nothing."""
ENDS = ("low", "high")


def of_effect(plan: Planned, found: list[EffectPower], size: str) -> xr.Dataset:
    """The power of the test of an effect."""
    goal, effect = plan.goal, plan.effect
    number = np.unique(np.geomspace(4, max(goal.most, 8), N_CURVE).round())
    tried = [
        PowerAt(*(np.array(column) for column in zip(*(
            (each.people, each.hits / each.studies, *wilson(each.hits / each.studies, each.studies), each.studies)
            for each in one.tried
        ), strict=True)))
        for one in found
    ]  # fmt: skip
    curves = np.stack([one.curve.power(number) for one in found])
    needed = np.stack([one.curve.required() for one in found])
    variables: Variables = {
        **_powers(tried),
        **{name: (("design", "number"), curves[..., i]) for i, name in enumerate(("curve_low", "curve", "curve_high"))},
        **_needed(
            np.where(needed > goal.most, np.inf, needed)[:, [1, 0, 2]] if effect.size else np.full((len(found), 3), np.nan)
        ),
        **_alarms(found),
    }
    told = {
        "purpose": "effect",
        "agent": plan_words.name_of(plan.people.agent),
        "parameter": effect.parameter,
        "size": size,
        "size_on_scale": effect.size,
        "within": int(effect.within),
        "slope_sd": effect.slope_sd,
        "alpha": goal.alpha,
        "people": plan_words.people_told(plan.people),
    }
    result = _data_set(plan.designs, variables, goal, plan.starts, told, {"number": number})
    return _with_sentences(result, partial(plan_words.effect_sentence, plan, size))


def _alarms(found: list[EffectPower]) -> Variables:
    """How often nothing was found, if it was looked at."""
    alarms = [one.alarms for one in found]
    if not any(alarms):
        return {}
    share = [np.nan if alarm is None else alarm.hits / alarm.studies for alarm in alarms]
    ends = [(np.nan, np.nan) if alarm is None else wilson(alarm.hits / alarm.studies, alarm.studies) for alarm in alarms]
    people = [0 if alarm is None else alarm.people for alarm in alarms]
    return {**_with_ends("false_alarms", share, ends), "alarm_people": ("design", people)}


def rank_known(accuracy: float) -> Callable[[Floats], bool]:
    """Whether a rank correlation is known within this."""

    def known(pool: Floats) -> bool:
        low, high = rank_interval(rank_correlations(pool[None]), len(pool))
        return bool(high[0] - low[0] <= 2 * accuracy)

    return known


def share_known(model: int, accuracy: float) -> Callable[[Floats], bool]:
    """Whether the share of people identified as of this model is known within this."""

    def known(pool: Floats) -> bool:
        low, high = wilson(float((pool.argmin(1) == model).mean()), len(pool))
        return high - low <= 2 * accuracy

    return known


def of_recovery(
    designs: list[PlannedDesign],
    people: Population,
    parameter: str,
    method: str,
    at_least: float,
    starts: int,
    goal: Goal,
    at: Sequence[int] | None,
    pools: list[Floats],
) -> xr.Dataset:
    """How well a parameter is recovered."""

    def succeeds(studies: Floats) -> np.ndarray:
        return rank_correlations(studies) >= at_least

    found = [
        power_of(pool, sizes(len(pool), at, LEAST_CORRELATED), succeeds, N_DEALT["recover"], goal.seed) for pool in pools
    ]
    rank = np.array([rank_correlations(pool[None])[0] for pool in pools])
    ends = [tuple(float(end[0]) for end in rank_interval(r[None], len(pool))) for r, pool in zip(rank, pools, strict=True)]
    covered = [float(((pool[:, 2] <= pool[:, 0]) & (pool[:, 0] <= pool[:, 3])).mean()) for pool in pools]
    width = [_median(pool[:, 3] - pool[:, 2]) for pool in pools]
    variables: Variables = {
        **_powers(found),
        **_needed(np.array([each.needed(goal.target) for each in found])),
        **_with_ends("rank_correlation", rank, ends),
        **_with_ends("coverage", covered, [wilson(c, len(pool)) for c, pool in zip(covered, pools, strict=True)]),
        **_with_ends("width", [each[0] for each in width], [each[1:] for each in width]),
        "rmse": ("design", [float(np.sqrt(np.mean((pool[:, 1] - pool[:, 0]) ** 2))) for pool in pools]),
        "simulated": ("design", [len(pool) for pool in pools]),
    }
    told = {
        "purpose": "recover",
        "agent": plan_words.name_of(people.agent),
        "parameter": parameter,
        "method": method,
        "at_least": at_least,
        "people": plan_words.people_told(people),
    }
    result = _data_set(designs, variables, goal, starts, told)
    return _with_sentences(result, plan_words.recovery_sentence)


def _median(values: Floats) -> tuple[float, float, float]:
    """The median with its interval, between two of the values (binomial, 95 %)."""
    ordered, n = np.sort(values), len(values)
    reach = 0.98 * np.sqrt(n)
    ends = np.clip([np.floor(n / 2 - reach), np.ceil(n / 2 + reach)], 0, n - 1).astype(int)
    return float(np.median(values)), float(ordered[ends[0]]), float(ordered[ends[1]])


def of_models(
    designs: list[PlannedDesign],
    crowds: list[Population],
    names: list[str],
    criterion: str,
    at_least: float,
    starts: int,
    goal: Goal,
    at: Sequence[int] | None,
    pools: list[Floats],
) -> xr.Dataset:
    """How well agents are told apart: people one by one, and groups who are all alike."""
    n = len(names)
    of_design = [pools[d * n : (d + 1) * n] for d in range(len(designs))]
    worst = [_worst([evidence_of(pool, criterion) for pool in each], at, at_least, goal) for each in of_design]
    counts = np.array([[np.bincount(pool.argmin(1), minlength=n) for pool in each] for each in of_design])
    share = counts / counts.sum(2, keepdims=True)
    right = np.array([np.diag(each) for each in share])
    ends = np.array(
        [[wilson(p, len(pool)) for p, pool in zip(*each, strict=True)] for each in zip(right, of_design, strict=True)]
    )
    total = [float(each.mean()) for each in right]
    total_ends = [wilson(p, sum(map(len, each))) for p, each in zip(total, of_design, strict=True)]
    variables: Variables = {
        **_powers(worst),
        **_needed(np.array([each.needed(goal.target) for each in worst])),
        "confusion": (("design", "generated", "fitted"), share),
        "correct": (("design", "generated"), right),
        "correct_low": (("design", "generated"), ends[..., 0]),
        "correct_high": (("design", "generated"), ends[..., 1]),
        **_with_ends("correct_all", total, total_ends),
        "simulated": (("design", "generated"), [[len(pool) for pool in each] for each in of_design]),
    }
    told = {
        "purpose": "agents",
        "agents": ", ".join(names),
        "criterion": criterion,
        "at_least": at_least,
        "people": "; ".join(f"{name}: {plan_words.people_told(crowd)}" for name, crowd in zip(names, crowds, strict=True)),
    }
    result = _data_set(designs, variables, goal, starts, told, {"generated": names, "fitted": names})
    return _with_sentences(result, plan_words.models_sentence)


def evidence_of(pool: Floats, criterion: str) -> Floats:
    """Log evidence of every model for every person, as `compare` has it."""
    return -pool if criterion == "cv" else -pool / 2


def _worst(pools: list[Floats], at: Sequence[int] | None, at_least: float, goal: Goal) -> PowerAt:
    """The least power over the agents who may have played, at each number of people."""
    where = sizes(min(map(len, pools)), at)
    each = [
        power_of(pool, where, partial(_group_is, model=g, at_least=at_least), N_DEALT["agents"], goal.seed)
        for g, pool in enumerate(pools)
    ]
    least = np.array([one.power for one in each]).argmin(0)
    columns = [[getattr(each[g], field)[i] for i, g in enumerate(least)] for field in PowerAt._fields]
    return PowerAt(*map(np.array, columns))


def _group_is(studies: Floats, model: int, at_least: float) -> np.ndarray:
    return found_by_group(studies, model, at_least)


def _powers(found: list[PowerAt]) -> Variables:
    """Power over design and people, NaN where it was not simulated; `people` is set by `_data_set`."""
    people = sorted({int(n) for one in found for n in one.people})
    table = np.full((4, len(found), len(people)), np.nan)
    for d, one in enumerate(found):
        at = [people.index(int(n)) for n in one.people]
        for i, name in enumerate(("power", "low", "high", "studies")):
            table[i, d, at] = getattr(one, name)
    names = ("power", "power_low", "power_high", "studies")
    return {"people": people, **{name: (("design", "people"), table[i]) for i, name in enumerate(names)}}


def _needed(values: Floats) -> Variables:
    """Number of people needed and the ends of its interval: design x 3. A fraction of a person is a person."""
    return {name: ("design", np.ceil(values[:, i] - 1e-6)) for i, name in enumerate(("needed", "needed_low", "needed_high"))}


def _with_ends(name: str, values: Sequence[float] | Floats, ends: Sequence[tuple[float, ...]]) -> Variables:
    return {
        name: ("design", np.asarray(values, float)),
        **{f"{name}_{end}": ("design", [each[i] for each in ends]) for i, end in enumerate(ENDS)},
    }


def _data_set(
    designs: list[PlannedDesign],
    variables: Variables,
    goal: Goal,
    starts: int,
    told: Variables,
    coords: Variables | None = None,
) -> xr.Dataset:
    people = variables.pop("people")
    of_design: Variables = {
        name: ("design", [getattr(each, name) for each in designs]) for name in ("horizon", "n_blocks", "n_choices", "told")
    }
    attrs = {**told, "power": goal.target, "n_simulations": goal.n_studies, "starts": starts}
    where = {"design": [each.name for each in designs], "people": people, **(coords or {})}
    return xr.Dataset({**variables, **of_design}, where, {**attrs, "seed": goal.seed, "version": plan_words.version()})


def _with_sentences(result: xr.Dataset, sentence: Callable[[xr.Dataset], str]) -> xr.Dataset:
    result["sentence"] = ("design", [sentence(result.isel(design=d)) for d in range(result.sizes["design"])])
    return result

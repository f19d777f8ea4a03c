"""The power of a test of an effect: studies simulated where they tell most about the number of people needed.

A few studies at a time, at the number of people that the curve so far (`power_curve`) says is needed, find that number;
then as many fresh ones as were asked for, of just so many people, say what power they have. People are the same in all
designs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab._support.work import units
from explorelab.recovery.planning.effect_studies import Effect, p_value
from explorelab.recovery.planning.plan_designs import PlannedDesign
from explorelab.recovery.planning.plan_people import Population
from explorelab.recovery.planning.power_curve import Curve, Tried, learned_curve
from explorelab.regret.clusters import wilson

STAGES = 6
"""Times that the curve is learned anew while the number is sought."""
SHARE = 0.1
"""Studies of each, as a share of those asked for."""
TURNS = 2
"""Times that the power is told at most, if the number that was found turns out to be wrong."""
FEW = 8
"""The least number of studies at a time."""
FAR = 0.999
"""Level of the interval of a power that must not hold the target if no more studies are made there."""


class Goal(NamedTuple):
    """What a plan is to reach, and what it may cost."""

    alpha: float
    target: float
    least: int
    most: int
    n_studies: int
    seed: int
    progress: bool | None


class EffectPower(NamedTuple):
    """What was found about one design."""

    tried: list[Tried]
    curve: Curve
    answer: int
    """The number of people at which its power was simulated, or false alarms were."""
    alarms: Tried | None
    """Studies without an effect."""


class Wanted(NamedTuple):
    """Studies still to be simulated."""

    design: int
    people: int
    first: int
    """Number of the first: the chance in a study depends on its number."""
    studies: int


class Planned(NamedTuple):
    """Designs, who plays them, what is looked for and how it is fitted."""

    designs: list[PlannedDesign]
    people: Population
    effect: Effect
    starts: int
    goal: Goal


type Answered = tuple[list[list[Tried]], list[int], int]
"""What was tried in each design, the answers, and the number of the first study whose people may be used again."""


def powers(plan: Planned, at: list[int] | None, false_alarms: bool) -> list[EffectPower]:
    """Power in every design: at these numbers of people, or around the number that is needed."""
    goal = plan.goal
    tried, answers, fresh = _around_needed(plan) if at is None else _at_given(plan, at)
    alarms: list[list[Tried]] = [[] for _ in tried]
    if false_alarms and plan.effect.size:
        # The same people as in the studies of power, without the effect.
        nothing = plan._replace(effect=plan.effect._replace(size=0.0))
        wanted = [Wanted(d, n, fresh, goal.n_studies) for d, n in enumerate(answers)]
        alarms = _simulated(nothing, alarms, wanted, "false alarms")
    curves = [learned_curve(each, goal.alpha, goal.target) for each in tried]
    found = zip(tried, curves, answers, alarms, strict=True)
    return [EffectPower(each, curve, n, alarm[0] if alarm else None) for each, curve, n, alarm in found]


def _seeking(goal: Goal) -> int:
    """Studies of a stage."""
    return max(FEW, round(SHARE * goal.n_studies))


def _around_needed(plan: Planned) -> Answered:
    """Studies that find the number of people needed, and fresh ones there; again if it turns out to be another."""
    goal, tried = plan.goal, _sought(plan)
    answers, first = [_needed(each, goal) for each in tried], STAGES * _seeking(goal)
    open_designs = list(range(len(tried)))
    for turn in range(TURNS):
        wanted = [Wanted(d, answers[d], first + turn * goal.n_studies, goal.n_studies) for d in open_designs]
        tried = _simulated(plan, tried, wanted, "power" if not turn else "power, once more")
        open_designs = [d for d in open_designs if not _holds(tried[d], answers[d], goal)]
        if not open_designs or turn == TURNS - 1:
            break
        for d in open_designs:
            answers[d] = _needed(tried[d], goal)
    return tried, answers, first


def _holds(tried: list[Tried], answer: int, goal: Goal) -> bool:
    """Whether so many people may be the number needed, by all that was tried; or there is no nearer one to try."""
    low, _, high = learned_curve(tried, goal.alpha, goal.target).required()
    return bool(low <= answer <= high) or _needed(tried, goal) == answer


def _sought(plan: Planned) -> list[list[Tried]]:
    """Studies that find the number of people needed."""
    goal, few = plan.goal, _seeking(plan.goal)
    tried: list[list[Tried]] = [[] for _ in plan.designs]
    for stage in range(STAGES):
        wanted = [Wanted(d, _needed(each, goal), stage * few, few) for d, each in enumerate(tried)]
        tried = _simulated(plan, tried, wanted, f"seeking, {stage + 1} of {STAGES}")
    return tried


def _at_given(plan: Planned, at: list[int]) -> Answered:
    """Studies at given numbers of people; where the power is clearly not the target, only a part of them."""
    goal, part = plan.goal, max(FEW, round(0.25 * plan.goal.n_studies))
    tried: list[list[Tried]] = [[] for _ in plan.designs]
    for done in range(0, goal.n_studies, part):
        more = min(part, goal.n_studies - done)
        wanted = [
            Wanted(d, n, i * goal.n_studies + done, more)
            for d, each in enumerate(tried)
            for i, n in enumerate(at)
            if not plan.effect.size or _is_open(each, n, goal)
        ]
        if wanted:
            tried = _simulated(plan, tried, wanted, f"power, {done + more} of {goal.n_studies}")
    return tried, [_needed(each, goal) for each in tried], len(at) * goal.n_studies


def _is_open(tried: list[Tried], n: int, goal: Goal) -> bool:
    """Whether the power at this number of people may still be the target."""
    for each in tried:
        if each.people == n:
            low, high = wilson(each.hits / each.studies, each.studies, FAR)
            return low <= goal.target <= high
    return True


def _needed(tried: list[Tried], goal: Goal) -> int:
    """The number of people needed, as far as is known: an even one, within bounds."""
    middle = np.sqrt(goal.least * goal.most)
    wanted = learned_curve(tried, goal.alpha, goal.target).required(0.5)[0] if tried else middle
    return int(2 * round(float(np.clip(wanted, goal.least, goal.most)) / 2))


def _simulated(plan: Planned, tried: list[list[Tried]], wanted: list[Wanted], label: str) -> list[list[Tried]]:
    """What was tried, with these studies added."""
    fixed = (plan.people, plan.effect, plan.starts)
    each = [
        (plan.designs[want.design], *fixed, want.people, plan.goal.seed, want.first + i)
        for want in wanted
        for i in range(want.studies)
    ]
    p = iter(list(units.results(p_value, each, label, plan.goal.progress, first_alone=True)))
    found = [list(one) for one in tried]
    for want in wanted:
        hits = sum(next(p) < plan.goal.alpha for _ in range(want.studies))
        found[want.design] = _added(found[want.design], Tried(want.people, hits, want.studies))
    return found


def _added(tried: list[Tried], new: Tried) -> list[Tried]:
    """Studies put together with others of as many people."""
    same = [each for each in tried if each.people == new.people]
    others = [each for each in tried if each.people != new.people]
    return sorted([*others, Tried(new.people, *(sum(each[i] for each in (*same, new)) for i in (1, 2)))])

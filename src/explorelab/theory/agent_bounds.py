"""Theoretical bounds for an agent on a task: its four factors determine which theorem applies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr
from scipy.sparse import csgraph

from explorelab import theory
from explorelab._support import checks
from explorelab._support.counted import plural
from explorelab._support.door import door
from explorelab._support.written_numbers import Json, for_json
from explorelab.agents.factors import Agent, Rule
from explorelab.agents.learners import independent
from explorelab.agents.rules import choice, commitment, limits
from explorelab.tasks import Task
from explorelab.tasks.changes import CHANGES
from explorelab.tasks.noise import is_gaussian
from explorelab.tasks.recording import recording_times

NEARLY_UNINFORMATIVE = 1e-3
"""A prior worth less than this many rewards counts as uninformative, as in the paper's own figures."""

LARGEST_PULL = 0.05 * theory.FIRST_QUANTILE
"""How far such a prior may pull the mean of one reward, in standard deviations: a twentieth of the narrowest limit."""


@door
def regret_bounds(
    agent: Agent, task: Task, horizon: int, *, times: Sequence[int] | None = None, epsilon: float | None = None
) -> xr.Dataset:
    """Every bound for the agent on the task, at the times that `simulate` records, so that bounds and results can be merged.

    These are the paper's upper bounds on visits, regret, transitions and transition cost, as published and as corrected by
    its appendix G, and the Lai-Robbins lower bound. Where a bound does not apply it is NaN, and its attribute
    `does_not_apply` says why in a sentence. The attribute `prior_quality` is zeta.

    Parameters
    ----------
    agent
        Agent to bound.
    task
        Task that it plays.
    horizon
        Number of choices.
    times
        Times at which to evaluate the bounds; by default those of `simulate`.
    epsilon
        Epsilon of appendix G; by default the one that gives the tightest bound.
    """
    at = recording_times(checks.whole("horizon", horizon, at_least=1), times)
    algorithm = _algorithm(agent.rule, task)
    misfit = _misfit(agent, task, algorithm)
    void = _void(task)
    table = theory.all_bounds(
        algorithm or "deterministic",
        task.means,
        task.noise.var,
        np.asarray(at),
        power=float(agent.params.get("credibility_power", 1.0)),
        scale=float(agent.params.get("credibility_scale", theory.CREDIBILITY_SCALE)),
        epsilon=epsilon,
        costs=None if task.costs is None else task.costs.mean,
        graph=task.moves is not None,
        n_between=_longest_walk(task) if algorithm == "graphical" else None,
        pull=0.0 if misfit or void or task.noise.var == 0 else _prior_error(agent, task).pull,
        noise=task.noise.kind,
        misfit=misfit,
        void=void,
    )
    table.attrs |= {"algorithm": algorithm or "none of the paper's", "agent": repr(agent), "task": repr(task)}
    table.attrs |= {"prior_quality": math.nan if void else _prior_quality(agent, task)}
    if void:
        table = table.assign_coords(gap=table["gap"] * math.nan)
    if void or misfit:
        table.attrs["does_not_apply"] = void or misfit
    if task.note:
        table.attrs["note"] = task.note
    return table


def bounds_as_json(table: xr.Dataset) -> dict[str, Json]:
    """Every bound at every time, null where there is none, with the sentences that say why."""
    return {
        **{str(name): for_json(value) for name, value in table.attrs.items()},
        "times": table.time.values.tolist(),
        "bounds": {
            str(name): {**variable.attrs, "values": for_json(variable.values.tolist())} for name, variable in table.items()
        },
    }


def _algorithm(rule: Rule, task: Task) -> theory.AlgorithmName | None:
    """Which of the paper's four algorithms the rule is, or None."""
    greedy = rule.choice in choice.GREEDY.values()
    if rule.limit is not limits.upper_credible_limit:
        return None
    if rule.commitment is commitment.frames and greedy:
        return "block" if task.moves is None else "graphical"
    if rule.commitment is commitment.every_step and greedy:
        return "deterministic"
    if rule.commitment is commitment.every_step and rule.choice is choice.softmax_feedback:
        return "stochastic"
    return None


def _void(task: Task) -> str:
    """Why the task has no bounds, whoever plays it; empty if it may have some."""
    if task.change is not None:
        return f"The bounds are for means that are fixed; {task.name} has means that {CHANGES[task.change.kind].words}."
    if not task.is_steady:
        return f"The bounds are for tasks with all arms on offer and all choices free; {task.name} is not one."
    return ""


def _misfit(agent: Agent, task: Task, algorithm: theory.AlgorithmName | None) -> str:
    """Why the theorems do not cover the agent on this task; empty if they do."""
    if algorithm is None:
        if agent.rule.limit is not limits.upper_credible_limit:
            return f"The paper has no bound for {agent.name}."
        if agent.rule.choice in (choice.softmax_constant, choice.softmax_log):
            return "Only feedback cooling has a bound: at a constant temperature regret can grow linearly."
        return f"The paper has no bound for {agent.name} with {agent.rule.choice.name} and {agent.rule.commitment.name}."
    if agent.rule.learner is not independent.independent:
        return "The bounds are for uncorrelated priors; how much a correlated one gains depends on whether it is right."
    assumed = float(agent.params.get("noise_var", task.noise.var))
    if not math.isclose(assumed, task.noise.var):
        return f"The bounds need the agent to know the noise variance, {task.noise.var:g}; it assumes {assumed:g}."
    if task.points is not None:
        return "The bounds are for Gaussian rewards; here they are rounded to whole points."
    if not is_gaussian(task.noise.kind):
        return f"The bounds are for Gaussian rewards; here the noise is {task.noise.kind}."
    return _misfit_of_prior(agent, task) if task.noise.var > 0 else ""


def _amount(value: float, unit: str) -> str:
    shown = f"{value:.3g}"
    return f"{shown} {plural(float(shown), unit)}"


def _misfit_of_prior(agent: Agent, task: Task) -> str:
    """Why the prior cannot count as uninformative, since one worth little may still be far off; empty if it can."""
    with np.errstate(divide="ignore"):  # a prior of variance 0 is worth infinitely many rewards
        worth = float(np.max(task.noise.var / np.asarray(agent.params["prior_var"])))
    if worth > NEARLY_UNINFORMATIVE:
        return (
            f"The bounds are for uninformative priors; this one is worth {_amount(worth, 'reward')} (see the prior quality)."
        )
    doubt, pull = _prior_error(agent, task)
    if doubt >= theory.FIRST_QUANTILE:
        return (
            "The bounds are for uninformative priors; this one expects a best arm "
            f"{_amount(doubt, 'prior standard deviation')} below its mean, so it may never be tried (see the "
            "prior quality)."
        )
    if pull > LARGEST_PULL:
        return (
            "The bounds are for uninformative priors; this one is so far off that it draws the mean of one reward by "
            f"{_amount(pull, 'standard deviation')} (see the prior quality)."
        )
    return ""


def _longest_walk(task: Task) -> int:
    """The most arms between the ends of any shortest path."""
    assert task.moves is not None
    hops = csgraph.shortest_path(np.isfinite(task.moves.length) & ~np.eye(task.n_arms, dtype=bool), unweighted=True)
    if not task.moves.weighted:
        return max(0, int(hops.max()) - 1)
    # With lengths other than 1, count the hops of the paths actually walked.
    at = np.broadcast_to(np.arange(task.n_arms)[:, None], (task.n_arms, task.n_arms)).copy()
    goal = np.broadcast_to(np.arange(task.n_arms), at.shape)
    n_hops = 0
    while (at != goal).any():
        at = task.moves.next_hop[at, goal]
        n_hops += 1
    return max(0, n_hops - 1)


def _prior_error(agent: Agent, task: Task) -> theory.PriorError:
    return theory.prior_error(task.means, agent.params["prior_mean"], agent.params["prior_var"], task.noise.var)


def _prior_quality(agent: Agent, task: Task) -> float:
    params = agent.params
    if "prior_mean" not in params:
        return math.nan
    var = np.diag(params["prior_cov"]) if "prior_cov" in params else params["prior_var"]
    return theory.prior_quality(task.means, params["prior_mean"], var)

"""Simulated teams of a person and an adviser, to see whom advice helps, how much, and how much it could at best.

The adviser is the one that advises people. It sees choices and rewards, estimates the person from a group of others, and
knows neither the task's means nor the person's parameters. Everything random is drawn once for each simulated person, so
that teams differ in nothing but the advice.

Regret is the expected one: on every trial, that of the suggested arm with the probability that the person follows, and that
of each arm with the probability that they choose it by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import xarray as xr

from explorelab._support import checks
from explorelab._support.door import door
from explorelab._support.parallel import cores, in_order
from explorelab._support.progress import Progress
from explorelab.agents import Agent
from explorelab.companions.advice import POLICIES
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import scene_on
from explorelab.companions.team.team_block import Job, TeamBlock, adviser_of, family_expert, play
from explorelab.companions.team.team_people import crowd_of
from explorelab.companions.team.team_result import ALONE, result_of
from explorelab.errors import InputError
from explorelab.tasks import Task


@door
def simulate_team(
    task: Task,
    *,
    people: xr.DataTree | None = None,
    policies: Sequence[str] = ("impersonal", "personal"),
    follow: Sequence[float] = (0.3, 0.6, 0.9),
    n_people: int = 20,
    horizon: int = 90,
    group: xr.DataTree | None = None,
    expert: Agent | None = None,
    n_points: int = 64,
    seed: int = 0,
    progress: bool | None = None,
) -> xr.Dataset:
    """Simulate people who play with and without advice, and return everybody's regret.

    The result has `regret` over kind, follow, policy and person; beside the policies asked for, policy "none" is the person
    alone, and "oracle" an adviser that knows the best arm and always suggests it: a bound for what advice can do. `mean` and
    `standard_error` are over people; `vs_none` and `vs_impersonal` are paired differences in per cent, with 95 % intervals
    from `_low` to `_high`; `silent` is the share of trials without a suggestion; `expert_alone` the regret of the adviser
    playing by itself.

    Parameters
    ----------
    task
        Task that is played. Advisers never see its means.
    people
        Fit by "em", "bayes" or "nuts" from whose group people are drawn; by default people of the paper's three
        phenotypes: its linear agent, its logarithmic agent, and between them, with every parameter scattered by about 20 %.
    policies
        Policies of advice to compare.
    follow
        Probabilities with which people follow a suggestion.
    n_people
        Number of simulated people of each kind.
    horizon
        Number of choices of each.
    group
        Fit by "em", "bayes" or "nuts" that tells the companion what people are like; by default `people`, or the weak
        prior of `fit`.
    expert
        Agent whose beliefs the adviser starts from; by default deterministic UCL with the prior of the task's family: mean,
        variance and length scale of landscapes A and B for one of the paper's, otherwise of the task itself.
    n_points
        Number of points that carry the companion's posterior.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    names = _checked_policies(policies)
    chances = [float(checks.scalar("follow", each, at_least=0, at_most=1)) for each in follow]
    n = checks.whole("n_people", n_people, at_least=2, at_most=checks.MANY)
    horizon = checks.whole("horizon", horizon, at_least=1, at_most=checks.MANY)
    settings = Settings(n_points=checks.whole("n_points", n_points, at_least=8, at_most=2**20))
    seed = checks.whole("seed", seed, at_least=0)
    if task.moves is not None or task.costs is not None:
        raise InputError("teams play tasks without a graph of moves or costs.")
    crowd = crowd_of(task, people, n, horizon, seed)
    scene = scene_on(task, None, group if group is not None else people, horizon)
    advise = partial(adviser_of, task, expert if expert is not None else family_expert(task), scene, settings, horizon)
    kinds = list(crowd)
    jobs = [Job(kind, policy, chance, i) for kind in kinds for policy in names for chance in chances for i in range(n)]
    jobs = [*_alone(kinds, n), *jobs]
    with Progress("simulating teams", len(jobs), progress) as bar:
        blocks = dict(zip(jobs, _counted(in_order(partial(play, task, crowd, advise), jobs, cores()), bar), strict=True))
    return result_of(blocks, kinds, names, chances, n, {"task": task.name, "horizon": horizon, "n": n, "seed": seed})


def _checked_policies(policies: Sequence[str]) -> list[str]:
    names = [policies] if isinstance(policies, str) else list(policies)
    for name in names:
        checks.one_of("advice policy", name, POLICIES)
    return [*dict.fromkeys(name for name in names if name != "none"), "oracle"]


def _alone(kinds: list[str], n: int) -> list[Job]:
    """The jobs in which the person, or the adviser, is alone."""
    jobs = [Job(kind, "none", ALONE["none"], i) for kind in kinds for i in range(n)]
    return jobs + [Job(kinds[0], "impersonal", ALONE["expert"], i) for i in range(n)]


def _counted(blocks: Iterator[TeamBlock], bar: Progress) -> Iterator[TeamBlock]:
    for block in blocks:
        bar.advance()
        yield block

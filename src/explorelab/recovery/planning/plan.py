"""`plan`: how many people, blocks and choices a study needs to find what it looks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor

import xarray as xr

from explorelab._support import checks
from explorelab._support.checks import Unchecked
from explorelab._support.door import door
from explorelab._support.work.units import long_work
from explorelab.agents import Agent
from explorelab.agents.agent_names import check_together, labelled
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.effects.effects_table import CHANGES
from explorelab.fitting.spaces import Dimension
from explorelab.recovery.model_recovery import CRITERIA
from explorelab.recovery.planning import plan_result
from explorelab.recovery.planning.effect_power import Goal, Planned, powers
from explorelab.recovery.planning.effect_studies import Effect
from explorelab.recovery.planning.plan_designs import PlannedDesign, Tasks, designs_of
from explorelab.recovery.planning.plan_people import Given, Population, on_scale, population_of
from explorelab.recovery.planning.pooled_people import Pool, filled, judged_people, recovered_people

UNITS = ("sd", "natural")
"""Of the size of an effect: standard deviations of people, or what `effects` calls natural."""
POOLED = ("ml", "map")
"""Methods that fit everyone alone."""


@door
@long_work
def plan(
    tasks: Tasks,
    agent: str | Agent | None = None,
    *,
    effect: str | None = None,
    recover: str | None = None,
    agents: Sequence[str | Agent] | None = None,
    size: float = 0.5,
    unit: str = "sd",
    within: bool = False,
    slope_sd: float = 0.5,
    at_least: float | None = None,
    criterion: str = "bic",
    method: str = "map",
    horizon: int | Sequence[int] | None = None,
    n_blocks: int | Sequence[int] | None = None,
    people: int | Sequence[int] | None = None,
    most: int = 400,
    group: xr.DataTree | Mapping[str, xr.DataTree] | None = None,
    typical: Mapping[str, float | tuple[float, float]] | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    false_alarms: bool = True,
    n_simulations: int = 200,
    accuracy: float = 0.05,
    n_starts: int = 4,
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """How many people, blocks and choices are needed to find an effect, to recover a parameter, or to tell agents apart.

    Over design and people: `power` with `power_low`, `power_high` (Wilson, 95 %) and the number of `studies` that it is
    worth. Over design: `needed`, the number of people with which it reaches `power`, with `needed_low` and `needed_high`
    (inf: more than were tried); `horizon`, `n_blocks`, `n_choices`; `sentence`, for a preregistration. For an effect also
    `curve` over `number` with its band, and `false_alarms` with interval; for a parameter `rank_correlation`, `coverage`
    and `width` with intervals; for agents `correct`, the share of people identified rightly, over design and generated.

    Parameters
    ----------
    tasks
        A task, or several that everyone plays in turn; or designs by name, each with its task or tasks.
    agent
        Agent or its name; by default that of `group`.
    effect
        Find an effect: the parameter that differs between two conditions. The test is that of `effects`.
    recover
        Recover a parameter: its name.
    agents
        Tell these agents apart.
    size
        Size of the effect.
    unit
        Its unit: "sd" (standard deviations of people in the same condition), or "natural" (as in `effects`: a difference,
        ratio or odds ratio, by the parameter's scale).
    within
        Whether everyone is in both conditions, block by block in turn; otherwise every second person is in each.
    slope_sd
        Standard deviation of people's own effects within people, in standard deviations of people.
    at_least
        What a study must find to succeed: a rank correlation of true and estimated values (0.8), or the protected exceedance
        probability of the right agent by `group_selection` (0.95). For an effect there is `alpha`.
    criterion
        For agents: "bic", "aic" or "cv".
    method
        For a parameter, and for "cv": "map" or "ml".
    horizon
        Choices in a block, or several numbers to compare; by default the task's.
    n_blocks
        Blocks of everyone, or several numbers to compare; by default one for each task.
    people
        Numbers of people to try; by default those around the number that is needed.
    most
        The most people that could be had.
    group
        Fit by "em", "bayes" or "nuts" from whose group people are drawn; several by agent's name to tell agents apart. By
        default people are as is plausible for the agent on the first design.
    typical
        Typical values of parameters, as in {"temperature": 2}, or with the standard deviation of people on the parameter's
        own scale, {"temperature": (2, 0.5)}; to tell agents apart, of all agents that have them.
    alpha
        Level of the test of an effect.
    power
        Probability with which a study is to succeed.
    false_alarms
        Whether also to simulate studies of an effect of size 0.
    n_simulations
        Number of studies of each design that tell the power of an effect; otherwise the most people to simulate.
    accuracy
        For a parameter or agents: no more people are simulated once rank correlations, or shares of people identified
        rightly, are known within this.
    n_starts
        Number of starting points per fit.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    executor
        Where the work is done: any object with the interface of `concurrent.futures`, such as `xl.workers(4)` or a Dask
        client's `get_executor()`; by default here. The result does not depend on it.
    resume
        Folder for what is finished, from which a run that was stopped goes on; by default nothing is kept.
    """
    asked = [name for name, value in (("effect", effect), ("recover", recover), ("agents", agents)) if value is not None]
    if len(asked) != 1:
        raise InputError(f"a plan needs one of effect, recover and agents, got {' and '.join(asked) or 'none'}.")
    target = float(checks.scalar("power", power, at_least=0.1, at_most=0.99))
    level = float(checks.scalar("alpha", alpha, above=0, at_most=0.5))
    many = checks.whole("n_simulations", n_simulations, at_least=8, at_most=checks.MANY)
    seed = checks.whole("seed", seed, at_least=0)
    goal = Goal(level, target, 8, checks.whole("most", most, at_least=8, at_most=checks.MANY), many, seed, progress)
    starts = checks.whole("n_starts", n_starts, at_least=1, at_most=checks.MANY)
    designs, at = designs_of(tasks, horizon, n_blocks), _numbers_of_people(people)
    precise = float(checks.scalar("accuracy", accuracy, above=0, at_most=1))
    if agents is not None:
        if agent is not None:
            raise InputError("agents are those to tell apart: leave agent out.")
        return _models(designs, agents, group, typical, criterion, method, _share(at_least, 0.95), starts, goal, at, precise)
    if not isinstance(group, xr.DataTree | None):
        raise InputError("group must be one fit, got several: those are for telling agents apart.")
    who = population_of(designs[0].blank(1, seed), agent, group, typical)
    name = str(effect if recover is None else recover)
    _check_parameter(who, name)
    if recover is not None:
        checks.one_of("method", method, dict.fromkeys(POOLED, 0))
        return _recovery(designs, who, name, method, _share(at_least, 0.8), starts, goal, at, precise)
    if at_least is not None:
        raise InputError("at_least is not for an effect, which is found where p is below alpha: leave it out.")
    wanted = _effect(who, name, size, unit, within, slope_sd)
    _check_conditions(designs, within)
    asking = Planned(designs, who, wanted, starts, goal)
    if not wanted.size and at is None:
        raise InputError("an effect of size 0 is never found but by chance: give people, to see how often it is.")
    return plan_result.of_effect(asking, powers(asking, at, false_alarms), _told_size(who, name, size, unit))


def _recovery(
    designs: list[PlannedDesign],
    people: Population,
    parameter: str,
    method: str,
    at_least: float,
    starts: int,
    goal: Goal,
    at: list[int] | None,
    accuracy: float,
) -> xr.Dataset:
    pools = [
        Pool(recovered_people, (design, people, parameter, method, starts, goal.seed), plan_result.rank_known(accuracy))
        for design in designs
    ]
    found = filled(pools, goal.n_studies, "recovering", goal.progress)
    return plan_result.of_recovery(designs, people, parameter, method, at_least, starts, goal, at, found)


def _models(
    designs: list[PlannedDesign],
    agents: Sequence[str | Agent],
    group: xr.DataTree | Mapping[str, xr.DataTree] | None,
    typical: Given | None,
    criterion: str,
    method: str,
    at_least: float,
    starts: int,
    goal: Goal,
    at: list[int] | None,
    accuracy: float,
) -> xr.Dataset:
    checks.one_of("criterion", criterion, dict.fromkeys(CRITERIA, 0))
    checks.one_of("method", method, dict.fromkeys((*POOLED, "em"), 0))
    if isinstance(agents, str) or len(agents) < 2:
        raise InputError(f"telling agents apart needs at least 2 of them, got {checks.shown(agents)}.")
    named = labelled(agents)
    check_together(agents)
    for design in designs:
        if criterion == "cv" and design.n_blocks < 2:
            raise InputError(f"leaving one block out needs at least 2 blocks, but {design.name} has one: use bic or aic.")
    crowds = _crowds(designs[0], named, group, typical or {}, goal.seed)
    everyone = tuple(named.values())
    pools = [
        Pool(judged_people, (design, crowd, everyone, criterion, method, starts, goal.seed),
             plan_result.share_known(g, accuracy))
        for design in designs
        for g, crowd in enumerate(crowds)
    ]  # fmt: skip
    found = filled(pools, goal.n_studies, "telling apart", goal.progress)
    return plan_result.of_models(designs, crowds, list(named), criterion, at_least, starts, goal, at, found)


def _crowds(
    design: PlannedDesign,
    named: Mapping[str, str | Agent],
    group: xr.DataTree | Mapping[str, xr.DataTree] | None,
    typical: Given,
    seed: int,
) -> list[Population]:
    """The people who are like each agent."""
    if isinstance(group, xr.DataTree):
        raise InputError("to tell agents apart, group must be a mapping of fits by the agent's name, got one fit.")
    fits: Mapping[str, xr.DataTree] = {} if group is None else group
    for name in fits:
        if name not in named:
            raise unknown_name("agent in group", name, named)
    blank = design.blank(1, seed)
    plain = {name: population_of(blank, each, fits.get(name), None) for name, each in named.items()}
    known = {parameter for crowd in plain.values() for parameter in crowd.names}
    for parameter in typical:
        if parameter not in known:
            raise unknown_name("free parameter", parameter, known)
    own = {name: {key: value for key, value in typical.items() if key in plain[name].names} for name in named}
    crowds = [population_of(blank, each, fits.get(name), own[name]) for name, each in named.items()]
    everyones = tuple(agent for crowd in crowds for agent in crowd.own)
    return [crowd._replace(own=everyones) for crowd in crowds]


def _effect(who: Population, name: str, size: float, unit: str, within: bool, slope_sd: float) -> Effect:
    checks.one_of("unit", unit, dict.fromkeys(UNITS, 0))
    number, sd = float(checks.scalar("size", size)), who.sd(name)
    if not sd > 0:
        raise InputError(f"people do not differ in {name}: a plan for an effect needs them to.")
    line = number * sd if unit == "sd" else on_scale(_dimension(who, name).scale, number)
    return Effect(name, line, bool(within), float(checks.scalar("slope_sd", slope_sd, at_least=0)) * sd if within else 0.0)


def _told_size(who: Population, name: str, size: float, unit: str) -> str:
    if unit == "sd":
        return f"{float(size):g} standard deviations of people"
    return f"{float(size):g} ({CHANGES[_dimension(who, name).scale]})"


def _dimension(who: Population, name: str) -> Dimension:
    return who.space[who.names.index(name)]


def _check_parameter(who: Population, name: str) -> None:
    if name not in who.names:
        raise unknown_name("free parameter", name, who.names)


def _check_conditions(designs: list[PlannedDesign], within: bool) -> None:
    for design in designs:
        if within and design.n_blocks < 2 * len(design.tasks):
            raise InputError(
                f"within people, everyone plays every task in both conditions: {design.name} needs at least "
                f"{2 * len(design.tasks)} blocks, got {design.n_blocks}."
            )


def _share(value: Unchecked, usual: float) -> float:
    return usual if value is None else float(checks.scalar("at_least", value, above=0, below=1))


def _numbers_of_people(people: Unchecked) -> list[int] | None:
    if people is None:
        return None
    each = list(people) if isinstance(people, Sequence) and not isinstance(people, str) else [people]
    if not each:
        raise InputError("people must be a whole number or several, got none.")
    return sorted({checks.whole("people", one, at_least=4, at_most=checks.MANY) for one in each})

"""The table of agents by name: how builders are added to it, and how names are resolved.

An agent of a user's own is named by its file and its name there, as in "my_model.py:two_rates"; in the process that made it,
its own name does too. Habits follow after plus signs, as in "stochastic-ucl+travel+lapse".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

from explorelab._support import checks
from explorelab.agents.builder_docs import with_parameters
from explorelab.agents.factors import Agent, Argument, Params, Rule
from explorelab.agents.own.model_file import agent_in_file, place_of
from explorelab.agents.rules.habits import HABITS, with_habits
from explorelab.errors import InputError, unknown_name


class Design(NamedTuple):
    """What a builder makes from its arguments."""

    rule: Rule
    params: Params
    least_horizon: int = 1
    free: tuple[str, ...] = ()


AGENTS: dict[str, Callable[..., Agent]] = {}
"""Every named agent: what `explorelab agents` lists and `--agent` takes."""


OWN: dict[str, Agent] = {}
"""Agents of users' own that this process has made or read, by name; the latest of a name."""


def named_agent[**P](design: Callable[P, Design]) -> Callable[P, Agent]:
    """Add a builder to the table under its own name, with dashes for underscores."""
    name = design.__name__.replace("_", "-")
    signature = inspect.signature(design)
    known = signature.parameters

    @wraps(design)
    def build(*args: P.args, **given: P.kwargs) -> Agent:
        for parameter in given:
            if parameter not in known:
                raise unknown_name(f"parameter of {name}", parameter, known)
        made = design(*args, **given)
        arguments = signature.bind(*args, **given).arguments
        return Agent(name, made.rule, made.params, arguments, build, made.least_horizon, made.free, own=False)

    build.__doc__ = with_parameters(design.__doc__, known)
    # For help(): `wraps` would show what the design returns.
    build.__signature__ = signature.replace(return_annotation="Agent")  # type: ignore[attr-defined]
    AGENTS[name] = build
    return build


def assumes_noise(agent: Agent) -> bool:
    """Whether the agent uses the variance of the rewards; an agent composed by hand is assumed to."""
    return agent.build is None or "noise_var" in inspect.signature(agent.build).parameters


class Source(NamedTuple):
    """What agents of a name are built with, and the values that the name itself stands for."""

    build: Callable[..., Agent]
    given: Mapping[str, Any]


def source_of(base: str) -> Source:
    """The builder of a name without habits: of the table, of this process, or of a user's file."""
    place = place_of(base)
    if place is None and base not in OWN:
        return Source(checks.one_of("agent", base, AGENTS), {})
    agent = OWN[base] if place is None else agent_in_file(place)
    if agent.own:
        if agent.name.partition("+")[0] in AGENTS:
            raise InputError(f"{base}: explorelab already has an agent {agent.name}: choose another name.")
        OWN[agent.name] = agent
    assert agent.build is not None
    return Source(agent.build, agent.given)


def parts_of_name(name: str) -> list[str]:
    """The agent and its habits in a name; a file's path may have plus signs of its own."""
    if name in OWN:
        return [name]
    place = place_of(name)
    head = "" if place is None else f"{place.file}:"
    base, *habits = name[len(head) :].split("+")
    return [head + base, *habits]


def split_name(name: str) -> tuple[str, tuple[str, ...]]:
    """The agent and the habits that a name asks for; an unknown one is an error."""
    base, *habits = parts_of_name(str(name))
    source_of(base)
    for habit in habits:
        checks.one_of("habit", habit, HABITS)
    return base, tuple(habits)


def parameters_of(name: str) -> Mapping[str, Argument]:
    """Names and default values of a named agent's parameters, in order, those of its habits last."""
    base, habits = split_name(name)
    build, given = source_of(base)
    own = {p.name: p.default for p in inspect.signature(build).parameters.values()}
    return {**own, **given} | {HABITS[habit].parameter: HABITS[habit].default for habit in HABITS if habit in habits}


def agent_named(name: str, **given: Argument) -> Agent:
    """The agent with this name and these values; a parameter that it does not have is an error."""
    base, habits = split_name(name)
    known = parameters_of(name)
    for parameter in given:
        if parameter not in known:
            raise unknown_name(f"parameter of {name}", parameter, known)
    of_habits = {HABITS[habit].parameter for habit in habits}
    build, usual = source_of(base)
    agent = build(**{**usual, **{key: value for key, value in given.items() if key not in of_habits}})
    return with_habits(agent, *habits, **{key: value for key, value in given.items() if key in of_habits})

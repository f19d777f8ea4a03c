"""Agents by name: a named agent with any habits after plus signs, as in "stochastic-ucl+travel+lapse"."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from explorelab._support import checks
from explorelab.agents.factors import Agent
from explorelab.agents.registry import AGENTS
from explorelab.agents.rules.habits import HABITS, with_habits
from explorelab.errors import unknown_name


def split_name(name: str) -> tuple[str, tuple[str, ...]]:
    """The named agent and the habits in a name; unknown ones are errors."""
    base, *habits = str(name).split("+")
    checks.one_of("agent", base, AGENTS)
    for habit in habits:
        checks.one_of("habit", habit, HABITS)
    return base, tuple(habits)


def parameters_of(name: str) -> Mapping[str, Any]:
    """Names and default values of a named agent's parameters, in order, those of its habits last."""
    base, habits = split_name(name)
    own = {p.name: p.default for p in inspect.signature(AGENTS[base]).parameters.values()}
    return own | {HABITS[habit].parameter: HABITS[habit].default for habit in HABITS if habit in habits}


def agent_named(name: str, **given: Any) -> Agent:
    """The agent of this name, with these values; parameters that it does not have are an error."""
    base, habits = split_name(name)
    known = parameters_of(name)
    for parameter in given:
        if parameter not in known:
            raise unknown_name(f"parameter of {name}", parameter, known)
    of_habits = {HABITS[habit].parameter for habit in habits}
    agent = AGENTS[base](**{key: value for key, value in given.items() if key not in of_habits})
    return with_habits(agent, *habits, **{key: value for key, value in given.items() if key in of_habits})

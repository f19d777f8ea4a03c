"""The table of agents by name: how builders are added to it, and how names are resolved.

Habits follow the name of an agent after plus signs, as in "stochastic-ucl+travel+lapse".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import NamedTuple

from explorelab._support import checks
from explorelab.agents.builder_docs import with_parameters
from explorelab.agents.factors import Agent, Argument, Params, Rule
from explorelab.agents.rules.habits import HABITS, with_habits
from explorelab.errors import unknown_name


class Design(NamedTuple):
    """What a builder makes from its arguments."""

    rule: Rule
    params: Params
    least_horizon: int = 1
    free: tuple[str, ...] = ()


AGENTS: dict[str, Callable[..., Agent]] = {}
"""Every named agent: what `explorelab agents` lists and `--agent` takes."""


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
        return Agent(
            name, made.rule, made.params, signature.bind(*args, **given).arguments, build, made.least_horizon, made.free
        )

    build.__doc__ = with_parameters(design.__doc__, known)
    # For help(): `wraps` would show what the design returns.
    build.__signature__ = signature.replace(return_annotation="Agent")  # type: ignore[attr-defined]
    AGENTS[name] = build
    return build


def assumes_noise(agent: Agent) -> bool:
    """Whether the agent uses the variance of the rewards; an agent composed by hand is assumed to."""
    return agent.build is None or "noise_var" in inspect.signature(agent.build).parameters


def split_name(name: str) -> tuple[str, tuple[str, ...]]:
    """The agent of the table and the habits that a name asks for; an unknown one is an error."""
    base, *habits = str(name).split("+")
    checks.one_of("agent", base, AGENTS)
    for habit in habits:
        checks.one_of("habit", habit, HABITS)
    return base, tuple(habits)


def parameters_of(name: str) -> Mapping[str, Argument]:
    """Names and default values of a named agent's parameters, in order, those of its habits last."""
    base, habits = split_name(name)
    own = {p.name: p.default for p in inspect.signature(AGENTS[base]).parameters.values()}
    return own | {HABITS[habit].parameter: HABITS[habit].default for habit in HABITS if habit in habits}


def agent_named(name: str, **given: Argument) -> Agent:
    """The agent with this name and these values; a parameter that it does not have is an error."""
    base, habits = split_name(name)
    known = parameters_of(name)
    for parameter in given:
        if parameter not in known:
            raise unknown_name(f"parameter of {name}", parameter, known)
    of_habits = {HABITS[habit].parameter for habit in habits}
    agent = AGENTS[base](**{key: value for key, value in given.items() if key not in of_habits})
    return with_habits(agent, *habits, **{key: value for key, value in given.items() if key in of_habits})

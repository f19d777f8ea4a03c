"""The table of named agents, and the decorator that adds a builder to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import NamedTuple

from explorelab.agents.builder_docs import with_parameters
from explorelab.agents.factors import Agent, Params, Rule
from explorelab.errors import unknown_name


class Design(NamedTuple):
    """What a builder makes of its arguments."""

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
    AGENTS[name] = build
    return build


def assumes_noise(agent: Agent) -> bool:
    """Whether the agent uses the variance of the rewards; one composed by hand may."""
    return agent.build is None or "noise_var" in inspect.signature(agent.build).parameters

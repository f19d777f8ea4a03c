"""An agent in a file of results: its name and values and, for a user's own, the file that it is in."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from explorelab.agents.agent_names import parsed
from explorelab.agents.factors import Agent
from explorelab.agents.own.model_file import place_of
from explorelab.agents.own.neighbours import digest
from explorelab.agents.registry import AGENTS, OWN, agent_named, parts_of_name
from explorelab.agents.rules.habits import HABITS
from explorelab.errors import InputError


def as_attributes(agent: Agent) -> dict[str, str]:
    """What to store of an agent, to find it again."""
    origin = origin_of(agent)
    file = origin.partition(".py:")[0] + ".py" if ".py" in origin else ""
    kept = {
        "agent": agent.name,
        "given": json.dumps({name: np.asarray(value).tolist() for name, value in agent.given.items()}),
    }
    return kept | ({"agent_file": origin, "agent_sha256": digest(file)} if origin else {})


def origin_of(agent: Agent) -> str:
    """The file of an agent and its name there, as far as they are known."""
    if not agent.origin or ".py:" in agent.origin:
        return agent.origin
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", None) or "").endswith(agent.origin):
            for name, value in list(vars(module).items()):
                if isinstance(value, Agent) and value.name == agent.name:
                    return f"{agent.origin}:{name}"
    return agent.origin


def written(reference: str | Agent) -> str:
    """The reference as text that finds the agent again: a name, or its file."""
    if isinstance(reference, str):
        return reference
    values = (f"{name}={value}" for name, value in reference.given.items() if np.ndim(value) == 0)  # type: ignore[arg-type]
    return ":".join([origin_of(reference) or reference.name, *values])


def from_attributes(attrs: Mapping[Any, Any], what: str, agent: str | Agent | None = None) -> Agent:
    """The agent that was stored with `what` (the fit, the companion); an error if `agent` is another."""
    stored = str(attrs["agent"])
    if isinstance(agent, Agent):
        _check_same(what, stored, agent.name)
        return agent
    given = json.loads(attrs["given"])
    if agent is not None:
        name = parsed(agent).name
        if place_of(name) is None:
            _check_same(what, stored, agent if agent == stored else name)
            return agent_named(name, **given)
        found = agent_named(name)
        _check_same(what, stored, found.name)
        return found.with_values(**given)
    return _found_again(attrs, what, stored, given)


def _found_again(attrs: Mapping[Any, Any], what: str, stored: str, given: dict[str, Any]) -> Agent:
    name, fixed = parsed(stored)
    base, *habits = parts_of_name(name)
    origin = str(attrs.get("agent_file", ""))
    here = name in OWN or ((base in AGENTS or base in OWN) and all(habit in HABITS for habit in habits))
    if name in OWN and origin and OWN[name].origin and attrs.get("agent_sha256"):
        mine = OWN[name].origin.partition(".py:")[0].removesuffix(".py") + ".py"
        if digest(mine) != attrs["agent_sha256"]:
            raise InputError(
                f"{what} is of {stored}, but {mine} has changed since, or is another file: pass the agent itself to use it "
                "as it is now."
            )
    if here or not origin:
        if not here and base not in AGENTS:
            raise InputError(
                f"{what} is of {stored}, an agent of somebody's own that is not in a file: pass the agent itself."
            )
        return agent_named(name, **{**fixed, **given})
    file = origin.partition(".py:")[0] + ".py"
    example = origin if ".py:" in origin else f"{origin}:NAME"
    if not digest(file):
        raise InputError(f"{what} is of {stored}, which is in {origin}, and there is no such file: pass --agent {example}.")
    if digest(file) != attrs.get("agent_sha256"):
        raise InputError(
            f"{what} is of {stored}, but {file} has changed since: pass --agent {example} to use it as it is now."
        )
    if ".py:" not in origin:
        raise InputError(f"{what} is of {stored}, which is in {file}: pass --agent {example}.")
    return agent_named(origin).with_values(**given)


def _check_same(what: str, stored: str, name: str) -> None:
    if name != stored:
        raise InputError(f"{what} is of {stored}, not of {name}.")

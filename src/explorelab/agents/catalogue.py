"""The catalogue of agents, for other programs and for people."""

from __future__ import annotations

import math
from typing import TypedDict

from explorelab.agents.builder_docs import summary_of
from explorelab.agents.factors import Argument
from explorelab.agents.registry import AGENTS, parameters_of, source_of, split_name


class Described(TypedDict):
    """An agent in the catalogue."""

    name: str
    about: str
    parameters: dict[str, Argument]


def catalogue(name: str | None = None) -> list[Described]:
    """Name, description, parameters and defaults of every agent, or of one, ready for JSON."""
    return [
        {
            "name": agent,
            "about": summary_of(source_of(split_name(agent)[0]).build),
            "parameters": {key: _default(value) for key, value in parameters_of(agent).items()},
        }
        for agent in ([name] if name is not None else AGENTS)
    ]


def _default(value: Argument) -> Argument:
    """A default in a form that JSON and people can read."""
    return "inf" if value == math.inf else value

"""The agents that a report compares; their names may fix parameters, as in stochastic-ucl:length_scale=0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from explorelab.agents import AGENTS, Agent
from explorelab.agents.builder_docs import summary_of
from explorelab.agents.registry import split_name
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.fit_people import check_likelihood
from explorelab.fitting.model import named, parsed, prepare
from explorelab.plots.words import with_paper_named

PLACED = ("random-choice", "win-stay-lose-shift", "kalman-ucb", "stochastic-ucl:length_scale=0", "stochastic-ucl")
"""Compared by default where arms have places: chance, a habit, a tracker of single arms, and the paper's agent with
independent and with correlated arms."""
NOWHERE = ("random-choice", "win-stay-lose-shift", "kalman-ucb", "stochastic-ucl")
"""The same where arms have no places and cannot be correlated."""


def models_of(choices: Choices, names: Sequence[str] | None) -> dict[str, Agent]:
    """The agents by their given names, ready to be fitted to these choices; each is renamed to its full name."""
    texts = list(names or (PLACED if choices.layout.places is not None else NOWHERE))
    texts = [text.strip() for text in texts if text.strip()]
    if len(set(texts)) < 2:
        raise InputError(f"a report compares at least 2 different agents, got {', '.join(texts) or 'none'}.")
    models = {}
    for text in texts:
        name, fixed = parsed(text)
        agent = named(choices, name, fixed)
        agent = replace(agent, name=text, free=tuple(each for each in agent.free if each not in fixed))
        check_likelihood(choices, prepare(choices, agent))
        models[text] = agent
    return models


def free_of(choices: Choices, agent: Agent) -> tuple[str, ...]:
    """The parameters that a fit of this agent to these choices estimates."""
    return tuple(dimension.name for dimension in prepare(choices, agent).space)


def described(text: str) -> str:
    """What an agent does, from its docstring."""
    name, fixed = parsed(text)
    base, habits = split_name(name)
    about = with_paper_named(summary_of(AGENTS[base]))
    about += f" With the habits {', '.join(habits)}." if habits else ""
    return about + (f" Here with {', '.join(f'{key} = {value}' for key, value in fixed.items())}." if fixed else "")

"""The agents that a report compares; their names may fix parameters, as in stochastic-ucl:length_scale=0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from explorelab._support.name_value import Written
from explorelab.agents import Agent
from explorelab.agents.agent_names import check_together, labelled, parsed
from explorelab.agents.builder_docs import summary_of
from explorelab.agents.registry import parts_of_name, source_of, split_name
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.model import prepare
from explorelab.fitting.search.likelihood_checks import check_likelihood
from explorelab.plots.words import with_paper_named

PLACED = ("random-choice", "win-stay-lose-shift", "kalman-ucb", "stochastic-ucl:length_scale=0", "stochastic-ucl")
"""Compared by default where arms have places: chance, a habit, a tracker of single arms, and the paper's agent with
independent and with correlated arms."""
NOWHERE = ("random-choice", "win-stay-lose-shift", "kalman-ucb", "stochastic-ucl")
"""The same where arms have no places and cannot be correlated."""

CHANGING = ("random-choice", "win-stay-lose-shift", "delta-rule", "kalman-ucb", "restless-kalman")
"""The same where means change: trackers that take arms for steady, one that does not, and one that never stops learning."""


def _standard(choices: Choices) -> tuple[str, ...]:
    """The agents that are compared by default."""
    if choices.means_change:
        return CHANGING
    return PLACED if choices.layout.places is not None else NOWHERE


def asked_for(choices: Choices, references: Sequence[str | Agent] | None) -> dict[str, str | Agent]:
    """The agents to compare by their names in the report, as they were asked for."""
    wanted = list(references or _standard(choices))
    asked = labelled([each for each in wanted if isinstance(each, Agent) or each.strip()])
    if len(asked) < 2:
        raise InputError(f"a report compares at least 2 different agents, got {', '.join(asked) or 'none'}.")
    check_together(asked.values())
    return asked


def models_of(choices: Choices, references: Sequence[str | Agent] | None) -> dict[str, Agent]:
    """The agents by their names in the report, ready to be fitted to these choices; each is renamed to its full name."""
    models = {}
    for label, reference in asked_for(choices, references).items():
        agent, fixed = prepare(choices, reference, free=()).agent, fixed_in(reference)
        agent = replace(agent, name=label, free=tuple(each for each in agent.free if each not in fixed))
        check_likelihood(choices, prepare(choices, agent))
        models[label] = agent
    return models


def fixed_in(reference: str | Agent) -> dict[str, Written | list[Written]]:
    """The values that a reference fixes."""
    return {} if isinstance(reference, Agent) else parsed(reference).fixed


def base_of(reference: str | Agent) -> tuple[str, tuple[str, ...]]:
    """The name of the agent without habits and values, and its habits."""
    if isinstance(reference, str):
        return split_name(parsed(reference).name)
    base, *habits = parts_of_name(reference.name)
    return base, tuple(habits)


def free_of(choices: Choices, agent: Agent) -> tuple[str, ...]:
    """The parameters that a fit of this agent to these choices estimates."""
    return tuple(dimension.name for dimension in prepare(choices, agent).space)


def described(reference: str | Agent) -> str:
    """What an agent does, from its docstring."""
    base, habits = base_of(reference)
    build = reference.build if isinstance(reference, Agent) else source_of(base).build
    about = with_paper_named(summary_of(build)) if build is not None else ""
    about = about or "An agent of the authors' own."
    about += f" With the habits {', '.join(habits)}." if habits else ""
    fixed = fixed_in(reference)
    return about + (f" Here with {', '.join(f'{key} = {value}' for key, value in fixed.items())}." if fixed else "")

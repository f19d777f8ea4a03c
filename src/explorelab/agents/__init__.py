"""Agents: decision rules composed of a learner, a limit, a choice rule and a commitment."""

from explorelab.agents import rivals, ucl
from explorelab.agents.registry import AGENTS, parameters_of
from explorelab.agents.types import Agent, Belief, ChoiceRule, Commitment, Learner, Moment, Rule

__all__ = [
    "AGENTS",
    "Agent",
    "Belief",
    "ChoiceRule",
    "Commitment",
    "Learner",
    "Moment",
    "Rule",
    "parameters_of",
    "rivals",
    "ucl",
]

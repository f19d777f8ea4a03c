"""Agents: decision rules composed of a learner, a limit, a choice rule and a commitment."""

from explorelab.agents.factors import Agent, Belief, ChoiceRule, Commitment, Learner, Moment, Rule
from explorelab.agents.named import human, rivals, ucl
from explorelab.agents.naming import agent_named, parameters_of
from explorelab.agents.registry import AGENTS

__all__ = [
    "AGENTS",
    "Agent",
    "Belief",
    "ChoiceRule",
    "Commitment",
    "Learner",
    "Moment",
    "Rule",
    "agent_named",
    "human",
    "parameters_of",
    "rivals",
    "ucl",
]

"""Agents: decision rules composed of a learner, a limit, a choice rule and a commitment."""

from explorelab.agents.factors import (
    Agent,
    Belief,
    ChoiceRule,
    Commitment,
    Learner,
    Moment,
    Rule,
)
from explorelab.agents.named import human, rivals, ucl
from explorelab.agents.named.human import *  # noqa: F403
from explorelab.agents.named.rivals import *  # noqa: F403
from explorelab.agents.named.ucl import *  # noqa: F403
from explorelab.agents.own.compose import agent
from explorelab.agents.own.declared import parameter
from explorelab.agents.parameters import Parameter, Units
from explorelab.agents.registry import AGENTS
from explorelab.agents.rules.habits import Habit, add_habit, with_habits

__all__ = [
    "AGENTS",
    "Agent",
    "Belief",
    "ChoiceRule",
    "Commitment",
    "Habit",
    "Learner",
    "Moment",
    "Parameter",
    "Rule",
    "Units",
    "add_habit",
    "agent",
    "parameter",
    "with_habits",
]
# The named agents: each module lists its own.
__all__ += human.__all__
__all__ += rivals.__all__
__all__ += ucl.__all__

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
from explorelab.agents.named.human import (
    delta_rule,
    gp_ucb_constant,
    kalman_thompson,
    kalman_ucb,
    kalman_value,
    local_search,
    random_choice,
    situated_ucl,
    variance_greedy,
    win_stay_lose_shift,
)
from explorelab.agents.named.rivals import (
    agrawal_hedge_teneketzis,
    bayes_ucb,
    boltzmann,
    epsilon_greedy,
    epsilon_n_greedy,
    gittins,
    gp_ucb,
    kl_ucb,
    knowledge_gradient,
    mean_greedy,
    thompson,
    ucb1,
    ucb1_normal,
    ucb2,
    ucb_v,
)
from explorelab.agents.named.ucl import (
    block_ucl,
    deterministic_ucl,
    stochastic_ucl,
)
from explorelab.agents.parameters import (
    add_parameter,
)
from explorelab.agents.registry import (
    AGENTS,
)
from explorelab.agents.rules.habits import (
    Habit,
    add_habit,
    with_habits,
)

__all__ = [
    "AGENTS",
    "Agent",
    "Belief",
    "ChoiceRule",
    "Commitment",
    "Habit",
    "Learner",
    "Moment",
    "Rule",
    "add_habit",
    "add_parameter",
    "agrawal_hedge_teneketzis",
    "bayes_ucb",
    "block_ucl",
    "boltzmann",
    "delta_rule",
    "deterministic_ucl",
    "epsilon_greedy",
    "epsilon_n_greedy",
    "gittins",
    "gp_ucb",
    "gp_ucb_constant",
    "kalman_thompson",
    "kalman_ucb",
    "kalman_value",
    "kl_ucb",
    "knowledge_gradient",
    "local_search",
    "mean_greedy",
    "random_choice",
    "situated_ucl",
    "stochastic_ucl",
    "thompson",
    "ucb1",
    "ucb1_normal",
    "ucb2",
    "ucb_v",
    "variance_greedy",
    "win_stay_lose_shift",
    "with_habits",
]

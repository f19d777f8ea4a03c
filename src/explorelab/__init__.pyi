from . import theory
from .agents import AGENTS, Agent
from .agents.named.human import (
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
from .agents.named.rivals import (
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
from .agents.named.ucl import block_ucl, deterministic_ucl, stochastic_ucl
from .agents.parameters import add_parameter
from .agents.rules.habits import with_habits
from .choices.reading import check_choices, choices_from_frame, read_choices
from .choices.table import Choices
from .choices.writing import choices_from_runs, write_choices
from .choices.wu2018 import load_wu2018
from .comparison.compare import compare
from .comparison.group import select_models
from .comparison.left_out_blocks import cross_validate
from .comparison.psis import loo_by_block
from .errors import ExplorelabError, InputError, PrecisionWarning
from .fitting.fit_people import fit, load_fit
from .recovery.designs import design
from .recovery.latent import latent_variables
from .recovery.model_recovery import recover_models
from .recovery.parameter_recovery import recover_parameters
from .recovery.predictive import predictive_check
from .recovery.simulated_choices import generate
from .regret.forms import fit_forms
from .regret.phenotypes import phenotypes
from .report.make import report
from .simulation.simulate import simulate
from .tasks import (
    Task,
    bandit,
    gaussian_noise,
    grid,
    integer_noise,
    landscape,
    line,
    on_graph,
    profile,
    with_costs,
    with_noise,
)
from .theory.agent_bounds import bounds

__version__: str

__all__ = [
    "AGENTS",
    "Agent",
    "Choices",
    "ExplorelabError",
    "InputError",
    "PrecisionWarning",
    "Task",
    "add_parameter",
    "agrawal_hedge_teneketzis",
    "bandit",
    "bayes_ucb",
    "block_ucl",
    "boltzmann",
    "bounds",
    "check_choices",
    "choices_from_frame",
    "choices_from_runs",
    "compare",
    "cross_validate",
    "delta_rule",
    "design",
    "deterministic_ucl",
    "epsilon_greedy",
    "epsilon_n_greedy",
    "fit",
    "fit_forms",
    "gaussian_noise",
    "generate",
    "gittins",
    "gp_ucb",
    "gp_ucb_constant",
    "grid",
    "integer_noise",
    "kalman_thompson",
    "kalman_ucb",
    "kalman_value",
    "kl_ucb",
    "knowledge_gradient",
    "landscape",
    "latent_variables",
    "line",
    "load_fit",
    "load_wu2018",
    "local_search",
    "loo_by_block",
    "mean_greedy",
    "on_graph",
    "phenotypes",
    "predictive_check",
    "profile",
    "random_choice",
    "read_choices",
    "recover_models",
    "recover_parameters",
    "report",
    "select_models",
    "simulate",
    "situated_ucl",
    "stochastic_ucl",
    "theory",
    "thompson",
    "ucb1",
    "ucb1_normal",
    "ucb2",
    "ucb_v",
    "variance_greedy",
    "win_stay_lose_shift",
    "with_costs",
    "with_habits",
    "with_noise",
    "write_choices",
]

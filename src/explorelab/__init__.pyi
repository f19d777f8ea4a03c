from . import agents, tasks, theory
from ._support.work.processes import workers
from .agents import Agent
from .agents.own.compose import agent
from .agents.own.declared import parameter
from .choices.formats.psych201 import write_psych201
from .choices.joining import join_choices
from .choices.reading import check_choices, choices_from_frame, read_choices
from .choices.table import Choices
from .choices.writing import choices_from_runs, write_choices
from .choices.wu2018 import load_wu2018
from .companions.assessment.assess import assess
from .companions.forecasting.forecast import forecast
from .companions.live import Companion, companion
from .companions.operator_prior import automaton, learn_prior
from .companions.saving import load_companion, save_companion
from .companions.team.simulate_team import simulate_team
from .comparison.compare import compare
from .comparison.group import group_selection
from .comparison.left_out_blocks import cross_validate
from .comparison.loo import loo
from .comparison.psis import loo_by_block
from .errors import ExplorelabError, InputError, PrecisionWarning
from .fitting.bayes.convergence import ConvergenceError, ConvergenceWarning
from .fitting.effects.effects_table import effects
from .fitting.fit_people import fit, load_fit, save_fit
from .recovery.designs import blank_choices
from .recovery.latent import latent_variables
from .recovery.model_recovery import recover_models
from .recovery.parameter_recovery import recover_parameters
from .recovery.planning.plan import plan
from .recovery.predictive import predictive_check
from .recovery.simulated_choices import simulate_choices
from .regret.forms import fit_regret_curves
from .regret.phenotypes import label_phenotypes
from .report.make import write_report
from .simulation.simulate import simulate
from .tasks import Task
from .theory.agent_bounds import regret_bounds

__version__: str

__all__ = [
    "Agent",
    "Choices",
    "Companion",
    "ConvergenceError",
    "ConvergenceWarning",
    "ExplorelabError",
    "InputError",
    "PrecisionWarning",
    "Task",
    "agent",
    "agents",
    "assess",
    "automaton",
    "blank_choices",
    "check_choices",
    "choices_from_frame",
    "choices_from_runs",
    "companion",
    "compare",
    "cross_validate",
    "effects",
    "fit",
    "fit_regret_curves",
    "forecast",
    "group_selection",
    "join_choices",
    "label_phenotypes",
    "latent_variables",
    "learn_prior",
    "load_companion",
    "load_fit",
    "load_wu2018",
    "loo",
    "loo_by_block",
    "parameter",
    "plan",
    "predictive_check",
    "read_choices",
    "recover_models",
    "recover_parameters",
    "regret_bounds",
    "save_companion",
    "save_fit",
    "simulate",
    "simulate_choices",
    "simulate_team",
    "tasks",
    "theory",
    "workers",
    "write_choices",
    "write_psych201",
    "write_report",
]

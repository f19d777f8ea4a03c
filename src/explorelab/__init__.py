"""A laboratory for explore-exploit tasks.

    import explorelab as xl

    task = xl.landscape("B")
    agent = xl.stochastic_ucl(prior_mean=200, prior_var=10, length_scale=4, temperature=1)
    runs = xl.simulate(agent, task, horizon=90, replicates=1000, seed=0)

Names load when they are first used: the command line answers `--help` without waiting for JAX.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorelab import theory
    from explorelab.agents import AGENTS, Agent
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
    from explorelab.agents.named.ucl import block_ucl, deterministic_ucl, stochastic_ucl
    from explorelab.agents.rules.habits import with_habits
    from explorelab.choices.reading import check_choices, choices_from_frame, read_choices
    from explorelab.choices.table import Choices
    from explorelab.choices.writing import choices_from_runs, write_choices
    from explorelab.choices.wu2018 import load_wu2018
    from explorelab.comparison.compare import compare
    from explorelab.comparison.group import select_models
    from explorelab.comparison.left_out_blocks import cross_validate
    from explorelab.comparison.psis import loo_by_block
    from explorelab.errors import ExplorelabError, InputError, PrecisionWarning
    from explorelab.fitting.fit_people import fit, load_fit
    from explorelab.recovery.designs import design
    from explorelab.recovery.latent import latent_variables
    from explorelab.recovery.model_recovery import recover_models
    from explorelab.recovery.parameter_recovery import recover_parameters
    from explorelab.recovery.predictive import predictive_check
    from explorelab.recovery.simulated_choices import generate
    from explorelab.regret.forms import fit_forms
    from explorelab.regret.phenotypes import phenotypes
    from explorelab.report.make import report
    from explorelab.simulation.simulate import simulate
    from explorelab.tasks import (
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
    from explorelab.theory.agent_bounds import bounds

__version__ = "0.1.0"

_WHERE = {
    "agents": ("AGENTS", "Agent"),
    "agents.rules.habits": ("with_habits",),
    "agents.named.human": (
        "delta_rule",
        "gp_ucb_constant",
        "kalman_thompson",
        "kalman_ucb",
        "kalman_value",
        "local_search",
        "random_choice",
        "situated_ucl",
        "variance_greedy",
        "win_stay_lose_shift",
    ),
    "agents.named.rivals": (
        "agrawal_hedge_teneketzis",
        "bayes_ucb",
        "boltzmann",
        "epsilon_greedy",
        "epsilon_n_greedy",
        "gittins",
        "gp_ucb",
        "kl_ucb",
        "knowledge_gradient",
        "mean_greedy",
        "thompson",
        "ucb1",
        "ucb1_normal",
        "ucb2",
        "ucb_v",
    ),
    "agents.named.ucl": ("block_ucl", "deterministic_ucl", "stochastic_ucl"),
    "theory.agent_bounds": ("bounds",),
    "errors": ("ExplorelabError", "InputError", "PrecisionWarning"),
    "fitting.fit_people": ("fit", "load_fit"),
    "comparison.compare": ("compare",),
    "comparison.left_out_blocks": ("cross_validate",),
    "comparison.psis": ("loo_by_block",),
    "choices.table": ("Choices",),
    "choices.reading": ("check_choices", "choices_from_frame", "read_choices"),
    "choices.writing": ("choices_from_runs", "write_choices"),
    "choices.wu2018": ("load_wu2018",),
    "comparison.group": ("select_models",),
    "regret.phenotypes": ("phenotypes",),
    "regret.forms": ("fit_forms",),
    "recovery.designs": ("design",),
    "recovery.simulated_choices": ("generate",),
    "recovery.latent": ("latent_variables",),
    "recovery.model_recovery": ("recover_models",),
    "recovery.parameter_recovery": ("recover_parameters",),
    "recovery.predictive": ("predictive_check",),
    "report.make": ("report",),
    "simulation.simulate": ("simulate",),
    "tasks": (
        "Task",
        "bandit",
        "gaussian_noise",
        "grid",
        "integer_noise",
        "landscape",
        "line",
        "on_graph",
        "profile",
        "with_costs",
        "with_noise",
    ),
}
_HOME = {name: module for module, names in _WHERE.items() for name in names}

__all__ = [
    "AGENTS",
    "Agent",
    "Choices",
    "ExplorelabError",
    "InputError",
    "PrecisionWarning",
    "Task",
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


def __getattr__(name: str) -> Any:
    if name == "theory":
        return import_module("explorelab.theory")
    if name not in _HOME:
        raise AttributeError(f"module 'explorelab' has no attribute {name!r}")
    value = getattr(import_module(f"explorelab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

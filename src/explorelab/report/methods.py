"""A methods text for a paper, written from the settings that were used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from explorelab.agents.scales import SCALES
from explorelab.fitting.search.identified import MOST_LEFT, TIED
from explorelab.plots.comparison_figure import STRONG
from explorelab.plots.words import counted, joined, name_of, percent, plain
from explorelab.regret.advice_effect import APART, OWN, SAME
from explorelab.report.analysis import Analysis
from explorelab.report.references import OF_AGENTS, Citations
from explorelab.report.report_agents import base_of, fixed_in, free_of
from explorelab.report.sections.data_section import arms, excluded, people, trials_a_block
from explorelab.tasks.noise import noise_kind


class Methods(NamedTuple):
    """The paragraphs and their references, in order."""

    paragraphs: list[str]
    references: list[str]


def methods(found: Analysis, versions: dict[str, str]) -> Methods:
    """What was done, in the past tense and with citations."""
    cite = Citations()
    paragraphs = [
        _data(found),
        _regret(found, cite),
        _advice(found),
        _agents(found, cite),
        _fitting(found, cite),
        _comparison(found, cite),
        _conditions(found, cite),
        _checks(found, cite),
        _software(found, cite, versions),
    ]
    return Methods([each for each in paragraphs if each], cite.listed)


def _data(found: Analysis) -> str:
    choices = found.choices
    blocks = np.bincount(choices.participant, minlength=choices.n_participants)
    span = "one block" if blocks.max() == 1 else f"{blocks.min()} blocks" if blocks.min() == blocks.max() else (
        f"{blocks.min()} to {blocks.max()} blocks"
    )  # fmt: skip
    unscored = int((choices.present & ~choices.scored).sum())
    forced = " Forced trials were learned from but not scored, and missed trials were not scored." if unscored else ""
    return (
        f"We analysed {counted(int(choices.scored.sum()), 'choice')} of {people(choices)}, who played {span} of "
        f"{trials_a_block(choices)} {'each ' if choices.n_participants > 1 else ''}among {arms(choices)}. "
        f"{excluded(choices)}{forced}"
    )


def _regret(found: Analysis, cite: Citations) -> str:
    if found.phenotypes is None:
        return ""
    if found.choices.means_change:
        return (
            "Observed regret was the sum, over trials, of the largest mean reward among the arms on offer at that moment "
            "minus the reward received. Its intervals account for several blocks per person."
        )
    n = int(found.phenotypes.attrs["bootstrap"])
    return (
        "Observed regret was the largest mean reward times the number of trials so far, minus the rewards received. A "
        "linear, a power and a logarithmic function of time were fitted to the regret of every block by least squares, and "
        f"the one with the least squared residuals gave the block's phenotype {cite('reverdy2014')}; the power law was "
        "fitted on the raw scale and, to see how much depends on it, as a line of log regret on log time. The stability of "
        f"each label was assessed by a local block bootstrap of the residuals' increments ({counted(n, 'resample')}) "
        f"{cite('paparoditis2002')}. Intervals of shares and means account for several blocks per person."
    )


def _advice(found: Analysis) -> str:
    effect = found.advice
    if effect is None or len(effect.arms) < 2:
        return ""
    how = "paired where people played in both arms" if effect.within else "with Welch's interval"
    label = {
        APART: "of each person's first block without advice, which was left out of the comparison",
        SAME: "of each person's first block without advice, which was also compared",
        OWN: "of the block itself, which advice may have changed",
    }
    return (
        f"The effect of advice is the difference in mean regret after {counted(effect.length, 'choice')} from the arm "
        f"{effect.reference}, with people as units (each person's blocks of an arm were averaged), {how}. Differences by "
        f"phenotype use that {label[effect.basis]}."
    )


def _agents(found: Analysis, cite: Citations) -> str:
    order, said = cite("wilson2019"), []
    for text, agent in found.settings.models.items():
        reference = found.settings.asked[text]
        base = base_of(reference)[0]
        source = f" {cite(OF_AGENTS[base])}" if base in OF_AGENTS else ""
        free = free_of(found.choices, agent)
        given = joined(f"{name_of(name)} fixed at {value}" for name, value in fixed_in(reference).items())
        has = "no free parameter" if not free else f"free: {', '.join(name_of(name) for name in free)}"
        said.append(f"{text.split(':')[0]}{source} ({'; '.join(part for part in (given, has) if part)})")
    return (
        f"Following Wilson and Collins {order}, we looked at behaviour without a model, compared models, "
        "fitted the one reported, tested whether its parameters and the models can be recovered from data like these, and "
        f"checked what it predicts. The models were {joined(said)}."
    )


def _fitting(found: Analysis, cite: Citations) -> str:
    settings = found.settings
    starts = counted(settings.starts, "start")
    space = found.fit["space"].to_dataset()
    scale = _scales({str(name): space["scale"].sel(parameter=name).item() for name in space["parameter"].values})
    if settings.method == "em":
        prior = (
            f"by empirical Bayes: a normal prior of the group{scale} was learned by expectation-maximisation with Laplace's "
            f"approximation {cite('huys2011')}, and each person's parameters are the mode of the posterior under it"
        )
    else:
        prior = (
            f"by maximum a posteriori estimation under weakly informative normal priors{scale}, in units taken from the "
            "rewards and distances of the task"
        )
    return (
        f"Parameters of {found.main} were estimated for each person {prior}, by damped Fisher scoring within bounds from "
        f"{starts}. Intervals (95 %) are from the curvature of the posterior at its mode. A parameter is called identified "
        f"for a person unless its estimate sits at a bound, keeps more than {percent(MOST_LEFT)} of the prior's variance, "
        f"or correlates beyond {TIED:g} with that of another parameter. "
        f"Fit is given as McFadden's R² {cite('mcfadden1974')}."
    )


def _scales(scales: dict[str, str]) -> str:
    """The scales on which the priors are normal, where these are not the parameters' own units."""
    parts = []
    for name, scale in SCALES.items():
        names = [name_of(each) for each, own in scales.items() if own == name]
        parts += [f"{scale.words} for {joined(names)}"] if names and scale.words else []
    return f" on their own scales ({'; '.join(parts)})" if parts else ""


def _comparison(found: Analysis, cite: Citations) -> str:
    settings = found.settings
    if settings.criterion == "bic":
        how = f"by BIC {cite('schwarz1978')} of maximum-likelihood fits, minus half of which approximates the log evidence"
    else:
        within = f" of the same {settings.within}" if settings.within else ""
        how = (
            "by leaving one block out: each block was predicted with parameters fitted (maximum a posteriori) to the same "
            f"person's other blocks{within}, and the log-likelihood of left-out blocks stands for the log evidence"
        )
    return (
        f"Models were compared {how}. Frequencies of models in the population and protected exceedance probabilities are "
        f"from random-effects Bayesian model selection {cite('stephan2009', 'rigoux2014')}; for a single person, a "
        f"difference of more than {STRONG:g} in log evidence is called clear {cite('kass1995')}."
    )


def _conditions(found: Analysis, cite: Citations) -> str:
    """What was compared between conditions, and how."""
    results, told = found.by_condition, []
    if results is not None and results.columns.conditions:
        names = joined(each.name for each in results.columns.conditions)
        several = len(results.columns.conditions) > 1
        told.append(
            f"Levels of {names} were compared by least squares"
            f"{' with main effects of all conditions' if several else ''}, on "
            "each person's means in each combination of levels, with cluster-robust standard errors over people and "
            f"their small-sample correction and degrees of freedom {cite('bell2002')}."
        )
        if results.parameters:
            fits = " fitted separately to each person's blocks in each combination of levels" if results.refitted else ""
            told.append(f"Parameters were compared in the same way, in standard units, from maximum a posteriori "
                        f"estimates{fits}.")  # fmt: skip
        if results.frequencies.same:
            told.append(
                "Whether groups of people share the same frequencies of models was tested by the free energies of one and "
                f"of separate selections {cite('rigoux2014')}."
            )
    if results is not None and results.columns.covariates:
        told.append(
            f"{joined(each.name for each in results.columns.covariates)} entered the regressions as "
            f"{'a covariate' if len(results.columns.covariates) == 1 else 'covariates, one at a time'}."
        )
    if found.effects is not None:
        told.append(
            f"Effects of conditions on parameters ({found.settings.effects}) were estimated together with everyone's "
            f"parameters by expectation-maximisation with Laplace's approximation {cite('huys2011')}, the spread of people "
            "around them by restricted maximum likelihood."
        )
    return " ".join(told)


def _checks(found: Analysis, cite: Citations) -> str:
    parts = []
    if found.recovery is not None:
        truth = "drawn from the prior" if found.few else "equal to estimates of the participants"
        parts.append(
            f"For parameter recovery, {counted(int(found.recovery.attrs['n']), 'person', 'people')} with parameters {truth} "
            "were simulated on the participants' blocks and fitted in the same way."
        )
    if found.models is not None:
        parts.append(
            f"For model recovery, each model simulated {counted(int(found.models.attrs['n']), 'person', 'people')} at "
            "parameters it was fitted with, and all models were fitted to each of them and compared by the same criterion."
        )
    if found.predictive is not None:
        outcomes = f"regret,{'' if found.choices.means_change else ' phenotypes,'} repeated choices, distances and new arms"
        parts.append(
            f"For predictive checks, the group was simulated {counted(found.predictive.attrs['n_copies'], 'time')}, each "
            f"person with parameters drawn from their posterior (Laplace's approximation); {outcomes} were compared with "
            "those of the participants."
        )
    if parts:
        noise = noise_kind(found.settings.noise).words
        var = found.choices.layout.noise_var
        parts.append(
            f"Simulated rewards were the true means plus {noise}"
            + (f" of variance {plain(var)}." if var is not None else ".")
        )
    return " ".join(parts)


def _software(found: Analysis, cite: Citations, versions: dict[str, str]) -> str:
    return (
        f"Computations were done with explorelab {versions['explorelab']} (Python {versions['Python']}, JAX "
        f"{versions['jax']} {cite('jax2018')}, NumPy {versions['numpy']}, SciPy {versions['scipy']}), seed "
        f"{found.settings.seed}."
    )

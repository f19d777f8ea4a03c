"""What a plan found, in a sentence for a preregistration."""

from __future__ import annotations

import numpy as np
import xarray as xr

import explorelab
from explorelab.agents import Agent
from explorelab.agents.agent_names import label_of
from explorelab.recovery.planning.effect_power import Planned
from explorelab.recovery.planning.plan_people import Population

SCALE_WORDS = {"real": "", "log": " of the logarithm", "logit": " of the log-odds"}


def version() -> str:
    """The version that made a plan."""
    return str(explorelab.__version__)


def name_of(agent: str | Agent) -> str:
    """What sentences call an agent."""
    return label_of(agent)


def people_told(people: Population) -> str:
    """Typical values and standard deviations of people, in words."""
    scales = {dimension.name: SCALE_WORDS[dimension.scale] for dimension in people.space}
    parts = [f"{name} {typical:.4g} (SD{scales[name]} {sd:.3g})" for name, (typical, sd) in people.told().items()]
    return f"{', '.join(parts)}, {people.source}" if parts else "no free parameters"


def effect_sentence(plan: Planned, size: str, one: xr.Dataset) -> str:
    """The power of a test, and all that it depends on."""
    about, goal, effect = one.attrs, plan.goal, plan.effect
    how = "within people (everyone plays in both conditions)" if effect.within else "between two groups of equal size"
    own = f" Effects of people differ with SD {effect.slope_sd:.3g} on the parameter's scale." if effect.within else ""
    at = _people_told_of(one)
    fitted = f"an empirical-Bayes fit of {about['agent']} (xl.effects)"
    test = f"a two-sided test of the effect in {fitted} at alpha = {goal.alpha:g}"
    if np.isnan(at):
        return f"No study of {one['told'].item()} was simulated."
    there = one.sel(people=at)
    found = (
        f"With {at:.0f} people, each playing {one['told'].item()}, {test} finds an effect on {effect.parameter} of {size} "
        f"({effect.size:.3g} on the parameter's scale), {how}, with a probability of {_with_interval(there, 'power')} "
        f"({there['studies'].item():.0f} simulated studies)."
    )
    alarms = ""
    if "false_alarms" in one:
        alarms = f" Without an effect it finds one in {_with_interval(one, 'false_alarms', percent=True)} of studies."
    return f"{found}{alarms} {_needed_told(one)} Simulated people: {about['people']}.{own} {_made(about)}"


def recovery_sentence(one: xr.Dataset) -> str:
    """How well a parameter is recovered, and all that it depends on."""
    about = one.attrs
    return (
        f"With {one['told'].item()} a person, the rank correlation of true and estimated {about['parameter']} of "
        f"{about['agent']} (fitted by {about['method']}) is {_with_interval(one, 'rank_correlation')}; 95 % intervals hold "
        f"the true value for {_with_interval(one, 'coverage', percent=True)} of people and are "
        f"{_with_interval(one, 'width')} standard deviations of people wide (median). "
        f"{_needed_told(one, 'a rank correlation of at least ' + format(about['at_least'], 'g'))} "
        f"{one['simulated'].item()} simulated people: {about['people']}. {_made(about)}"
    )


def models_sentence(one: xr.Dataset) -> str:
    """How well agents are told apart, and all that it depends on."""
    about = one.attrs
    each = ", ".join(
        f"{name} {100 * p:.0f} %" for name, p in zip(one["generated"].values, one["correct"].values, strict=True)
    )
    return (
        f"With {one['told'].item()} a person, {about['criterion']} names the agent that made the choices for "
        f"{_with_interval(one, 'correct_all', percent=True)} of people ({each}). "
        f"{
            _needed_told(
                one,
                'random-effects selection to name the agent that everyone uses with a protected exceedance '
                'probability of at least ' + format(about['at_least'], 'g') + ', whichever it is',
            )
        } "
        f"{int(one['simulated'].sum())} simulated people. {about['people']}. {_made(about)}"
    )


def _people_told_of(one: xr.Dataset) -> float:
    """The number of people with most studies, and among those nearest to what is needed."""
    studies = one["studies"].fillna(0)
    most = one["people"].values[studies.values == studies.values.max()]
    needed = one["needed"].item()
    wanted = needed if np.isfinite(needed) else most.max(initial=0)
    return float(most[np.abs(most - wanted).argmin()]) if studies.values.max() > 0 else float("nan")


def _needed_told(one: xr.Dataset, what: str = "this") -> str:
    """The number of people needed, with its interval."""
    needed, low, high = (one[name].item() for name in ("needed", "needed_low", "needed_high"))
    chance = f"{what} with a probability of {one.attrs['power']:g}"
    if np.isnan(needed):
        return ""
    if np.isinf(needed):
        least = "" if np.isinf(low) else f" (95 % interval from {low:.0f})"
        return f"More people than were tried are needed for {chance}{least}."
    top = "more than were tried" if np.isinf(high) else f"{high:.0f}"
    return f"Needed for {chance}: {needed:.0f} people (95 % interval {low:.0f} to {top})."


def _with_interval(one: xr.Dataset, name: str, percent: bool = False) -> str:
    values = [one[each].item() for each in (name, f"{name}_low", f"{name}_high")]
    if percent:
        middle, low, high = (f"{100 * value:.1f}" for value in values)
        return f"{middle} % (95 % interval {low} to {high} %)"
    middle, low, high = (f"{value:.2f}" for value in values)
    return f"{middle} (95 % interval {low} to {high})"


def _made(about: dict[str, object]) -> str:
    return f"explorelab {about['version']}, seed {about['seed']}, {about['starts']} starts a fit."

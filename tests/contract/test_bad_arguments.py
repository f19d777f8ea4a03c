"""Every public function answers a wrong argument in one sentence: each argument of each, replaced by things it is not.

Functions and their arguments are found in `explorelab.__all__`; a new one without an example here fails the first test.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import explorelab as xl
from explorelab.agents.rules.habits import HABITS
from explorelab.choices.table import Choices
from explorelab.errors import ExplorelabError
from explorelab.fitting.bayes.hierarchical import sample
from explorelab.fitting.empirical_bayes import fit_group
from explorelab.fitting.fit_people import SETTINGS
from explorelab.tasks.noise import NOISES

pytestmark = pytest.mark.quick_programs


class Odd:
    """Nothing that anything expects."""


HOSTILE = {
    "None": None, "text": "x", "no text": "", "bytes": b"x", "an object": Odd(), "an empty list": [], "an empty table": {},
    "a table": {"x": 1}, "a ragged list": [[0, 1], [2]], "NaN": np.nan, "infinity": np.inf, "minus one": -1, "half": 1.5,
    "1e308": 1e308, "2**70": 2**70, "NaN in an array": np.array([np.nan, 1.0]), "three dimensions": np.ones((2, 2, 2)),
    "a function": len, "a complex number": 1j, "a set": {1, 2}, "a data frame": pd.DataFrame(), "words": ["a", "b"],
    "Nones": [None, None], "a class": dict, "a date": np.datetime64("2020-01-01"), "no time": pd.NaT, "true": True,
    "an unknown scale": {"temperature": {"scale": "sqrt"}}, "a bound of text": {"win_stay": {"low": "x"}},
    "a number for a table": {"win_stay": 3}, "an agent": xl.agents.ucb1(), "a task": xl.tasks.bandit([0.0, 1.0]),
}  # fmt: skip
FEW = (
    "None",
    "text",
    "an object",
    "a ragged list",
    "NaN",
    "minus one",
    "NaN in an array",
    "a table",
    "a bound of text",
    "2**70",
)
"""Those that are tried where an argument that is let through means work."""

TASK = xl.tasks.line([0.0, 1.0, 2.0])


def _choices() -> Choices:
    runs = xl.simulate(xl.agents.random_choice(), TASK, 4, 4, 0, keep="trajectories", precision="double")
    people = {"participants": ("1", "2"), "participant": np.repeat(np.arange(2), 2), "block": np.tile(["1", "2"], 2)}
    return Choices(**{**xl.choices_from_runs(runs, TASK).__dict__, **people})


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[Any], dict[str, Any]]]:
    """Arguments with which each function works."""
    folder = tmp_path_factory.mktemp("files")
    choices, who = _choices(), "win-stay-lose-shift"
    file = xl.write_choices(choices, folder / "choices.csv")
    runs = xl.simulate(xl.agents.random_choice(), TASK, 4, 4, 0, keep="trajectories", precision="double")
    quick: dict[str, Any] = {"n_starts": 1, "progress": False}
    fit = xl.fit(choices, who, "ml", **quick)
    one = choices.rows([0])
    prior = xl.learn_prior(one, n_shapes=2)
    return {
        "automaton": ([prior], {}),
        "learn_prior": ([one], {"n_shapes": 2}),
        "simulate_team": (
            [TASK],
            {"n_people": 2, "horizon": 2, "n_points": 8, "policies": ["impersonal"], "progress": False},
        ),
        "add_habit": (["lapse", HABITS["lapse"]], {}),
        "add_noise": ([NOISES["gaussian"]], {}),
        "parameter": (["curiosity"], {"typical": 1.0, "spread": 1.0, "low": 0.0, "high": 2.0}),
        "agent": (["meek"], {"learner": "delta-rule", "parameters": ["learning_rate", "temperature", "prior_mean"]}),
        "assess": ([choices, who], {"every": 4, "n_points": 8, "n_futures": 2, "progress": False}),
        "bandit": ([[0.0, 1.0]], {}),
        "regret_bounds": ([xl.agents.deterministic_ucl(), TASK, 5], {}),
        "check_choices": ([file], {}),
        "choices_from_frame": ([pd.read_csv(file), file.with_suffix(".toml")], {}),
        "choices_from_runs": ([runs, TASK], {}),
        "companion": ([who, None, TASK], {"n_points": 8, "horizon": 4}),
        "compare": ([choices, [who, "random-choice"]], {**quick, "criterion": "bic"}),
        "cross_validate": ([choices, who, "ml"], {**quick, "draws": 4}),
        "blank_choices": ([TASK], {"horizon": 4}),
        "effects": ([xl.fit(choices, who, "em", effects="win_stay ~ C(block)", **quick)], {}),
        "fit": ([choices, who, "ml"], quick),
        "fit_regret_curves": ([np.arange(10) + np.arange(10) % 3], {}),
        "forecast": ([choices, who], {"n_folds": 2, "n_points": 8, "n_starts": 1, "progress": False}),
        "gaussian_noise": ([1.0], {}),
        "simulate_choices": ([choices, who, {"win_stay": 0.5, "lose_shift": 0.5}], {"progress": False}),
        "grid": ([[[0.0, 1.0], [1.0, 2.0]]], {}),
        "integer_noise": ([2], {}),
        "join_choices": ([{"one": choices, "two": choices}], {}),
        "landscape": (["B"], {}),
        "latent_variables": ([choices, None, fit], {"progress": False}),
        "line": ([[0.0, 1.0]], {}),
        "load_companion": ([folder / "nowhere.nc"], {}),
        "load_fit": ([folder / "nowhere.nc"], {}),
        "loo": ([fit, choices], {"progress": False}),
        "loo_by_block": ([fit], {}),
        "load_wu2018": ([folder / "nowhere"], {}),
        "on_graph": ([TASK], {}),
        "horizon_game": ([], {}),
        "horizon_task": ([], {"n_games": 2}),
        "moving": ([[[0.0, 1.0], [2.0, 1.0]]], {}),
        "paths": ([xl.tasks.restless(2)], {"horizon": 3}),
        "restless": ([2], {}),
        "switching": ([], {"n_arms": 2}),
        "with_blocked": ([TASK, [(1, 2, 3)]], {}),
        "with_forced": ([TASK, [0, -1, 2]], {}),
        "with_points": ([TASK, (0, 10)], {}),
        "label_phenotypes": ([choices], {"bootstrap": 5, "progress": False}),
        "predictive_check": ([choices, None, fit], {"n_copies": 2, "progress": False}),
        "plan": ([TASK, who], {"recover": "win_stay", "horizon": 4, "n_simulations": 8, **quick}),
        "profile": (["B"], {}),
        "read_choices": ([file], {}),
        "recover_models": ([choices, [who, "random-choice"]], {**quick, "n_data_sets": 1}),
        "recover_parameters": ([choices, who, fit], {**quick, "n_people": 4, "method": "ml"}),
        "write_report": ([folder / "nowhere.csv", folder / "report.html"], {**quick, "quick": True}),
        "group_selection": ([np.log([[0.2, 0.8], [0.3, 0.7]])], {}),
        "save_companion": ([xl.companion(who, None, TASK, n_points=8), folder / "mind.nc"], {}),
        "save_fit": ([fit, folder / "fit.nc"], {}),
        "simulate": ([xl.agents.ucb1(), TASK, 5, 3], {"progress": False}),
        "with_costs": ([TASK], {}),
        "with_habits": ([xl.agents.stochastic_ucl(temperature=1.0), "lapse"], {}),
        "with_noise": ([TASK, 1.0], {}),
        "workers": ([1], {}),
        "write_psych201": ([choices, folder / "prompts.jsonl"], {}),
        "write_choices": ([choices, folder / "again.csv"], {}),
    }


FUNCTIONS = {
    name: value
    for part in (xl, xl.agents, xl.tasks)
    for name in part.__all__
    if inspect.isfunction(value := getattr(part, name))
}
BUILDERS = [name for name in FUNCTIONS if name.replace("_", "-") in xl.agents.AGENTS]
WORK = (
    "assess", "companion", "forecast",
    "compare", "cross_validate", "fit", "label_phenotypes", "latent_variables", "plan", "predictive_check", "recover_models",
    "learn_prior", "recover_parameters", "simulate", "simulate_choices", "simulate_team",
)  # fmt: skip


def wrong(function: Any, arguments: tuple[list[Any], dict[str, Any]], values: dict[str, Any]) -> list[str]:
    """What goes wrong with wrong arguments, other than a sentence: each argument in turn, each of these values."""
    found = []
    for place, (name, each) in enumerate(inspect.signature(function).parameters.items()):
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        for label, value in values.items():
            args, kwargs = list(arguments[0]), dict(arguments[1])
            if each.kind is inspect.Parameter.VAR_POSITIONAL:
                args[place:] = [value]
            elif place < len(args):
                args[place] = value
            else:
                kwargs[name] = value
            said = answer(function, args, kwargs)
            if said:
                found.append(f"{name} = {label}: {said}")
    return found


def answer(function: Any, args: list[Any], kwargs: dict[str, Any]) -> str:
    """Nothing if the function works or says in a sentence why not; otherwise what came."""
    try:
        function(*args, **kwargs)
    except ExplorelabError as error:
        # A table of choices may have several things wrong with it, and then has a line for each.
        ends = str(error)[-1:] in (".", "?") and ("\n" not in str(error) or "problems:" in str(error))
        return "" if ends else str(error)
    except Warning as warning:
        # The package's own warnings are sentences too.
        return "" if type(warning).__module__.startswith("explorelab") else f"{type(warning).__name__}: {warning}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_every_public_function_has_an_example(examples: dict[str, Any]) -> None:
    assert set(FUNCTIONS) - set(BUILDERS) == set(examples)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - set(BUILDERS)))
def test_a_wrong_argument_is_answered_in_a_sentence(
    name: str, examples: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {label: HOSTILE[label] for label in FEW} if name in WORK else HOSTILE
    assert wrong(FUNCTIONS[name], examples[name], values) == []


@pytest.mark.parametrize("name", BUILDERS)
def test_a_wrong_parameter_of_an_agent_is_answered_in_a_sentence(name: str) -> None:
    assert wrong(FUNCTIONS[name], ([], {}), HOSTILE) == []


THEORY = {name: getattr(xl.theory, name) for name in xl.theory.__all__ if inspect.isfunction(getattr(xl.theory, name))}
FORMULAS: dict[str, list[Any]] = {
    "best_epsilon": [2.0, [10, 20]],
    "cost_of_transitions": [[[0, 1], [1, 0]], [[1, 1], [1, 1]]],
    "gaps": [[0.0, 1.0]],
    "lai_robbins_regret": [[0.0, 1.0], 1.0, [10, 20]],
    "lai_robbins_visits": [[0.0, 1.0], 1.0, [10, 20]],
    "prior_error": [[0.0, 1.0], 0.0, 1.0, 1.0],
    "prior_quality": [[0.0, 1.0], 0.0, 1.0],
    "all_bounds": ["deterministic", [0.0, 1.0], 1.0, [10, 20]],
    "quantile_lower_bound": [[0.1, 0.2]],
    "quantile_upper_bound": [[0.1, 0.2]],
    "regret_of_visits": [[0.0, 1.0], [[1, 2]]],
    "schedule_quantile_lower_bound": [[10, 20], 1.0],
    "schedule_quantile_upper_bound": [[10, 20], 1.0],
    "upper_quantile": [[0.1, 0.2]],
}


@pytest.mark.quick
@pytest.mark.parametrize("name", THEORY)
def test_a_wrong_argument_of_a_formula_is_answered_in_a_sentence(name: str) -> None:
    # What overflows is a number, if an infinite one.
    values = {label: value for label, value in HOSTILE.items() if label not in ("1e308", "infinity")}
    assert wrong(THEORY[name], (FORMULAS[name], {}), values) == []


BOUNDS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": value
    for module in (xl.theory.published, xl.theory.corrected)
    for name, value in vars(module).items()
    if name.endswith(("_visits", "_transitions")) and not name.startswith("_")
}
NAMED = {**FUNCTIONS, **THEORY, **BOUNDS}


def taken_by_name(function: Any) -> list[str]:
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, each in inspect.signature(function).parameters.items() if each.kind in by_name]


@pytest.mark.parametrize("name", [name for name in NAMED if name != "with_habits"])  # it takes any name, as parameters
def test_a_misspelt_argument_is_answered_with_the_nearest_name(name: str, examples: dict[str, Any]) -> None:
    args, kwargs = examples.get(name, (FORMULAS.get(name, []), {}))
    for known in taken_by_name(NAMED[name]):
        with pytest.raises(xl.InputError, match=f"'{known}x': did you mean '{known}'"):
            NAMED[name](*args, **{**kwargs, f"{known}x": 1})


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_an_argument_that_is_like_no_other_is_answered_with_all_of_them(name: str, examples: dict[str, Any]) -> None:
    args, kwargs = examples.get(name, ([], {}))
    with pytest.raises(xl.InputError, match=r"'zzz': (expected one of .+|there are none)\.$"):
        FUNCTIONS[name](*args, **kwargs, zzz=1)


def test_the_bounds_of_the_theory_are_found() -> None:
    assert {"published.block_transitions", "corrected.graphical_visits"} <= set(BOUNDS)
    assert len(BOUNDS) == 10


@pytest.mark.parametrize(
    ("method", "name", "said"),
    [
        ("bayes", "draw", "unknown argument of fit() 'draw': did you mean 'draws'?"),
        ("nuts", "chain", "unknown argument of fit() 'chain': did you mean 'chains'?"),
        ("em", "round", "unknown argument of fit() 'round': did you mean 'rounds'?"),
        ("map", "start", "unknown argument of fit() 'start': did you mean 'n_starts'?"),
        ("map", "chains", "chains is a setting of methods 'bayes' and 'nuts', got method 'map'."),
    ],
)
def test_a_setting_that_a_method_does_not_have_is_told(method: str, name: str, said: str) -> None:
    with pytest.raises(xl.InputError) as caught:
        xl.fit(_choices(), "win-stay-lose-shift", method, **{name: 2})  # type: ignore[arg-type]
    assert str(caught.value) == said


def test_the_settings_of_every_method_are_those_of_the_function_that_takes_them() -> None:
    passed_on = {"choices", "fitted", "seed", "starts", "space", "progress", "row_lists", "sets", "method"}
    for method, function in (("em", fit_group), ("bayes", sample), ("nuts", sample)):
        assert set(SETTINGS[method]) == set(inspect.signature(function).parameters) - passed_on


SPACES = {
    "unknown scale": ({"win_stay": {"scale": "sqrt"}}, "unknown scale of win_stay 'sqrt'"),
    "text": ({"win_stay": {"low": "x"}}, "low of win_stay must be a number"),
    "NaN": ({"win_stay": {"centre": np.nan}}, "centre of win_stay must not contain NaN"),
    "a list": ({"win_stay": {"high": [0.1, 0.2]}}, "high of win_stay must be one number"),
    "a log of a negative number": ({"win_stay": {"scale": "log", "low": -1.0}}, "log needs numbers above 0"),
    "a share above one": ({"win_stay": {"centre": 1.5}}, "logit numbers between 0 and 1"),
    "a spread of nothing": ({"win_stay": {"spread": 0}}, "positive spread"),
    "no table": ({"win_stay": 3}, "space must be a dictionary from names to dictionaries"),
    "unknown field": ({"win_stay": {"middle": 3}}, "unknown field of win_stay 'middle'"),
}


@pytest.mark.parametrize("case", SPACES)
def test_a_wrong_space_is_told(case: str) -> None:
    space, said = SPACES[case]
    with pytest.raises(xl.InputError) as caught:
        xl.fit(_choices(), "win-stay-lose-shift", "ml", space=space)
    assert said in str(caught.value)


@pytest.mark.quick
@pytest.mark.parametrize("alpha", [1e-8, 1e-300, 0.0, -1.0, 1.0, np.nan])
def test_ucb2_does_not_ask_for_more_memory_than_there_is(alpha: float) -> None:
    with pytest.raises(xl.InputError, match="alpha"):
        xl.agents.ucb2(alpha=alpha)


def test_ucb2_plays_at_its_smallest_alpha() -> None:
    runs = xl.simulate(xl.agents.ucb2(alpha=1e-5), TASK, 20, 2, progress=False)
    assert np.isfinite(runs.regret_mean).all()


def test_nothing_is_not_called_a_number_that_is_not_one() -> None:
    with pytest.raises(xl.InputError, match="means must be a number or an array of numbers, got None"):
        xl.tasks.bandit(None)


def test_a_list_among_the_values_of_a_sweep_is_not_taken_for_its_length() -> None:
    with pytest.raises(xl.InputError, match="must be one number, got a list of 1"):
        xl.simulate(xl.agents.stochastic_ucl(), xl.tasks.bandit([0, 1]), 5, sweep={"temperature": [1, [2]]})


def test_a_missing_argument_is_told_with_the_name_of_the_function() -> None:
    with pytest.raises(TypeError, match=r"compare\(\) missing 1 required positional argument: 'agents'"):
        xl.compare(None)

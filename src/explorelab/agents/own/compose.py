"""`agent`: an agent of one's own, composed of functions and of the package's parts."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from explorelab._support import checks
from explorelab._support.door import door
from explorelab.agents import parameters as table
from explorelab.agents.factors import Agent, Argument, Params, Rule
from explorelab.agents.own.declared import GIVEN, check_identifier, check_same
from explorelab.agents.own.parts import choice_of, learner_of, limit_of, unforgiving
from explorelab.agents.own.trial import try_out
from explorelab.agents.parameters import UNIT, Parameter
from explorelab.agents.registry import AGENTS, OWN
from explorelab.agents.rules.commitment import COMMITMENTS
from explorelab.agents.rules.habits import with_habits
from explorelab.errors import InputError, unknown_name

NAME = re.compile(r"[A-Za-z][\w-]*")


@door
def agent(
    name: str,
    *,
    learner: Any,
    limit: Any = "mean",
    choice: Any = "softmax",
    parameters: Sequence[Parameter | str] = (),
    values: Mapping[str, float] | None = None,
    commitment: str = "every-step",
    habits: Sequence[str] = (),
    about: str = "",
) -> Agent:
    """An agent of your own, which simulates, is fitted and plays live like any other.

    Functions read parameters by name (`params["rate_up"]`), and also `noise_var`, `horizon` and `n_arms` of the task. They
    must be written with `jax.numpy`. The agent is tried out on a few trials, and what is wrong with it is said at once.

    Parameters
    ----------
    name
        Name of the agent, such as "two-rates".
    learner
        Two functions: `start(params, n_arms)` gives the belief before the first reward, and
        `update(params, belief, arm, reward)` the belief after one. A belief is an array of expected rewards, or a tuple with
        a field `mean`. Or the name of a learner ("delta-rule", "kalman", "independent", "last-outcome" or "counting"), or a
        `Learner`.
    limit
        A function `limit(params, belief, moment)` that gives the value of each arm at `moment.t`, or a name: "mean",
        "constant-bonus", "upper-credible-limit", "uncertainty" or "nothing".
    choice
        A function `choice(params, belief, value, moment, available)` that gives the log-probability of each arm, or a name:
        "softmax", "softmax-log", "epsilon-greedy", "probability-matching", "win-stay-lose-shift" or "uniform"; or a
        `ChoiceRule`.
    parameters
        The parameters in which people differ, which a fit estimates: your own, from `parameter`, and names of the package's.
    values
        Values of parameters; other names become constants that your functions can read.
    commitment
        How long a choice lasts: "every-step", or "frames" for the growing blocks of block UCL.
    habits
        Names of habits to add, as in `with_habits`.
    about
        What the agent does, in a sentence.
    """
    check_name(name)
    rows = _rows(name, [parameters] if isinstance(parameters, str) else parameters)
    given = {key: float(checks.scalar(f"{key} of {name}", value)) for key, value in (values or {}).items()}
    for key in given:
        check_identifier(f"the name of a value of {name}", key, "first_guess")
    rule = Rule(
        learner_of(learner),
        limit_of(limit),
        unforgiving(choice_of(choice)),
        checks.one_of("commitment", commitment, COMMITMENTS),
    )
    params = _typical(rows) | _in_range(rows, given)
    read = try_out(name, rule, params)
    for key in params:
        if key not in read:
            raise InputError(f"{name} has the parameter {key!r}, but none of its parts reads it: leave it out.")
    own = tuple(row for row in rows if row.name not in table.PARAMETERS)
    more: dict[str, Any] = {"free": tuple(row.name for row in rows), "own_parameters": own, "origin": _file_of_caller()}
    build = _builder(name, rule, params, "noise_var" in read, about, more)
    bare = build(**given)
    made = with_habits(bare, *habits)
    OWN[name] = bare
    return made


def check_name(name: str) -> None:
    """Raise unless an agent of one's own may have this name."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"name of an agent must be letters, digits and dashes, such as two-rates, got {checks.shown(name)}."
        )
    if name in AGENTS:
        raise InputError(f"explorelab already has an agent {name}: choose another name.")


def _rows(name: str, parameters: Sequence[Parameter | str]) -> list[Parameter]:
    """The row of each parameter."""
    rows = []
    for each in parameters:
        if isinstance(each, str):
            if each not in table.searchable():
                raise unknown_name(f"parameter of {name}", each, table.searchable())
            each = table.about(each)
        elif not isinstance(each, Parameter):
            raise InputError(f"parameters of {name} must be names or what parameter() gives, got {checks.shown(each)}.")
        rows.append(each)
    check_same(name, rows)
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        raise InputError(f"parameters of {name} must be listed once, got {', '.join(names)}.")
    return rows


def _typical(rows: Sequence[Parameter]) -> dict[str, Any]:
    return {row.name: np.float64(row.seek(UNIT).centre) for row in rows if row.seek is not None}


def _in_range(rows: Sequence[Parameter], given: Mapping[str, Argument]) -> dict[str, checks.Floats]:
    """The values, checked against what each parameter may be."""
    allowed = {row.name: row.allowed for row in rows}
    return {
        name: checks.real(name, value, **allowed[name]) if name in allowed else table.value(name, value)
        for name, value in given.items()
    }


def _builder(
    name: str, rule: Rule, params: Params, assumes_noise: bool, doc: str, more: Mapping[str, Any]
) -> Callable[..., Agent]:
    """A function that builds the agent from other values, with the same checks."""
    rows = [table.about(each) for each in more["free"] if each in table.PARAMETERS] + list(more["own_parameters"])
    defaults = {key: float(value) for key, value in params.items()} | ({"noise_var": None} if assumes_noise else {})

    def build(**given: Argument) -> Agent:
        for key in given:
            if key not in defaults:
                raise unknown_name(f"parameter of {name}", key, defaults)
        told = {key: value for key, value in given.items() if not (key in GIVEN and value is None)}
        return Agent(name, rule, {**params, **_in_range(rows, told)}, told, build, **more)

    kind = inspect.Parameter.KEYWORD_ONLY
    build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(key, kind, default=value) for key, value in defaults.items()]
    )
    build.__doc__ = doc or "An agent of your own."
    return build


def _file_of_caller() -> str:
    """The file in which `agent` was called; empty in a notebook or at a prompt."""
    frame: FrameType | None = sys._getframe(1)
    here = str(Path(__file__).parents[2])
    while frame is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    file = "" if frame is None else frame.f_code.co_filename
    return shortened(file) if file.endswith(".py") and Path(file).is_file() and "ipykernel" not in file else ""


def shortened(file: str) -> str:
    """The path as seen from here if the file lies below, otherwise as it is."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def suited(agent: Agent, units: table.Units) -> Agent:
    """The agent of a user's own with typical values in these units wherever none was given."""
    seeks = table.searchable(agent.own_parameters)
    values = {
        name: seeks[name](units).centre
        for name in agent.params
        if name not in agent.given and name in agent.free and name in seeks
    }
    return agent.with_values(**values) if values else agent

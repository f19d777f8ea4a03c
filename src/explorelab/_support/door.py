"""A decorator with which public functions check the names and types of their arguments.

The function itself checks whether a number or a name makes sense; here a wrong type of argument (a name for an agent,
None for choices, a ragged list) raises a one-sentence error before it fails somewhere deeper down.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from numbers import Integral, Real
from typing import NamedTuple, TypeGuard

import numpy as np

from explorelab._support.checks import Unchecked, shown
from explorelab.errors import InputError, unknown_name


class Kind(NamedTuple):
    """One kind of argument: its name in a sentence, and a test whether a value is one."""

    words: str
    fits: Callable[[object], bool]


def door[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """The function with a check that refuses unknown arguments and those of the wrong kind; unknown kinds are accepted."""
    signature = inspect.signature(function)
    names = keywords_of(signature)
    checked = {name: kinds for name, each in signature.parameters.items() if (kinds := _kinds(str(each.annotation)))}

    @wraps(function)
    def at_the_door(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if names is not None and name not in names:
                raise unknown_name(f"argument of {function.__name__}()", name, names)
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # raises Python's own error, which names the function too
        for name, value in given.items():
            if name not in checked:
                continue
            several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for each in value if several else (value,):
                check(name, each, checked[name])
        return function(*args, **kwargs)

    return at_the_door


def keywords_of(signature: inspect.Signature) -> tuple[str, ...] | None:
    """The names of arguments that may be given by name; None if a function accepts any and checks them itself."""
    kinds = {name: each.kind for name, each in signature.parameters.items()}
    if inspect.Parameter.VAR_KEYWORD in kinds.values():
        return None
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(name for name, kind in kinds.items() if kind in by_name)


def check(name: str, value: object, kinds: Sequence[Kind]) -> None:
    """Raise unless the value is of one of the kinds."""
    if not any(kind.fits(value) for kind in kinds):
        expected = " or ".join(kind.words for kind in kinds)
        of_type = "" if value is None else f" ({type(value).__name__})"
        raise InputError(f"{name} must be {expected}, got {shown(value)}{of_type}.")


@cache
def _kinds(annotation: str) -> tuple[Kind, ...]:
    """The kinds that an annotation names; empty if any of them is unknown."""
    found = [_kind(part) for part in _split(annotation, "|")]
    known = tuple(kind for kind in found if kind is not None)
    return known if len(known) == len(found) else ()


def _kind(annotation: str) -> Kind | None:
    if annotation in ("AlgorithmName", "CostKind", "Keep", "Method", "PowerFit") or annotation.startswith("Literal["):
        return _PLAIN["str"]  # the function itself checks which words are allowed
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if annotation in _CLASSES:
        return Kind(_CLASSES[annotation][2], lambda value: isinstance(value, _class_of(annotation)))
    outer, _, inside = annotation.removesuffix("]").partition("[")
    if outer == "Sequence" and (kinds := _kinds(inside)):
        # To Python a single name is a sequence of text too, and may be meant as one.
        return Kind(f"a list of {_plural(kinds)}", lambda value: _is_list(value, "str" in inside, _any_of(kinds)))
    if outer == "Mapping":
        _, values = _split(inside, ",")
        kinds = _kinds(values)
        words = f"a dictionary from names to {_plural(kinds)}" if kinds else "a dictionary by name"
        return Kind(words, lambda value: _is_table(value) and all(map(_any_of(kinds), value.values())))
    return None


def _any_of(kinds: Sequence[Kind]) -> Callable[[object], bool]:
    return lambda value: not kinds or any(kind.fits(value) for kind in kinds)


def _plural(kinds: Sequence[Kind]) -> str:
    return " or ".join(_PLURALS.get(kind.words, kind.words) for kind in kinds)


def _split(text: str, separator: str) -> list[str]:
    """The parts of an annotation between separators outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def _is_list(value: Unchecked, of_names: bool, fits: Callable[[object], bool]) -> bool:
    if isinstance(value, str):
        return of_names
    several = isinstance(value, list | tuple | range) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return several and all(map(fits, value))


def _is_table(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str) and "\0" not in os.fspath(value)


def _is_numbers(value: object) -> bool:
    try:
        return bool(np.asarray(value, dtype=np.float64).size)
    except (TypeError, ValueError):
        return False


def _is_whole(value: object) -> bool:
    """Whether it may be a whole number; the function itself checks that it is one."""
    return isinstance(value, Integral | Real) and not isinstance(value, bool)


_PLAIN = {
    "None": Kind("None", lambda value: value is None),
    "str": Kind("text", lambda value: isinstance(value, str)),
    "bool": Kind("True or False", lambda value: isinstance(value, int | np.bool_) and value in (0, 1)),
    "int": Kind("a whole number", _is_whole),
    "float": Kind("a number", lambda value: isinstance(value, Real) and not isinstance(value, bool)),
    "os.PathLike[str]": Kind("a path", _is_path),
    "npt.ArrayLike": Kind("a number or an array of numbers", _is_numbers),
    "Within": Kind("a dictionary by name", _is_table),
    "Path": Kind("a path", _is_path),
}
_PLURALS = {
    "text": "names", "a whole number": "whole numbers", "a number": "numbers", "a dictionary by name": "dictionaries",
    "an agent, as ucb1() makes one": "agents", "a task, as bandit() makes one": "tasks",
    "a parameter, as parameter() makes one": "parameters",
    "a fit, as fit() or load_fit() gives it": "fits",
}  # fmt: skip
_CLASSES = {
    "Agent": ("explorelab.agents", "Agent", "an agent, as ucb1() makes one"),
    "Choices": ("explorelab.choices.table", "Choices", "Choices, as read_choices gives them"),
    "Companion": ("explorelab.companions.live", "Companion", "a companion, as companion() makes one"),
    "Habit": ("explorelab.agents.rules.habits", "Habit", "a Habit"),
    "Parameter": ("explorelab.agents.parameters", "Parameter", "a parameter, as parameter() makes one"),
    "NoiseKind": ("explorelab.tasks.noise", "NoiseKind", "a NoiseKind"),
    "Task": ("explorelab.tasks.task", "Task", "a task, as bandit() makes one"),
    "pd.DataFrame": ("pandas", "DataFrame", "a pandas.DataFrame"),
    "xr.DataTree": ("xarray", "DataTree", "a fit, as fit() or load_fit() gives it"),
    "xr.Dataset": ("xarray", "Dataset", "an xarray.Dataset, as simulate() gives it"),
}


def _class_of(annotation: str) -> type:
    module, name, _ = _CLASSES[annotation]
    found: type = getattr(import_module(module), name)
    return found

"""Every public function explains each of its parameters in a `Parameters` section of its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import explorelab


def public_functions(module: ModuleType, names: list[str], prefix: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions behind these names, and behind those of modules among them."""
    for name in names:
        value = getattr(module, name)
        if inspect.isfunction(value):
            yield prefix + name, value
        elif inspect.ismodule(value):
            yield from public_functions(value, getattr(value, "__all__", None) or own_functions(value), f"{prefix}{name}.")


def own_functions(module: ModuleType) -> list[str]:
    """The functions defined in a module that does not list its names."""
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__)
    return [name for name in own if not name.startswith("_") and inspect.isfunction(getattr(module, name))]


FUNCTIONS = dict(public_functions(explorelab, explorelab.__all__))


def explained(function: Callable[..., Any]) -> list[str]:
    """The parameters that a docstring explains, in its order; several may share one explanation."""
    section = (inspect.getdoc(function) or "").partition("\nParameters\n----------\n")[2]
    entries = re.findall(r"^(\S.*)\n    \S", section, flags=re.MULTILINE)
    return [name.strip("* ") for entry in entries for name in entry.split(",")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_explains_every_parameter_in_order(name: str) -> None:
    function = FUNCTIONS[name]
    assert explained(function) == list(inspect.signature(function).parameters)


BUILDER_TYPES = {"float", "float | None", "npt.ArrayLike", "npt.ArrayLike | None", "str"}


@pytest.mark.parametrize("name", explorelab.agents.AGENTS)
def test_help_says_what_a_builder_takes_and_that_it_returns_an_agent(name: str) -> None:
    signature = inspect.signature(explorelab.agents.AGENTS[name])
    assert {each.annotation for each in signature.parameters.values()} <= BUILDER_TYPES
    assert signature.return_annotation == "Agent"


def test_functions_of_every_public_module_are_looked_at() -> None:
    assert {"fit", "agents.ucb1", "tasks.grid", "theory.gaps", "theory.published.block_visits"} <= FUNCTIONS.keys()


def test_a_parameter_without_an_explanation_is_noticed() -> None:
    def half_explained(first: int, second: int) -> None:
        """Do something.

        Parameters
        ----------
        first
            The first number.
        """

    assert explained(half_explained) == ["first"]

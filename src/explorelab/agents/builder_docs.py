"""Docstrings of the named agents: each builder's own text, followed by what its arguments mean.

A parameter is explained in its row of the table of parameters. Arguments that choose a part of an agent are explained here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping

from explorelab.agents.parameters import about

PARTS: Mapping[str, str] = {
    "kernel": 'How correlation falls with distance: "exponential", "matern32", "matern52" or "squared-exponential".',
    "cooling": 'How the temperature changes: "constant", "log" (cooling_rate / log t) or "feedback".',
    "commitment": 'How long a choice lasts: "every-step", or "frames" for the growing blocks of block UCL.',
    "ties": 'Which of several best arms to choose: the "lowest"-numbered, or one at "random".',
}
"""The meaning of each argument that is a word, in a sentence."""


def with_parameters(doc: str | None, arguments: Iterable[str]) -> str:
    """The docstring with a `Parameters` section, without unknown arguments (of a user's own agent)."""
    meanings = {name: PARTS.get(name) or about(name).meaning for name in arguments}
    known = [f"{name}\n    {meaning}" for name, meaning in meanings.items() if meaning]
    own = inspect.cleandoc(doc or "")
    return "\n".join([own, "", "Parameters", "----------", *known]) if known else own


def summary_of(builder: Callable[..., object]) -> str:
    """The builder's docstring on one line, without its `Parameters` section."""
    return " ".join((inspect.unwrap(builder).__doc__ or "").split())

"""Agents in users' files, named by the file and the name there: my_model.py:two_rates.

A file is run once for each content that it and the files that it imports beside it have had. It imports its own
neighbours, even if somebody else's go by the same names, and what it prints does not get among results.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from explorelab._support import checks
from explorelab.agents.factors import Agent, Argument
from explorelab.agents.own.neighbours import digest, importing_own
from explorelab.agents.own.trial import try_out, where
from explorelab.errors import InputError, unknown_name

REFERENCE = re.compile(r"(?P<file>.*?\.py):(?P<name>[^:=+,]*)")
BARE_FILE = re.compile(r"[^:=+,]*\.py")


class Place(NamedTuple):
    """A file, and a name in it."""

    file: str
    name: str


def place_of(base: str) -> Place | None:
    """The file and the name in it, if that is what the text says; None for a plain name."""
    found = REFERENCE.match(base)
    if found is not None and found["name"].strip():
        return Place(found["file"].strip(), found["name"].strip())
    if found is not None or BARE_FILE.fullmatch(base):
        file = base.partition(".py")[0] + ".py"
        raise InputError(f"{file} must be followed by the name of an agent in it, as in {file}:my_agent, got {base!r}.")
    return None


_READ: dict[tuple[Path, str], ModuleType] = {}
"""Files that were run, by path and content."""


def agent_in_file(place: Place) -> Agent:
    """The agent of that name in the file, tried out; what is wrong with either is said in a sentence."""
    sha256, module = _run(Path(place.file))
    names = vars(module)
    known = [name for name, value in names.items() if isinstance(value, Agent) and not name.startswith("_")]
    if place.name not in names:
        if not known:
            raise InputError(f"{place.file} has no agent {place.name!r}, nor any other: make one with xl.agent.")
        raise unknown_name(f"agent in {place.file}", place.name, known)
    found = names[place.name]
    if not isinstance(found, Agent):
        others = f"; its agents are {', '.join(known)}" if known else ""
        raise InputError(
            f"{place.name} in {place.file} must be an agent, as xl.agent makes one, got {_kind(found)}{others}."
        )
    return _located(found, f"{place.file}:{place.name}", sha256)


def _kind(found: object) -> str:
    return "a function" if inspect.isroutine(found) else checks.shown(found)


def _located(agent: Agent, origin: str, sha256: str) -> Agent:
    """The agent with where it came from, and a builder if it was composed by hand."""
    if agent.origin == origin and agent.file_sha256 == sha256:
        return agent
    if agent.build is None:
        try_out(agent.name, agent.rule, agent.params)
        agent = replace(agent, given=dict(agent.params))
    build_bare = agent.build or _builder(agent)

    @wraps(build_bare)
    def build(**given: Argument) -> Agent:
        return replace(build_bare(**given), origin=origin, file_sha256=sha256, build=build)

    build.__signature__ = inspect.signature(build_bare)  # type: ignore[attr-defined]
    return replace(agent, origin=origin, file_sha256=sha256, build=build)


def _builder(agent: Agent) -> Callable[..., Agent]:
    """A builder for an agent that was composed by hand, of the same parameters."""

    def build(**given: Argument) -> Agent:
        return agent.with_values(**given)

    kind = inspect.Parameter.KEYWORD_ONLY
    build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, kind, default=value) for name, value in agent.params.items()]
    )
    return build


def _run(path: Path) -> tuple[str, ModuleType]:
    """The file as a module, with the SHA-256 of what it was made from."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    key = (path.resolve(), digest(str(path)))
    if key not in _READ:
        _READ[key] = _module(path, f"explorelab_file_{path.stem}_{key[1][:12]}")
    return key[1], _READ[key]


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up there
    try:
        with importing_own(path), redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        line = f" (line {error.lineno})" if error.lineno else ""
        raise _failed(name, f"{path} does not parse: {error.msg}{line}.") from None
    except InputError as error:
        raise _failed(name, f"{path}{where(error)}: {error}") from None
    except (Exception, SystemExit) as error:  # whatever a user's file may raise
        why = str(error).strip().partition("\n")[0].rstrip(".") or "no message"
        raise _failed(name, f"{path} stops with {type(error).__name__}{where(error)}: {why}.") from None
    return module


def _failed(name: str, message: str) -> InputError:
    sys.modules.pop(name, None)
    return InputError(message)

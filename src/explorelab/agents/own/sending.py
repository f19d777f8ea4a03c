"""How agents get to other processes: by name, by the file that they are in, or, made in Python, with their functions.

An agent that arrives is the same constant to `jit` as one that arrived before, so that a process compiles it once. A file is
run again there only if it is the same, as a saved fit does; workers on other machines must see it at the same path.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from explorelab.agents.factors import Agent
from explorelab.agents.own.neighbours import digest
from explorelab.agents.registry import AGENTS, agent_named
from explorelab.errors import InputError, NotSentError


def reduced(agent: Agent) -> tuple[Callable[..., Agent], tuple[Any, ...]]:
    """What makes the agent again elsewhere, and the arguments for that."""
    given = {name: value if isinstance(value, str | None) else np.asarray(value) for name, value in agent.given.items()}
    if not agent.own and agent.name.partition("+")[0] in AGENTS:
        return by_name, (agent.name, given)
    if ".py:" in agent.origin:
        file, _, name = agent.origin.partition(".py:")
        path = Path(f"{file}.py").resolve()
        return by_file, (agent.name, agent.origin, str(path), name, agent.file_sha256 or digest(str(path)), given)
    return by_value, (_with_functions(agent),)


def by_name(name: str, given: Mapping[str, Any]) -> Agent:
    """An agent of the package's."""
    return _by_name(name, pickle.dumps(given))


@lru_cache(maxsize=256)
def _by_name(name: str, given: bytes) -> Agent:
    return agent_named(name, **pickle.loads(given))


def by_file(agent: str, origin: str, path: str, name: str, sha256: str, given: Mapping[str, Any]) -> Agent:
    """An agent in a user's file, if that is the same here."""
    if digest(path) != sha256:
        wrong = "is another file here" if digest(path) else "is not there"
        raise InputError(f"a worker needs {path} for the agent {agent}, which {wrong}: let workers see it at the same path.")
    return _by_file(agent, origin, path, name, sha256, pickle.dumps(given))


@lru_cache(maxsize=256)
def _by_file(agent: str, origin: str, path: str, name: str, sha256: str, given: bytes) -> Agent:
    bare = agent_named(f"{path}:{name}")
    # Habits that a reference adds to the agent in the file.
    made = agent_named(f"{path}:{name}{agent.removeprefix(bare.name)}", **pickle.loads(given))
    return _with_origin(made, origin)


def _with_origin(agent: Agent, origin: str) -> Agent:
    values = {field.name: getattr(agent, field.name) for field in fields(agent)}
    return Agent(**{**values, "origin": origin})


@lru_cache(maxsize=256)
def by_value(functions: bytes) -> Agent:
    """An agent made in Python."""
    return Agent(**pickle.loads(functions))


def _with_functions(agent: Agent) -> bytes:
    if find_spec("cloudpickle") is None:
        raise NotSentError(
            f"{agent.name} was made in Python and cannot be sent to other processes, nor its work be kept: put it in a file "
            f"and name it as my_model.py:{agent.name.replace('-', '_')}, or pip install cloudpickle."
        )
    import cloudpickle

    values = {field.name: getattr(agent, field.name) for field in fields(agent)}
    try:
        return bytes(cloudpickle.dumps(values))
    except Exception as error:  # whatever the user's functions hold
        why = str(error).partition("\n")[0].rstrip(".")
        raise NotSentError(f"{agent.name} cannot be sent to other processes: {why}.") from None

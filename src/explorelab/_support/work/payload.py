"""A unit of work as bytes, and what another process does with it.

A unit is a function of a module and its arguments. The bytes also say which version they come from, and those of JAX's
settings on which the last bit may depend; arrays of JAX travel as NumPy's, which keep their precision everywhere.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from explorelab import __version__
from explorelab._support.parallel import held_to
from explorelab._support.work.algebra import on_one_thread
from explorelab._support.work.programs import put_whole
from explorelab.errors import ExplorelabError, InputError, NotSentError

SETTINGS = (
    "jax_disable_most_optimizations",
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_threefry_partitionable",
)
"""Settings of JAX on which results depend."""


class Sent(NamedTuple):
    """What is sent."""

    version: str
    settings: dict[str, Any]
    x64: bool
    """Whether JAX has 64 bits where the work was begun."""
    unit: bytes
    """The function and its arguments, read only if the version is right."""


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if "jax" in sys.modules and isinstance(value, sys.modules["jax"].Array):
            return np.asarray, (np.asarray(value),)
        return NotImplemented


def packed(value: object) -> bytes:
    """The value as bytes; an error in one sentence if it cannot be sent."""
    into = io.BytesIO()
    try:
        _Pickler(into, pickle.HIGHEST_PROTOCOL).dump(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise NotSentError(f"this work cannot be sent to other processes or kept: {why}.") from None
    return into.getvalue()


def payload(function: Callable[..., object], arguments: tuple[Any, ...]) -> bytes:
    """A unit of work as bytes."""
    return packed(Sent(__version__, *_settings(), packed((function, arguments))))


def _settings() -> tuple[dict[str, Any], bool]:
    import jax

    put_whole()
    return {name: _value(name) for name in SETTINGS}, jax.config.jax_enable_x64


def _value(name: str) -> Any:
    """A setting of JAX, not all of which are attributes."""
    import jax

    return getattr(jax.config, name) if hasattr(jax.config, name) else jax.config.values.get(name)


def perform(sent: bytes) -> bytes:
    """Do one unit of work in another process: its result, or the package's own error, as bytes.

    It takes one core: whoever sent it sends as many at once as there are workers.
    """
    from explorelab._support.work.units import inside

    try:
        with inside(), held_to(1), on_one_thread():
            return packed((True, _done(pickle.loads(sent))))
    except ExplorelabError as error:
        return packed((False, error))


def _done(sent: Sent) -> object:
    if sent.version != __version__:
        raise InputError(
            f"a worker has explorelab {__version__}, but the work comes from {sent.version}: install the same on both."
        )
    import jax

    put_whole()
    others = {name: value for name, value in sent.settings.items() if _value(name) != value}
    for name, value in others.items():
        jax.config.update(name, value)
    if others:  # programs compiled under other settings give other bits
        jax.clear_caches()
    with jax.enable_x64(sent.x64):
        function, arguments = pickle.loads(sent.unit)
        return function(*arguments)


def opened(answer: bytes) -> Any:
    """The result that `perform` sent back; its error is raised here."""
    fine, result = pickle.loads(answer)
    if not fine:
        raise result
    return result

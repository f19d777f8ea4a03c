"""Simulations whose programs are compiled in about half the time, for tests of what is played rather than of rounding."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import jax

from explorelab.simulation import tiles
from explorelab.simulation.engine import play_many
from tests.support.beliefs import QUICKLY

_play_many_quickly = jax.jit(
    play_many.__wrapped__, static_argnames=("rule", "plan", "batch", "unit", "keep"), compiler_options=QUICKLY
)


@contextmanager
def compiled_quickly() -> Iterator[None]:
    """Within it, simulations are compiled without the last optimisations: worth it where few steps are played."""
    with patch.object(tiles, "play_many", _play_many_quickly):
        yield

"""Simulations whose programs are compiled in about half the time, for tests of what is played rather than of rounding.

Such a program is several times as slow to run: where many steps are played, nothing is won.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import jax

from explorelab.simulation import tiles
from explorelab.simulation.engine import play_many
from tests.support.beliefs import QUICKLY

_play_many_quickly = jax.jit(
    play_many.__wrapped__, static_argnames=("rule", "plan", "batch", "unit", "keep"), compiler_options=QUICKLY
)


@contextmanager
def compiled_quickly(*precisions: str) -> Iterator[None]:
    """Within it, simulations are compiled without the last optimisations: all, or those in these precisions ("float64")."""

    def play(rule: Any, plan: Any, *others: Any) -> Any:
        quickly = not precisions or plan.dtype in precisions
        return (_play_many_quickly if quickly else play_many)(rule, plan, *others)

    with patch.object(tiles, "play_many", play):
        yield

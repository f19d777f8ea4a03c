"""The scales on which parameters are estimated: natural units, logarithms and logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from explorelab.agents.factors import AnyArray


class Scale(NamedTuple):
    """A one-to-one map between natural units and the whole real line."""

    to_line: Callable[[AnyArray], AnyArray]
    from_line: Callable[[AnyArray], AnyArray]
    words: str
    """The name of the scale in a sentence; empty for natural units."""


SCALES: dict[str, Scale] = {
    "real": Scale(lambda x: x, lambda u: u, ""),
    "log": Scale(jnp.log, jnp.exp, "logarithms"),
    "logit": Scale(lambda x: jnp.log(x) - jnp.log1p(-x), jax.nn.sigmoid, "logits (log-odds)"),
}

"""When two values are the same but for rounding.

Arms that are alike (by symmetry, or because the same rewards came in another order) get values that are equal on paper and
differ in the last places on a computer, by how much depends on the form of the computation. Were these differences to
decide, two exact forms of one agent would choose differently, and what one of them chose could be impossible to the other.
So values this close are ties, everywhere.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool

from explorelab.agents.factors import Belief, Params, Value

CLOSE = {"float32": 2.0**-20, "float64": 2.0**-40}
"""Relative differences below which values are the same: well above what rounding adds up to, well below what matters."""


def _size(value: Value) -> Value:
    return jnp.where(jnp.isinf(value), 0.0, jnp.abs(value))


def same(a: Value, b: Value) -> Bool[Array, " *shape"]:
    """Whether values are the same but for rounding.

    Said as "not further apart", so that infinite values of one sign are the same, and some arm is the best in any case.
    """
    return ~(jnp.abs(a - b) > CLOSE[a.dtype.name] * _size(a))


def is_best(params: Params, belief: Belief, value: Value) -> Bool[Array, " arm"]:
    """Which arms have the highest value, but for rounding.

    A value near the best is as large as it is, or the difference of two larger numbers: then the belief's mean is one of
    them. The outlying values of other arms do not count. `grain` is the rounding that a learner leaves behind.
    """
    top, close = value.max(), CLOSE[value.dtype.name]
    rounding = close * (_size(top) + jnp.abs(params.get("prior_mean", 0.0))) + params.get("grain", 0.0)
    # "None is better": some arm is the best even if a value were not a number.
    return ~(value < top - (rounding + close * jnp.abs(getattr(belief, "mean", 0.0))))

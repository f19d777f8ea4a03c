"""When two values are equal up to rounding.

Arms that are alike (by symmetry, or because the same rewards came in another order) get values that are equal on paper but
differ in the last digits on a computer, by an amount that depends on the form of the computation. If these differences
decided, two exact forms of one agent would choose differently, and a choice of one could be impossible for the other. So
values this close count as ties everywhere.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from explorelab.agents.factors import Belief, Params, Value

CLOSE = {"float32": 2.0**-20, "float64": 2.0**-40}
"""Relative differences below which values are the same: well above accumulated rounding, well below what matters."""


def _size(value: Value) -> Value:
    return jnp.where(jnp.isinf(value), 0.0, jnp.abs(value))


def same(a: Value, b: Value) -> Bool[Array, " *shape"]:
    """Whether values are equal up to rounding.

    Written as "not further apart", so that infinite values of one sign are the same and some arm is always the best.
    """
    return ~(jnp.abs(a - b) > CLOSE[a.dtype.name] * _size(a))


def is_best(params: Params, belief: Belief, value: Value) -> Bool[Array, " arm"]:
    """Which arms have the highest value, up to rounding.

    Rounding is relative to the value itself or, if the value is the difference of two larger numbers, to the belief's mean,
    which is then one of them. Outlying values of other arms do not count. `grain` is the rounding that a learner leaves.
    """
    top, close = value.max(), CLOSE[value.dtype.name]
    rounding = close * (_size(top) + jnp.abs(params.get("prior_mean", 0.0))) + params.get("grain", 0.0)
    # "None is better", so that some arm is the best even if a value is NaN.
    return ~(value < top - (rounding + close * jnp.abs(getattr(belief, "mean", 0.0))))


def first_of(which: Bool[Array, " arm"]) -> Int[Array, ""]:
    """The lowest arm of these, or the number of arms if there is none.

    As the highest of negative numbers in float32, which XLA compares many at a time on a CPU. In whole numbers, and with
    argmax, it looks at one after the other, which for 100 arms was a third of a simulation's time.
    """
    n = which.shape[0]
    return -jnp.where(which, -jnp.arange(n, dtype=jnp.float32), -float(n)).max().astype(jnp.int32)

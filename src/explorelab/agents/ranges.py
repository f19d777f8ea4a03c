"""Limits on the size of numbers, so that what agents compute from them stays finite.

Agents square differences of rewards and divide by variances; beyond these sizes the result is infinite or 0, the limits of
arms are inf - inf, and no arm is the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorelab.agents.parameters import about
from explorelab.errors import InputError

MOST = {"float32": 1e15, "float64": 1e140}
"""The largest size of a number, whose square is still well within the range; of a variance, the square of this."""


def check_range(named: Mapping[str, Any], dtype: str) -> None:
    """Raise if one of these numbers is too large or too small to compute with; infinite ones are allowed."""
    for name, value in named.items():
        parameter = about(name)
        most = MOST[dtype] ** (2 if parameter.variance else 1)
        size = np.abs(np.asarray(value, float))
        large = np.isfinite(size) & (size > most)
        small = (size > 0) & (size < 1 / most) & parameter.divides
        if (large | small).any():
            wanted = f"at most {most:g} in size" if large.any() else f"0, or at least {1 / most:g}"
            raise InputError(f"{name} must be {wanted}{_advice(dtype)}, got {float(size[large | small].flat[0]):g}.")


def _advice(dtype: str) -> str:
    return " in single precision (double takes more)" if dtype == "float32" else ""

"""Types of arrays that every part shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

type Pytree = Any
"""Arrays in tuples, dictionaries or NamedTuples that JAX maps over; Python has no type for "the same, one axis more"."""

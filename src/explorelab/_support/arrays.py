"""Types of arrays that every part shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]

type AnyArray = Any
"""A number or an array: of JAX inside compiled calls, of NumPy outside; no type has what both have."""

type Pytree = Any
"""Arrays in tuples, dictionaries or NamedTuples that JAX maps over; Python has no type for "the same, one axis more"."""

type Variables = dict[str, Any]
"""Variables, coordinates or attributes of an xarray object by name, which xarray itself types as Any."""

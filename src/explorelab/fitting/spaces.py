"""The search space of parameters: scale, bounds and prior from each parameter's row, in the units of the data.

A fit works on `z`, standard units of a normal prior on the parameter's own scale (its value, logarithm or logit):
z = 0 is the centre of what is plausible, one unit its spread. Maximum likelihood uses the same units and bounds, no prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from explorelab._support import checks
from explorelab._support.rounding import spread
from explorelab.agents.factors import AnyArray, Params
from explorelab.agents.parameters import PARAMETERS, Parameter, Units, searchable
from explorelab.agents.scales import SCALES
from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name

SOFTNESS = 0.1
"""Width, in standard units, over which `bounded` flattens at a bound; one unit away it changes values by 5e-6."""


@dataclass(frozen=True)
class Dimension:
    """One free parameter."""

    name: str
    scale: str
    centre: float
    """The typical value, in natural units."""
    spread: float
    """Standard deviation of plausible values, on the scale."""
    low: float
    high: float
    """Bounds in natural units."""

    @property
    def limits(self) -> tuple[float, float]:
        """The bounds in standard units."""
        to_line = SCALES[self.scale].to_line
        middle = float(to_line(self.centre))
        low, high = ((float(to_line(end)) - middle) / self.spread for end in (self.low, self.high))
        return low, high


type Space = tuple[Dimension, ...]

type FieldValue = float | str

type Changes = Mapping[str, Mapping[str, FieldValue]]
"""For some free parameters, other values of `scale`, `centre`, `spread`, `low` or `high`."""


class Axis(NamedTuple):
    """What a compiled program must know about a free parameter."""

    name: str
    scale: str


class Origin(NamedTuple):
    """Where the standard units of every free parameter lie on its scale; as numbers, so that all data share one program."""

    middle: Float[AnyArray, " parameter"]
    spread: Float[AnyArray, " parameter"]


def axes_of(space: Space) -> tuple[Axis, ...]:
    """The space without its numbers."""
    return tuple(Axis(dimension.name, dimension.scale) for dimension in space)


def origin_of(space: Space) -> Origin:
    """The numbers of the space."""
    with jax.enable_x64(True):
        middle = [float(SCALES[dimension.scale].to_line(dimension.centre)) for dimension in space]
    return Origin(np.array(middle, float), np.array([dimension.spread for dimension in space], float))


def natural(axes: Sequence[Axis], origin: Origin, z: Float[Array, " parameter"]) -> dict[str, Float[Array, ""]]:
    """The parameters in natural units at a point in standard units."""
    on_line = origin.middle + origin.spread * z
    return {axis.name: SCALES[axis.scale].from_line(on_line[i]) for i, axis in enumerate(axes)}


def bounded(
    z: Float[Array, "... parameter"], low: Float[AnyArray, " parameter"], high: Float[AnyArray, " parameter"]
) -> Float[Array, "... parameter"]:
    """z kept within its bounds: z itself well inside them, the bound beyond it, with a smooth transition between."""
    least, most = jnp.maximum(low, -1e3), jnp.minimum(high, 1e3)
    above, beyond = jax.nn.softplus((z - least) / SOFTNESS), jax.nn.softplus((z - most) / SOFTNESS)
    return jnp.clip(least + SOFTNESS * (above - beyond), least, most)


def standard(space: Space, params: Params) -> np.ndarray:
    """The point in standard units of parameters in natural units; the last axis holds the parameters."""
    columns = []
    for dimension in space:
        to_line = SCALES[dimension.scale].to_line
        with jax.enable_x64(True):
            u = np.asarray(to_line(np.asarray(params[dimension.name], dtype=np.float64)))
            columns.append((u - float(to_line(dimension.centre))) / dimension.spread)
    return np.stack(columns, axis=-1)


def units_of(choices: Choices) -> Units:
    """Centre and spread of the rewards that were seen, and how far apart arms lie."""
    rewards = choices.reward[choices.observed]
    sd = spread(rewards)
    distances = choices.layout.distances
    apart = distances[distances > 0] if distances is not None else np.ones(1)
    return Units(
        float(rewards.mean()) if rewards.size else 0.0, sd if sd > 0 else 1.0, float(apart.min()), float(apart.max())
    )


def space_for(
    names: Sequence[str], choices: Choices, changes: Changes | None = None, own: Sequence[Parameter] = ()
) -> Space:
    """The dimensions of these parameters in the units of these choices, with changes to any of their fields.

    `own` are the parameters that a user's agent declares itself.

    Centres, spreads and bounds come from the rewards in `choices` and nothing else, so blocks to be left out must be left
    out here too.
    """
    changes = changes or {}
    for name in changes:
        if name not in names:
            raise unknown_name("free parameter", name, names)
    units = units_of(choices)
    return tuple(_changed(_dimension(name, units, own), changes.get(name, {})) for name in names)


def _dimension(name: str, units: Units, own: Sequence[Parameter]) -> Dimension:
    known = searchable(own)
    if name not in known and name not in PARAMETERS:
        raise InputError(f"{name} cannot be free: its search range is unknown. Declare it with xl.parameter({name!r}, ...).")
    return Dimension(name, *checks.one_of("free parameter", name, known)(units))


def _changed(dimension: Dimension, changes: Mapping[str, FieldValue]) -> Dimension:
    for field in changes:
        if field not in ("scale", "centre", "spread", "low", "high"):
            raise unknown_name(f"field of {dimension.name}", field, ("scale", "centre", "spread", "low", "high"))
    checks.one_of(f"scale of {dimension.name}", changes.get("scale", dimension.scale), SCALES)
    fields: dict[str, Any] = {
        field: value if field == "scale" else float(checks.scalar(f"{field} of {dimension.name}", value))
        for field, value in changes.items()
    }
    result = replace(dimension, **fields)
    if not result.low < result.high or result.spread <= 0:
        raise InputError(
            f"{result.name} must have low below high and a positive spread, got {result.low:g} to {result.high:g} "
            f"and {result.spread:g}."
        )
    with jax.enable_x64(True):
        low, centre, high = (float(SCALES[result.scale].to_line(end)) for end in (result.low, result.centre, result.high))
    if np.isnan([low, high]).any() or not np.isfinite(centre):
        raise InputError(
            f"{result.name} on the scale {result.scale!r} cannot have low {result.low:g}, centre {result.centre:g} and high "
            f"{result.high:g}: log needs numbers above 0, logit numbers between 0 and 1."
        )
    return result

"""Reward noise: one table of all kinds and their properties. A new kind is one entry (`add_noise`).

JAX is loaded only when a simulation draws; a study's server draws with NumPy alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorelab._support import checks
from explorelab._support.door import door
from explorelab.errors import InputError

if TYPE_CHECKING:
    from jaxtyping import Array, Float


@dataclass(frozen=True)
class NoiseKind:
    """A kind of reward noise, with mean 0 and one number, its scale, for how much rewards vary."""

    name: str
    words: str
    """Its name in a sentence."""
    var_of_scale: Callable[[float], float]
    scale_of_var: Callable[[float], float | None]
    """The scale that has this variance, or None if there is none."""
    quantile: Callable[[Float[Array, ""], Float[Array, ""]], Float[Array, ""]]
    """With JAX, from the scale and a number between 0 and 1: the deviation that is exceeded with probability 1 - u."""
    draw: Callable[[float, np.random.Generator], float]
    """With NumPy, from the scale and a generator: one deviation."""
    gaussian: bool = False
    whole: bool = False
    """Whether deviations are whole numbers, from -scale to scale, so that the scale is one too."""
    aliases: tuple[str, ...] = ()
    meaning: str = ""
    """An explanation of the name, for descriptions of data."""
    variances: str = ""
    """The variances it can have, if not all."""
    key: str = ""
    """The key in a [task] table that gives its scale; empty if there is none and the variance is given instead."""


def _gaussian_quantile(scale: Float[Array, ""], u: Float[Array, ""]) -> Float[Array, ""]:
    from jax import lax

    return scale * (math.sqrt(2) * lax.erf_inv(2 * u - 1))


def _integer_quantile(scale: Float[Array, ""], u: Float[Array, ""]) -> Float[Array, ""]:
    import jax.numpy as jnp

    levels = 2 * scale + 1
    return jnp.floor(u * levels) - scale


def _integer_scale(var: float) -> float | None:
    largest = (math.sqrt(1 + 12 * var) - 1) / 2
    return float(round(largest)) if abs(largest - round(largest)) <= 1e-6 else None


NOISES: dict[str, NoiseKind] = {}
"""Every kind by its name."""


@door
def add_noise(kind: NoiseKind) -> None:
    """Add a kind of noise to the table, so that tasks, simulations and simulated choices can use it.

    Parameters
    ----------
    kind
        The kind of noise.
    """
    known = _by_any_name()
    for name in (kind.name, *kind.aliases):
        # Compiled programs know a kind by its name, so a name must always mean the same.
        if known.get(name, kind) != kind:
            raise InputError(f"there is already a noise named {name!r}: give the new one another name.")
    NOISES[kind.name] = kind


def _by_any_name() -> dict[str, NoiseKind]:
    return {name: kind for kind in NOISES.values() for name in (kind.name, *kind.aliases)}


def noise_kind(name: object) -> NoiseKind:
    """The kind of noise of this name or alias; an unknown one is an error."""
    return checks.one_of("noise", name, _by_any_name())


def is_gaussian(name: str) -> bool:
    """Whether this is the name of Gaussian noise; an unknown name, from another machine's table, counts as another kind."""
    kind = _by_any_name().get(name)
    return kind is not None and kind.gaussian


def scale_for(name: object, var: float) -> float:
    """The scale at which noise of this kind has this variance, or an error that says which variances it can have."""
    kind = noise_kind(name)
    scale = kind.scale_of_var(var)
    if scale is None:
        rule = kind.variances or f"the variance must be one that {kind.words} can have"
        raise InputError(f"{rule}, which {var:g} is not: use gaussian noise.")
    return scale


add_noise(
    NoiseKind(
        name="gaussian",
        words="Gaussian noise",
        var_of_scale=lambda sd: sd**2,
        scale_of_var=math.sqrt,
        quantile=_gaussian_quantile,
        draw=lambda sd, rng: float(rng.normal(0.0, sd)),
        gaussian=True,
    )
)
add_noise(
    NoiseKind(
        name="integer-uniform",
        words="whole-number noise",
        # 10 for the paper's -5 .. 5.
        var_of_scale=lambda largest: largest * (largest + 1) / 3,
        scale_of_var=_integer_scale,
        quantile=_integer_quantile,
        draw=lambda largest, rng: float(rng.integers(-int(largest), int(largest), endpoint=True)),
        whole=True,
        aliases=("integer",),
        meaning="whole numbers, each as likely",
        variances="whole numbers from -h to h have variance h (h + 1) / 3",
        key="integer_noise",
    )
)


@dataclass(frozen=True)
class Noise:
    """How a reward varies about its arm's mean."""

    kind: str
    """A name in the table."""
    scale: float
    """Standard deviation (gaussian), or the largest deviation (integer-uniform on -scale .. scale)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", noise_kind(self.kind).name)

    @property
    def var(self) -> float:
        """Variance of a reward."""
        return noise_kind(self.kind).var_of_scale(self.scale)


@door
def gaussian_noise(noise_var: float) -> Noise:
    """Gaussian reward noise.

    Parameters
    ----------
    noise_var
        Its variance.
    """
    var = checks.real("noise_var", noise_var, at_least=0)
    if var.ndim:
        raise InputError(f"noise_var must be one number, got an array of shape {var.shape}.")
    return Noise("gaussian", float(np.sqrt(float(var))))


@door
def integer_noise(largest: int) -> Noise:
    """Whole-number noise drawn uniformly from -largest to largest, as in the paper's experiment.

    Parameters
    ----------
    largest
        The largest deviation; 5 in the paper.
    """
    return Noise("integer-uniform", checks.whole("largest", largest, at_least=0))

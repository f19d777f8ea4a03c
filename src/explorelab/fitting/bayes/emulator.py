"""A stand-in for everyone's log-likelihood that costs next to nothing: a parabola and, for the rest, a Gaussian process.

For person i, in coordinates y in which their posterior has about unit spread, and from points y_j where the log-likelihood l
was computed,

    l(z) ~ constant + z' pull - z' J z / 2 + sum_j weight_j exp(-|y - y_j|^2 / 2 length^2)

with the parabola of a first fit (`Known`): far from all points only that remains, made steeper. The weights are those of
kriging (Rasmussen & Williams 2006), where points matter less the less probable they are. The length is the one of `LENGTHS`
with which each probable point is best predicted by all others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import cho_factor, cho_solve

from explorelab.agents.factors import AnyArray

LENGTHS = (1.5, 2.5, 5.0)
"""How far a point may say something, in standard deviations of the posterior; each person has the one that does best."""
NUGGET = 1e-7
"""Variance of what cannot be explained, at probable points."""
PROBABLE = 6.0
"""Points whose log-probability is lower than the highest by more than this matter less and less."""
MOST_NOISE = 0.01
"""The variance of points that matter least; they still keep the emulator from rising where nobody is."""
IMPOSSIBLE = 40.0
"""A log-probability lower than the highest by this much is as good as any lower one."""
BEYOND = 4.0
"""Farther out than this many standard deviations (and the square root of their number), nothing is known: it goes down."""
LEAST_SPREAD = 0.02
"""Standard units: against a bound, someone's posterior has hardly any spread."""


class Emulator(NamedTuple):
    """Everyone's emulated log-likelihood; arrays have a leading axis for people."""

    centre: Float[AnyArray, "person parameter"]
    whitening: Float[AnyArray, "person parameter parameter"]
    """y = whitening (z - centre)."""
    bend: Float[AnyArray, "person parameter parameter"]
    pull: Float[AnyArray, "person parameter"]
    constant: Float[AnyArray, " person"]
    points: Float[AnyArray, "person point parameter"]
    """y_j."""
    weight: Float[AnyArray, "person point"]
    length: Float[AnyArray, " person"]


class Training(NamedTuple):
    """Points at which everyone's log-likelihood is known, and how probable each is under a first guess of the group."""

    z: Float[np.ndarray, "person point parameter"]
    log_likelihood: Float[np.ndarray, "person point"]
    log_prior: Float[np.ndarray, "person point"]

    def also(self, more: Training) -> Training:
        """These points and more."""
        return Training(*(np.concatenate(both, axis=1) for both in zip(self, more, strict=True)))


def emulated(emulator: Emulator, z: Float[Array, "person parameter"]) -> Float[Array, " person"]:
    """Everyone's emulated log-likelihood, each at their own point."""
    y = jnp.einsum("nij,nj->ni", emulator.whitening, z - emulator.centre)
    between = jnp.einsum("nmp,np->nm", emulator.points, y)
    apart = (y**2).sum(-1)[:, None] + (emulator.points**2).sum(-1) - 2 * between
    rest = (emulator.weight * jnp.exp(-apart / (2 * emulator.length[:, None] ** 2))).sum(-1)
    parabola = (z * (emulator.pull - 0.5 * jnp.einsum("nij,nj->ni", emulator.bend, z))).sum(-1)
    distance = jnp.sqrt((y**2).sum(-1) + 1e-12)
    beyond = jnp.maximum(distance - BEYOND - math.sqrt(z.shape[-1]), 0.0)
    return emulator.constant + parabola + rest - 0.5 * beyond**2


def learned(
    training: Training, bend: np.ndarray, pull: np.ndarray, centre: np.ndarray, spread: np.ndarray, room: int
) -> Emulator:
    """The emulator from these points; `centre` and `spread` (a covariance) say where everyone's posterior lies.

    It is filled up to a multiple of `room` points that say nothing, so that one program serves while points are added.
    """
    p = centre.shape[1]
    roots = np.linalg.cholesky((spread + np.swapaxes(spread, 1, 2)) / 2 + LEAST_SPREAD**2 * np.eye(p))
    whitening = np.linalg.inv(roots)
    y = np.einsum("nij,nmj->nmi", whitening, training.z - centre[:, None])
    parabola = np.einsum("nmi,ni->nm", training.z, pull) - 0.5 * np.einsum("nmi,nij,nmj->nm", training.z, bend, training.z)
    constants, weights, lengths = [], [], []
    for points, said, base, prior in zip(y, training.log_likelihood, parabola, training.log_prior, strict=True):
        log_probability = np.where(np.isfinite(said), said + prior, -np.inf)
        best = int(log_probability.argmax())
        highest = log_probability[best] if np.isfinite(log_probability[best]) else 0.0
        constant = said[best] - base[best] if np.isfinite(log_probability[best]) else 0.0
        least = highest - IMPOSSIBLE - prior
        rest = np.maximum(np.where(np.isfinite(said), said, -np.inf), least) - np.maximum(base + constant, least)
        drop = np.minimum(highest - log_probability, IMPOSSIBLE)
        noise = np.minimum(NUGGET * (1 + np.exp(drop - PROBABLE)), MOST_NOISE)
        length, weight = min(
            (_kriged(_apart(points), each, rest, noise, drop < PROBABLE) for each in LENGTHS), key=lambda found: found[0]
        )[1:]
        weights.append(weight)
        lengths.append(length)
        constants.append(constant)
    missing = -y.shape[1] % room
    points, weight = np.pad(y, ((0, 0), (0, missing), (0, 0))), np.pad(np.array(weights), ((0, 0), (0, missing)))
    return Emulator(centre, whitening, bend, pull, np.array(constants), points, weight, np.array(lengths))


def _kriged(
    apart: np.ndarray, length: float, rest: np.ndarray, noise: np.ndarray, probable: np.ndarray
) -> tuple[float, float, np.ndarray]:
    """How badly probable points are predicted by all others, the length, and the weights of all points."""
    inverse = cho_solve(cho_factor(np.exp(-apart / (2 * length**2)) + np.diag(noise)), np.eye(len(rest)))
    weight = inverse @ rest
    # What is left of a point that the others predict (Rasmussen & Williams 2006, equation 5.12).
    missed = (weight / np.diagonal(inverse))[probable]
    return float(np.sqrt(np.mean(missed**2))) if missed.size else 0.0, length, weight


def _apart(points: np.ndarray) -> np.ndarray:
    """Squared distances between all pairs of points."""
    squares = (points**2).sum(-1)
    return np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0)

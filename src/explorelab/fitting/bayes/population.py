"""The hierarchical model: everyone's parameters come from one population, whose mean and spread are also unknown.

In standard units (see `spaces`), for parameter k and person i:

    mean_k ~ Normal(0, 1)      sd_k ~ HalfNormal(1)      e_ik ~ Normal(0, 1)
    z_i = bounded(mean + root e_i),   root root' = the population's covariance: diagonal, or with an LKJ(2) correlation
    choices of i ~ the agent at z_i

`bounded` is the identity well inside a parameter's bounds and flattens smoothly near them, so that z never leaves them. The
model can still be simulated from: no distribution is truncated, so none needs a new normalising constant.

With effects of conditions (`effects.effect_design`), the mean of person i is W_i b with b_k ~ Normal(0, 1) for columns
that are centred and scaled, and z_i holds levels and slopes, from which each block's parameters follow.

The sampler moves not in e but in x, where e_i = mu_i + R_i^-T x_i and N(mu_i, (R_i R_i')^-1) is the posterior that e_i would
have if the likelihood of person i were Gaussian, with the peak and curvature found in a first fit. The posterior is the same
whatever that first fit was; only its shape changes. In x it is close to a standard normal both for people whose choices are
informative (for whom it is a narrow ridge in e) and for people whose choices are not (for whom e = x).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float, Int

from explorelab.agents.factors import AnyArray
from explorelab.fitting.objective import Data, Model, block_log_likelihoods
from explorelab.fitting.search.batches import mapped
from explorelab.fitting.spaces import bounded

CONCENTRATION = 2.0
"""Concentration of the LKJ prior on correlations: 1 is flat; larger values favour small correlations."""


class Known(NamedTuple):
    """The model's inputs, as arrays, so that the sampler is compiled once for all data of the same shape."""

    data: Data
    participant: Int[AnyArray, " row"]
    """Who played each row."""
    low: Float[AnyArray, " parameter"]
    high: Float[AnyArray, " parameter"]
    """Bounds in standard units."""
    bend: Float[AnyArray, "person parameter parameter"]
    """J, the curvature of each person's likelihood (person x parameter x parameter): positive semidefinite, 0 if unknown."""
    pull: Float[AnyArray, "person parameter"]
    """J times the peak of that likelihood (person x parameter)."""
    weights: Float[AnyArray, "person parameter effect"] | None = None
    """With effects of conditions, W: people's means are W_i times the effects, which take the place of `mean`, and the
    levels and slopes of people that of their parameters."""
    random: Float[AnyArray, " parameter"] | None = None
    """With effects: 1 for what people differ in, 0 for what they share."""

    def without_data(self) -> Known:
        """The same for programs that do not ask the agent, so that they do not depend on it."""
        return self._replace(data=None, participant=None)  # type: ignore[arg-type]


class Person(NamedTuple):
    """Everyone's parameters at a point of the sampler, and the log Jacobian of the change of coordinates."""

    z: Float[Array, "person parameter"]
    e: Float[Array, "person parameter"]
    log_volume: Float[Array, ""]


def people(
    known: Known,
    mean: Float[Array, " parameter"],
    root: Float[Array, "parameter parameter"],
    x: Float[Array, "person parameter"],
) -> Person:
    """Everyone's parameters from the population and the sampler's coordinates."""
    own = mean if known.weights is None else known.weights @ mean

    def one(
        bend: Float[Array, "parameter parameter"],
        pull: Float[Array, " parameter"],
        x: Float[Array, " parameter"],
        mean: Float[Array, " parameter"],
    ) -> tuple[Float[Array, " parameter"], Float[Array, ""]]:
        factor = jnp.linalg.cholesky(root.T @ bend @ root + jnp.eye(x.shape[0]))
        towards = solve_triangular(factor, root.T @ (pull - bend @ mean), lower=True)
        e = solve_triangular(factor.T, towards + x, lower=False)
        return e, -jnp.log(jnp.diag(factor)).sum()

    e, log_volume = jax.vmap(one, (0, 0, 0, None if known.weights is None else 0))(known.bend, known.pull, x, own)
    return Person(bounded(own + e @ root.T, known.low, known.high), e, log_volume.sum())


def spread_of(known: Known, sd: Float[Array, " parameter"]) -> Float[Array, " parameter"]:
    """The sd of people, 0 in what they share."""
    return sd if known.random is None else sd * known.random


def root_of(
    sd: Float[Array, " parameter"], correlation_root: Float[Array, "parameter parameter"] | None = None
) -> Float[Array, "parameter parameter"]:
    """A square root of the population's covariance."""
    return jnp.diag(sd) if correlation_root is None else sd[:, None] * correlation_root


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def row_log_likelihoods(model: Model, data: Data, z: Float[Array, "row parameter"]) -> Float[Array, " row"]:
    """Log-likelihood of every row, each at its own point.

    The gradient is computed row by row in the forward pass, so that no row's intermediate values need be kept.
    """
    return mapped(lambda at: _one_row(model, data, *at), (jnp.arange(z.shape[0]), z))


def _one_row(model: Model, data: Data, row: Int[Array, ""], z: Float[Array, " parameter"]) -> Float[Array, ""]:
    return block_log_likelihoods(model, data, row[None], z)[0]


def _forward(
    model: Model, data: Data, z: Float[Array, "row parameter"]
) -> tuple[Float[Array, " row"], Float[Array, "row parameter"]]:
    slopes = jax.value_and_grad(_one_row, argnums=3)
    return mapped(lambda at: slopes(model, data, *at), (jnp.arange(z.shape[0]), z))


def _backward(
    model: Model, slope: Float[Array, "row parameter"], weight: Float[Array, " row"]
) -> tuple[None, Float[Array, "row parameter"]]:
    return None, weight[:, None] * slope


row_log_likelihoods.defvjp(_forward, _backward)


def population(correlated: bool, known: Known) -> Person:
    """The prior for NumPyro, and everyone's parameters at it; the sites are `mean`, `sd`, `x` and `correlation_root`."""
    import numpyro
    import numpyro.distributions as dist

    n_people, n_parameters = known.pull.shape
    n_means = n_parameters if known.weights is None else known.weights.shape[-1]
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0).expand([n_means]).to_event(1))
    sd = numpyro.sample("sd", dist.HalfNormal(1.0).expand([n_parameters]).to_event(1))
    link = numpyro.sample("correlation_root", dist.LKJCholesky(n_parameters, CONCENTRATION)) if correlated else None
    x = numpyro.sample("x", dist.Normal(0.0, 1.0).expand([n_people, n_parameters]).to_event(2))
    everyone = people(known, mean, root_of(spread_of(known, sd), link), x)
    numpyro.factor("people", 0.5 * (x**2 - everyone.e**2).sum() + everyone.log_volume)
    return everyone


def population_model(model: Model, correlated: bool, known: Known) -> None:
    """The hierarchical model for NumPyro."""
    import numpyro

    z = population(correlated, known).z
    numpyro.factor("choices", row_log_likelihoods(model, known.data, z[known.participant]).sum())

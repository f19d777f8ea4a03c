"""The posterior of one person's parameters, after every choice: weighted points that play along, renewed when few are left.

A choice c multiplies the weight of each point by the probability that it gave c; where something was advised, by

    phi [c = advised] + (1 - phi) P(c)

for each probability phi of following on a grid: points and grid have one joint weight. When the effective number of points
falls below a share, new ones are drawn near what is now probable and weighed by all choices so far, so that the result
depends on how they were drawn only through its Monte Carlo error:

    laplace     half of them around the most probable point, as wide as the information there says, half as the old points
                lie (Student's t, so that no tail is missed), and some from the group itself; where that is poor, again as
                the last two halves lie, and if need be moved like particles
    particles   those there are, resampled and moved by Metropolis steps (Chopin 2002, "A sequential particle filter method
                for static models")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np
from scipy.special import logsumexp

from explorelab.agents.playing import Seen, room_for
from explorelab.choices.table import NOWHERE
from explorelab.companions.past import Arrays, Past, Trial, arrays_of, offered
from explorelab.companions.sampling import points as compiled
from explorelab.companions.sampling.points import Points
from explorelab.companions.sampling.proposals import (
    FROM_GROUP,
    Component,
    from_group,
    log_mixture,
    log_normal,
    moments,
    normals,
)
from explorelab.companions.scene import Scene
from explorelab.fitting.search.batches import single_threaded_algebra

FOLLOWING = (np.arange(10) + 0.5) / 10
"""Probabilities of following advice, all equally probable beforehand."""
MOST_ROUNDS = 3
ENOUGH = 0.1
"""Share of effective points with which no further round is drawn."""
MOVES = 6
"""Metropolis steps after each resampling."""


class Settings(NamedTuple):
    """How a posterior is kept."""

    method: str = "laplace"
    n_points: int = 512
    seed: int = 0
    fewest: float = 0.4
    """Of the effective points that there were after the last renewal, the share below which new ones are drawn."""


class Posterior(NamedTuple):
    """What is known of a person."""

    points: Points
    log_weight: np.ndarray
    """point x probability of following, normalised."""
    centre: np.ndarray
    """The most probable point when last looked for."""
    n_renewed: int = 0
    n_effective_then: float = np.inf
    """The effective number of points after the last renewal."""

    @property
    def weight(self) -> np.ndarray:
        """Of every point."""
        return np.exp(logsumexp(self.log_weight, axis=1))

    @property
    def following(self) -> np.ndarray:
        """Of every probability of following."""
        return np.exp(logsumexp(self.log_weight, axis=0))

    @property
    def n_effective(self) -> float:
        """The effective number of points, 1 / sum w^2."""
        return _effective(self.log_weight)


def before(scene: Scene, settings: Settings) -> Posterior:
    """What is known of a person who has not chosen yet: the group."""
    z = from_group(scene.numbers.group, normals(settings.n_points, len(scene.space), settings.seed, 0)[:, :-1])
    points = compiled.begun(scene.model, scene.numbers, z)
    return Posterior(points, _normalised(_with_following(np.zeros(len(z)))), np.asarray(scene.numbers.group.mean), 0, len(z))


def in_new_block(scene: Scene, posterior: Posterior) -> Posterior:
    """The same knowledge of the person, before the first trial of another block."""
    return posterior._replace(points=compiled.begun(scene.model, scene.numbers, posterior.points.z))


def reweighed(posterior: Posterior, log_probs: np.ndarray, trial: Trial) -> Posterior:
    """What is known after a choice, from the log-probabilities (point x arm) before it."""
    if not trial.scored:
        return posterior
    log_weight = posterior.log_weight + _of_choice(log_probs[:, trial.arm], trial.advised == trial.arm, trial.advised)
    return posterior._replace(log_weight=_normalised(log_weight))


def taught(scene: Scene, posterior: Posterior, past: Past, trial: Trial) -> Posterior:
    """The points after the trial, which `past` does not include yet."""
    points = posterior.points
    rule, n_arms = scene.model.rule, scene.model.n_arms
    room = room_for(rule.learner, n_arms, past.t)
    if past.t > 1 and room != room_for(rule.learner, n_arms, past.t - 1):
        points = compiled.with_room(scene.model, points, room)
    seen = Seen(np.int32(trial.arm), np.int32(trial.arm), np.float64(trial.reward), np.bool_(trial.observed))
    return posterior._replace(points=compiled.learned(scene.model, points, offered(trial, n_arms), seen))


def renewed(scene: Scene, posterior: Posterior, past: Past, settings: Settings) -> Posterior:
    """The same posterior with new points, if few of the old ones still count."""
    if not scene.space or posterior.n_effective >= settings.fewest * posterior.n_effective_then:
        return posterior
    arrays = arrays_of(past, scene.model.rule.learner, scene.model.n_arms)
    with single_threaded_algebra():
        z, log_weight, centre = METHODS[settings.method](scene, posterior, arrays, settings)
    # A point that cannot be weighs nothing, but what it foretells may be no number, which would count all the same.
    possible = np.isfinite(log_weight).any(axis=1)
    z = np.where(possible[:, None], z, z[np.argmax(log_weight.max(axis=1))])
    now = len(past.blocks) - 1
    block = jax.tree.map(lambda x: x[now], arrays.blocks)
    room = room_for(scene.model.rule.learner, scene.model.n_arms, max(past.t - 1, 1))
    points = compiled.caught_up(scene.model, scene.numbers, z, block, room)
    fresh = Posterior(points, log_weight, centre, posterior.n_renewed + 1)
    return fresh._replace(n_effective_then=fresh.n_effective)


def shape_of(scene: Scene, past: Past) -> tuple[int, ...]:
    """For what sizes the programs of a renewal are compiled after this past."""
    learner, n_arms = scene.model.rule.learner, scene.model.n_arms
    return *arrays_of(past, learner, n_arms).blocks.arm.shape, room_for(learner, n_arms, max(past.t - 1, 1))


# New points -----------------------------------------------------------------------------------------------------------

type _Renewal = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Points, their log-weights (point x probability of following), and the most probable one."""


def _laplace(scene: Scene, posterior: Posterior, arrays: Arrays, settings: Settings) -> _Renewal:
    # What was advised and taken says nothing for certain about the person: for a proposal, leave it out.
    own = arrays.blocks._replace(scored=arrays.blocks.scored & (arrays.blocks.arm != arrays.advised))
    old, weight = np.asarray(posterior.points.z), posterior.weight
    start = np.clip(old[np.argmax(weight)], scene.numbers.low, scene.numbers.high)
    found = compiled.most_probable(scene.model, scene.numbers, own, arrays.weight, start)
    centre, information = np.asarray(found.z), np.asarray(found.information)
    if not np.isfinite(information).all():
        centre, information = start, np.linalg.inv(scene.numbers.group.covariance)
    covariance = np.linalg.inv(information)
    near = Component.around(centre, covariance)
    # The old points know of all that is probable, the most probable point only of what is around it.
    wide = Component.around(*moments(old, weight, covariance))
    n, number = settings.n_points // 2, MOST_ROUNDS * posterior.n_renewed + 1
    latest = [_round(scene, arrays, near, n, settings, number)]
    for more in range(1, MOST_ROUNDS):
        latest = [latest[-1], _round(scene, arrays, wide, settings.n_points - n, settings, number + more)]
        z, log_weight = _joined(scene, latest)
        weight = np.exp(logsumexp(log_weight, axis=1))
        if _effective(log_weight) >= ENOUGH * settings.n_points:
            return z, log_weight, centre
        wide = Component.around(*moments(z, weight, covariance))
    # No normal distribution comes close: points that are moved need none.
    return *_moved(scene, arrays, z, weight, _rng(posterior, settings)), centre


class _Round(NamedTuple):
    """Points from one proposal, and their log-posteriors."""

    component: Component
    z: np.ndarray
    target: np.ndarray


def _joined(scene: Scene, rounds: list[_Round]) -> tuple[np.ndarray, np.ndarray]:
    """The points of all rounds and their log-weights, as from the mixture of their proposals."""
    z = np.concatenate([one.z for one in rounds])
    target = np.concatenate([one.target for one in rounds])
    return z, _normalised(target - log_mixture(scene.numbers.group, [one.component for one in rounds], z)[:, None])


def _effective(log_weight: np.ndarray) -> float:
    return float(1 / (np.exp(logsumexp(log_weight, axis=1)) ** 2).sum())


def _round(scene: Scene, arrays: Arrays, component: Component, n: int, settings: Settings, number: int) -> _Round:
    """Points from a proposal, every so many of them from the group."""
    numbers = normals(n, len(component.centre), settings.seed, number)
    z = component.drawn(numbers)
    at = np.linspace(0, n - 1, round(FROM_GROUP * n)).round().astype(int)
    z[at] = from_group(scene.numbers.group, numbers[at, :-1])
    return _Round(component, z, _log_posterior(scene, arrays, z))


def _particles(scene: Scene, posterior: Posterior, arrays: Arrays, settings: Settings) -> _Renewal:
    z, weight = np.asarray(posterior.points.z), posterior.weight
    return *_moved(scene, arrays, z, weight, _rng(posterior, settings)), weight @ z


def _rng(posterior: Posterior, settings: Settings) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([settings.seed, 2, posterior.n_renewed]))


def _moved(
    scene: Scene, arrays: Arrays, old: np.ndarray, weight: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """As many points, resampled and moved by Metropolis steps that leave the posterior as it is; and their log-weights."""
    n, p = old.shape
    # Systematic resampling: each point as often as its weight says, to within one.
    kept = np.searchsorted(np.cumsum(weight), (np.arange(n) + rng.uniform()) / n).clip(max=n - 1)
    away = old - weight @ old
    root = np.linalg.cholesky((away.T * weight) @ away + 1e-6 * np.eye(p))
    z = old[kept]
    density = _in_halves(scene, arrays, z)
    for step in range(MOVES):
        scale = 2.38 / np.sqrt(p) * (1.0 if step % 2 else 0.4)
        proposed = z + scale * rng.standard_normal(z.shape) @ root.T
        there = _in_halves(scene, arrays, proposed)
        better = np.log(rng.uniform(size=n)) < logsumexp(there, axis=1) - logsumexp(density, axis=1)
        z, density = np.where(better[:, None], proposed, z), np.where(better[:, None], there, density)
    # Points are equally probable; each has its own distribution of the probability of following.
    return z, _normalised(density - logsumexp(density, axis=1, keepdims=True))


METHODS: dict[str, Callable[[Scene, Posterior, Arrays, Settings], _Renewal]] = {
    "laplace": _laplace,
    "particles": _particles,
}
"""How new points are drawn."""


# Densities ------------------------------------------------------------------------------------------------------------


def _log_posterior(scene: Scene, arrays: Arrays, z: np.ndarray) -> np.ndarray:
    """Log of prior times likelihood, point x probability of following, but for a constant."""
    each = np.asarray(compiled.log_likelihoods_at(scene.model, scene.numbers, arrays.blocks, z))
    scored = arrays.blocks.scored & (arrays.weight > 0)[:, None]
    advised = scored & (arrays.advised != NOWHERE)
    alone = np.where(scored & ~advised, each, 0.0).sum((1, 2))
    total = _with_following(log_normal(scene.numbers.group, z) + alone)
    for b, t in np.argwhere(advised):
        total = total + _of_choice(each[:, b, t], arrays.blocks.arm[b, t] == arrays.advised[b, t], arrays.advised[b, t])
    return np.where(np.isnan(total), -np.inf, total)


def _in_halves(scene: Scene, arrays: Arrays, z: np.ndarray) -> np.ndarray:
    """The same in two parts of the size of a round, for which a program has been compiled."""
    parts = z[: len(z) // 2], z[len(z) // 2 :]
    return np.concatenate([_log_posterior(scene, arrays, part) for part in parts])


def _of_choice(log_prob: np.ndarray, followed: bool, advised: int) -> np.ndarray:
    """Log-probability of a choice, point x probability of following."""
    if advised == NOWHERE:
        return log_prob[:, None]
    own = np.log1p(-FOLLOWING) + log_prob[:, None]
    return np.logaddexp(np.log(FOLLOWING), own) if followed else own


def _with_following(log_weight: np.ndarray) -> np.ndarray:
    """Log-weights of points and probabilities of following, all of which are equally probable."""
    return np.repeat(log_weight[:, None], len(FOLLOWING), axis=1) - np.log(len(FOLLOWING))


def _normalised(log_weight: np.ndarray) -> np.ndarray:
    return log_weight - logsumexp(log_weight)

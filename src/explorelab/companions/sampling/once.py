"""Points drawn once for everything that a person did, weighed after every choice.

The posterior after k choices is the group times the probability of the first k choices. One set of points serves for all k:
some are people of the group, the others come from Student's t around the most probable point after growing numbers of
choices (all of them, half, a quarter ...). As if all had been drawn from the mixture q of these proposals, a point has

    log w_0 = log group(z) - log q(z),    log w_k = log w_0 + log P(first k choices | z)

so that one sweep through the blocks says what is known before every choice. Where the effective number of points is poor
(its least is known for every k), more are drawn around the posterior there, until it is good or too much was tried.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
from scipy.special import logsumexp

from explorelab.companions.sampling import points as compiled
from explorelab.companions.sampling.proposals import Component, from_group, log_mixture, log_normal, moments, normals
from explorelab.companions.scene import Scene
from explorelab.fitting.likelihood import Block

FEWEST_CHOICES = 8
"""With fewer choices than this, the group itself is close enough to the posterior to draw from."""
ENOUGH = 0.1
"""Effective points, as a share of those from one proposal, with which no further ones are drawn."""
MOST_MORE = 8
"""Proposals that are added at most."""


class Person(NamedTuple):
    """What a person did: blocks, filled up to a number for which a program exists."""

    blocks: Block
    weight: np.ndarray
    """1 for a block, 0 for what fills the array up."""

    @property
    def scored(self) -> np.ndarray:
        """Block x trial: the free choices, which come one after the other."""
        return np.asarray(self.blocks.scored) & (self.weight > 0)[:, None]


class Drawn(NamedTuple):
    """Points, and what each says about every choice of the person."""

    z: np.ndarray
    log_weight: np.ndarray
    """point x number of choices (from 0 to all): log-weights after them, normalised."""
    log_evidence: np.ndarray
    """Log-probability of the first k choices, for every k from 0."""
    log_group: np.ndarray
    """Log-probability of each choice from the group alone."""

    @property
    def n_effective(self) -> np.ndarray:
        """Effective number of points after every number of choices, from 0."""
        return np.exp(-logsumexp(2 * self.log_weight, axis=0))


def drawn_once(scene: Scene, person: Person, n_points: int, seed: int) -> Drawn:
    """Points for all choices of a person: `n_points` from the group, and as many around each posterior."""
    return _Draws(scene, person, n_points, seed).done()


def enough(drawn: Drawn, n_points: int) -> bool:
    """Whether the points say well what is known at every time; there is nothing to say of choices that are impossible."""
    return bool((drawn.n_effective >= ENOUGH * n_points).all())


class _Draws:
    """Points under way."""

    def __init__(self, scene: Scene, person: Person, n_points: int, seed: int) -> None:
        self.scene, self.person, self.n_points, self.seed = scene, person, n_points, seed
        self.group = scene.numbers.group
        self.components: list[Component] = []
        self.cuts: list[int] = []
        self.at = np.argwhere(person.scored)
        z = from_group(self.group, normals(n_points, len(scene.space), seed, 0)[:, :-1])
        self.z, self.sums = z, self._swept(z)

    def done(self) -> Drawn:
        n = len(self.at)
        start = self.z[np.argmax(self.sums[:, -1])]
        # From everything backwards, as each most probable point is a good start for the next.
        cuts = [n >> i for i in range(n.bit_length()) if n >> i >= FEWEST_CHOICES] or [n]
        for cut in cuts if self.scene.space else []:
            start = self.around(cut, start)
        now = self.weighed()
        for _ in range(MOST_MORE if self.scene.space else 0):
            if enough(now, self.n_points) or not np.isfinite(now.log_evidence).all():
                break
            worst = int(now.n_effective.argmin())
            weight = np.exp(now.log_weight[:, worst])
            if worst in self.cuts:
                # The most probable point has been tried: draw as the points lie that count.
                self.add(worst, Component.around(*moments(self.z, weight, self._covariance(worst))))
            else:
                self.around(worst, self.z[np.argmax(weight)])
            now = self.weighed()
        return now

    def around(self, cut: int, start: np.ndarray) -> np.ndarray:
        """Draw around the most probable point after so many choices; returns that point."""
        scored = np.zeros(self.person.scored.shape, bool)
        scored[tuple(self.at[:cut].T)] = True
        blocks = self.person.blocks._replace(scored=scored)  # type: ignore[arg-type]
        numbers = self.scene.numbers
        start = np.clip(start, numbers.low, numbers.high)
        found = compiled.most_probable(self.scene.model, numbers, blocks, self.person.weight, start)
        centre, information = np.asarray(found.z), np.asarray(found.information)
        if not np.isfinite(information).all():
            centre, information = start, np.linalg.inv(self.group.covariance)
        self.add(cut, Component.around(centre, np.linalg.inv(information)))
        return centre

    def add(self, cut: int, component: Component) -> None:
        """Draw points from one more proposal."""
        self.cuts.append(cut)
        self.components.append(component)
        z = component.drawn(normals(self.n_points, len(self.scene.space), self.seed, len(self.components)))
        self.z, self.sums = np.concatenate([self.z, z]), np.concatenate([self.sums, self._swept(z)])

    def weighed(self) -> Drawn:
        """All points as from the mixture of all proposals, each of which gave as many."""
        first = np.zeros(len(self.z))
        if self.components:
            share = 1 / (len(self.components) + 1)
            first = log_normal(self.group, self.z) - log_mixture(self.group, self.components, self.z, share)
        weight = first[:, None] + self.sums
        total = logsumexp(weight, axis=0)
        alone = np.diff(self.sums[: self.n_points], axis=1)
        with np.errstate(invalid="ignore"):
            normalised = np.where(np.isfinite(total), weight - total, -np.log(len(weight)))
        return Drawn(self.z, normalised, total - total[0], logsumexp(alone, axis=0) - np.log(len(alone)))

    def _swept(self, z: np.ndarray) -> np.ndarray:
        """Log-probability of the first k choices at every point, for every k from 0."""
        each = np.asarray(compiled.log_likelihoods_at(self.scene.model, self.scene.numbers, self.person.blocks, z))
        own = each[:, *self.at.T]
        own = np.where(np.isnan(own), -np.inf, own)
        return np.concatenate([np.zeros((len(z), 1)), np.cumsum(own, axis=1)], axis=1)

    def _covariance(self, cut: int) -> np.ndarray:
        root = self.components[self.cuts.index(cut)].root
        return root @ root.T


def predictions(scene: Scene, person: Person, drawn: Drawn, n_points: int) -> np.ndarray:
    """Choice x arm: the probability of every arm before each free choice."""
    at = np.argwhere(person.scored)
    before = np.exp(drawn.log_weight[:, :-1])
    # Points that never count are left out; the others go through in parts of one size.
    kept = np.flatnonzero(before.max(1, initial=0.0) > NEGLIGIBLE)
    total = np.zeros((len(at), scene.model.n_arms))
    for start in range(0, len(kept), n_points):
        some = kept[start : start + n_points]
        weight = np.zeros((n_points, *person.scored.shape))
        weight[: len(some), *at.T] = before[some]
        z = np.resize(drawn.z[some], (n_points, drawn.z.shape[1]))
        mean = compiled.mean_probs(scene.model, scene.numbers, person.blocks, z, weight)
        total += np.asarray(mean)[*at.T]
    return total


NEGLIGIBLE = 1e-9
"""The weight of a point that matters for no prediction."""


def person_of(blocks: Block, rows: np.ndarray, most: int) -> Person:
    """A person's blocks, filled up to a power of two of them (but no more than anybody has)."""
    size = min(1 << (len(rows) - 1).bit_length(), most)
    at = np.pad(rows, (0, size - len(rows)), mode="edge")
    own: Block = jax.tree.map(lambda x: x[at], blocks)
    weight = (np.arange(size) < len(rows)).astype(float)
    return Person(own._replace(scored=own.scored & (weight > 0)[:, None]), weight)

"""The group that is likeliest given everyone's posterior as it is, not as a parabola has it.

The M step needs two moments of each posterior. The parabolas give nearly the right ones, and weighed points what they miss
(`weighing`): with this held fixed, M steps on the parabolas settle; then it is found anew, until nothing moves. Where
the group ends, the score of the marginal likelihood is 0, but for the points' error. The covariance of the effects is the
inverse of their observed information (Louis 1982): in place of P_i = (S + J_i^-1)^-1 stands P_i - S^-1 dC_i S^-1.
"""

from __future__ import annotations

import numpy as np

from explorelab.fitting.effects.effect_design import Design
from explorelab.fitting.effects.freedom import Sensitivity, kenward_roger
from explorelab.fitting.effects.group_step import (
    INSIDE_ENOUGH,
    MOST_INSIDE,
    Around,
    Beyond,
    Parabolas,
    distances,
    effects_at,
    loosened,
    moved_by,
    no_more,
    sd_moved,
    squares,
)
from explorelab.fitting.effects.weighing import Excess, Normals, Points, excess, points_around
from explorelab.fitting.model import Fitted

DRAWS = 4
"""How often points are drawn at most, each time around what the last ones found."""
FEW, FEW_OF_MOST = 0.05, 0.15
"""Points are drawn again if fewer than this share of them counts for someone, or for half of the people."""
ROUNDS = 30
ENOUGH = 1e-3
"""Rounds end where the group moves by less than this, in standard units."""
FAR = 0.1
"""M steps go this far before what the parabolas miss is found anew, in standard units."""
LEAST = 0.03
"""The least spread of people in any direction: weights need its inverse."""
ROOM = 0.06
"""How much wider than this spread points are drawn, as the group may move and widen after it."""
RESOLVED = 0.25
"""A direction in which people hardly differ, compared with what is known of each, keeps the parabolas' information: what
they miss there is divided by almost nothing, and so would be the points' error."""
FREELY = 5
"""After so many rounds, what is missed is averaged with what was missed before, so that rounds do not go back and forth."""


def weighed_group(
    fitted: Fitted, at: Parabolas, group: Around, row_lists: list[np.ndarray], seed: int, progress: bool | None
) -> tuple[Around, Sensitivity, bool]:
    """The group, how its covariance depends on the spread, and whether it settled."""
    design = fitted.design
    assert design is not None
    participant = np.zeros(sum(map(len, row_lists)), int)
    for i, rows in enumerate(row_lists):
        participant[rows] = i
    known = at.information.any((1, 2))
    group, settled = group._replace(spread=_no_less(design, group.spread)), False
    missed = Excess(np.zeros_like(at.pull), np.zeros_like(at.information), np.ones(len(at.pull)))
    for number in range(DRAWS):
        around = _posteriors(design, at, group, missed)
        points = points_around(fitted, around, participant, known, seed + number, progress)
        group, settled = _settled(design, at, group, points)
        missed = _missed(design, at, group, points)
        if missed.effective.min() > FEW and np.median(missed.effective) > FEW_OF_MOST:
            break
    covariance, sensitivity = _uncertainty(design, at, group, missed)
    spread = np.where(np.outer(design.random, design.random), group.spread, 0.0)
    return Around(group.effects, covariance, spread), sensitivity, settled


def _no_less(design: Design, spread: np.ndarray) -> np.ndarray:
    """The spread, kept from vanishing in any direction, with a little room where everyone shares a value."""
    kept = np.outer(design.random, design.random)
    values, vectors = np.linalg.eigh(np.where(kept, spread, 0.0))
    return loosened(design, np.where(kept, (vectors * np.maximum(values, LEAST**2)) @ vectors.T, 0.0))


def _settled(design: Design, at: Parabolas, group: Around, points: Points) -> tuple[Around, bool]:
    """Where the group settles on these points."""
    n = len(at.pull)
    beyond = _beyond(design, at, group, points)
    for number in range(ROUNDS):
        before, found = group, _beyond(design, at, group, points)
        share = 1.0 if number < FREELY else FREELY / (number + 1)
        beyond = Beyond(*((1 - share) * old + share * new for old, new in zip(beyond, found, strict=True)))
        spread = before.spread
        for _ in range(MOST_INSIDE):
            last = spread
            _, total = squares(design.of_person, at, spread, beyond)
            spread = _no_less(design, no_more((total + total.T) / (2 * n)))
            if sd_moved(last, spread) < INSIDE_ENOUGH or sd_moved(before.spread, spread) > FAR:
                break
        group = Around(effects_at(design.of_person, at, spread, beyond)[0], before.covariance, spread)
        if moved_by(before, group) < ENOUGH:
            return group, True
    return group, False


def _beyond(design: Design, at: Parabolas, group: Around, points: Points) -> Beyond:
    """What the parabolas miss, at this group."""
    weights, spread = design.of_person, group.spread
    away, missed = _distances(design, at, group), _missed(design, at, group, points)
    own = away + missed.mean
    pull = np.einsum("nik,ij,nj->k", weights, np.linalg.inv(spread), missed.mean)
    return Beyond(pull, own.T @ own - away.T @ away + missed.covariance.sum(0))


def _distances(design: Design, at: Parabolas, group: Around) -> np.ndarray:
    reach = np.linalg.inv(np.eye(len(group.spread)) + at.information @ group.spread)
    return distances(design.of_person @ group.effects, at, group.spread, reach)


def _missed(design: Design, at: Parabolas, group: Around, points: Points) -> Excess:
    return excess(points, at.information, at.pull, design.of_person @ group.effects, group.spread)


def _posteriors(design: Design, at: Parabolas, group: Around, missed: Excess) -> Normals:
    """Normal distributions a little wider than everyone's posterior, from the parabolas and what they miss."""
    room = group.spread + ROOM**2 * np.diag(design.random.astype(float))
    covariance = np.linalg.inv(at.information + np.linalg.inv(room))
    covariance = (covariance + np.swapaxes(covariance, 1, 2)) / 2
    mean = design.of_person @ group.effects + _distances(design, at, group)
    root = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(root)
    # No narrower than the parabola's, and at most twice as wide.
    values, vectors = np.linalg.eigh(np.eye(mean.shape[1]) + inverse @ missed.covariance @ np.swapaxes(inverse, 1, 2))
    turned = root @ vectors
    wide = (turned * np.clip(values, 1.0, 4.0)[:, None]) @ np.swapaxes(turned, 1, 2)
    return Normals(mean + missed.mean, wide)


def _inverse_where_resolved(design: Design, at: Parabolas, group: Around) -> np.ndarray:
    """The inverse of the spread in the directions in which people differ, 0 in others."""
    values, vectors = np.linalg.eigh(np.where(np.outer(design.random, design.random), group.spread, 0.0))
    known = np.einsum("ik,ij,jk->k", vectors, at.information.mean(0), vectors)
    clear = values * known > RESOLVED
    return (vectors[:, clear] / values[clear]) @ vectors[:, clear].T


def _uncertainty(design: Design, at: Parabolas, group: Around, missed: Excess) -> tuple[np.ndarray, Sensitivity]:
    """The covariance of the effects, with what the uncertainty of the spread adds."""
    weights = design.of_person
    _, plain, reach = effects_at(weights, at, group.spread)
    precision = reach @ at.information
    precision = (precision + np.swapaxes(precision, 1, 2)) / 2
    inverse = _inverse_where_resolved(design, at, group)
    less = np.einsum("nik,ij,njl,lm,nmo->ko", weights, inverse, missed.covariance, inverse, weights, optimize=True)
    root = np.linalg.cholesky(plain)
    # In units of the plain information, which is never right by less than half or more than twice.
    values, vectors = np.linalg.eigh(np.eye(len(plain)) - root.T @ (less + less.T) @ root / 2)
    turned = root @ vectors
    covariance = (turned / np.clip(values, 1 / 4, 4.0)) @ turned.T
    return kenward_roger(weights, precision, plain, design.random, covariance)

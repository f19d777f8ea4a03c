"""How stable the label of a regret curve is: a local block bootstrap of its increments.

What is random in R(t) are its increments, the losses of single choices. R adds them up, so its residuals about a fitted form
are far from independent and must not be reshuffled themselves. Instead, the increments of the residuals are resampled,

    e_t = r_t - (f(t) - f(t - 1)),   R*(t) = f(t) + e*_1 + ... + e*_t,

where f is the form that gave the label. They are resampled in blocks, since people stay where they are and successive losses
are alike, and each block comes from near its own place in time (Paparoditis & Politis 2002, local block bootstrap), since
people who find the best arm lose unevenly at first and evenly later: a block of early losses does not belong at the end. A
block has ceil(sqrt(T)) increments and moves by at most twice that. The e_t are not centred, so R* varies about the observed
curve as the form smooths it, and the label has no home advantage.

Measured on simulated agents, whose labels over new runs are known: with 4 agents, 2 landscapes and both fits of the power
law, T = 90, the mean log score of these probabilities is -0.66 (ordinary blocks of 5, from anywhere in the curve: -0.72),
and the mean probabilities are off by 0.07 (ordinary: 0.13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from explorelab._support.checks import Floats, Ints
from explorelab.regret.forms import FORMS, PowerFit
from explorelab.regret.forms_fast import best_forms

CHUNK = 1 << 20
"""Numbers in the curves that are processed at once."""


def label_probabilities(
    regret: Floats, fitted: Floats, power: PowerFit, n: int, seed: int, done: Callable[[int], None] = lambda rows: None
) -> Floats:
    """The share of n resampled curves that each form fits best, row x form; a row's sum is below 1 if some have no form.

    `regret` holds curves of one length, `fitted` for each the form that gave its label. All curves are resampled with the
    same n draws of places, so that a curve's probabilities do not depend on which others are there.
    """
    at = draws(regret.shape[1], n, seed)
    away = np.diff(regret - fitted, axis=1, prepend=0.0)
    shares = np.empty((regret.shape[0], len(FORMS)))
    for rows in _chunks(regret.shape[0], regret.shape[1], n):
        curves = away[rows][:, at]
        np.cumsum(curves, axis=2, out=curves)
        curves += fitted[rows, None]
        best = best_forms(curves.reshape(-1, regret.shape[1]), power).reshape(-1, n)
        shares[rows] = (best[:, :, None] == np.arange(len(FORMS))).mean(1)
        done(best.shape[0])
    return shares


def draws(n_times: int, n: int, seed: int) -> Ints:
    """The index of the increment at each time in each of n resampled curves."""
    length = min(block_length(n_times), n_times)
    begins = np.arange(0, n_times, length)
    moved = np.random.default_rng([seed, n_times]).integers(-2 * length, 2 * length + 1, (n, begins.size))
    first = np.clip(begins + moved, 0, n_times - length)
    return (first[:, :, None] + np.arange(length)).reshape(n, -1)[:, :n_times]


def block_length(n_times: int) -> int:
    """The number of increments that move together."""
    return int(np.ceil(np.sqrt(n_times)))


def _chunks(n_rows: int, n_times: int, n: int) -> Iterator[slice]:
    size = max(1, CHUNK // (n_times * n))
    for start in range(0, n_rows, size):
        yield slice(start, start + size)

"""How much the covariance of effects depends on the spread S of people, which is itself estimated.

With P_i = (S + J_i^-1)^-1, V the covariance of the effects, and t_a the entries of S, in which it is sum of t_a E_a:

    A_a = sum W_i' P_i E_a P_i W_i,    Q_ab = sum W_i' P_i E_a P_i E_b P_i W_i,    dV / dt_a = V A_a V
    information of t (restricted likelihood) = (sum tr P_i E_a P_i E_b)/2 - tr V Q_ab + (tr V A_a V A_b)/2

Kenward and Roger (1997) add 2 V (sum C_ab (Q_ab - A_a V A_b)) V to V, where C is the inverse of that information, and test a
sum w of effects with 2 (w'V w)^2 / Var(w'V w) degrees of freedom (Satterthwaite).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Sensitivity(NamedTuple):
    """How the covariance of effects depends on the entries of S, and how uncertain these are."""

    slopes: np.ndarray
    """entry x effect x effect."""
    covariance: np.ndarray
    """C: entry x entry."""


def _entries(random: np.ndarray) -> np.ndarray:
    """E_a: entry x latent x latent, for the entries in which people may differ."""
    d, at = len(random), np.flatnonzero(random)
    pairs = [(i, j) for k, i in enumerate(at) for j in at[k:]]
    entries = np.zeros((len(pairs), d, d))
    for a, (i, j) in enumerate(pairs):
        entries[a, i, j] = entries[a, j, i] = 1.0
    return entries


def kenward_roger(
    weights: np.ndarray, precision: np.ndarray, plain: np.ndarray, random: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, Sensitivity]:
    """The covariance of effects with what the uncertainty of S adds, and how it depends on S.

    `precision` is P_i (person x latent x latent), `plain` the covariance that follows from it, `covariance` a better one.
    """
    entries, k = _entries(random), weights.shape[-1]
    n_entries = len(entries)
    bent = np.einsum("nij,ajk->anik", precision, entries)
    left = np.einsum("nik,anij->ankj", weights, bent)
    seen = np.einsum("nij,njk->nik", precision, weights)
    first = np.einsum("ankj,njl->akl", left, seen)
    right = np.einsum("ankj,njl->ankl", left, precision)
    second = np.einsum("ankj,bnlj->abkl", right, left, optimize=True).reshape(n_entries, n_entries, k, k)
    turned = first @ plain
    information = (
        np.einsum("anij,bnji->ab", bent, bent, optimize=True) / 2
        - np.einsum("kl,ablk->ab", plain, second)
        + np.einsum("akl,blk->ab", turned, turned) / 2
    )
    uncertain = np.linalg.pinv((information + information.T) / 2, rcond=1e-10, hermitian=True)
    middle = np.einsum("ab,abkl->kl", uncertain, second - np.einsum("akl,blm->abkm", turned, first))
    added = 2 * plain @ middle @ plain
    slopes = np.einsum("kl,alm,mo->ako", covariance, first, covariance)
    # In units of the covariance: never less than nothing, and no more than as much again, where few people bound nothing.
    root = np.linalg.cholesky(covariance)
    inverse = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(inverse @ (added + added.T) @ inverse.T / 2)
    turned = root @ vectors
    return covariance + (turned * np.clip(values, 0.0, 1.0)) @ turned.T, Sensitivity(slopes, uncertain)


def degrees_of_freedom(weights: np.ndarray, covariance: np.ndarray, known: Sensitivity) -> np.ndarray:
    """Satterthwaite's degrees of freedom for sums of effects (row x effect)."""
    variance = np.einsum("rk,kl,rl->r", weights, covariance, weights)
    slope = np.einsum("rk,akl,rl->ra", weights, known.slopes, weights)
    noise = np.einsum("ra,ab,rb->r", slope, known.covariance, slope)
    least = 1e-12 * variance**2  # as where everyone shares a value: nothing depends on the spread
    return 2 * variance**2 / np.maximum(np.maximum(noise, least), 1e-300)

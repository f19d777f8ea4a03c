"""Mean and standard error over replicates, added up in an order that does not depend on how the work was divided."""

from __future__ import annotations

import numpy as np

UNIT = 256
"""Replicates summed together first; tiles are cut at multiples of it, so every division of the work sums alike."""


class Running:
    """Mean and sum of squared deviations of arrays that arrive a few replicates at a time, in order."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = np.zeros(())
        self.spread = np.zeros(())
        self._waiting: list[np.ndarray] = []
        self._n_waiting = 0

    def add(self, values: np.ndarray) -> None:
        """Take in values with the replicate as axis 1, after the setting."""
        self._waiting.append(values)
        self._n_waiting += values.shape[1]
        if self._n_waiting < UNIT:
            return
        values = np.concatenate(self._waiting, axis=1) if len(self._waiting) > 1 else values
        whole = values.shape[1] // UNIT * UNIT
        for begin in range(0, whole, UNIT):
            self._merge(values[:, begin : begin + UNIT])
        self._waiting = [values[:, whole:]] if whole < values.shape[1] else []
        self._n_waiting = values.shape[1] - whole

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and its standard error (NaN for a single replicate, which has no spread)."""
        if self._waiting:
            self._merge(np.concatenate(self._waiting, axis=1))
            self._waiting, self._n_waiting = [], 0
        if self.count < 2:
            return self.mean, np.full_like(self.mean, np.nan)
        return self.mean, np.sqrt(self.spread / (self.count - 1) / self.count)

    def _merge(self, values: np.ndarray) -> None:
        """Chan, Golub & LeVeque's pairwise formula, with the new values as the second sample."""
        n_new = values.shape[1]
        mean = values.mean(axis=1, dtype=np.float64)
        spread = ((values - mean[:, None]) ** 2).sum(axis=1, dtype=np.float64)
        if self.count == 0:
            self.count, self.mean, self.spread = n_new, mean, spread
            return
        total = self.count + n_new
        apart = mean - self.mean
        self.mean = self.mean + apart * (n_new / total)
        self.spread = self.spread + spread + apart**2 * (self.count * n_new / total)
        self.count = total

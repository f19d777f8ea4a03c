"""When results are recorded: at every step of a short task, thinned over a long one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorelab._support import checks
from explorelab.errors import InputError

EVERY_STEP_UP_TO = 250
"""Horizons up to this are recorded at every step unless times are given."""


def recording_times(horizon: int, times: Sequence[int] | None = None) -> tuple[int, ...]:
    """The times given, in order and checked, or those that suit the horizon (itself always among them)."""
    if times is not None:
        if np.ndim(times) != 1:
            raise InputError(f"times must be a list of steps, got {checks.shown(times)}.")
        chosen = sorted({checks.whole("times", t, at_least=1) for t in np.asarray(times).tolist()})
        if not chosen or chosen[-1] > horizon:
            raise InputError(f"times must be steps from 1 to the horizon, {horizon}, got {list(times)}.")
        return tuple(chosen)
    if horizon <= EVERY_STEP_UP_TO:
        return tuple(range(1, horizon + 1))
    # Evenly in log t and evenly in t, because regret is looked at over either axis.
    log_spaced = np.geomspace(1, horizon, 120).round().astype(int)
    evenly = np.linspace(1, horizon, 81).round().astype(int)
    return tuple(sorted({*log_spaced.tolist(), *evenly.tolist(), horizon}))

"""How well deadlines are met, attention is kept and the network holds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from explorelab.study.admin.answers import Histogram, Quality, TimingQuality
from explorelab.study.admin.image import Image
from explorelab.study.config.design import Study

FOCUS = ("blur",)
HIDDEN = ("hidden",)
NETWORK = ("slow", "offline", "retry")
"""Kinds of events that are counted together."""
TIMES = ((0, "0"), (1, "1"), (2, "2"), (5, "3–5"), (10, "6–10"), (np.inf, "11+"))
"""Bins of how often something happened to someone: up to and including the number."""
OVERRUNS = ((5, "< 5"), (10, "5–10"), (20, "10–20"), (50, "20–50"), (100, "50–100"), (np.inf, "≥ 100"))
"""Bins of overruns in ms: below the number."""


def n_events(image: Image, person: int, kinds: tuple[str, ...]) -> int:
    """How often events of these kinds happened to someone."""
    happened = image.events.get(person)
    return sum(happened.get(kind, 0) for kind in kinds) if happened else 0


def quality(study: Study, image: Image, numbers: set[int]) -> Quality:
    """The quality of these people's data."""
    made, missed, flags = image.sums
    rows = [row for row, block in enumerate(image.blocks) if block.person in numbers]
    counts = {name: [0, 0] for name in study.timings}
    missed_by: dict[int, int] = {}
    for row in rows:
        block = image.blocks[row]
        count = counts.setdefault(block.timing, [0, 0])
        count[0] += made[row]
        count[1] += missed[row]
        if made[row]:
            missed_by[block.person] = missed_by.get(block.person, 0) + missed[row]
    happened = {
        "missed": list(missed_by.values()),
        "focus_losses": [n_events(image, number, FOCUS) for number in missed_by],
        "hidden_pauses": [n_events(image, number, HIDDEN) for number in missed_by],
        "slow_network": [n_events(image, number, NETWORK) for number in missed_by],
    }
    overrun = image.overrun[[row for row in rows if image.blocks[row].deadline_ms]]
    overrun = overrun[np.isfinite(overrun)]
    histograms = [_histogram(name, values, TIMES, with_end=True) for name, values in happened.items()]
    doubts = {flag: n for flag, each in sorted(flags.items()) if (n := sum(each[row] for row in rows))}
    return Quality(
        **{name: sum(values) for name, values in happened.items()},
        overrun_median_ms=round(float(np.median(overrun)), 1) if overrun.size else None,
        overrun_max_ms=round(float(overrun.max()), 1) if overrun.size else None,
        timings=[TimingQuality(timing=name, choices=n, missed=m) for name, (n, m) in counts.items() if n],
        histograms=[*histograms, _histogram("overrun", overrun, OVERRUNS, with_end=False)],
        flags=doubts,
    )


def _histogram(name: str, values: npt.ArrayLike, bins: tuple[tuple[float, str], ...], with_end: bool) -> Histogram:
    """Counts up to each bin's number, which itself falls into the bin or the next."""
    ends = np.array([end for end, _ in bins[:-1]], np.float64)
    at = np.searchsorted(ends, np.asarray(values, np.float64), side="left" if with_end else "right")
    counts = np.bincount(at, minlength=len(bins))
    return Histogram(name=name, bins=[label for _, label in bins], counts=counts.tolist())

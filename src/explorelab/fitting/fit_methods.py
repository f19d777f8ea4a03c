"""The methods of a fit, the settings of each, and what they have in common."""

from __future__ import annotations

from typing import Literal, TypedDict

type Method = Literal["ml", "map", "em", "bayes", "nuts"]
SAMPLED = ("bayes", "nuts")
"""Methods that sample the hierarchical posterior: the same one, so that what is made of the one is made of the other."""
OF_A_GROUP = ("em", *SAMPLED)
"""Methods that learn what people are like."""
_SAMPLING = ("chains", "draws", "warmup", "target_accept", "max_tree_depth", "correlated", "on_failure")
SETTINGS: dict[str, tuple[str, ...]] = {
    "ml": (),
    "map": (),
    "em": ("rounds", "tolerance"),
    "bayes": _SAMPLING,
    "nuts": _SAMPLING,
}
"""The settings of each method, which are passed on to `fit_group`, `sample_emulated` and `sample`."""


class MethodSettings(TypedDict, total=False):
    """Settings that only some of the methods have."""

    rounds: int
    tolerance: float
    chains: int
    draws: int
    warmup: int
    target_accept: float
    max_tree_depth: int
    correlated: bool
    on_failure: Literal["raise", "warn"]

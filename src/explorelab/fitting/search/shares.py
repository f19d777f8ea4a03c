"""Shares of people: what is computed for each person alone is divided among workers, and kept, share by share.

A share holds only the rows of its people. How many people are in it depends on how many there are, not on the workers, and
everyone's result is the same in any share: compiled calls take one problem after the other, in arrays of fixed sizes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

import jax
import numpy as np

from explorelab._support.work import units
from explorelab.agents.factors import Pytree
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.batches import on_gpu


def in_shares[**P, R](
    n_arrays: int, most: int = 64
) -> Callable[[Callable[Concatenate[Fitted, P], R]], Callable[Concatenate[Fitted, P], R]]:
    """A decorator of functions of a fitted agent and so many arrays, whose leading axis is problems, as is the result's.

    The first array holds rows of the data, or problems. Work that is not divided is done as it was, in one call; otherwise
    in at most so many shares and a few.
    """

    def decorated(function: Callable[Concatenate[Fitted, P], R]) -> Callable[Concatenate[Fitted, P], R]:
        signature = inspect.signature(function)

        @wraps(function)
        def shared(fitted: Fitted, *args: P.args, **kwargs: P.kwargs) -> R:
            _, *given = signature.bind(fitted, *args, **kwargs).arguments.items()
            arrays, how = tuple(value for _, value in given[:n_arrays]), dict(given[n_arrays:])
            n = len(jax.tree.leaves(arrays)[0])
            # A GPU does everybody together.
            if not units.is_divided() or n < 2 or on_gpu():
                return function(fitted, *args, **kwargs)
            label, progress = how.pop("label", "fitting"), how.pop("progress", None)
            if "label" in signature.parameters:
                how["label"] = ""
            size = max(1, n // most)
            shares = [(shared, *_share(fitted, arrays, slice(i, i + size)), how) for i in range(0, n, size)]
            done = list(units.results(_of_share, shares, label, progress, first_alone=True))
            return jax.tree.map(lambda *xs: np.concatenate(xs), *done)

        return shared  # type: ignore[return-value]  # of the same arguments

    return decorated


def _share(fitted: Fitted, arrays: tuple[Any, ...], at: slice) -> tuple[Fitted, tuple[Any, ...]]:
    """The problems in this slice, with the rows of the data that they need, renumbered."""
    first, *more = (jax.tree.map(lambda x: x[at], array) for array in arrays)
    rows = np.asarray(getattr(first, "rows", first))
    used, own = np.unique(rows, return_inverse=True)
    own = own.reshape(rows.shape).astype(np.int32)
    first = first._replace(rows=own) if hasattr(first, "rows") else own
    return fitted._replace(data=fitted.data.of_rows(used)), (first, *more)


def _of_share(function: Callable[..., Pytree], fitted: Fitted, arrays: tuple[Any, ...], how: dict[str, Any]) -> Pytree:
    """The results for one share."""
    return jax.tree.map(np.asarray, function(fitted, *arrays, **how, progress=False))

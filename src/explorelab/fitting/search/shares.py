"""Shares of people: what is computed for each person alone is divided among workers, and kept, share by share.

A share holds only the rows of its people. How many people are in it depends on how many there are, not on the workers, and
everyone's result is the same in any share: compiled calls take one problem after the other, in arrays of fixed sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

import jax
import numpy as np

from explorelab._support.work import units
from explorelab.agents.factors import Pytree
from explorelab.fitting.model import Fitted
from explorelab.fitting.search.batches import on_gpu

type Rows = Pytree
"""Rows of the data, one or several for each problem; or problems, which have `rows`."""


def in_shares[**P, R](
    n_arrays: int, label: str, most: int = 64
) -> Callable[[Callable[Concatenate[Fitted, P], R]], Callable[Concatenate[Fitted, P], R]]:
    """A decorator of functions of a fitted agent and so many arrays, whose leading axis, like that of the result, is problems.

    The first array holds rows of the data, or problems. Work that is not divided is done as it was, in one call; otherwise
    in at most so many shares and a few.
    """

    def decorated(function: Callable[Concatenate[Fitted, P], R]) -> Callable[Concatenate[Fitted, P], R]:
        name = function.__name__

        @wraps(function)
        def shared(fitted: Fitted, *args: P.args, **kwargs: P.kwargs) -> R:
            n = len(jax.tree.leaves(args[0])[0])
            # A GPU does everybody together.
            if not units.is_divided() or n < 2 or on_gpu():
                return function(fitted, *args, **kwargs)
            arrays, others = args[:n_arrays], args[n_arrays:]
            progress = kwargs.pop("progress", None)
            size = max(1, n // most)
            parts = [
                (function.__module__, name, *_share(fitted, arrays, slice(i, i + size)), others, kwargs)
                for i in range(0, n, size)
            ]
            shown = progress if progress is None or isinstance(progress, bool) else None
            done = list(units.results(_of_share, parts, label, shown, first_alone=True))
            return jax.tree.map(lambda *xs: np.concatenate(xs), *done)

        return shared

    return decorated


def _share(fitted: Fitted, arrays: tuple[Any, ...], at: slice) -> tuple[Fitted, tuple[Any, ...]]:
    """The problems in this slice, with the rows of the data that they need, renumbered."""
    first, *more = (jax.tree.map(lambda x: x[at], array) for array in arrays)
    rows = np.asarray(getattr(first, "rows", first))
    used, own = np.unique(rows, return_inverse=True)
    own = own.reshape(rows.shape).astype(np.int32)
    first = first._replace(rows=own) if hasattr(first, "rows") else own
    return fitted._replace(data=fitted.data.of_rows(used)), (first, *more)


def _of_share(
    module: str, name: str, fitted: Fitted, arrays: tuple[Any, ...], others: tuple[Any, ...], settings: dict[str, Any]
) -> Pytree:
    """The results for one share, by the function of that name."""
    from importlib import import_module

    function = getattr(import_module(module), name)
    return jax.tree.map(np.asarray, function(fitted, *arrays, *others, **settings, progress=False))

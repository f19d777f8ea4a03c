"""Chains that keep what they have done, leg by leg, so that one that was stopped goes on from there.

A leg is a stretch of a chain: what it drew, and the state it ended in. It is kept whole or not at all. Chains are done
here, whoever does the other work: a state says little without the compiled programs that take it on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from explorelab._support.work import units
from explorelab._support.work.digests import digest
from explorelab._support.work.finished import NOTHING, Finished


class Legs:
    """The legs of chains that depend on these values alone; where nothing is kept, a leg is simply done."""

    def __init__(self, *depends: object) -> None:
        self._store: Finished | None = units.store()
        self._run = "" if self._store is None else digest("legs", *depends)

    @property
    def are_kept(self) -> bool:
        """Whether there is a folder for them."""
        return self._store is not None

    def leg[Out](self, name: str, do: Callable[[], Out], found_again: Callable[[], None] = lambda: None) -> Out:
        """What `do` answers, or answered before; None says that it was stopped, and is not kept."""
        if self._store is None:
            return do()
        key = digest(self._run, name)
        found = self._store.get(key)
        if found is NOTHING:
            found = _stored(do())
            if found is not None:
                self._store.put(key, found)
        else:
            found_again()
        # Through the same door whether it was kept or not, so that what follows is the same to the last bit.
        result: Out = _restored(found)
        return result


class _Key(NamedTuple):
    """The numbers of a key of JAX's, which is no array of NumPy's."""

    numbers: np.ndarray


def _stored(tree: Any) -> Any:
    def one(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return _Key(np.asarray(jax.random.key_data(leaf)))
        return np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf

    return jax.tree.map(one, tree)


def _restored(tree: Any) -> Any:
    def one(leaf: Any) -> Any:
        return jax.random.wrap_key_data(jnp.asarray(leaf.numbers)) if isinstance(leaf, _Key) else leaf

    return jax.tree.map(one, tree, is_leaf=lambda leaf: isinstance(leaf, _Key))

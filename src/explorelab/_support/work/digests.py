"""Digests of values: equal for equal values in any process, different if anything differs that a result depends on."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import explorelab
from explorelab.errors import NotSentError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def digest(*values: object) -> str:
    """A digest of the values and of the software that computes with them."""
    sha = hashlib.sha256(software().encode())
    for part in _parts(values):
        # With its length, so that two parts are never mistaken for one.
        sha.update(len(part).to_bytes(8, "little"))
        sha.update(part)
    return sha.hexdigest()


@cache
def software() -> str:
    """Versions on which the last bit of a result may depend, with the package's own source."""
    folder = Path(explorelab.__file__).parent
    source = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        source.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    others = (f"{name} {version(name)}" for name in ("jax", "jaxlib", "numpy", "scipy"))
    return ", ".join([f"explorelab {explorelab.__version__} {source.hexdigest()}", *others])


def _parts(value: Any) -> Iterator[bytes]:
    """The value as a sequence of bytes, each kind with a name of its own."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        kind = type(value).__name__
        yield f"{kind} {value!r}".encode() if not isinstance(value, bytes) else b"bytes " + value
    elif isinstance(value, np.ndarray) or _is(value, "jax", "Array"):
        yield from _of_array(np.asarray(value))
    elif isinstance(value, tuple | list | range | set | frozenset):
        yield from _of_several(value)
    elif isinstance(value, Path):
        yield b"path " + str(value).encode()
    elif _is(value, "pandas", "DataFrame"):
        yield from _of_frame(value)
    elif _is(value, "xarray", "DataTree"):
        yield from _parts({node.path: node.to_dataset(inherit=False) for node in value.subtree})
    elif _is(value, "xarray", "Dataset"):
        yield from _of_dataset(value)
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)}".encode()
        for key, each in value.items():
            yield from _parts(key)
            yield from _parts(each)
    else:
        yield from _of_object(value)


def _is(value: object, module: str, name: str) -> bool:
    """Whether it is of this class; a module that was never imported has made nothing."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def _of_array(value: np.ndarray) -> Iterator[bytes]:
    yield f"array {value.dtype.str} {value.shape}".encode()
    if value.dtype.hasobject:
        yield from _parts(value.ravel().tolist())
    else:
        yield np.ascontiguousarray(value).tobytes()


def _of_several(value: Any) -> Iterator[bytes]:
    several = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
    yield f"{'list' if isinstance(value, list) else type(value).__qualname__} {len(several)}".encode()
    if (way := _own_way(value)) is not None:
        yield from _parts(way())
        return
    for each in several:
        yield from _parts(each)


def _of_frame(value: pd.DataFrame) -> Iterator[bytes]:
    yield b"frame"
    for name in value.columns:
        yield from _parts(str(name))
        yield from _parts(value[name].tolist())


def _of_dataset(value: xr.Dataset) -> Iterator[bytes]:
    yield b"dataset"
    for name, each in value.variables.items():
        yield from _parts((str(name), each.dims, each.values, dict(each.attrs)))
    yield from _parts(dict(value.attrs))


def _own_way(value: object) -> Callable[[], tuple[Any, ...]] | None:
    """How one of the package's objects says what it is made of, if it does not simply consist of its fields."""
    kind = type(value)
    own = next((each for each in kind.__mro__ if "__reduce__" in vars(each)), object)
    way: Callable[[], tuple[Any, ...]] | None = value.__reduce__ if own.__module__.startswith("explorelab") else None  # type: ignore[assignment]
    return way


def _of_object(value: object) -> Iterator[bytes]:
    kind = type(value)
    if callable(value) and (name := getattr(value, "__qualname__", "")) and "<" not in name:
        yield f"function {getattr(value, '__module__', '')} {name}".encode()
    elif (way := _own_way(value)) is not None:
        yield f"object {kind.__module__} {kind.__qualname__}".encode()
        yield from _parts(way())
    elif is_dataclass(value):
        yield f"object {kind.__module__} {kind.__qualname__}".encode()
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
    else:
        raise NotSentError(
            f"what is finished cannot be kept: it depends on a {kind.__name__}, which is not known to be as before."
        )

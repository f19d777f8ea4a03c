"""Long work as units: functions of a module with their arguments, which depend on nothing else and on no other unit.

`results` does them: in threads here, or on an executor (processes here, a cluster). What is finished is kept if the run
has a folder. A public function becomes long work with `long_work`, which takes its arguments `executor` and `resume` and
makes them known to every unit below, so that nothing in between passes them on: a comparison's fits are divided like a fit.

The outermost units are divided; what a unit divides further runs within it, on one core. Neither the units nor the order in
which results are put together depend on the number of workers, so results do not either, to the last bit. A chain that goes
on from where it stopped is a loop over units: each leg's arguments hold the state in which the one before it ended, so that
finished legs are found again, and more of them can be added.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

from explorelab._support.parallel import cores, held_to, in_order
from explorelab._support.progress import Progress
from explorelab._support.work.algebra import on_one_thread
from explorelab._support.work.digests import digest
from explorelab._support.work.distributing import check_executor, distributed
from explorelab._support.work.finished import NOTHING, Finished

MAY_CHANGE = frozenset({"executor", "resume", "progress", "out", "figures", "draws", "rounds", "tolerance", "on_failure"})
"""Arguments that may be others when a run goes on: none changes a unit, only how many there are or where results go."""


class Work(NamedTuple):
    """Where units are done, and where they are kept."""

    executor: Executor | None = None
    store: Finished | None = None
    inside: bool = False
    """Whether this is within a unit, where nothing is divided or kept any more."""


_NOW: ContextVar[Work] = ContextVar("work", default=Work())  # noqa: B039  # it cannot be changed


def is_divided() -> bool:
    """Whether work is divided into units now: it goes to an executor, or what is finished is kept."""
    now = _NOW.get()
    return not now.inside and (now.executor is not None or now.store is not None)


def is_elsewhere() -> bool:
    """Whether units are done by an executor now."""
    now = _NOW.get()
    return not now.inside and now.executor is not None


def store() -> Finished | None:
    """Where finished parts are kept now, if anywhere."""
    now = _NOW.get()
    return None if now.inside else now.store


@contextmanager
def inside() -> Iterator[None]:
    """Within this context, a unit is worked on."""
    before = _NOW.set(Work(inside=True))
    try:
        yield
    finally:
        _NOW.reset(before)


def long_work[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """The function with `executor` and `resume` taken care of; called by other long work, it takes part in that."""
    signature = inspect.signature(function)

    @wraps(function)
    def at_work(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return function(*args, **kwargs)  # which says it with its name
        executor, folder = given.get("executor"), given.get("resume")
        if executor is None and folder is None:
            return function(*args, **kwargs)
        check_executor(executor)
        store = None if folder is None else Finished(Path(os.fspath(folder)), _run(function.__qualname__, given))
        before = _NOW.set(Work(executor, store))
        try:
            return function(*args, **kwargs)
        finally:
            _NOW.reset(before)

    return at_work


def _run(name: str, given: dict[str, Any]) -> str:
    """A digest of the call."""
    flat = {**given, **given.get("settings", {})}
    return digest(name, {key: value for key, value in sorted(flat.items()) if key not in MAY_CHANGE | {"settings"}})


def results[Out](
    function: Callable[..., Out],
    each: Sequence[tuple[Any, ...]],
    label: str = "",
    progress: bool | None = None,
    *,
    first_alone: bool = False,
    threads: int | None = None,
) -> Iterator[Out]:
    """The results of `function(*arguments)` for every tuple of arguments, in their order.

    Here they are done in as many threads as there are cores (or `threads`); if there are fewer units than that, one after
    the other, each on all cores. With `first_alone` the first is done before the others begin.
    """
    now = _NOW.get()
    keys = [_key(function, arguments) for arguments in each] if now.store is not None else []
    found: list[Any] = [NOTHING] * len(each) if now.store is None else [now.store.get(key) for key in keys]
    todo = [i for i, result in enumerate(found) if result is NOTHING]
    with Progress(label, len(each), progress) as bar:
        if now.executor is not None:
            answers = distributed(function, [(i, each[i]) for i in todo], now.executor)
        else:
            answers = _here(function, [(i, each[i]) for i in todo], first_alone, threads)
        if len(todo) < len(each):
            bar.advance(len(each) - len(todo))
        try:
            for i in range(len(each)):
                while found[i] is NOTHING:
                    done, found[done] = next(answers)
                    if now.store is not None:
                        now.store.put(keys[done], found[done])
                    bar.advance()
                yield found[i]
                found[i] = None
        finally:
            answers.close()


def once[Out](function: Callable[..., Out], *args: Any, **kwargs: Any) -> Out:
    """The result of one call, which is a unit of its own if work is divided."""
    if not is_divided():
        return function(*args, **kwargs)
    how = {name: value for name, value in kwargs.items() if name != "progress"}
    return next(results(_called, [(function, args, how)], progress=False))


def _called[Out](function: Callable[..., Out], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Out:
    return function(*args, **kwargs)


def _here[Out](
    function: Callable[..., Out], units: list[tuple[int, tuple[Any, ...]]], first_alone: bool, threads: int | None
) -> Generator[tuple[int, Out]]:
    several = cores() if threads is None else threads
    # A few units on one core each would leave the others idle.
    alone = threads is None and len(units) < several

    def one(unit: tuple[int, tuple[Any, ...]]) -> tuple[int, Out]:
        with inside(), held_to(cores() if alone else 1):
            return unit[0], function(*unit[1])

    with on_one_thread():
        yield from in_order(one, units, 1 if alone else several, first_alone=first_alone)


def _key(function: Callable[..., object], arguments: tuple[Any, ...]) -> str:
    return digest(f"{function.__module__}.{function.__qualname__}", arguments)

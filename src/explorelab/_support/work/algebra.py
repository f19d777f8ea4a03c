"""Linear algebra on the calling thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

_COUNTING = Lock()
_within = 0
_limits: threadpool_limits | None = None


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Within this context, in whatever thread, libraries of linear algebra take one thread for a call.

    They have one limit for the whole process, which is lifted when the last of those within leaves. With several threads
    they would add up in another order: the last bit of a result would depend on who else computes.
    """
    global _within, _limits
    import scipy.linalg  # noqa: F401  # only what is loaded can be limited, and XLA computes with this

    with _COUNTING:
        _within += 1
        if _limits is None:
            _limits = threadpool_limits(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _COUNTING:
            _within -= 1
            if not _within and _limits is not None:
                _limits.restore_original_limits()
                _limits = None

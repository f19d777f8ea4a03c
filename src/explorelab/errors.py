"""Errors that explorelab raises on purpose, each with a clear message."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ExplorelabError(Exception):
    """Base class of every error that explorelab raises on purpose."""


class InputError(ExplorelabError, ValueError):
    """Invalid input; the message says what was expected and what was given."""


class InterruptedByUserError(ExplorelabError):
    """The user interrupted the work."""


class NotSentError(ExplorelabError):
    """Work cannot be sent to other processes or kept in a folder; the message says what stands in the way."""


class PrecisionWarning(UserWarning):
    """A simulation's precision may not be enough for its numbers."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not in a table, with the nearest known name as a suggestion."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"expected one of {', '.join(known)}." if known else "there are none."
    return InputError(f"unknown {kind} {name!r}: {hint}")

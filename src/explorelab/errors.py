"""Errors that a user of explorelab can meet, all of them one clear sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ExplorelabError(Exception):
    """Base of every error that explorelab raises on purpose."""


class InputError(ExplorelabError, ValueError):
    """Something given to explorelab is not what it should be; the message says what was expected and what came."""


class InterruptedByUserError(ExplorelabError):
    """The user stopped the work."""


class PrecisionWarning(UserWarning):
    """The numbers of a simulation are more than its precision can be trusted with."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not in a table, with the nearest known name as a suggestion."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}." if known else "there is none."
    return InputError(f"unknown {kind} {name!r}: {hint}")

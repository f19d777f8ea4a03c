"""Columns about advice: what was suggested, whether it was shown and followed, and why not."""

from __future__ import annotations

import numpy as np

from explorelab.choices.advice_given import AdviceGiven
from explorelab.choices.checks.look import Look
from explorelab.choices.columns import NO_NUMBER, as_numbers, as_text, codes_of
from explorelab.choices.table import NOWHERE, Layout

ADVICE = ("advised", "advice_shown", "followed", "advice_reason")
"""The columns; `advised` makes the others meaningful."""


def advice_of(look: Look, arm: np.ndarray, missed: np.ndarray, layout: Layout) -> AdviceGiven | None:
    """What was suggested, row by row; None if the file does not say.

    Without a column advice_shown, whatever was advised counts as shown; without a column followed, it was followed if it
    was shown and the arm is the one advised.
    """
    flags = {name: _flags(look, name) for name in ("advice_shown", "followed")}
    if not look.has("advised"):
        return None
    advised = _named(look, layout.arm_names) if layout.arm_names is not None else _numbered(look, layout.n_arms)
    something = advised != NOWHERE
    shown, followed = (flags[name] for name in ("advice_shown", "followed"))
    if shown is not None:
        unread = ~something & _empty(look, "advised")
        look.bad("advice_shown", shown & unread, "expected 0 where nothing was advised, got {}")
    seen = something if shown is None else shown
    if followed is not None:
        look.bad("followed", followed & ~seen, "expected 0 or nothing where no advice was shown, got {}")
    taken = seen & something & (arm == advised) & ~missed if followed is None else followed
    reason = as_text(look.frame["advice_reason"]) if look.has("advice_reason") else np.full(len(arm), "", object)
    return AdviceGiven(advised, seen, taken, reason)


def _flags(look: Look, column: str) -> np.ndarray | None:
    """Where a column of 0, 1 and nothing has 1; None if there is no such column."""
    if not look.has(column):
        return None
    numbers, bad = as_numbers(look.frame[column])
    look.bad(column, bad | ~(np.isnan(numbers) | np.isin(numbers, (0, 1))), "expected 0, 1 or nothing, got {}")
    return np.asarray(numbers == 1)


def _empty(look: Look, column: str) -> np.ndarray:
    return np.isin(as_text(look.frame[column]), NO_NUMBER)


def _numbered(look: Look, n_arms: int) -> np.ndarray:
    """The arm advised, from 0; `NOWHERE` for none."""
    first = look.task.first_arm
    numbers, bad = as_numbers(look.frame["advised"])
    # Where the arms are inferred from the choices, a suggestion may be an arm that nobody took.
    high = np.inf if look.task.layout is None else n_arms + first
    with np.errstate(invalid="ignore"):
        bad |= ~np.isnan(numbers) & ((numbers < first) | (numbers >= high) | (numbers != np.floor(numbers)))
    look.bad("advised", bad, "expected the number of the arm that was suggested, or nothing if none was, got {}")
    return np.where(bad | np.isnan(numbers), NOWHERE, numbers - first).astype(np.int64)


def _named(look: Look, names: tuple[str, ...]) -> np.ndarray:
    """The same where arms have names."""
    codes, texts = codes_of(look.frame["advised"])
    number = np.array([names.index(text) if text in names else NOWHERE for text in texts], np.int64)[codes]
    nothing = np.array([text in NO_NUMBER and text not in names for text in texts], bool)[codes]
    message = "expected the name of the arm that was suggested, or nothing if none was, got {}"
    look.bad("advised", (number == NOWHERE) & ~nothing, message)
    return number

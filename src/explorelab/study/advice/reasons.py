"""Why a square was suggested or not, as it is stored with a choice."""

from __future__ import annotations

from explorelab.choices.advice_given import FAILED, LATE, NONE, NOT_ASKED

BY_ADVISER = {
    "best": "the square that the adviser takes to be best",
    NONE: "no advice in this condition",
    "little to gain": "it would have changed little",
    "worse": "earlier suggestions paid less than the person's own choices",
    "wrong": "rewards were far from what the adviser expected",
    "over": "the block is over",
}
"""What the adviser itself says, with or without a square: the words of `companions.advice.REASONS`."""
WHY = BY_ADVISER | {
    LATE: "not ready in time, or the person had already clicked",
    NOT_ASKED: "the page did not ask, or advice begins with a later choice",
    FAILED: "it could not be computed",
}
"""Every word that is stored, and what it means."""
UNSEALED = (LATE, NOT_ASKED, FAILED)
"""Silence that a page may report by itself."""

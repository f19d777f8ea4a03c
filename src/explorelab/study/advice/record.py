"""What is stored of advice with a choice: what was suggested, why not if it was not, and when the page drew it."""

from __future__ import annotations

from typing import Any, Protocol

from explorelab.choices.advice_given import NONE, NOT_ASKED
from explorelab.study.database.refusals import invalid


class AdviceReport(Protocol):
    """What the page reports about advice."""

    advised: int | None
    advice: str | None
    advice_shown_ms: float | None
    elapsed_ms: float


def check_advice(block: Any, allowed: tuple[int, ...] | None, n_arms: int, report: AdviceReport) -> None:
    """Refuse advice that cannot have been given."""
    if report.advised is None:
        if report.advice_shown_ms is not None:
            raise invalid("advice_shown_ms must be null if nothing was advised.")
        return
    if block.advice in ("", NONE):
        raise invalid("Nothing is advised in this block.")
    if not 0 <= report.advised < n_arms or (allowed is not None and report.advised not in allowed):
        raise invalid(f"Square {report.advised} cannot be chosen, so it was not advised.")
    if report.advice_shown_ms is not None and report.advice_shown_ms > report.elapsed_ms:
        raise invalid("advice_shown_ms must be at most elapsed_ms.")


def why(block: Any, report: AdviceReport) -> str | None:
    """The stored reason; None in a block to which no condition of advice belongs."""
    if not block.advice:
        return None
    return NONE if block.advice == NONE else (report.advice or NOT_ASKED)


def was_shown(row: Any) -> bool | None:
    """Whether the page drew the suggestion; None where there was no condition of advice."""
    return None if row.advice is None else row.advice_shown_ms is not None


def was_followed(row: Any) -> bool | None:
    """Whether the person chose what was shown; None if nothing was."""
    return None if row.advice_shown_ms is None else bool(not row.missed and row.goal == row.advised)

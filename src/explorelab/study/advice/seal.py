"""Sealed advice: the page gives back what it was sent, and the server knows its own words again, even after a restart."""

from __future__ import annotations

import hmac
import json
from typing import Any

from explorelab.choices.advice_given import LATE
from explorelab.study.advice.reasons import UNSEALED
from explorelab.study.database.refusals import invalid


def seal_of(secret: bytes, code: str, block: int, trial: int, arm: int | None, reason: str) -> str:
    """A seal on what this person was sent for this choice."""
    text = json.dumps(["advice", code, block, trial, arm, reason])
    return hmac.digest(secret, text.encode(), "sha256").hex()[:32]


def check_seal(secret: bytes, code: str, report: Any) -> None:
    """Refuse a report of advice that the server never gave; advice that came too late is still what it was."""
    if report.advised is None and report.advice in (None, *UNSEALED):
        return
    said = ("best",) if report.advice == LATE else (report.advice,)
    for reason in said:
        expected = seal_of(secret, code, report.block, report.trial, report.advised, reason or "")
        if hmac.compare_digest(expected, report.advice_seal or ""):
            return
    raise invalid("The advice that is reported was not given for this choice.")

"""What an hour of somebody's time is paid, by how long the study takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from explorelab.study.config.checking.findings import Finding
from explorelab.study.config.checking.length import Length
from explorelab.study.config.design import Study

LEAST_ON_PROLIFIC: Mapping[str, float] = {"GBP": 6.0, "USD": 8.0}
"""What Prolific demands for an hour, in the currencies in which it says so; asked of studies that send people back there."""


class Pay(NamedTuple):
    """The payment that everyone who finishes can count on."""

    currency: str
    base: float
    per_hour: float
    """For those who take longest."""
    least: float | None
    """What an hour should pay at least; None if neither study.toml nor Prolific says."""


def pay_of(study: Study, takes: Sequence[Length]) -> Pay:
    """What the study pays, without the bonus, which nobody is sure of."""
    longest_s = max(60 * one.minutes for one in takes)
    payment = study.payment
    return Pay(payment.currency, payment.base, 3600 * payment.base / longest_s, _least(study))


def _least(study: Study) -> float | None:
    if study.least_per_hour is not None:
        return study.least_per_hour
    return LEAST_ON_PROLIFIC.get(study.payment.currency) if "prolific.co" in study.completion.redirect else None


def too_little(study: Study, takes: Sequence[Length], line: int | None) -> Iterator[Finding]:
    """A base payment below what the time demands."""
    pay = pay_of(study, takes)
    if pay.least is not None and pay.per_hour < pay.least:
        longest = max(one.rounded for one in takes)
        sentence = (
            f"base = {pay.base:.2f} {pay.currency} for up to {longest} minutes is {pay.per_hour:.2f} an hour, "
            f"below {pay.least:.2f} ({'least_per_hour' if study.least_per_hour is not None else 'what Prolific demands'})"
        )
        yield Finding("study.toml", line, "doubtful", "payment", sentence)

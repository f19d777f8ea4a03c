"""The requests browsers may send, field by field; anything else is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict

Epoch = Annotated[int, Field(ge=0, le=1_000_000_000)]
Number = Annotated[int, Field(ge=0, le=1_000_000)]
Milliseconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Click = Annotated[tuple[Number, Milliseconds], Strict(False)]
"""A square and when it was clicked, as a list of two because JSON has no tuples."""
Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{32,64}$")]

Name = Annotated[str, Field(max_length=64)]
Written = Annotated[str, Field(max_length=20_000)]
Given = Written | int | Annotated[float, Field(allow_inf_nan=False)] | Annotated[list[Written], Field(max_length=100)] | None
"""An answer: text or an option, a number, several options, or none."""


class Asked(BaseModel):
    """Fields of exactly these types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Arriving(Asked):
    """Someone has opened the page."""

    page: Hex
    key: Hex
    query: Annotated[
        dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=2048)]], Field(max_length=32)
    ]


class FromPage(Asked):
    """Something from a page that has arrived."""

    epoch: Epoch


class Consenting(FromPage):
    """An answer to the consent text."""

    agreed: bool
    version: Annotated[str, Field(max_length=64)]


class Beginning(FromPage):
    """A request to begin a block."""

    block: Number


class Leaving(FromPage):
    """Someone has read a page of the study, or answered its questions, and goes on."""

    step: Number
    attempt: Annotated[int, Field(ge=1, le=1_000_000)]
    answers: Annotated[dict[Name, Given], Field(max_length=100)]
    elapsed_ms: Milliseconds
    times: Annotated[dict[Name, Milliseconds], Field(max_length=100)]
    """When each answer was last changed, since the page was shown."""


class Advising(FromPage):
    """A request for advice on a choice."""

    block: Number
    trial: Number


class Happened(Asked):
    """An event on a page."""

    number: Number
    kind: Annotated[str, Field(pattern=r"^[a-z][a-z-]{0,31}$")]
    block: Number | None = None
    trial: Number | None = None
    page_ms: Milliseconds
    value: Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)] | None = None


class Telling(FromPage):
    """What happened since the last time."""

    events: Annotated[list[Happened], Field(max_length=100)]


class Withdrawing(FromPage):
    """Someone leaves; with `delete`, taking their data with them."""

    delete: bool

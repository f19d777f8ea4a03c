"""The stages of a study: their order, what the page shows, and what applies to people at each."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Self

from explorelab._support.written_numbers import Json


class About(NamedTuple):
    """What applies at a stage."""

    kept: bool = True
    """Whether it is written to the database; the others are only shown."""
    text: bool = False
    """The page shows the study's text of this name, a Markdown file."""
    block: bool = False
    """The page is sent the current or next block."""
    page: bool = False
    """The page is sent one of the study's own pages."""
    place_open: bool = False
    """Not agreed yet: the place is not taken for others who come with the same ID."""
    under_way: bool = False
    """Takes part, counts in their condition while they do, and may come back within the study's time for it."""
    played: bool = False
    """Has made every choice: counts in their condition for good, and is shown what they have earned."""
    ended: bool = False
    """Nothing follows."""


NOTHING = About()


class Stage(StrEnum):
    """Where someone is: first the stages in order, then the ways out and those who are not let in."""

    about: About

    CONSENT = "consent", About(text=True, place_open=True)
    INSTRUCTIONS = "instructions", About(text=True, block=True, under_way=True)
    READY = "ready", About(kept=False, block=True)  # kept as PLAY, with a block that has not begun
    PLAY = "play", About(block=True, under_way=True)
    PAGE = "at_page", About(page=True, under_way=True)  # of a study with pages of its own, any of them but blocks
    DEBRIEFING = "debriefing", About(text=True, played=True)
    FINISHED = "finished", About(played=True, ended=True)
    SCREENED = "screened", About(ended=True)  # has failed a quiz too often
    DECLINED = "declined", About(text=True, place_open=True, ended=True)
    WITHDRAWN = "withdrawn", About(text=True, ended=True)
    PREVIEW = "preview", About(kept=False, text=True)  # someone on MTurk only looks
    EXPIRED = "expired", About(kept=False, text=True)  # under way, and stayed away for too long

    def __new__(cls, name: str, about: About = NOTHING) -> Self:
        """A word, as stored and sent, that knows what applies at its stage."""
        stage = str.__new__(cls, name)
        stage._value_ = name
        stage.about = about
        return stage

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: object) -> dict[str, Json]:
        """In the API's schema, just one of these words."""
        return {"type": "string", "enum": [stage.value for stage in cls]}


KEPT = tuple(stage for stage in Stage if stage.about.kept)
PLACE_OPEN = tuple(stage for stage in Stage if stage.about.place_open)
UNDER_WAY = tuple(stage for stage in Stage if stage.about.under_way)
PLAYED = tuple(stage for stage in Stage if stage.about.played)
ENDED = tuple(stage for stage in Stage if stage.about.ended)

"""What a robot was given to read, so that texts in another language than its own are found where people would see them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import httpx

from explorelab._support.written_numbers import Json, JsonObject
from explorelab.study.config.checking.translation import foreign
from explorelab.study.config.languages import LANG

_BLOCKS = re.compile(r"</(?:p|h\d|li|td|th|blockquote|legend|label)>|<br\s*/?>", re.IGNORECASE)
_TAGS = re.compile(r"<[^>]+>")
SHOWN = 60
"""Characters of a text that a message repeats."""


class Seen(NamedTuple):
    """A text that a robot was shown, and where."""

    stage: str
    text: str


class Reader:
    """The eyes of one robot: notes every text that it is sent."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._seen: dict[Seen, None] = {}
        self._others: dict[str, str] = {}
        """Stages that were said to be in another language, and which."""

    def __call__(self, path: str, body: Mapping[str, Json], answer: JsonObject) -> None:
        """Read an answer of the server."""
        state = answer.get("state")
        if not isinstance(state, dict):
            return
        if state["language"] != self.language:
            self._others[state["stage"]] = state["language"]
        for stage, text in state.get("html", {}).items():
            self._seen.update(dict.fromkeys(Seen(stage, passage) for passage in passages(text)))

    def read_labels(self, texts: JsonObject) -> None:
        """Read the short texts of the page."""
        if texts["language"] != self.language:
            self._others["texts"] = texts["language"]
        self._seen.update(dict.fromkeys(Seen(name, text) for name, text in texts["labels"].items()))

    def complaints(self) -> list[str]:
        """What was not in the robot's language, one sentence each."""
        found = [f"{stage} came in {other!r} instead of {self.language!r}" for stage, other in self._others.items()]
        wrong = set(foreign([each.text for each in self._seen], self.language))
        return found + [
            f"{each.stage} is not in {self.language!r}: {each.text[:SHOWN]}{'...' if len(each.text) > SHOWN else ''}"
            for each in self._seen if each.text in wrong
        ]  # fmt: skip


async def read_labels(client: httpx.AsyncClient, readers: Sequence[Reader]) -> None:
    """Give each robot the short texts in its language."""
    told: dict[str, JsonObject] = {}
    for reader in readers:
        if reader.language not in told:
            told[reader.language] = (await client.get("/api/texts", params={LANG: reader.language})).json()
        reader.read_labels(told[reader.language])


def passages(page: str) -> list[str]:
    """The paragraphs, headings and items of a page in HTML, as they are read."""
    parts = (" ".join(html.unescape(_TAGS.sub(" ", part)).split()) for part in _BLOCKS.split(page))
    return [part for part in parts if part]

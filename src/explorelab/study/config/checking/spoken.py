"""Which language a text is in, as far as its small words tell: of the languages that studies are offered in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt

WORDS = {
    "en": "the and to you your are that this with for from have be can it which by if when they how until each been there "
    "our",
    "de": "der das und ist sie nicht ein eine dem mit für auf werden wird wenn ihre ihr ihnen ihrer oder von zu zum zur bei "
    "nach aus sich wir kann können sind als auch den einer eines dass",
    "es": "el los las una del con sus para como más puede usted está este esta al cada cuando pero hasta ha han ser su "
    "lo por hay muy hacia sin sobre nos esa ese",
    "fr": "le les des une et est vous votre vos dans pour pas qui ne aux avec cette ces il elle être ou nous leur chaque au "
    "sont où",
}
"""Frequent words that the other languages do not have, or hardly ever."""
LEAST_SHARE, LEAST_WORDS, CLEARLY = 0.12, 2, 3
"""Of the words of a text, how many must be one language's, and how many times those of any other."""

_OWN = {language: frozenset(words.split()) for language, words in WORDS.items()}
_NOT_SPOKEN = re.compile(r"`[^`]*`|https?://\S+|(?<!\S)\S+@\S+|\{[^{}\n]*\}|\*\*\[[^][\n]*\]\*\*")
"""Code, addresses, placeholders, and what is still to be filled in: nobody reads these as sentences."""


class Paragraph(NamedTuple):
    """A paragraph, heading, list item or cell of a page."""

    line: int
    text: str


def spoken(text: str) -> str | None:
    """The language that the text is clearly in, of those known here; None if it is in another, or too short to tell."""
    words = words_of(text)
    found = {language: sum(word in own for word in words) for language, own in _OWN.items()}
    best, second, *_ = sorted(found, key=lambda language: -found[language])
    enough = found[best] >= max(LEAST_WORDS, LEAST_SHARE * len(words)) and len(set(words) & _OWN[best]) >= LEAST_WORDS
    return best if enough and found[best] >= CLEARLY * found[second] else None


def words_of(text: str) -> list[str]:
    """The words that are read as sentences, in small letters."""
    return re.findall(r"[^\W\d_]+", _NOT_SPOKEN.sub(" ", text).lower())


def main_language(code: str) -> str:
    """The language without its region: "pt" of "pt-BR"."""
    return code.lower().partition("-")[0]


def paragraphs(page: str) -> Iterator[Paragraph]:
    """The paragraphs of a page in Markdown, with the lines on which they begin."""
    for token in _converter().parse(page):
        if token.type == "inline" and token.content.strip():
            yield Paragraph(token.map[0] + 1 if token.map else 1, token.content)


@cache
def _converter() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")

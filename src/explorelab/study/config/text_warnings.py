"""Warnings about a study's texts: raw HTML and pictures, and a mix of two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from explorelab.study.config.markdown import may_link
from explorelab.study.config.texts import ENGLISH, LANGUAGES, PAGES, template_labels

if TYPE_CHECKING:
    from markdown_it.token import Token

    from explorelab.study.config.design import Texts

NAMED = 3
"""Labels named in a warning; the others are only counted."""
FEW_WORDS = 30
"""Pages with fewer words are too short to tell their language."""
ENGLISH_WORDS = frozenset({"the", "and", "of", "to", "you", "your", "is", "are", "will"})
"""Every fifth word of an English page is one of these; in other languages hardly any."""
LEAST_ENGLISH, MOST_FOREIGN = 0.12, 0.05

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")


def text_warnings(texts: Texts) -> list[str]:
    """One line for each part of the texts that would be shown as source, or is in the wrong language."""
    return [*_raw(texts), *_languages(texts)]


def _raw(texts: Texts) -> Iterator[str]:
    for page in PAGES:
        for line, what in _shown_raw(texts.pages[page]):
            yield f"{page}.md, line {line}: {what}"
    for name, label in texts.labels.items():
        found = _TAG.search(label)
        if found:
            yield f"texts.toml, {name}: HTML such as {found[0]} is shown as plain text"


def _shown_raw(text: str) -> Iterator[tuple[int, str]]:
    """Line and description of Markdown that an author would expect to be rendered but is not."""
    for block in _permissive().parse(text):
        line = block.map[0] + 1 if block.map else 1
        if block.type == "html_block":
            yield line, f"HTML such as {_start(block.content)} is shown as plain text"
        for token in block.children or []:
            if token.type in ("softbreak", "hardbreak"):
                line += 1
            what = _what(token)
            if what:
                yield line, what


def _what(token: Token) -> str:
    if token.type == "image":
        return f"the picture {_start(str(token.attrs['src']))} is not shown: people see its Markdown source"
    if token.type == "html_inline":
        return f"HTML such as {_start(token.content)} is shown as plain text; use **bold** and *italics*"
    if token.type == "link_open" and not may_link(str(token.attrs["href"])):
        return f"{_start(str(token.attrs['href']))} is not a link: links begin with https://, http:// or mailto:"
    return ""


def _start(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= 40 else f"{first[:37]}..."


@cache
def _permissive() -> MarkdownIt:
    converter = MarkdownIt("commonmark", {"html": True}).enable("table")
    converter.validateLink = lambda url: True  # type: ignore[method-assign]
    return converter


# Languages ------------------------------------------------------------------------------------------------------------


def _languages(texts: Texts) -> Iterator[str]:
    """Labels and pages whose language differs from the one in texts.toml."""
    english = texts.language.lower().split("-")[0] == "en"
    if not english:
        # Some words are the same: "Total" is French too.
        same = template_labels(texts.language) if texts.language.lower().split("-")[0] in LANGUAGES else {}
        left = [
            name
            for name, text in template_labels().items()
            if texts.labels.get(name) == text != same.get(name) and _has_words(text)
        ]
        if left:
            more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
            names = ", ".join(left[:NAMED]) + more
            yield f"texts.toml has language {texts.language!r}, but these labels are still in English: {names}"
    for page, text in texts.pages.items():
        if english and _english(text, MOST_FOREIGN, below=True):
            yield f"{page}.md does not look like English, but texts.toml has language {texts.language!r}"
        if not english:
            line = _first_of_template(page, text)
            if line:
                yield f"{page}.md, line {line}: still in English, but texts.toml has language {texts.language!r}"
            elif _english(text, LEAST_ENGLISH, below=False):
                yield f"{page}.md looks like English, but texts.toml has language {texts.language!r}"


def _has_words(text: str) -> bool:
    return re.search(r"[^\W\d_]{2}", re.sub(r"\{[^{}]*\}", "", text)) is not None


def _english(text: str, share: float, *, below: bool) -> bool:
    """Whether a page that is long enough has fewer, or more, than this share of English words."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    found = sum(word in ENGLISH_WORDS for word in words) / len(words) if words else 0.0
    # Chinese and Japanese have no spaces between words: there the letters count.
    long_enough = len(words) >= FEW_WORDS or sum(map(len, words)) >= 4 * FEW_WORDS
    return long_enough and (found < share if below else found > share)


def _first_of_template(page: str, text: str) -> int:
    """The first line of a page that the English template has too, from 1; 0 if there is none."""
    lines = _sentences(page)
    return next((number for number, line in enumerate(text.splitlines(), 1) if line.strip() in lines), 0)


@cache
def _sentences(page: str) -> frozenset[str]:
    """Lines of the template with enough words to be recognisably English, and no placeholders."""
    text = (ENGLISH / f"{page}.md").read_text(encoding="utf-8")
    return frozenset(line.strip() for line in text.splitlines() if len(line.split()) >= 4 and "{" not in line)

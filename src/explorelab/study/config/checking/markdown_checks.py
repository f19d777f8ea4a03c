"""What an author wrote in a page and people do not see as meant: HTML, pictures, links that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from explorelab.study.config.checking.findings import About, Finding
from explorelab.study.config.design import Texts
from explorelab.study.config.markdown import may_link

if TYPE_CHECKING:
    from markdown_it.token import Token

EXAMPLES = re.compile(r"(?:^|[.@])example\.(?:org|com|net|edu)$|\.example$|^localhost$", re.IGNORECASE)
"""Hosts that are only ever placeholders."""

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")
_HOST = re.compile(r"(?!-)[^\s.@\"'<>]+(?:\.[^\s.@\"'<>]+)+")
_MAIL = re.compile(r"[^\s@<>\"]+@([^\s@<>\"]+\.[^\s@<>\"]+)")


class Said(NamedTuple):
    """A sentence about a line of a page."""

    line: int
    about: About
    sentence: str


def unseen(texts: Texts, within: str = "") -> Iterator[Finding]:
    """Everything that people would see otherwise than meant; `within` is the folder of this language."""
    for page, text in texts.pages.items():
        for each in said_of(text):
            yield Finding(f"{within}{page}.md", each.line, "doubtful", each.about, each.sentence)
    for name, label in texts.labels.items():
        if found := _TAG.search(label):
            sentence = f"the label {name} contains HTML such as {found[0]}, which is shown as plain text"
            yield Finding(f"{within}texts.toml", None, "doubtful", "markdown", sentence)


def said_of(text: str) -> Iterator[Said]:
    """What to say of a page in Markdown."""
    for block in _permissive().parse(text):
        line = block.map[0] + 1 if block.map else 1
        if block.type == "html_block":
            yield Said(line, "markdown", f"HTML such as {_start(block.content)} is shown as plain text")
        for token in block.children or []:
            if token.type in ("softbreak", "hardbreak"):
                line += 1
            if said := _of_token(token):
                yield Said(line, *said)


def _of_token(token: Token) -> tuple[About, str] | None:
    if token.type == "image":
        return "picture", f"the picture {_start(str(token.attrs['src']))} is not shown: people see its Markdown source"
    if token.type == "html_inline":
        return "markdown", f"HTML such as {_start(token.content)} is shown as plain text; use **bold** and *italics*"
    if token.type == "link_open" and (wrong := wrong_link(str(token.attrs["href"]))):
        return "link", wrong
    return None


def wrong_link(address: str) -> str:
    """Why the address of a link leads nowhere, if it does."""
    shown = _start(address)
    if address.startswith("#"):
        return f"the link {shown} leads nowhere: pages have no places with names"
    if not may_link(address):
        return f"{shown} is not a link: links begin with https://, http:// or mailto:"
    if address.lower().startswith("mailto:"):
        mail = _MAIL.fullmatch(address[len("mailto:") :].partition("?")[0])
        if mail is None:
            return f"{shown} is not an e-mail address"
        return f"{shown} is an example, not an address of yours" if EXAMPLES.search(mail[1]) else ""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if EXAMPLES.search(host):
        return f"{shown} is an example, not a page of yours"
    if not _HOST.fullmatch(host):
        return f"{shown} is not an address of a page"
    if address.lower().startswith("http:"):
        return f"{shown} is not encrypted: does it work with https:// too?"
    return ""


def _start(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= 40 else f"{first[:37]}..."


@cache
def _permissive() -> MarkdownIt:
    converter = MarkdownIt("commonmark", {"html": True}).enable("table")
    converter.validateLink = lambda url: True  # type: ignore[method-assign]
    return converter

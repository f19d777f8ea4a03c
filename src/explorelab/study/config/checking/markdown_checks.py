"""What an author wrote in a page and people do not see as meant: HTML, pictures, links that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from explorelab.study.config.checking.findings import About, Finding
from explorelab.study.config.checking.written import Part
from explorelab.study.config.markdown import may_link
from explorelab.study.session.pages.picture_files import MISSING, read_picture

if TYPE_CHECKING:
    from markdown_it.token import Token

EXAMPLES = re.compile(r"(?:^|[.@])example\.(?:org|com|net|edu)$|\.example$|^localhost$", re.IGNORECASE)
"""Hosts that are only ever placeholders."""

LARGEST_PICTURE = 2**20

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--")
_HOST = re.compile(r"(?!-)[^\s.@\"'<>]+(?:\.[^\s.@\"'<>]+)+")
_MAIL = re.compile(r"[^\s@<>\"]+@([^\s@<>\".]+(?:\.[^\s@<>\".]+)+)")


class Said(NamedTuple):
    """A sentence about a line of a page."""

    line: int
    about: About
    sentence: str


def unseen(parts: Iterable[Part], folder: Path | None = None) -> Iterator[Finding]:
    """Everything in pages and forms that people would see otherwise than meant; pictures are looked for in the folder."""
    for part in parts:
        for each in said_of(part.text):
            yield Finding(part.file, part.at(each.line), "doubtful", each.about, each.sentence)
        for line, source, alt in _pictures(part.text):
            if wrong := wrong_picture(source, alt, part, folder):
                yield Finding(part.file, part.at(line), "doubtful", "picture", wrong)


def unseen_labels(labels: Mapping[str, str], file: str) -> Iterator[Finding]:
    """HTML in the short texts of the page."""
    for name, label in labels.items():
        if found := _TAG.search(label):
            sentence = f"the label {name} contains HTML such as {found[0]}, which is shown as plain text"
            yield Finding(file, None, "doubtful", "markdown", sentence)


def wrong_picture(source: str, alt: str, part: Part, folder: Path | None) -> str:
    """What is wrong with a picture in a page."""
    shown = _start(source)
    if re.match(r"[a-z][a-z0-9+.-]*:|//", source, re.IGNORECASE):
        return f"the picture {shown} is on another site, from which pages may load nothing: put it into the study folder"
    if folder is not None:
        language = str(Path(part.file).parent) if Path(part.file).parent != Path() else ""
        found = read_picture(folder, source, language)
        if found == MISSING:
            return f"the picture {shown} is missing: there is no such file in the study folder"
        if isinstance(found, str):
            return f"the picture {shown} {found}: people see its Markdown source"
        if len(found.data) > LARGEST_PICTURE:
            size = len(found.data) / 2**20
            return f"the picture {shown} has {size:.1f} MB, which takes long on a phone: make it smaller than 1 MB"
    if not alt.strip():
        return f"the picture {shown} has no description for people who cannot see it: ![description]({shown})"
    return ""


def said_of(text: str) -> Iterator[Said]:
    """What to say of a text in Markdown, but for its pictures."""
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


def _pictures(text: str) -> Iterator[tuple[int, str, str]]:
    """Line, file and description of each picture."""
    for block in _permissive().parse(text):
        line = block.map[0] + 1 if block.map else 1
        for token in block.children or []:
            line += token.type in ("softbreak", "hardbreak")
            if token.type == "image":
                yield line, str(token.attrs["src"]), token.content


def _start(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= 40 else f"{first[:37]}..."


@cache
def _permissive() -> MarkdownIt:
    converter = MarkdownIt("commonmark", {"html": True}).enable("table")
    converter.validateLink = lambda url: True  # type: ignore[method-assign]
    return converter

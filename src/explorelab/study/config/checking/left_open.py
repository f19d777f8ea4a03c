"""What is still to be filled in before people may come, and what a consent page must have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import shorten
from urllib.parse import urlsplit

from explorelab._support.counted import counted
from explorelab.study.config.checking.findings import Finding
from explorelab.study.config.checking.markdown_checks import EXAMPLES
from explorelab.study.config.checking.written import Part
from explorelab.study.config.design import Completion, Texts
from explorelab.study.config.texts import PLACEHOLDERS
from explorelab.study.session.stages import Stage

CODE = "CHANGE-ME"
"""The completion code of a new study."""

_OPEN = re.compile(r"\*\*(\[(?:[^][\n]|\n(?![ \t]*\n)){3,}\])\*\*")
"""A place to fill in, which may go on in the next line of its paragraph."""
_NAMES = "|".join(PLACEHOLDERS)
_LIKE = re.compile(rf"\{{\{{ *({_NAMES}) *\}}\}}|(?<![\w{{])[$%<] *({_NAMES}) *[%>]|\$\{{? *({_NAMES})\b")
"""Placeholders as other programs write them."""
_CONTACT = re.compile(r"(?<![^\s@<>\"()])[^\s@<>\"()]+@[^\s@<>\"()]+\.\w{2,}|(?:\+|\b0)[\d ()/.-]{6,}\d|https?://\S+")
"""An e-mail address, a telephone number, or a page."""


def to_fill_in(parts: Iterable[Part]) -> Iterator[Finding]:
    """Places that are left to fill in."""
    for part in parts:
        if found := list(_OPEN.finditer(part.text)):
            sentence = (
                f"has {counted(len(found), 'placeholder')} left, the first: {shorten(found[0][1], 60, placeholder=' ...]')}"
            )
            yield Finding(part.file, _line(part, found[0]), "to fill in", "placeholder", sentence)


def unfillable(parts: Iterable[Part]) -> Iterator[Finding]:
    """Placeholders written in a way that nothing fills in; the texts are those of the files."""
    for part in parts:
        for found in _LIKE.finditer(part.text):
            name = next(name for name in found.groups() if name)
            sentence = f"{found[0].strip()} is shown as it is written; the study fills in {{{name}}}"
            yield Finding(part.file, _line(part, found), "doubtful", "placeholder", sentence)


def meaningless(parts: Iterable[Part], lacking: Mapping[str, str]) -> Iterator[Finding]:
    """Placeholders for which the study has no value; the texts are those of the files."""
    for part in parts:
        for name, needed in lacking.items():
            if (found := re.search(rf"(?<!\{{)\{{{name}\}}", part.text)) is not None:
                sentence = f"{found[0]} needs {needed}, which the study does not have"
                yield Finding(part.file, _line(part, found), "to fill in", "placeholder", sentence)


def without_contact(texts: Texts, within: str = "") -> Iterator[Finding]:
    """A consent page that says nowhere whom to ask."""
    text = texts.pages[Stage.CONSENT]
    contacts = [found[0] for found in _CONTACT.finditer(text) if not EXAMPLES.search(found[0].rstrip(".,;:)"))]
    if not contacts and not _OPEN.search(text):
        sentence = "names no e-mail address, telephone number or page where people can ask or complain"
        yield Finding(f"{within}{Stage.CONSENT}.md", None, "doubtful", "contact", sentence)


def leaving(completion: Completion, line: int | None) -> Iterator[Finding]:
    """What is doubtful about how people leave."""
    if completion.code == CODE:
        yield Finding("study.toml", line, "to fill in", "settings", f"still contains the completion code {CODE}")
    host = urlsplit(completion.redirect).hostname or ""
    if EXAMPLES.search(host):
        yield Finding("study.toml", line, "to fill in", "link", f"redirect leads to {host}, which is an example")
    if "prolific.co" in host and "{code}" not in completion.redirect and "cc=" not in completion.redirect:
        sentence = "redirect leads to Prolific without a completion code (cc={code}), so nobody's submission is registered"
        yield Finding("study.toml", line, "doubtful", "link", sentence)


def _line(part: Part, found: re.Match[str]) -> int | None:
    return part.at(part.text.count("\n", 0, found.start()) + 1)

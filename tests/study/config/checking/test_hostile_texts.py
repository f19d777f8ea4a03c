"""No text keeps the checks busy: the time they take grows with its length, not with the square of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from explorelab.study.config.checking.left_open import _CONTACT, _LIKE, _OPEN
from explorelab.study.config.checking.markdown_checks import _TAG, wrong_link
from explorelab.study.config.checking.spoken import words_of
from explorelab.study.config.checking.translation import _PLACEHOLDER, PARTS
from explorelab.study.config.shared_files import without_database

CHARACTERS = 200_000
AGAIN = (
    "a", "a.", ".", "a@", "a@.", "@", "a:", ":", "://", "://a:", "https://", "**[", "**[a", "![", "[", "[a", "[a] ", "+",
    "0(", "0 ", "(", "`", "{", "{{", "{title", "$", "<", "<a", "*", "_", " ", "# ", "\t", "é",
)  # fmt: skip
"""What hostile texts repeat."""
SEEN_S = 3.0
"""Processor time for a text; with the square of its length it would be minutes."""


def finds(pattern: re.Pattern[str]) -> Callable[[str], object]:
    return lambda text: sum(1 for _ in pattern.finditer(text))


CHECKS: dict[str, Callable[[str], object]] = {
    "contacts": finds(_CONTACT), "placeholders": finds(_OPEN), "placeholders of others": finds(_LIKE), "tags": finds(_TAG),
    "our placeholders": finds(_PLACEHOLDER), "words": words_of,
    **{name: finds(pattern) for name, pattern in PARTS.items()},
    "links": lambda text: wrong_link(f"https://{text}"), "mail": lambda text: wrong_link(f"mailto:x@{text}"),
    "mail from": lambda text: wrong_link(f"mailto:{text}"),
    "logins": lambda text: without_database(f"# ://{text}\n"),
}  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
def test_a_long_text_takes_little_time(check: str) -> None:
    for again in AGAIN:
        text = again * (CHARACTERS // len(again)) + " !"
        began = time.process_time()
        CHECKS[check](text)
        assert time.process_time() - began < SEEN_S, f"{again!r}, again and again"


@pytest.mark.parametrize(
    ("text", "contacts"),
    [
        ("Write to (lab@uni-bonn.de), please", ["lab@uni-bonn.de"]), ("a@b@c.de", ["b@c.de"]), ("nobody@nowhere", []),
        ("Call +49 228 73-0000 or 0228/730000.", ["+49 228 73-0000", "0228/730000"]), ("<x@y.org>", ["x@y.org"]),
    ],
)  # fmt: skip
def test_contacts_are_found_as_they_are_written(text: str, contacts: list[str]) -> None:
    assert [found[0] for found in _CONTACT.finditer(text)] == contacts


def test_addresses_and_what_is_to_be_filled_in_are_no_words() -> None:
    assert words_of("Ask lab@uni-bonn.de or **[your name]** at https://x.org/y now") == ["ask", "or", "at", "now"]


@pytest.mark.parametrize("login", ["user:secret@", ":secret@", "user:se:cr@et@"])
def test_a_login_is_taken_out_wherever_it_is(login: str) -> None:
    assert without_database(f"# postgresql://{login}host/db\n") == "# postgresql://host/db\n"

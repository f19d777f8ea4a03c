"""Markdown pages as HTML that is safe to show: no HTML of their own, no scripts, no styles, no pictures from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

_LINK = re.compile(r"(?:https?://[^/?#]|mailto:[^?#])", re.IGNORECASE)


def to_html(text: str) -> str:
    """The page as HTML. HTML in it is shown as text; links open in a new tab that cannot see ours."""
    return _converter().render(text)


@cache
def _converter() -> MarkdownIt:
    converter = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
    converter.validateLink = may_link  # type: ignore[assignment, method-assign]
    converter.add_render_rule("link_open", _link_open)
    converter.add_render_rule("th_open", _cell_open)
    converter.add_render_rule("td_open", _cell_open)
    return converter


def shows_pictures() -> bool:
    """Whether pages show pictures."""
    return "image" in _converter().get_active_rules()["inline"]


def may_link(address: str) -> bool:
    """Whether pages may have a link to this address."""
    return _LINK.match(address) is not None


def _link_open(self: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, environment: EnvType) -> str:
    """A link in a new tab, without a referrer: this page's address contains platform IDs."""
    token = tokens[number]
    token.attrSet("target", "_blank")
    token.attrSet("rel", "noopener")
    token.attrSet("referrerpolicy", "no-referrer")
    return self.renderToken(tokens, number, options, environment)


def _cell_open(self: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, environment: EnvType) -> str:
    """A table cell, aligned by a class: pages may not contain styles."""
    token = tokens[number]
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrSet("class", style.replace("text-align:", "align-"))
    return self.renderToken(tokens, number, options, environment)

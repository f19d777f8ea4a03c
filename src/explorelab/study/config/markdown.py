"""Markdown pages as HTML that is safe to show: no HTML of their own, no scripts, no styles, no pictures from elsewhere.

Pictures are those of the study's own folder that have been read; any other is shown as its source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

PICTURES = "pictures"
"""In the environment of a text: the addresses of its pictures."""
_LINK = re.compile(r"(?:https?://[^/?#]|mailto:[^?#])", re.IGNORECASE)


def to_html(text: str, pictures: tuple[tuple[str, str], ...] = ()) -> str:
    """The page as HTML. HTML in it is shown as text; links open in a new tab that cannot see ours.

    `pictures` has the addresses of pictures by what the text calls them.
    """
    converter = _with_pictures(pictures) if pictures else _converter()
    return str(converter.render(text, {PICTURES: dict(pictures)}))


def pictures_in(text: str) -> list[str]:
    """What the text calls its pictures, as `to_html` expects them."""
    found = []
    for block in _any_link().parse(text):
        found += [str(token.attrs["src"]) for token in block.children or [] if token.type == "image"]
    return found


@lru_cache(maxsize=32)
def _with_pictures(pictures: tuple[tuple[str, str], ...]) -> MarkdownIt:
    known = {reference for reference, _ in pictures}
    converter = _new_converter().enable("image")
    converter.validateLink = lambda url: may_link(url) or url in known  # type: ignore[method-assign]
    converter.add_render_rule("image", _image)
    return converter


@cache
def _any_link() -> MarkdownIt:
    converter = _new_converter().enable("image")
    converter.validateLink = lambda url: True  # type: ignore[method-assign]
    return converter


@cache
def _converter() -> MarkdownIt:
    return _new_converter()


def _new_converter() -> MarkdownIt:
    converter = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
    converter.validateLink = may_link  # type: ignore[assignment, method-assign]
    converter.add_render_rule("link_open", _link_open)
    converter.add_render_rule("th_open", _cell_open)
    converter.add_render_rule("td_open", _cell_open)
    return converter


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


def _image(self: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, environment: EnvType) -> str:
    """A picture of the study with its description, or the source of any other."""
    token = tokens[number]
    said = self.renderInlineAsText(token.children, options, environment) if token.children else ""
    address = environment[PICTURES].get(str(token.attrs["src"]))
    if address is None:
        return escapeHtml(f"![{said}]({token.attrs['src']})")
    return f'<img src="{escapeHtml(address)}" alt="{escapeHtml(said)}">'


def _cell_open(self: RendererHTML, tokens: Sequence[Token], number: int, options: OptionsDict, environment: EnvType) -> str:
    """A table cell, aligned by a class: pages may not contain styles."""
    token = tokens[number]
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrSet("class", style.replace("text-align:", "align-"))
    return self.renderToken(tokens, number, options, environment)

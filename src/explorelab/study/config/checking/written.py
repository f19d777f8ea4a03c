"""Every text of a study that its researcher wrote, and where it stands: pages in Markdown, questions of forms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from explorelab._support.toml.toml_file import PlacedError, Toml, read_toml
from explorelab._support.toml.toml_lines import KeyPath
from explorelab.study.config.design import Texts


class Part(NamedTuple):
    """A text in Markdown: a whole page, or a text of a form."""

    file: str
    """Its name in the study's folder."""
    line: int | None
    """The line on which it begins."""
    text: str
    is_page: bool = True

    def at(self, line: int) -> int | None:
        """The line of the file that is this line of the text, counted from 1."""
        return None if self.line is None else self.line + line - 1

    @property
    def page(self) -> str:
        """The page's name, as in the templates."""
        return PurePosixPath(self.file).stem


def parts_of(texts: Texts, within: str = "", folder: Path | None = None) -> Iterator[Part]:
    """All texts in this language, whose files are `within` the folder; without the folder, lines in forms are not known."""
    pages = {f"{page}.md": text for page, text in texts.pages.items() if text} | dict(texts.more)
    for file, text in pages.items():
        yield Part(f"{within}{file}", 1, text)
    for file, form in texts.forms.items():
        toml = None if folder is None else toml_of(folder / within / file)
        words: list[tuple[KeyPath, str]] = [(("title",), form.title), (("intro",), form.intro)]
        for number, question in enumerate(form.questions):
            at: KeyPath = ("questions", number)
            options = ". ".join(option.text for option in question.options if option.text)
            words += [((*at, "text"), question.text), ((*at, "options"), options), ((*at, "feedback"), question.feedback)]
        for at, text in words:
            if text:
                yield Part(f"{within}{file}", None if toml is None else toml.line_of(at), text, is_page=False)


def toml_of(file: Path) -> Toml | None:
    """A TOML file with its lines, if it can be read."""
    try:
        return read_toml(file)
    except PlacedError:
        return None

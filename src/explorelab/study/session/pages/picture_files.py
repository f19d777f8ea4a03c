"""Pictures of a study: files of its folder that its texts show, known by their content and served under a name made of it.

PNG, JPEG, GIF and WebP are served, and nothing else: an SVG is a program to a browser that opens it. What is served is what
was read when the study was loaded, so no address can reach another file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from explorelab.study.config.markdown import pictures_in

if TYPE_CHECKING:
    from explorelab.study.config.design import Texts
    from explorelab.study.session.pages.page_types import Form

MOST_BYTES = 2 * 1024 * 1024
"""Of one picture: people load it on phones."""
MOST_IN_ALL = 30 * 1024 * 1024
KINDS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))
MISSING = "is not in the study folder"
ADDRESS = "pictures"
"""Below which address pictures are."""


class Picture(NamedTuple):
    """A picture as it is served."""

    name: str
    """The last part of its address."""
    kind: str
    """Its media type."""
    data: bytes
    file: str
    """Below the study's folder."""


class Pictures(NamedTuple):
    """The pictures of one language."""

    names: dict[str, str]
    """Names of pictures by what the texts call them."""
    wrong: dict[str, str]
    """What is wrong with a picture that is not shown."""
    found: dict[str, Picture]
    """By name."""


def read_picture(folder: Path, reference: str, language: str = "") -> Picture | str:
    """The picture that a text of this language refers to, or what is wrong with it.

    It is looked for in the language's folder, and then in the study's, where pictures for all languages are.
    """
    written = unquote(reference)
    parts = PurePosixPath(written).parts
    if "://" in written or "\\" in written or written.startswith("/") or ".." in parts or "\0" in written:
        return "must be a file in the study folder"
    inside = folder.resolve()
    for start in (folder / language, folder) if language else (folder,):
        file = start / written
        if not file.is_file():
            continue
        if not file.resolve().is_relative_to(inside):
            return "leads out of the study folder"
        return _picture(file, file.relative_to(folder).as_posix())
    return MISSING


def _picture(file: Path, name: str) -> Picture | str:
    size = file.stat().st_size
    if size > MOST_BYTES:
        return f"must have at most {MOST_BYTES // 1024} KiB, got {size // 1024} KiB"
    data = file.read_bytes()
    kind = kind_of(data)
    if kind is None:
        return "must be PNG, JPEG, GIF or WebP, and is something else by its content"
    return Picture(f"{sha256(data).hexdigest()[:32]}.{kind}", f"image/{kind}", data, name)


def kind_of(data: bytes) -> str | None:
    """Which kind of picture this is, by its first bytes; None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for start, kind in KINDS if data.startswith(start)), None)


def read_pictures(folder: Path, language: str, texts: Texts) -> Pictures:
    """All pictures that the texts of a language refer to."""
    read = Pictures({}, {}, {})
    for reference in dict.fromkeys(each for text in written_in(texts) for each in pictures_in(text)):
        picture = read_picture(folder, reference, language)
        if isinstance(picture, str):
            read.wrong[reference] = picture
        elif sum(len(each.data) for each in read.found.values()) + len(picture.data) > MOST_IN_ALL:
            read.wrong[reference] = f"is one too many: all pictures may have {MOST_IN_ALL // 1024**2} MiB together"
        else:
            read.names[reference] = picture.name
            read.found[picture.name] = picture
    return read


def written_in(texts: Texts) -> Iterable[str]:
    """Everything that is written in Markdown."""
    yield from texts.pages.values()
    yield from texts.more.values()
    for form in texts.forms.values():
        yield from written_in_form(form)


def written_in_form(form: Form) -> Iterable[str]:
    """Everything in a form that is written in Markdown."""
    yield form.intro
    for question in form.questions:
        yield from (question.text, question.feedback)


def with_pictures(
    folder: Path, texts: Mapping[str, Texts], arms: Iterable[str], *, several: bool
) -> tuple[dict[str, Texts], dict[str, Picture]]:
    """The texts of all languages with their pictures, and all pictures by name; those of `arms` keep their own."""
    shown, pictures = {}, dict[str, Picture]()
    for file in arms:
        picture = read_picture(folder, file)
        if isinstance(picture, Picture):
            pictures[file] = picture
    for language, each in texts.items():
        read = read_pictures(folder, language if several else "", each)
        shown[language] = replace(each, pictures=read.names, no_pictures=read.wrong)
        pictures |= read.found
    return shown, pictures

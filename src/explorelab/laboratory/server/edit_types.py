"""What the editor of a study asks and is answered."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from explorelab.laboratory.server.lab_answers import Asking
from explorelab.study.session.screens import State, Texts


class Edited(Asking):
    """Changes to a version: the text of each file that is changed or new, null for one that is removed."""

    base: int = Field(ge=0, le=1_000_000)
    files: dict[str, str | None] = Field(max_length=300)


class SaveAsked(Edited):
    """Changes to save, and why."""

    why: str = Field("", max_length=200)


class PreviewAsked(Edited):
    """Changes to look at, and in which language."""

    language: str = Field("", max_length=35)


class PictureAsked(Asking):
    """A picture to upload, in base64."""

    base: int = Field(ge=0, le=1_000_000)
    name: str = Field(max_length=200)
    data: str = Field(max_length=7_000_000)


class FileShown(BaseModel):
    """A file of the study."""

    name: str
    text: str | None
    """Null for what is not text."""
    size: int
    picture: str
    """A picture as a data address; empty for all others."""


class DraftShown(BaseModel):
    """What whoever asks has typed and not saved."""

    base: int
    at: float
    files: dict[str, str | None]


class FilesShown(BaseModel):
    """The files of the study as they are served."""

    version: int
    languages: list[str]
    files: list[FileShown]
    draft: DraftShown | None


class FindingShown(BaseModel):
    """Something to look at."""

    file: str
    line: int | None
    level: Literal["wrong", "to fill in", "doubtful"]
    sentence: str


class EditChecked(BaseModel):
    """What was found in the files as they were typed, which are kept as a draft."""

    may_save: bool
    findings: list[FindingShown]
    effects: list[str]
    """What the change means for people who have begun."""
    n_begun: int
    """People who have agreed to take part."""


class Saved(BaseModel):
    """It is saved and served."""

    version: int


class PictureSaved(Saved):
    """The picture is in the study under this name."""

    name: str


class ScreenShown(BaseModel):
    """A screen of the study, as the participants' page receives it."""

    name: str
    state: State


class ScreensShown(BaseModel):
    """All screens, or why there are none."""

    texts: Texts | None
    screens: list[ScreenShown]
    pictures: dict[str, str]
    """The pictures on them as data addresses, by the last part of the address that the screens name."""
    problem: str


class VersionShown(BaseModel):
    """A version of the study's files."""

    number: int
    at: float
    by: str
    why: str


class VersionsShown(BaseModel):
    """All versions, the newest first."""

    versions: list[VersionShown]


class FileDifference(BaseModel):
    """What differs in a file: lines that begin with +, - or a blank."""

    name: str
    lines: list[str]


class Differences(BaseModel):
    """What differs between two versions."""

    older: int
    newer: int
    files: list[FileDifference]

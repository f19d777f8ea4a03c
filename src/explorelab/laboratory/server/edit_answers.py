"""Answers about a study's files: as they are, checked as they are typed, previewed, saved, compared and restored."""

from __future__ import annotations

import asyncio
import base64
import binascii
import mimetypes
from collections.abc import Callable

from anyio import CapacityLimiter, to_thread
from sqlalchemy import Connection

from explorelab.errors import InputError
from explorelab.laboratory.editing import drafts, versions
from explorelab.laboratory.editing.editor import Saving, check_saves, judged, looked_through, recorded, save
from explorelab.laboratory.editing.kept_word import NOBODY, Begun, begun, effects
from explorelab.laboratory.editing.picture_uploads import redrawn
from explorelab.laboratory.editing.screens_preview import screens
from explorelab.laboratory.editing.study_files import PICTURES, TEXTS, Files
from explorelab.laboratory.server.edit_types import (
    Differences,
    DraftShown,
    EditChecked,
    Edited,
    FileDifference,
    FileShown,
    FilesShown,
    FindingShown,
    PictureAsked,
    PictureSaved,
    PreviewAsked,
    SaveAsked,
    Saved,
    ScreenShown,
    ScreensShown,
    VersionShown,
    VersionsShown,
)
from explorelab.laboratory.server.lab_answers import Done
from explorelab.laboratory.server.lab_office import At, Here
from explorelab.study.config.checking.findings import Finding
from explorelab.study.config.design import Study
from explorelab.study.config.texts import own_name
from explorelab.study.database.refusals import Refused, invalid
from explorelab.study.session.screens import Texts

_few = CapacityLimiter(2)
"""Checks at the same time: each reads a whole study."""


async def files(at: At) -> FilesShown:
    """The files as they are served, and what whoever asks has not saved."""
    number = await _recorded(at)
    account, study = at.account.id, at.in_study.id

    def look(connection: Connection) -> tuple[Files, drafts.Draft | None]:
        return versions.files_of(connection, study, number), drafts.draft_of(connection, account, study)

    found, draft = await at.laboratory.database.read(look)
    served = _served(at)
    return FilesShown(
        version=number, languages=[] if served is None else list(served.languages),
        files=[_file(name, content) for name, content in sorted(found.items())],
        draft=None if draft is None else DraftShown(base=draft.base, at=draft.at, files=draft.files),
    )  # fmt: skip


async def check(at: At, asked: Edited) -> EditChecked:
    """What is wrong or doubtful in the files as they were typed; they are kept as a draft."""
    account, study, now = at.account.id, at.in_study, at.laboratory.now()
    keep = drafts.keep
    await at.laboratory.database.write(lambda connection: keep(connection, account, study.id, asked.base, asked.files, now))
    before, found = await _base(at, asked.base), await _begun(at)
    _, looked = await _slowly(lambda: looked_through(before, asked.files, study, found))
    return EditChecked(
        may_save=all(each.level != "wrong" for each in looked.findings),
        findings=[_finding(each) for each in looked.findings],
        effects=[] if looked.study is None else effects(_served(at), looked.study, found),
        n_begun=found.n_people,
    )  # fmt: skip


async def forget(at: At) -> Done:
    """Forget what was typed and not saved."""
    account, study = at.account.id, at.in_study.id
    await at.laboratory.database.write(lambda connection: drafts.forget(connection, account, study))
    return Done(ok=True)


async def preview(at: At, asked: PreviewAsked) -> ScreensShown:
    """Every screen of the study as it was typed; nothing is kept."""
    before = await _base(at, asked.base)

    def shown() -> ScreensShown:
        _, looked = looked_through(before, asked.files, at.in_study, NOBODY)
        if looked.study is None:
            first = next(each for each in looked.findings if each.level == "wrong")
            return ScreensShown(texts=None, screens=[], pictures={}, problem=str(first))
        told = looked.study.speaking(asked.language)
        names = {language: own_name(language) for language in looked.study.languages} if looked.study.versions else {}
        return ScreensShown(
            texts=Texts(
                language=told.texts.language, direction=told.texts.direction, title=told.title, languages=names,
                labels=dict(told.texts.labels),
            ),
            screens=[ScreenShown(name=each.name, state=each.state) for each in screens(looked.study, told.texts.language)],
            pictures={each.name: _address(each.kind, each.data) for each in looked.study.pictures.values()}, problem="",
        )  # fmt: skip

    return await _slowly(shown)


async def save_files(at: At, asked: SaveAsked) -> Saved:
    """Save the changes as a new version and serve it, if nothing is wrong and nobody else has saved meanwhile."""
    await _recorded(at)  # files that somebody changes by hand meanwhile are a version too, and not lost
    before, found = await _base(at, asked.base), await _begun(at)
    fresh, looked = await _slowly(lambda: looked_through(before, asked.files, at.in_study, found))
    check_saves(looked.findings)
    return Saved(version=await _saved(at, fresh, asked.base, asked.why))


async def restore(at: At, number: int) -> Saved:
    """Save an earlier version once more, as the newest, under the same conditions."""
    base, study = await _recorded(at), at.in_study
    old = await _base(at, number)
    before, found = await _base(at, base), await _begun(at)
    looked = await _slowly(lambda: judged(old, before, study, found))
    check_saves(looked.findings)
    return Saved(version=await _saved(at, old, base, f"version {number} again"))


async def picture(at: At, asked: PictureAsked) -> PictureSaved:
    """Add a picture to the study, drawn anew from what was sent."""
    try:
        data = base64.b64decode(asked.data, validate=True)
    except (binascii.Error, ValueError):
        raise invalid("The picture must be sent in base64.") from None
    name, content = await _slowly(lambda: redrawn(asked.name, data))
    await _recorded(at)
    fresh = {**await _base(at, asked.base), name: content}
    return PictureSaved(name=name, version=await _saved(at, fresh, asked.base, f"added {name}"))


async def all_versions(at: At) -> VersionsShown:
    """Every version, the newest first."""
    await _recorded(at)
    found = await at.laboratory.database.read(lambda connection: versions.all_versions(connection, at.in_study.id))
    return VersionsShown(versions=[VersionShown(**each._asdict()) for each in found])


async def differences(at: At, number: int, older: int) -> Differences:
    """What differs between an older version and this one; every file is new compared with version 0."""
    before, after = await _base(at, older) if older else {}, await _base(at, number)
    found = await _slowly(lambda: versions.changes(before, after))
    return Differences(older=older, newer=number, files=[FileDifference(name=each.name, lines=each.lines) for each in found])


async def _saved(at: Here, fresh: Files, base: int, why: str) -> int:
    folder, now = at.laboratory.folder.of(at.in_study.name), at.laboratory.now()
    saving = Saving(at.account.id, at.account.name, base, why)
    try:
        number = await asyncio.to_thread(save, at.laboratory.database, folder, at.in_study, fresh, saving, now)
    except InputError as error:
        raise Refused(503, "failed", str(error)) from None
    await at.office.hosted.refresh()
    return number


async def _recorded(at: Here) -> int:
    """The number of the version in the folder."""
    folder, now = at.laboratory.folder.of(at.in_study.name), at.laboratory.now()
    try:
        return await asyncio.to_thread(recorded, at.laboratory.database, folder, at.in_study, now)
    except InputError as error:
        raise Refused(409, "unreadable", str(error)) from None


async def _base(at: Here, number: int) -> Files:
    def look(connection: Connection) -> Files:
        versions.version(connection, at.in_study.id, number)
        return versions.files_of(connection, at.in_study.id, number)

    return await at.laboratory.database.read(look)


async def _begun(at: Here) -> Begun:
    """What people have begun; nobody can have begun a study that was never served."""
    here = at.office.hosted.get(at.in_study.name)
    if here is None or here.store is None:
        if at.in_study.archived_at is not None:
            raise Refused(409, "not-served", "This study is archived: bring it back before you change it.")
        return NOBODY
    minutes = 120.0 if here.study is None else here.study.server.return_within_minutes
    since = at.laboratory.now() - 60 * minutes
    return await here.store.read(lambda connection: begun(connection, since))


def _served(at: Here) -> Study | None:
    here = at.office.hosted.get(at.in_study.name)
    return None if here is None else here.study


async def _slowly[T](work: Callable[[], T]) -> T:
    return await to_thread.run_sync(work, limiter=_few)


def _file(name: str, content: bytes) -> FileShown:
    address = ""
    if name.endswith(PICTURES):
        kind = mimetypes.guess_type(name)[0] or "image/png"
        address = _address(kind, content)
    text = content.decode("utf-8", "replace") if name.endswith(TEXTS) else None
    return FileShown(name=name, text=text, size=len(content), picture=address)


def _finding(found: Finding) -> FindingShown:
    return FindingShown(file=found.file, line=found.line, level=found.level, sentence=found.sentence)


def _address(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"

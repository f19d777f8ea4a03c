"""The study's data as one file to download: exported to a folder that is gone afterwards, zipped, and sent from the disk."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Literal

from sqlalchemy import Engine
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from explorelab.study.design import Study
from explorelab.study.refusals import Refused

type Pilots = Literal["without", "with", "only"]

_one_at_a_time = threading.Lock()


def zipped_export(study: Study, engine: Engine, pilots: Pilots, now: float) -> FileResponse:
    """The export as a zip file; everything on the disk is removed once it is sent. Takes a while: not in the event loop."""
    if not _one_at_a_time.acquire(blocking=False):
        raise Refused(409, "busy", "Another export is being made: try again when it is done.")
    folder = Path(tempfile.mkdtemp(prefix="explorelab-export-"))
    try:
        return _zipped(study, engine, pilots, folder, now)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        _one_at_a_time.release()


def _zipped(study: Study, engine: Engine, pilots: Pilots, folder: Path, now: float) -> FileResponse:
    from explorelab.study.export import export_study  # loads pandas and pyarrow, which nothing else here needs

    name = f"{study.name}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}"
    export_study(study, engine, folder / name, pilots=pilots, progress=False)
    file = folder / f"{name}.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((folder / name).rglob("*")):
            archive.write(path, path.relative_to(folder))
    shutil.rmtree(folder / name)
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(file, media_type="application/zip", filename=f"{name}.zip", background=gone)

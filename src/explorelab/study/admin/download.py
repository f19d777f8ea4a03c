"""The study's data as one file to download: exported to a temporary folder, zipped, and sent from the disk.

The export runs in a separate process of low priority: in a thread of the server, every choice would wait, several times
over, for the export to release the interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
import threading
import time
import zipfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from sqlalchemy import URL, Engine
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.database.failures import in_words
from explorelab.study.database.refusals import Refused

type Pilots = Literal["without", "with", "only"]

LESS = 15
"""How much the export's priority is lowered."""
_one_at_a_time = threading.Lock()


def zipped_export(study: Study, engine: Engine, pilots: Pilots, now: float) -> FileResponse:
    """The export as a zip file, removed from the disk once it is sent. Takes a while, so never call it in the event loop."""
    if not _one_at_a_time.acquire(blocking=False):
        raise Refused(409, "busy", "Another export is running: try again when it is done.")
    try:
        folder = Path(tempfile.mkdtemp(prefix="explorelab-export-"))
    except OSError as error:
        _one_at_a_time.release()
        raise Refused(503, "failed", f"The export has failed: {in_words(error)}.") from None
    try:
        name = f"{study.name}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}"
        _in_another_process(study, engine.url, pilots, folder / name)
        gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        file = folder / f"{name}.zip"
        return FileResponse(file, media_type="application/zip", filename=file.name, background=gone)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        _one_at_a_time.release()


def _in_another_process(study: Study, url: URL, pilots: Pilots, folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    hear, tell = context.Pipe(duplex=False)
    export = context.Process(target=_export, args=(study, url, pilots, folder, tell), daemon=True)
    export.start()
    tell.close()
    try:
        said: str | None = hear.recv()
    except EOFError:
        said = "The export failed: its process ended early."
    finally:
        hear.close()
        export.join()
    if said is not None:
        raise Refused(503, "failed", said)


def _export(study: Study, url: URL, pilots: Pilots, folder: Path, tell: Connection) -> None:
    """Write the folder, then the zip file beside it; sends why that failed, or None."""
    from explorelab.study.database.failures import in_words
    from explorelab.study.database.store import engine_for
    from explorelab.study.export.write_export import export_study

    if hasattr(os, "nice"):
        os.nice(LESS)
    try:
        engine = engine_for(url.render_as_string(hide_password=False), Path())
        export_study(study, engine, folder, pilots=pilots, progress=False)
        engine.dispose()
        with zipfile.ZipFile(folder.with_name(f"{folder.name}.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder.parent))
        shutil.rmtree(folder)
        tell.send(None)
    except InputError as error:
        tell.send(str(error))
    except Exception as error:
        tell.send(f"The export has failed: {in_words(error)}.")

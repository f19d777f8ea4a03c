"""Backups and restores under load that are killed in the middle, asked for at the wrong time, or put back elsewhere."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.engine import make_url

from explorelab.study.config.addresses import DATABASE
from explorelab.study.database.store import engine_for
from tests.support.study.server import COMMAND

if TYPE_CHECKING:
    from tests.support.study.operator import Operator

COMPARED = "SELECT identity, c.block, trial FROM choices c JOIN people p ON p.id = person"
SECRET = "SELECT value FROM settings WHERE name = 'secret'"
AT_WORK_S = 60.0


async def kill_backup(operator: Operator) -> None:
    """A backup is killed while it writes: no file bears the name of one that is not whole."""
    operator.done["backups killed"] += 1
    target = operator.folder.with_name(f"killed-{secrets.token_hex(4)}")
    if not await _killed(
        "backup", str(operator.folder), "--out", str(target), watched=target.parent, begins=f".{target.name}"
    ):
        operator.done["backups killed too late"] += 1
    if target.exists():
        await operator.look_into(target, {}, "killed")
    for half in target.parent.glob(f".{target.name}*"):
        half.unlink()
    await operator.back_up("after one that was killed")


async def kill_restore(operator: Operator) -> None:
    """A restore is killed while it writes: the database is the old or the new one, and here both have everything."""
    operator.done["restores killed"] += 1
    operator.served.kill_all()
    saved = await operator.back_up("before a restore that is killed")
    # On PostgreSQL the tables are replaced as soon as those of before have been written to a file.
    backups = operator.folder / "backups"
    backups.mkdir(exist_ok=True)
    watched, begins = (operator.folder, ".study-") if operator.sqlite else (backups, "short-before-restore")
    if not await _killed("restore", str(operator.folder), str(saved), watched=watched, begins=begins):
        operator.done["restores killed too late"] += 1
    await operator.served.start()


async def restore_too_early(operator: Operator) -> None:
    """A restore under a running server is refused, and changes nothing."""
    operator.done["restores refused"] += 1
    saved = await operator.back_up("under load")
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "study", "restore", str(operator.folder), str(saved), stdout=-1, stderr=-2
    )
    said, _ = await process.communicate()
    if process.returncode != 2 or b"a server of this study is already using" not in said:
        operator.faults.append(f"restored under a running server: {said.decode()[-300:]}")


async def _killed(*words: str, watched: Path, begins: str) -> bool:
    """Kill a command as soon as it has begun a file, or after a moment if it writes none; False if it was done before."""
    before = set(os.listdir(watched))
    process = await asyncio.create_subprocess_exec(*COMMAND, "study", *words, stdout=-1, stderr=-2)
    for _ in range(int(AT_WORK_S / 0.002)):
        begun = any(name.startswith(begins) for name in os.listdir(watched) if name not in before)
        if begun or process.returncode is not None:
            break
        await asyncio.sleep(0.002)
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    await process.communicate()
    return process.returncode == -signal.SIGKILL


async def elsewhere(saved: Path, folder: Path, url: str) -> Mapping[str, object]:
    """What a backup of PostgreSQL holds once it has been restored to an empty database, as on another computer."""
    name = f"elsewhere_{secrets.token_hex(4)}"
    there = make_url(url).set(database=name).render_as_string(hide_password=False)
    await asyncio.to_thread(_in_database, url, folder, f"CREATE DATABASE {name}")
    copy = folder.with_name(name)
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.log", "backups"))
    try:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "study", "restore", str(copy), str(saved), stdout=-1, stderr=-2, env={**os.environ, DATABASE: there}
        )
        said, _ = await process.communicate()
        if process.returncode:
            raise RuntimeError(said.decode()[-300:])
        engine = engine_for(there, copy)
        with engine.connect() as connection:
            rows = {tuple(row) for row in connection.execute(text(COMPARED))}
            secret = bytes.fromhex(str(connection.execute(text(SECRET)).scalar_one()))
        engine.dispose()
        return {"rows": rows, "secret": secret}
    finally:
        await asyncio.to_thread(_in_database, url, folder, f"DROP DATABASE {name}")
        shutil.rmtree(copy)


def _in_database(url: str, folder: Path, statement: str) -> None:
    engine = engine_for(url, folder)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(statement))
    engine.dispose()

"""Backup and restore with PostgreSQL's own programs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from sqlalchemy import URL, Engine

from explorelab.errors import InputError
from explorelab.study.database.change_numbers import FEED, new_feed
from explorelab.study.database.claim import STUDY, other_study
from explorelab.study.database.tables import metadata


def program(name: str) -> str:
    """The path of one of PostgreSQL's programs."""
    found = shutil.which(name)
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    if found is None and not versions:
        raise InputError(
            f"backups of PostgreSQL need its program {name}, which is not installed here: "
            "install PostgreSQL's client programs, or ask whoever runs the database."
        )
    return found or str(versions[-1])


def _run(command: Sequence[str], url: URL, *, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None) -> bytes:
    """What a program prints; the password is passed where other users of this computer cannot see it."""
    env = {**os.environ, "PGCONNECT_TIMEOUT": "10", "LC_MESSAGES": "C"}
    if url.password is not None:
        env["PGPASSWORD"] = str(url.password)
    done = subprocess.run(
        command,
        env=env,
        stdin=stdin or subprocess.DEVNULL,
        stdout=stdout or subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        lines = [
            line
            for line in done.stderr.decode(errors="replace").splitlines()
            if "error" in line.lower() or "fatal" in line.lower()
        ]
        raise InputError(f"{Path(command[0]).name} failed: {lines[0] if lines else f'status {done.returncode}'}.")
    return done.stdout or b""


def _address(url: URL) -> str:
    return url.set(drivername="postgresql", password=None).render_as_string()


def dump(url: URL, target: Path, whole: bool = True) -> None:
    """Write a consistent copy of the study's tables to a file; all must exist unless only remains of a study are saved."""
    from explorelab.study.operation.backup import new_file

    tables = [f"--table={name}" for name in (*metadata.tables, "alembic_version")]
    with new_file(target) as made:
        _run(
            [program("pg_dump"), "--format=custom", "--no-owner", *tables, f"--file={made}", "--dbname", _address(url)], url
        )
        if whole:
            checked(made, url)


def set_aside(engine: Engine, aside: Path) -> str:
    """Keep what is there of a study in a file; returns a line that says where."""
    aside.parent.mkdir(mode=0o700, exist_ok=True)
    dump(engine.url, aside, whole=False)
    return f"\nThe previous database is kept as {aside}."


def checked(file: Path, url: URL) -> None:
    """Raise unless the file is a complete backup of a study."""
    listed = _run([program("pg_restore"), "--list", str(file)], url).decode(errors="replace")
    for name in ("people", "choices", "settings", "alembic_version"):
        if not re.search(rf"TABLE DATA \S+ {name} ", listed):
            raise InputError(f"{file} is not a backup of a study: the table {name} is not in it.")
    _run([program("pg_restore"), "--file", os.devnull, str(file)], url)


def restore(engine: Engine, name: str, file: Path, aside: Path) -> str:
    """Replace the study's tables in one transaction; the old ones are written to a file first."""
    from sqlalchemy import inspect

    from explorelab.study.database.migrating import forms

    url = engine.url
    checked(file, url)
    settings = _rows(file, "settings", url)
    known = next((row[1] for row in settings if row[0] == STUDY), None)
    if known is not None and known != name:
        raise InputError(other_study(known, name, f"{file} is a backup of the study {known!r}"))
    if any(row[0] not in forms() for row in _rows(file, "alembic_version", url)):
        raise InputError(f"{file} was written by another version of explorelab and cannot be opened by this one.")
    kept = set_aside(engine, aside) if inspect(engine).has_table("people") else ""
    with tempfile.TemporaryFile() as script:
        drops = [f"DROP TABLE IF EXISTS {table} CASCADE;" for table in (*metadata.tables, "alembic_version")]
        script.write("\n".join([*drops, ""]).encode())
        script.flush()
        _run([program("pg_restore"), "--no-owner", "--file=-", str(file)], url, stdout=script)
        script.seek(0, os.SEEK_END)
        feed = f"UPDATE settings SET value = '{new_feed()}' WHERE name = '{FEED}';"
        script.write(f"\nRESET search_path;\n{feed}\n".encode())
        script.seek(0)
        psql = [program("psql"), "--quiet", "--no-psqlrc", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        with suppress(BrokenPipeError):
            _run([*psql, "--dbname", _address(url)], url, stdin=script)
    return f"restored {file} to the database.{kept}"


def _rows(file: Path, table: str, url: URL) -> list[list[str]]:
    """A small table's rows in a backup."""
    script = _run([program("pg_restore"), "--data-only", f"--table={table}", "--file=-", str(file)], url).decode()
    _, _, rest = script.partition("FROM stdin;\n")
    return [line.split("\t") for line in rest.partition("\n\\.")[0].splitlines()]

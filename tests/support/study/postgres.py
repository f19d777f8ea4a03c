"""A private PostgreSQL server for tests, in a folder that is deleted afterwards. Nothing that runs already is touched."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"
MISSING = "PostgreSQL is not installed here: neither in /usr/lib/postgresql nor on the PATH."


def programs() -> Path | None:
    """The folder with initdb and pg_ctl of the newest version there is."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    found = shutil.which("pg_ctl")
    folders += [Path(found).resolve().parent] if found else []
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


class Cluster:
    """A running server; `new_database()` gives the address of an empty one."""

    def __init__(self, folder: Path, port: int, bin_folder: Path) -> None:
        self.folder, self.port, self._bin = folder, port, bin_folder

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"study_{secrets.token_hex(6)}"
        as_owner(self._bin / "createdb", "-h", str(self.folder), "-p", str(self.port), "-U", USER, name)
        return f"postgresql+psycopg://{USER}@/{name}?host={self.folder}&port={self.port}"


def as_owner(*command: object) -> None:
    """Run as the user that PostgreSQL will accept: not root."""
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = ["runuser", "-u", USER, "--", *words]
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A new server for as long as the block lasts, as careful with the disk as a real one (fsync is on)."""
    bin_folder = programs()
    if bin_folder is None:
        raise FileNotFoundError(MISSING)
    # A short path: the name of a socket holds about a hundred letters.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER, USER)
        data, port = folder / "data", free_port()
        as_owner(bin_folder / "initdb", "-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C")
        options = (
            f"-c listen_addresses='' -c unix_socket_directories={folder} -c port={port} -c fsync=on -c max_connections=100"
        )
        as_owner(bin_folder / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start")
        try:
            yield Cluster(folder, port, bin_folder)
        finally:
            as_owner(bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)

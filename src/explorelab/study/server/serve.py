"""Serves a study: brings the database up to date, prints the address, and runs the server until it is stopped."""

from __future__ import annotations

import errno
import gc
import ipaddress
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import urlsplit

from explorelab.errors import InputError
from explorelab.study.config.checking.check_folder import look_through
from explorelab.study.config.checking.findings import in_short
from explorelab.study.server.built_pages import check_built
from explorelab.study.server.public_address import below, parts_of

if TYPE_CHECKING:
    import uvicorn
    from sqlalchemy import Connection

    from explorelab.study.config.design import Study
    from explorelab.study.database.store import Store

PASSWORD = "EXPLORELAB_ADMIN_PASSWORD"
"""The environment variable that may hold the researcher's password."""
SHORTEST = 8
EACH_ITS_OWN = sys.platform == "linux"
"""Whether the system shares connections evenly among sockets with the same address; others may give all to one."""
log = logging.getLogger("explorelab.study")


class Links(NamedTuple):
    """Where the study is."""

    participants: str
    admin: str
    password: str | None
    """The researcher's password, if it was generated and must be shown."""
    unfinished: list[str]
    """What is still to be filled in, and warnings about the texts."""
    proxy_unnamed: bool = False
    """Whether there seems to be an untrusted proxy: everyone then shares the limits of one address."""


def is_local(host: str) -> bool:
    """Whether only this computer can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def password_for(host: str, file: Path | None) -> tuple[str, bool]:
    """The researcher's password, and whether it was generated, which happens only for an address nobody else can reach."""
    told = os.environ.get(PASSWORD, "")
    if file is not None:
        try:
            told = file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise InputError(f"{file}: cannot read the password: {error.strerror or error}.") from None
    if told and len(told) < SHORTEST:
        raise InputError(f"the researcher's password must have at least {SHORTEST} characters, got {len(told)}.")
    if told:
        return told, False
    if not is_local(host):
        raise InputError(
            f"{host} can be reached by other people, so the researcher's page needs a password: set {PASSWORD}, "
            "or put it in a file and pass --admin-password-file."
        )
    return secrets.token_urlsafe(12), True


def serve(
    folder: Path, host: str = "127.0.0.1", port: int = 8000, workers: int = 1, password_file: Path | None = None,
    public_url: str = "", allow_unfinished: bool = False, announce: Callable[[Links], None] = print,
    trusted_proxies: str = "",
) -> None:  # fmt: skip
    """Serve the study in this folder until interrupted."""
    import uvicorn

    from explorelab.study.config.study_folder import load_study

    study = load_study(folder)
    check_built()
    password, made = password_for(host, password_file)
    origin, prefix = parts_of(public_url)
    proxies = trusted(trusted_proxies)
    found = look_through(study, folder)
    left = [str(each) for each in found if each.level == "to fill in"]
    if left and not allow_unfinished and not (is_local(host) and is_local(urlsplit(origin).hostname or host)):
        raise InputError(
            "the study is not ready for participants: " + "; ".join(left) + ". (--allow-unfinished serves it anyway.)"
        )
    bound(host, port).close()  # fails before the address is announced
    dialect = begun(study, folder)
    if workers > 1 and dialect == "sqlite":
        raise InputError(f"SQLite has one writer, so --workers must be 1, got {workers}; several workers need PostgreSQL.")
    base = f"{origin}{prefix}" or f"http://{f'[{host}]' if ':' in host else host}:{port}"
    doubts = in_short(found, folder)
    announce(Links(f"{base}/", f"{base}/admin", password if made else None, doubts, bool(public_url) and not proxies))
    # Every worker serves what was read here, even one started later, whatever the files say by then.
    served = partial(application, study, folder.resolve(), password, origin, prefix)
    how = {**settings_of_server(proxies), "host": host, "port": port, "workers": workers}
    if workers > 1:
        run_workers(uvicorn.Config(served, **how))
    else:
        uvicorn.run(served, **how)


def bound(host: str, port: int, shared: bool = False) -> socket.socket:
    """A socket at this address, on which nobody listens yet."""
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        why = "another program is using it" if error.errno == errno.EADDRINUSE else (error.strerror or str(error))
        raise InputError(f"cannot serve on {host}, port {port}: {why}; choose another with --port.") from None
    made.set_inheritable(True)
    return made


class OnArrival:
    """An address that becomes a socket of its own in the worker process that it is sent to.

    With one socket for all, the process that wakes first takes and keeps all waiting connections: one may end up with more
    than twice as many as another.
    """

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)

    def __reduce__(self) -> tuple[Callable[..., socket.socket], tuple[str, int, bool]]:
        return bound, (*self._address, True)


def run_workers(config: uvicorn.Config) -> None:
    """Run the configured number of worker processes until interrupted; one that dies is replaced."""
    from explorelab.study.server.supervising import Supervisor

    # Held while workers come and go, so that no other program takes the address; it does not listen, so nobody reaches it.
    with bound(config.host, config.port, shared=EACH_ITS_OWN) as held:
        listener = cast("socket.socket", OnArrival(config.host, config.port)) if EACH_ITS_OWN else held
        Supervisor(config, sockets=[listener]).run()


def trusted(proxies: str) -> list[str]:
    """The addresses and networks in a comma-separated list, also in their IPv6-mapped form."""
    found: list[str] = []
    for each in filter(None, (part.strip() for part in proxies.split(","))):
        try:
            network = ipaddress.ip_network(each)
        except ValueError:
            raise InputError(
                "--trusted-proxies must be comma-separated addresses or networks such as 127.0.0.1,10.0.0.0/8, "
                f"got {each!r}."
            ) from None
        found.append(str(network))
        if network.version == 4:
            found.append(f"::ffff:{network.network_address}/{96 + network.prefixlen}")
    return found


def settings_of_server(proxies: list[str]) -> dict[str, Any]:
    """Uvicorn's settings. Only named proxies are trusted to say where a request comes from."""
    from explorelab.study.server.limits.connections import IDLE_S

    return {
        "factory": True, "log_level": "warning", "server_header": False, "timeout_graceful_shutdown": 5, "ws": "none",
        # Uvicorn's own access log contains full addresses, and with them platform IDs.
        "access_log": False,
        "http": "explorelab.study.server.limits.connections:Careful", "timeout_keep_alive": IDLE_S,
        # Workers take seconds to start on a busy computer, and a slow answer is no reason to kill one.
        "timeout_worker_healthcheck": 20,
        "proxy_headers": bool(proxies), "forwarded_allow_ips": proxies,
    }  # fmt: skip


def application(study: Study, folder: Path, password: str, public_origin: str = "", prefix: str = "") -> object:
    """The application, in each worker process."""
    from explorelab.study.server.application import create_app
    from explorelab.study.server.limits.connections import write_seldom
    from explorelab.study.server.supervising import end_with_supervisor

    end_with_supervisor()
    write_seldom()
    try:
        store = opened(study, folder)
        store.claim()
    except InputError as error:
        # In a replacement worker nothing would catch the error.
        log.error("%s", error)
        sys.exit(1)
    made = create_app(study, store, admin_password=password, public_origin=public_origin)
    # Exempt everything loaded from garbage collection, which would otherwise stop everyone for 0.1 s now and then.
    gc.collect()
    gc.freeze()
    return below(prefix, made)


def begun(study: Study, folder: Path) -> str:
    """The kind of database, after checking that it is intact and not served elsewhere; sets the time for all processes."""
    from explorelab.study.database.store import open_store
    from explorelab.study.server.steady_clock import begin

    store = open_store(study.database, folder)
    try:
        check_alone(store)
        # People get back the time during which no server ran, and count as taking part again when promises are checked.
        keep_word(store, study, lambda connection: begin(connection, 60 * study.server.return_within_minutes)())
    finally:
        store.close()
    return store.dialect


def check_alone(store: Store) -> None:
    """Raise unless the database is intact and nobody else serves it; claims it until the store is closed."""
    from explorelab.study.database.claim import check_unserved
    from explorelab.study.database.sqlite_file import check_whole

    # Claimed first: a second server that is turned away must not record what it would have served.
    check_unserved(store.engine, store.file)
    store.claim()
    if store.file is not None:
        check_whole(store.file)


def opened(study: Study, folder: Path) -> Store:
    """The study's database, if the study keeps its word to the people in it."""
    from explorelab.study.database.store import open_store
    from explorelab.study.server.steady_clock import told_clock

    store = open_store(study.database, folder)
    try:
        keep_word(store, study, lambda _: told_clock()())
    except InputError:
        store.close()
        raise
    return store


def keep_word(store: Store, study: Study, now: Callable[[Connection], float]) -> None:
    """Raise if the database is another study's, or people in it were promised something other than what is served now."""
    from explorelab.study.database.claim import check_origin
    from explorelab.study.session.promises import check_promises

    with store.engine.connect().execution_options(immediate=True) as connection, connection.begin():
        check_origin(connection, study.name)
        check_promises(connection, study, now(connection))


@contextmanager
def serving(folder: Path, *, with_advice: bool = False) -> Iterator[str]:
    """The address of a server of this study, which runs in this process on a free port until the block ends.

    With advice, the block begins when the first advice can be computed, which may take minutes.
    """
    import threading

    import uvicorn

    from explorelab.study.config.study_folder import load_study

    study = load_study(folder)
    check_built()
    begun(study, folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    password = os.environ.get(PASSWORD) or secrets.token_urlsafe(12)
    applications: list[Any] = []

    def served() -> object:
        applications.append(application(study, folder.resolve(), password))
        return applications[0]

    config = uvicorn.Config(served, port=port, **settings_of_server([]))
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise InputError(f"the study in {folder} could not be served; start it with `explorelab study serve {folder}`.")
        time.sleep(0.02)
    while with_advice and study.advice is not None and not applications[0].state.reception.desk.is_ready:
        time.sleep(0.1)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)

"""Where the server listens, and how connections are shared among its worker processes."""

from __future__ import annotations

import errno
import socket
import sys
from typing import TYPE_CHECKING, Any, cast

from explorelab.errors import InputError

if TYPE_CHECKING:
    import uvicorn

EACH_ITS_OWN = sys.platform == "linux"
"""Whether the system shares connections evenly among sockets with the same address; others may give all to one."""


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
        why = "another program uses it" if error.errno == errno.EADDRINUSE else (error.strerror or str(error))
        raise InputError(f"cannot serve on {host}, port {port}: {why}; choose another with --port.") from None
    made.set_inheritable(True)
    return made


class OnArrival:
    """Sent to a worker process, it arrives as a socket of that process's own.

    Of one socket for all, whichever process wakes first takes the connections that wait, and keeps them: one may have more
    than twice as many as the other.
    """

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)

    def __reduce__(self) -> tuple[Any, ...]:
        return bound, (*self._address, True)


def run_workers(config: uvicorn.Config) -> None:
    """Run as many worker processes as the settings say until interrupted; one that dies is replaced."""
    from explorelab.study.server.supervising import Supervisor

    # Held while workers come and go, so that no other program takes the address; without a listener, nobody is sent to it.
    with bound(config.host, config.port, shared=EACH_ITS_OWN) as held:
        listener = cast("socket.socket", OnArrival(config.host, config.port)) if EACH_ITS_OWN else held
        Supervisor(config, sockets=[listener]).run()

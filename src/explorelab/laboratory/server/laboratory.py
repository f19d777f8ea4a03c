"""The laboratory in this process: its folder, its database, the clock, and where browsers find it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from explorelab.laboratory.database.lab_database import LabDatabase
from explorelab.laboratory.hosting.laboratory_folder import LaboratoryFolder


class Laboratory(NamedTuple):
    """What is needed to answer every request to the laboratory itself."""

    folder: LaboratoryFolder
    database: LabDatabase
    now: Callable[[], float]
    """Seconds since 1970."""
    own: str = ""
    """The server's address if a proxy in front of it changes the Host header."""
    prefix: str = ""
    """The path under which all of it is, if there is one."""

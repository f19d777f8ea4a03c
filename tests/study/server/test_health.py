"""Alive and ready are two things: a server that answers may still not be ready for people, and says why without secrets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from explorelab.study.database import sqlite_file
from explorelab.study.database.sqlite_file import SPARE
from tests.support.study.lab import Lab
from tests.support.study.postgres import Cluster
from tests.support.study.small_study import small_study


def asked(lab: Lab) -> tuple[int, int, str]:
    """The statuses of alive and ready, and the reason that is given."""
    alive, ready = lab.client.get("/api/alive"), lab.client.get("/api/health")
    return alive.status_code, ready.status_code, ready.json().get("message", "")


def newer(lab: Lab) -> None:
    """As after an update of explorelab, whose commands have brought the tables up to date."""
    with lab.store.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))


def test_a_server_is_alive_and_ready(lab: Lab) -> None:
    assert asked(lab) == (200, 200, "")
    assert lab.client.get("/api/alive").json() == lab.client.get("/api/health").json() == {"ok": True}


def test_a_disk_that_is_nearly_full_is_told_before_choices_are_lost(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, status in ((SPARE, 200), (SPARE - 1, 503), (0, 503)):
        monkeypatch.setattr(sqlite_file.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert asked(lab)[:2] == (200, status)
    assert "only 0 MiB are left on the disk" in asked(lab)[2]
    (notice,) = lab.client.portal.call(lab.client.app.state.office.notices)  # type: ignore[union-attr, attr-defined]
    assert notice.startswith("The server is running out of space: only 0 MiB")


def test_tables_that_another_version_has_changed_are_told(lab: Lab) -> None:
    newer(lab)
    assert asked(lab)[:2] == (200, 503)
    assert "another version of explorelab: restart the server" in asked(lab)[2]


def test_the_same_on_postgresql(tmp_path: Path, server: Cluster) -> None:
    lab = Lab(small_study(), tmp_path, server.new_database())
    with lab.client:
        assert asked(lab) == (200, 200, "")
        newer(lab)
        assert asked(lab)[:2] == (200, 503)


@pytest.mark.parametrize("path", ["alive", "health"])
def test_neither_says_anything_about_the_computer(path: str, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise OSError(5, f"{tmp} is broken")

    tmp = str(lab.store.file)
    monkeypatch.setattr(sqlite_file.shutil, "disk_usage", broken)
    answer = lab.client.get(f"/api/{path}")
    assert tmp not in answer.text
    assert answer.status_code == 200  # whether choices are stored is tried, and the disk's size is beside the point

"""What a study may not change while people are taking part: the squares, what they are worth, and the payment."""

from __future__ import annotations

import json
from hashlib import sha256

from sqlalchemy import Connection, insert, select, update

from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.database.tables import people, settings
from explorelab.study.session.pages.form_file import structure
from explorelab.study.session.pages.page_kinds import KINDS
from explorelab.study.session.stages import UNDER_WAY
from explorelab.study.session.terms import keep_terms

GRID, PAGE = "grid", "page:"


def check_promises(connection: Connection, study: Study, now: float) -> None:
    """Refuse to serve what would break the blocks of people taking part; record what is served and promised."""
    keep_terms(connection, study)
    promised = {row.name: row.value for row in connection.execute(select(settings).where(settings.c.name.like("served:%")))}
    offered = {f"served:{name}": value for name, value in _fingerprints(study).items()}
    for name in sorted(_needed(connection, study, now)):
        key = f"served:{name}"
        what = "the grid" if name == GRID else "{} {!r}".format(*name.split(":", 1))
        if key not in offered:
            has = "come to" if name.startswith(PAGE) else "have blocks on"
            raise InputError(f"people who are still playing {has} {what}: keep it in study.toml until they are done.")
        if promised.get(key, offered[key]) != offered[key]:
            raise InputError(
                f"people who are still playing need {what} as it was: change it in study.toml when they are done."
            )
    for key, value in offered.items():
        if key not in promised:
            connection.execute(insert(settings).values(name=key, value=value))
        elif promised[key] != value:
            connection.execute(update(settings).where(settings.c.name == key).values(value=value))


def _needed(connection: Connection, study: Study, now: float) -> set[str]:
    """What people taking part still have to play."""
    since = now - 60 * study.server.return_within_minutes
    query = select(people.c.plan, people.c.block, people.c.path, people.c.step).where(
        people.c.stage.in_(UNDER_WAY), people.c.seen_at >= since
    )
    rows = list(connection.execute(query))
    blocks = [block for row in rows for block in json.loads(row.plan or "[]")[row.block :]]
    steps = [step for row in rows for step in json.loads(row.path or "[]")]  # all of them: a quiz sends people back
    pages = {f"{PAGE}{step['page']}" for step in steps if not KINDS[step["kind"]].plays}
    return {f"landscape:{block['landscape']}" for block in blocks} | pages | ({GRID} if rows else set())


def _fingerprints(study: Study) -> dict[str, str]:
    """A fingerprint of everything that must not change."""
    marks = {GRID: f"{study.width} x {study.height}"}
    for name, task in study.landscapes.items():
        worth = f"{task.means.tolist()} {task.noise}"
        marks[f"landscape:{name}"] = sha256(worth.encode()).hexdigest()
    for page in study.pages:
        forms = [structure(study.texts.forms[page.file])] if KINDS[page.kind].asks else []
        marks[f"{PAGE}{page.name}"] = sha256(json.dumps([page.kind, *forms]).encode()).hexdigest()
    return marks

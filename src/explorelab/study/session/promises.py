"""What a study may not change while people are taking part: what blocks are played on, and the payment."""

from __future__ import annotations

import json
from hashlib import sha256

import numpy as np
from sqlalchemy import Connection, insert, select, update

from explorelab._support.written_numbers import Json
from explorelab.errors import InputError
from explorelab.study.config.blocks.scenes import OUTCOME_MS, Scene
from explorelab.study.config.design import BlockPlan, Study
from explorelab.study.database.tables import people, settings
from explorelab.study.session.pages.form_file import structure
from explorelab.study.session.pages.page_kinds import KINDS
from explorelab.study.session.stages import UNDER_WAY
from explorelab.study.session.terms import keep_terms
from explorelab.tasks.changes import Numbers

GRID, PAGE = "grid", "page:"


def check_promises(connection: Connection, study: Study, now: float) -> None:
    """Refuse to serve what would break the blocks of people taking part; record what is served and promised."""
    keep_terms(connection, study)
    promised = {row.name: row.value for row in connection.execute(select(settings).where(settings.c.name.like("served:%")))}
    offered = {f"served:{name}": value for name, value in _fingerprints(study).items()}
    for name, what in sorted(_needed(connection, study, now).items()):
        key = f"served:{name}"
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


def _needed(connection: Connection, study: Study, now: float) -> dict[str, str]:
    """What people taking part still have to play, and what to call it."""
    since = now - 60 * study.server.return_within_minutes
    query = select(people.c.plan, people.c.block, people.c.path, people.c.step).where(
        people.c.stage.in_(UNDER_WAY), people.c.seen_at >= since
    )
    rows = list(connection.execute(query))
    steps = [step for row in rows for step in json.loads(row.path or "[]")]  # all of them: a quiz sends people back
    blocks = [BlockPlan(**block) for row in rows for block in json.loads(row.plan or "[]")[row.block :]]
    needed = {f"{PAGE}{step['page']}": f"page {step['page']!r}" for step in steps if not KINDS[step["kind"]].plays}
    needed |= {_mark(block.scene): f"the block {block.name!r}" for block in blocks if block.scene}
    needed |= {f"landscape:{block.landscape}": f"landscape {block.landscape!r}" for block in blocks if not block.scene}
    return needed | ({GRID: "the grid"} if rows and study.design is None else {})


def _mark(scene: str) -> str:
    """The name of a scene in a database, where names are short."""
    return f"scene:{sha256(scene.encode()).hexdigest()[:32]}"


def _fingerprints(study: Study) -> dict[str, str]:
    """A fingerprint of everything that must not change."""
    marks = _marks_of_blocks(study)
    for page in study.pages:
        forms = [structure(study.texts.forms[page.file])] if KINDS[page.kind].asks else []
        marks[f"{PAGE}{page.name}"] = sha256(json.dumps([page.kind, *forms]).encode()).hexdigest()
    return marks


def _marks_of_blocks(study: Study) -> dict[str, str]:
    """The same for what blocks are played on."""
    if study.design is not None:
        return {_mark(name): sha256(_told(scene).encode()).hexdigest() for name, scene in study.scenes.items()}
    marks = {GRID: f"{study.width} x {study.height}"}
    for name, task in study.landscapes.items():
        worth = f"{task.means.tolist()} {task.noise}"
        marks[f"landscape:{name}"] = sha256(worth.encode()).hexdigest()
    return marks


def _told(scene: Scene) -> str:
    """Everything that people meet on a scene, as text."""
    task, board = scene.task, scene.board
    change = task.change
    moving = "" if change is None else f"{change.kind} {change.seed} {_plain(change.numbers)}"
    schedule = [None if each is None else each.tolist() for each in (task.available, task.forced)]
    moves = [[], []] if board.graph is None else [board.graph.length.tolist(), board.graph.next_hop.tolist()]
    looks = [board.layout, board.width, board.height, board.arms, board.n_arms]
    parts = [task.means.tolist(), task.noise, task.points, task.start, moving, schedule, moves, looks]
    # Nothing of the usual time, so that the fingerprints of earlier versions stay what they were.
    looking = [] if scene.outcome_ms == OUTCOME_MS else [scene.outcome_ms]
    return repr([*parts, scene.rewards, scene.foregone, *looking])


def _plain(numbers: Numbers) -> dict[str, Json]:
    return {name: np.asarray(value).tolist() for name, value in sorted(numbers.items())}

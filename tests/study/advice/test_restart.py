"""The real server with the real adviser: killed in an advised block, or with several workers, it says what is stored."""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from explorelab.study.advice.advisers import Advisers, led_on, suggestion
from explorelab.study.advice.messages import Moment
from explorelab.study.advice.recipe import recipe_of
from explorelab.study.computing.pipe import Told
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import engine_for
from explorelab.study.database.tables import blocks, choices, people
from tests.support.study.postgres import Cluster
from tests.support.study.server import Served, write_study

ADVICE = 'arms = ["impersonal"]\nwithin_ms = 3000'
READY_S = 120.0


class Advised:
    """Somebody who is advised; every request comes over a connection of its own, so that any worker may get it."""

    def __init__(self, port: int) -> None:
        self._url, self._headers, self._epoch = f"http://127.0.0.1:{port}", {}, 0
        self.code = ""
        self.shown: list[tuple[int, int, int | None]] = []
        """Block, trial and the square on the screen, for every choice that was acknowledged."""

    async def ask(self, path: str, **body: Any) -> Any:
        async with httpx.AsyncClient(base_url=self._url, timeout=30) as client:
            answer = await client.post(path, json=body, headers=self._headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, **body: Any) -> Any:
        return await self.ask(path, epoch=self._epoch, **body)

    async def come(self) -> Any:
        arrived = await self.ask("/api/arrive", page=secrets.token_hex(16), key=secrets.token_hex(32), query={})
        self._headers = {"Authorization": f"Bearer {arrived['token']}"}
        self.code = arrived["token"].split(".")[0]
        state = arrived["state"]
        self._epoch = state["epoch"]
        await self.post("/api/consent", agreed=True, version=state["consent_version"])
        return (await self.post("/api/begin", block=0))["state"]["block"]

    async def advice(self, block: int, trial: int) -> Any:
        """The advice, once there is some: programs are compiled first."""
        until = time.monotonic() + READY_S
        while (said := await self.post("/api/advice", block=block, trial=trial))["reason"] == "late":
            assert time.monotonic() < until
        return said

    async def choose(self, block: Any, trial: int, square: int, said: Any) -> Any:
        await asyncio.sleep(block["deadline_ms"] / 1000 + 0.01)
        made = await self.post(
            "/api/choice", block=block["number"], trial=trial, goal=square, clicks=[[square, 5.0]], by_hand=1,
            pauses=0, attempt=1, elapsed_ms=float(block["deadline_ms"]),
            advised=said["arm"], advice=said["reason"], advice_seal=said["seal"],
            advice_shown_ms=None if said["arm"] is None else 2.0,
        )  # fmt: skip
        self.shown.append((block["number"], trial, said["arm"]))
        return made


def square_for(trial: int, said: Any) -> int:
    """Follows every other time."""
    return said["arm"] if trial % 2 and said["arm"] is not None else (31 * trial + 17) % 100


def compare(folder: Path, url: str, who: Advised) -> None:
    """What was shown is what is stored, and what an adviser says that is led through the stored choices now."""
    study, shown = load_study(folder), who.shown
    engine = engine_for(url, folder)
    with engine.connect() as connection:
        number = connection.execute(select(people.c.id).where(people.c.code == who.code)).scalar_one()
        of_person = select(choices).where(choices.c.person == number)
        rows = connection.execute(of_person.order_by(choices.c.block, choices.c.trial)).all()
        starts = {row.number: row.start for row in connection.execute(select(blocks).where(blocks.c.person == number))}
    engine.dispose()
    assert [(row.block, row.trial, row.advised) for row in rows] == shown
    played = Advisers(recipe_of(study)).new("impersonal")
    for row in rows:
        now = Moment(1, "impersonal", row.block, row.trial, starts[row.block], None, 0, ())
        played = led_on(played, now)
        assert suggestion(played, now).arm == row.advised
        told = Told(row.block, starts[row.block], row.arm, row.reward, row.missed, None, row.advised)
        played = led_on(played, now._replace(news=(told,)))


async def killed_in_a_block(served: Served) -> Advised:
    await served.start()
    person = Advised(served.port)
    block = await person.come()
    for trial in range(block["n_trials"]):
        said = await person.advice(block["number"], trial)
        if trial in (3, 5):
            # On the screen, and not yet reported: the server is killed, and knows the advice again.
            served.kill_all()
            await served.start()
            if trial == 5:
                assert await person.advice(block["number"], trial) == said
        await person.choose(block, trial, square_for(trial, said), said)
    return person


def test_a_server_killed_in_an_advised_block_goes_on_advising_as_stored(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(folder, "sqlite:///study.db", training=(), n_trials=8, dynamics=("standard",), advice=ADVICE)
    served = Served(folder, 1)
    try:
        person = asyncio.run(killed_in_a_block(served))
    finally:
        served.stop()
    assert len(person.shown) == 8
    assert len({square for _, _, square in person.shown}) > 1
    compare(folder, "sqlite:///study.db", person)


async def played_with_workers(port: int, number: int) -> Advised:
    person = Advised(port)
    block = await person.come()
    for trial in range(block["n_trials"]):
        said = await person.advice(block["number"], trial)
        assert await person.advice(block["number"], trial) == said
        await person.choose(block, trial, square_for(trial + number, said), said)
    return person


async def several(served: Served) -> list[Advised]:
    await served.start()
    return await asyncio.gather(*(played_with_workers(served.port, number) for number in range(3)))


@pytest.mark.slow
def test_several_workers_on_postgresql_give_the_same_advice_to_several_people(server: Cluster, tmp_path: Path) -> None:
    """Four workers, each with an adviser of its own; every request may come to another."""
    folder, url = tmp_path / "study", server.new_database()
    write_study(folder, url, training=(), n_trials=8, dynamics=("standard",), advice=ADVICE)
    served = Served(folder, 4)
    try:
        everyone = asyncio.run(several(served))
    finally:
        served.stop()
    for person in everyone:
        assert len(person.shown) == 8
        compare(folder, url, person)

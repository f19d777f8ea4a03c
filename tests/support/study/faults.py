"""A study under fire: the real server is killed, pages are reloaded, connections cut, tabs doubled, requests repeated late.

    python -m tests.support.study.faults --kills 200 --reloads 100 --cuts 50 --tabs 50 --repeats 100 --operator 40

Participants act as the browser does. What they were shown is written down outside the server; in the end it must be exactly
what the database holds: no choice lost, none twice, every reward the one that was on the screen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from sqlalchemy import select

from explorelab.study.config.design import Study
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import engine_for
from explorelab.study.database.tables import choices, people
from explorelab.study.robots.page_answers import knowing_answers
from explorelab.study.robots.participant import Decision, Page, RefusedError, State, hand, take_part
from tests.support.study import postgres
from tests.support.study.follower import Follower
from tests.support.study.ledger import Ledger, compare
from tests.support.study.operator import Operator
from tests.support.study.own_pages import add_pages
from tests.support.study.proxy import Proxy
from tests.support.study.server import Served, write_study

BACKOFF_S = (0.02, 0.05, 0.1, 0.2)
"""As the browser, on a clock that runs as fast as the shortened one of the choices."""


class Plan(NamedTuple):
    """How much is to go wrong."""

    kills: int = 20
    reloads: int = 10
    cuts: int = 10
    tabs: int = 5
    repeats: int = 10
    operator: int = 0
    """Databases replaced, cut, restored, backed up, disks full: see operator.py."""
    at_once: int = 20
    """People who take part at the same time; whoever finishes is followed by another until all faults have struck."""
    seed: int = 0


class Clicker:
    """Somebody who clicks squares at random."""

    def __init__(self, study: Study, seed: int) -> None:
        self._study, self._rng = study, np.random.default_rng(seed)

    def begin(self, block: Mapping[str, Any]) -> None:
        """Nothing to remember."""

    def decide(self, block: Mapping[str, Any], trial: int, position: int, goal: int, advised: int | None = None) -> Decision:
        allowed = np.ones(self._study.n_arms, bool)
        near = self._study.board.allowed(block["dynamic"], position)
        if near is not None:
            allowed[:] = False
            allowed[list(near)] = True
        return hand(int(self._rng.choice(np.flatnonzero(allowed))), allowed, block["deadline_ms"], self._rng)

    def learn(self, arm: int, reward: float) -> None:
        """Nothing to learn."""


class Person:
    """A participant whose browser is reloaded, or who opens the study in one more tab."""

    def __init__(self, run: Run, number: int) -> None:
        self._run, self._number, self.key = run, number, secrets.token_hex(32)
        self._wishes: asyncio.Queue[str] = asyncio.Queue()
        self._others: list[asyncio.Task[State]] = []
        self.taken_over = 0

    def wish(self, what: str) -> None:
        """reload, or tab."""
        self._wishes.put_nowait(what)

    def _load(self) -> asyncio.Task[State]:
        run = self._run
        page = Page(
            run.client, self.key, {}, backoff_s=BACKOFF_S, witness=run.ledger.witness(self.key), longest_wait_s=BACKOFF_S[-1]
        )
        seed = run.plan.seed + self._number
        answers = run.ledger.asking(self.key, knowing_answers(run.study, np.random.default_rng(seed)))
        return asyncio.create_task(take_part(page, Clicker(run.study, seed), answerer=answers))

    async def live(self) -> None:
        """Take part to the end, whatever happens to the page."""
        playing = self._load()
        wishing = asyncio.create_task(self._wishes.get())
        while True:
            await asyncio.wait({playing, wishing}, return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                try:
                    state = playing.result()
                    break
                except RefusedError as refused:
                    # A request of an older page may come late: the page then offers to go on here.
                    if refused.word == "taken-over":
                        self.taken_over += 1
                    else:
                        self._run.ledger.contradictions.append(f"a page was refused: {refused}")
                    playing = self._load()
                    continue
            if wishing.result() == "reload":
                playing.cancel()
                await asyncio.gather(playing, return_exceptions=True)
            else:
                self._others.append(playing)
            playing = self._load()
            wishing = asyncio.create_task(self._wishes.get())
        wishing.cancel()
        if state["stage"] != "finished":
            raise AssertionError(f"the study ended at {state['stage']}")
        self._run.ledger.moved_on(self.key, self._run.lengths)
        for ended in await asyncio.gather(*self._others, return_exceptions=True):
            # The tab that was left behind says that another one has taken over, unless it had come to the end itself.
            if isinstance(ended, RefusedError) and ended.word == "taken-over":
                self.taken_over += 1
            elif isinstance(ended, RefusedError):
                self._run.ledger.contradictions.append(f"a tab left behind was refused: {ended}")
            elif isinstance(ended, BaseException):
                raise ended


class Run:
    """One study, its people, and all that goes wrong."""

    def __init__(self, study: Study, folder: Path, workers: int, plan: Plan) -> None:
        self.study, self.plan, self.ledger = study, plan, Ledger()
        self.lengths = {number: block.n_trials for number, block in enumerate(study.plan(study.cells[0]))}
        self._rng = random.Random(plan.seed)
        self.served = Served(folder, workers)
        self.operator = Operator(self.served, self.ledger, study.database)
        self.follower = Follower(folder, self.served.port)
        self._proxy = Proxy(self.served.port, self._rng, self._late)
        self._people: dict[asyncio.Task[None], Person] = {}
        self._over = False
        self.done: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.late: Counter[int] = Counter()

    def _late(self, request: bytes, answer: bytes) -> None:
        """A repeated request is answered as it was the first time, or refused: another page is in charge, or nothing can be
        stored just now."""
        status = int(answer.split(b" ", 2)[1])
        self.late[status] += 1
        body = json.loads(request.partition(b"\r\n\r\n")[2])
        if status == 200 and "block" in body:
            told = json.loads(answer.partition(b"\r\n\r\n")[2])
            self._late_answers.append((_code(request), body["block"], body["trial"], (told["arm"], told["reward"])))
        elif status not in (200, 409, 503):
            self.ledger.contradictions.append(f"a late request was answered {status}: {answer[-200:]!r}")

    async def _count(self, response: httpx.Response) -> None:
        self.statuses[response.status_code] += 1

    async def go(self) -> None:
        """Everything, to the end."""
        self._late_answers: list[tuple[str, int, int, tuple[int, float]]] = []
        await self.served.start()
        port = await self._proxy.start()
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        hooks = {"response": [self._count]}
        self.client = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", limits=limits, timeout=10.0, event_hooks=hooks)
        following = asyncio.create_task(self.follower.follow())
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(self.plan.at_once):
                    self._welcome(tasks)
                await self._trouble()
                self._over = True
            await self._proxy.settled()
            following.cancel()
            # Once to learn of a restore, perhaps, and once for all that has happened since the last answer.
            if not (await self.follower.ask() or await self.follower.ask()):
                self.follower.faults.append("live results are not answered in the end")
        finally:
            following.cancel()
            await self.client.aclose()
            await self._proxy.stop()
            self.served.stop()

    def _welcome(self, tasks: asyncio.TaskGroup) -> None:
        person = Person(self, self.done["people"])
        self.done["people"] += 1

        async def live() -> None:
            try:
                await person.live()
            finally:
                self.done["taken over"] += person.taken_over
            if not self._over:
                self._welcome(tasks)

        task = tasks.create_task(live())
        self._people[task] = person
        task.add_done_callback(self._people.pop)

    async def _trouble(self) -> None:
        """Every fault at a random moment, between one kill and the next."""
        plan, rounds = self.plan, max(self.plan.kills, 10)
        when: dict[int, list[str]] = {number: [] for number in range(rounds)}
        for what in ("reload", "cut", "tab", "repeat"):
            for _ in range(getattr(plan, f"{what}s")):
                when[self._rng.randrange(rounds)].append(what)
        for number in range(rounds):
            lasts_s = self._rng.uniform(0.02, 0.6)
            moments = sorted((self._rng.uniform(0, lasts_s), what) for what in when[number])
            began = time.perf_counter()
            for moment, what in moments:
                await asyncio.sleep(max(0.0, began + moment - time.perf_counter()))
                self._strike(what)
            await asyncio.sleep(max(0.0, began + lasts_s - time.perf_counter()))
            if number < plan.kills:
                self.done["kills"] += 1
                if self.served.kill(self._rng):
                    await self.served.start()
                else:
                    self.done["of one worker"] += 1
        for number in range(plan.operator):
            await asyncio.sleep(self._rng.uniform(0.2, 0.6))
            await self.operator.act(number)
        while self._proxy.waiting:
            await asyncio.sleep(0.01)

    def _strike(self, what: str) -> None:
        if what == "cut":
            self._proxy.cut()
        elif what == "repeat":
            self._proxy.repeat()
        else:
            self._rng.choice(list(self._people.values())).wish(what)
            self.done[f"{what}s"] += 1

    def result(self, engine: Any) -> dict[str, Any]:
        """Counts, and every difference between what was shown and what is kept."""
        compared = compare(self.ledger, engine)
        struck = self._proxy.struck
        compared["faults"] += self._compare_late(engine) + self.operator.faults
        compared["faults"] += self.follower.compare(engine)
        if self.statuses[500]:
            compared["faults"].append(f"the server failed {self.statuses[500]} times with status 500")
        if "Traceback" in self.served.log():
            compared["faults"].append(f"the server's log holds a traceback:\n{self.served.log()[-3000:]}")
        cuts = sum(n for how, n in struck.items() if how != "repeated")
        return {
            **{name: self.done[name] for name in ("kills", "of one worker", "reloads", "tabs", "taken over")},
            **({"operator": dict(self.operator.done)} if self.operator.done else {}),
            "follower": dict(self.follower.done),
            "cuts": cuts,
            "cut": dict(struck),
            "late_answers": {str(status): n for status, n in sorted(self.late.items())},
            "statuses": {str(status): n for status, n in sorted(self.statuses.items())},
            "median_start_s": round(float(np.median(self.served.starts_s)), 2),
            **compared,
        }

    def _compare_late(self, engine: Any) -> list[str]:
        with engine.connect() as connection:
            rows = connection.execute(
                select(people.c.code, choices.c.block, choices.c.trial, choices.c.arm, choices.c.reward).join_from(
                    choices, people
                )
            )
            stored = {tuple(row[:3]): tuple(row[3:]) for row in rows}
        return [
            f"a late request for {name[1:]} was told {told}, and {stored.get(name)} is stored"
            for *name, told in self._late_answers
            if stored.get(tuple(name)) != told
        ]


def _code(request: bytes) -> str:
    """Whose request it is: a token begins with the person's code."""
    (line,) = (line for line in request.split(b"\r\n") if line.lower().startswith(b"authorization:"))
    return line.split()[-1].decode().partition(".")[0]


def run(database: str, folder: Path, plan: Plan, workers: int = 1, pages: bool = True) -> dict[str, Any]:
    """Play the plan on a new study with this database; counts, and in `faults` all that must not be."""
    write_study(folder, database)
    if pages:
        add_pages(folder)
    study = load_study(folder)
    run = Run(study, folder, workers, plan)
    began = time.perf_counter()
    asyncio.run(run.go())
    engine = engine_for(study.database, folder)
    try:
        return {"seconds": round(time.perf_counter() - began, 1), **run.result(engine)}
    finally:
        engine.dispose()


def main() -> None:
    """The command line: prints the counts and fails if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in Plan()._asdict().items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--workers", type=int, default=2, help="server processes on PostgreSQL")
    parser.add_argument("--record", type=Path, help="write the counts into this JSON file, for bench/study_page.py")
    told = vars(parser.parse_args())
    database, workers, record = (told.pop(name) for name in ("database", "workers", "record"))
    with tempfile.TemporaryDirectory(prefix="study-") as folder:
        if database == "sqlite":
            result = run("sqlite:///study.db", Path(folder) / "study", Plan(**told))
        else:
            with postgres.cluster() as cluster:
                result = run(cluster.new_database(), Path(folder) / "study", Plan(**told), workers)
    faults = result.pop("faults")
    print(json.dumps(result, indent=2))
    if record:
        everything = json.loads(record.read_text()) if record.exists() else {}
        everything.setdefault("faults", {})[database] = {**result, "differences": len(faults)}
        record.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    print(f"{len(faults)} differences between what was shown and what is kept", *faults[:20], sep="\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

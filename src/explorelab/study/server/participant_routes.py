"""What participants' pages ask of the server. A choice is answered once it is on disk, and never otherwise."""

# Annotations are read as they stand, not later from their text: FastAPI must see names that are local to a function.
import hmac
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Request
from pydantic import BaseModel
from sqlalchemy import Connection, func, insert, select

from explorelab.study.database.refusals import Refusal, Refused, no_token, taken_over
from explorelab.study.database.store import remembered
from explorelab.study.database.tables import events
from explorelab.study.server.buckets import Bucket
from explorelab.study.server.context import Context
from explorelab.study.server.request_limits import Rate, network_of
from explorelab.study.session import game, participants
from explorelab.study.session.identity import code_of, is_preview, keyed, token_for, wants_to_simulate, who
from explorelab.study.session.questions import Arriving, Beginning, Choosing, Consenting, FromPage, Telling, Withdrawing
from explorelab.study.session.screens import Sent, State, bare_state, state_of
from explorelab.study.session.tokens import code_of, token_for
from explorelab.study.session.stages import Stage


class Arrived(Sent):
    """The token of everything that follows, and what to show first."""

    token: str
    state: State
    pilot: bool = False
    """Whether this is a pilot's page: only such a page may play by itself."""


class Shown(BaseModel):
    """What to show now."""

    state: State


class Chosen(Sent):
    """A choice that is on disk, and what came of it."""

    trial: int
    arm: int
    position: int
    goal: int
    reward: float
    points: float
    points_block: float
    n_left: int
    state: State | None = None
    """What follows, when the block is over."""


class Told(BaseModel):
    """How many events were new."""

    stored: int


class Texts(BaseModel):
    """The short texts of the page."""

    language: str
    direction: Literal["ltr", "rtl"]
    title: str
    labels: dict[str, str]


class Healthy(BaseModel):
    """The server answers, and can store what people do."""

    ok: bool


MOST_EVENTS = 1000
"""Kept of one person; a page that reports more than that is broken or lying."""
TOO_MANY_NEW = "Too many people have come from your network within the last hour"
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refusal} for status in (400, 401, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503)
}


def participant_router(context: Context, pilot_key: str) -> APIRouter:
    """The routes under /api."""
    study, store, now = context
    router = APIRouter(prefix="/api", responses=REFUSALS)
    arrivals = Rate(study.server.arrivals_per_minute / 60, study.server.arrivals_per_minute)
    requests = Rate(study.server.requests_per_second, 3 * study.server.requests_per_second)
    newcomers = Bucket("new-people", study.server.new_people_per_hour, 3600.0, TOO_MANY_NEW)

    # Not a plain function: FastAPI would hand it to a thread, for a hash of a few microseconds.
    async def person_code(authorization: Annotated[str, Header(max_length=256)] = "") -> str:
        kind, _, token = authorization.partition(" ")
        code = code_of(store.secret, token.strip()) if kind.lower() == "bearer" else None
        if code is None:
            raise no_token()
        requests.count(code, now())
        return code

    Code = Annotated[str, Depends(person_code)]

    async def after(code: str, epoch: int, change: Callable[[Connection, Any], Any]) -> Shown:
        """What to show after a change to the person, once it is on disk."""

        def work(connection: Connection) -> State:
            person = participants.found(connection, code, epoch)
            changed = change(connection, person)
            return state_of(
                connection, study, changed if changed is not None else participants.found(connection, code, epoch)
            )

        return Shown(state=await store.write(work))

    @router.get("/health")
    async def health() -> Healthy:
        """The server answers, and can store what people do; 503 if it cannot."""
        await store.prove()
        return Healthy(ok=True)

    @router.get("/texts")
    async def texts() -> Texts:
        """The short texts of the page."""
        told = study.texts
        return Texts(language=told.language, direction=told.direction, title=study.title, labels=dict(told.labels))

    @router.post("/arrive")
    async def arrive(asked: Arriving, request: Request, x_pilot_key: Annotated[str, Header(max_length=128)] = "") -> Arrived:
        """A page has been opened: whose it is, and what it shows first."""
        pilot = bool(x_pilot_key) and hmac.compare_digest(x_pilot_key.encode(), pilot_key.encode())
        if x_pilot_key and not pilot:
            raise Refused(401, "no-token", "The key for pilots is not the one of this study.")
        if wants_to_simulate(asked.query) and not pilot:
            raise Refused(403, "not-a-pilot", "Only a pilot's page may play by itself: this link needs the pilot's key.")
        network = network_of(request.client.host if request.client else "")
        if not pilot:
            arrivals.count(network, now())
        if is_preview(asked.query) and not pilot:
            return Arrived(token="", state=bare_state(study, Stage.PREVIEW))
        arrival = keyed(who(asked.query, asked.key, pilot), store.secret)

        def work(connection: Connection) -> tuple[str, State]:
            at = now()
            person = participants.arrive(connection, study, arrival, asked.page, at)
            if person.epoch == 1 and person.arrived_at == at and not pilot:  # new; refused, they are not entered
                newcomers.take(connection, store.secret, network, at)
            if participants.expired(person, study, now()):
                return person.code, bare_state(study, Stage.EXPIRED, person.epoch)
            return person.code, state_of(connection, study, person)

        code, state = await store.write(work)
        token = "" if state.stage == Stage.EXPIRED else token_for(store.secret, code)
        return Arrived(token=token, state=state, pilot=pilot)

    @router.post("/state")
    async def state(asked: FromPage, code: Code) -> Shown:
        """What to show now; nothing changes."""

        def work(connection: Connection) -> State:
            person = participants.found(connection, code, asked.epoch, locked=False)
            if participants.expired(person, study, now()):
                return bare_state(study, Stage.EXPIRED, person.epoch)
            return state_of(connection, study, person)

        return Shown(state=await store.read(work))

    @router.post("/consent")
    async def consent(asked: Consenting, code: Code) -> Shown:
        """Someone agrees to take part, or declines."""

        def change(connection: Connection, person: Any) -> Any:
            return participants.consent(connection, study, person, asked.agreed, asked.version, now())

        return await after(code, asked.epoch, change)

    @router.post("/begin")
    async def begin(asked: Beginning, code: Code) -> Shown:
        """The next block begins."""
        return await after(
            code,
            asked.epoch,
            lambda connection, person: game.begin(
                connection, study, participants.in_time(study, person, now()), asked.block, now()
            ),
        )

    @router.post("/choice")
    async def choice(asked: Choosing, code: Code) -> Chosen:
        """A choice is kept and its reward drawn; asked again, the answer is the same."""
        report = game.Report(**asked.model_dump(exclude={"epoch"}))

        def work(connection: Connection) -> Chosen:
            person = participants.in_time(study, participants.found(connection, code, asked.epoch), now())
            made = game.choose(connection, study, person, report, now())
            following = None
            if made.n_left == 0:
                following = state_of(connection, study, participants.found(connection, code, asked.epoch))
            return Chosen(**made._asdict(), position=made.arm, state=following)

        return await store.write(work)

    @router.post("/events")
    async def tell(asked: Telling, code: Code) -> Told:
        """What happened to the page; also to one that has been replaced since."""

        def work(connection: Connection) -> int:
            person = participants.found(connection, code, None)
            if asked.epoch > person.epoch:
                raise taken_over()
            if person.stage == Stage.WITHDRAWN:
                return 0
            asked_for = [each.number for each in asked.events]
            of_page = (events.c.person == person.id, events.c.epoch == asked.epoch)
            known = set(
                connection.execute(select(events.c.number).where(*of_page, events.c.number.in_(asked_for))).scalars()
            )
            so_far = select(func.count()).select_from(events).where(events.c.person == person.id)
            room = max(0, MOST_EVENTS - connection.execute(so_far).scalar_one())
            unknown = {each.number: each for each in asked.events if each.number not in known}
            new = dict(list(unknown.items())[:room])
            if new:
                rows = [each.model_dump() for each in new.values()]
                connection.execute(
                    insert(events),
                    [{**row, "person": person.id, "epoch": asked.epoch, "received_at": now()} for row in rows],
                )
            return len(new)

        return Told(stored=await store.write(work))

    @router.post("/finish")
    async def finish(asked: FromPage, code: Code) -> Shown:
        """The debriefing has been read."""
        return await after(code, asked.epoch, lambda connection, person: participants.finish(connection, person, now()))

    @router.post("/withdraw")
    async def withdraw(asked: Withdrawing, code: Code) -> Shown:
        """Someone leaves, with or without their data."""
        return await after(
            code, asked.epoch, lambda connection, person: participants.withdraw(connection, person, asked.delete, now())
        )

    return router


def pilot_key_of(context: Context) -> str:
    """The key by which robots are known."""
    with context.store.engine.begin() as connection:
        return remembered(connection, "pilot_key")

"""Simulated people for bench/study_load.py, with little work per request, so that they are not the bottleneck.

Plain HTTP/1.1 over one kept connection per person, in a separate process: `study_crowd.py '{"port": ..., ...}'`.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import sys
import time
from typing import Any

JITTER_S = 0.002
"""How much the clocks of a closed loop vary from one choice to the next: hardly at all, as in the browser."""
FOLLOW = 0.6
"""How often people do as advised."""


class Connection(asyncio.Protocol):
    """One kept connection: a request, its answer, and how long that took."""

    def __init__(self, port: int) -> None:
        self._loop, self._port = asyncio.get_running_loop(), port
        self._transport: Any = None
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._buffer = b""
        self.retry_after_s = 0.0
        """What the last answer asked for."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the connection was lost"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        length = int(_header(head, b"content-length"))
        self.retry_after_s = float(_header(head, b"retry-after"))
        if len(body) >= length and self._answer is not None and not self._answer.done():
            self._buffer = b""
            self._answer.set_result((int(head[9:12]), body))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body; a connection that was idle too long is reopened."""
        if self._transport is None or self._transport.is_closing():
            self._buffer = b""
            await self._loop.create_connection(lambda: self, "127.0.0.1", self._port)
        self._answer = self._loop.create_future()
        self._transport.write(request)
        async with asyncio.timeout(30):
            return await self._answer

    def close(self) -> None:
        self._transport.close()


def _header(head: bytes, name: bytes) -> bytes:
    """The number in a header; 0 if there is none."""
    return head.lower().partition(b"\r\n" + name + b":")[2].split(b"\r\n", 1)[0].strip() or b"0"


def request(path: str, body: dict[str, Any] | None = None, token: str = "") -> bytes:
    """The bytes of a request."""
    data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", "Host: study", f"Content-Length: {len(data)}"]
    lines += ["Content-Type: application/json"] if body is not None else []
    lines += [f"Authorization: Bearer {token}"] if token else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + data


class Participant:
    """Someone who clicks a square next to their own, or often the one that is suggested."""

    seen_as = "seconds"
    """Under which name it is noted how long their answers took."""

    def __init__(self, connection: Connection, clock_s: float, seed: int) -> None:
        self._connection, self._clock_s, self._rng = connection, clock_s, random.Random(seed)
        self._advice: dict[str, Any] = {}
        self.token = ""

    async def _post(self, path: str, **body: Any) -> Any:
        status, answer = await self._asked(request(path, body, self.token), {"put_off": 0})
        if status != 200:
            raise RuntimeError(f"{path} was answered {status}: {answer[:200]!r}")
        return json.loads(answer)

    async def arrive(self) -> None:
        """Come, agree and begin."""
        came = await self._post("/api/arrive", page=secrets.token_hex(16), key=secrets.token_hex(32), query={})
        self.token, self._epoch = came["token"], came["state"]["epoch"]
        version = came["state"]["consent_version"]
        agreed = await self._post("/api/consent", epoch=self._epoch, agreed=True, version=version)
        await self.begin(agreed["state"])

    async def begin(self, state: dict[str, Any]) -> None:
        """Go on from the state after consent to the first block."""
        self._block = (await self._post("/api/begin", epoch=self._epoch, block=0))["state"]["block"]

    def leave(self) -> None:
        """Close the connection."""
        self._connection.close()

    def choice(self) -> bytes:
        """The next choice's request."""
        block, height = self._block, self._block["height"]
        x, y = divmod(block["position"], height)
        near = [(x + a, y + b) for a, b in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        x, y = self._rng.choice([(a, b) for a, b in near if 0 <= a < block["width"] and 0 <= b < height])
        suggested, self._advice = self._advice, {}
        follows = suggested.get("advised") is not None and self._rng.random() < FOLLOW
        # The study's clock is shorter than the pace, so after a late answer the next choice is not early.
        goal, clock_ms = suggested["advised"] if follows else x * height + y, block["deadline_ms"]
        body = {"epoch": self._epoch, "block": block["number"], "trial": block["trial"], "goal": goal}
        body |= {"clicks": [[goal, round(self._rng.uniform(0.2, 0.9) * clock_ms, 1)]], "elapsed_ms": clock_ms}
        return request("/api/choice", body | {"pauses": 0, "attempt": 1, **suggested}, self.token)

    def answered(self, answer: bytes) -> None:
        """Go on from where the answer says."""
        told = self.read(answer)
        self._block |= {"trial": told["trial"] + 1, "position": told["position"]}

    @staticmethod
    def read(answer: bytes) -> Any:
        """An answer of the server."""
        return json.loads(answer)

    async def look(self, seen: dict[str, Any]) -> None:
        """Ask for advice as the clock starts, if there is any, and count whether it comes in time."""
        block = self._block
        offered = block.get("advice")
        if offered is None or block["trial"] < offered["from_trial"]:
            return
        began = time.perf_counter()
        body = {"epoch": self._epoch, "block": block["number"], "trial": block["trial"]}
        status, answer = await self._connection.ask(request("/api/advice", body, self.token))
        ms = 1e3 * (time.perf_counter() - began)
        said = json.loads(answer) if status == 200 else {"arm": None, "reason": "late"}
        if said["reason"] == "late" or (said["arm"] is not None and ms > min(offered["within_ms"], block["deadline_ms"])):
            self._advice = {"advice": "late"}
        elif said["arm"] is None:
            self._advice = {"advice": said["reason"], "advice_seal": said["seal"]}
        else:
            self._advice = {"advised": said["arm"], "advice": said["reason"], "advice_seal": said["seal"]}
            self._advice |= {"advice_shown_ms": round(ms, 1)}
        seen["advice"].append([self._advice["advice"], ms])

    async def play(self, what: str, due: float, until: float, seen: dict[str, Any], closed: bool) -> None:
        """Send a choice, or a control request, whenever it is due, until `until`; latency counts from when it was due.

        In an open loop due times are fixed beforehand, so requests come evenly whatever the server does. In a closed loop
        the next clock starts with the answer, as in the browser: people who are answered together then ask together, again
        and again, which no open loop can show.
        """
        while due < until:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                status, answer = await self._asked(self.choice() if what == "choice" else request("/api/alive"), seen)
            except (OSError, TimeoutError) as error:
                seen["errors"].append(f"{type(error).__name__}: {error}")
                return
            now = time.perf_counter()
            if status == 200:
                seen[self.seen_as if what == "choice" else "seconds"].append(now - due)
                if what == "choice":
                    self.answered(answer)
                    await self.look(seen)
            else:
                seen["errors"].append(f"{status} {answer[:100]!r}")
            due = now + self._clock_s + self._rng.uniform(0, JITTER_S) if closed else max(due + self._clock_s, now)

    async def _asked(self, asked: bytes, seen: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body; like the browser, retries after as long as the server says."""
        while True:
            status, answer = await self._connection.ask(asked)
            if status != 503 or not self._connection.retry_after_s:
                return status, answer
            seen["put_off"] += 1
            await asyncio.sleep(self._connection.retry_after_s)


async def ready(port: int, clock_s: float) -> None:
    """Play alone until advice comes in time: until then the adviser compiles its programs."""
    scout = Participant(Connection(port), clock_s, 0)
    await scout.arrive()
    while True:
        seen: dict[str, Any] = {"put_off": 0, "advice": []}
        await scout.look(seen)
        if seen["advice"][0][0] not in ("late", "failed"):
            return scout.leave()
        await asyncio.sleep(0.5)


async def generate(
    port: int,
    people: int,
    clock_s: float,
    seconds: float,
    control_s: float,
    closed: bool = False,
    wait_for_advice: bool = False,
    warm_s: float = 0.0,
    forms: float = 0.0,
) -> None:
    """Run all phases; prints when each begins and ends, and what was seen in it."""
    n_people = people
    if wait_for_advice:
        async with asyncio.timeout(300):
            await ready(port, clock_s)
    crowd = [kind(Connection(port), clock_s, number) for number, kind in enumerate(kinds(n_people, forms))]
    began = time.perf_counter()
    for group in range(0, n_people, 20):
        await asyncio.gather(*(one.arrive() for one in crowd[group : group + 20]))
    say({"phase": "arrived", "seconds": time.perf_counter() - began})
    for name, what, lasts_s in (
        ("control before", "control", control_s),
        ("warming up", "choice", warm_s),
        ("choices", "choice", seconds),
        ("control after", "control", control_s),
    ):
        say({"phase": name, "begins": True})
        seen: dict[str, Any] = {"seconds": [], "forms": [], "errors": [], "put_off": 0, "advice": []}
        processor, began = time.process_time(), time.perf_counter()
        # People's starts are spread over one clock, so that requests come evenly; a whole clock after they began.
        late_s = clock_s if what == "choice" else 0.0
        dues = [began + late_s + clock_s * (number + 1) / n_people for number in range(n_people)]
        until = began + lasts_s + late_s if lasts_s else began
        loops = (one.play(what, due, until, seen, closed) for one, due in zip(crowd, dues, strict=True))
        await asyncio.gather(*loops)
        took = time.perf_counter() - began
        say({"phase": name, **seen, "took_s": took, "processor_s": time.process_time() - processor})
    for one in crowd:
        one.leave()


def kinds(n: int, forms: float) -> list[type[Participant]]:
    """Who comes: this share of them fills in forms, spread evenly among the others."""
    if not forms:
        return [Participant] * n
    from bench.study_forms import Answerer, Chooser

    return [Answerer if int((number + 1) * forms) > int(number * forms) else Chooser for number in range(n)]


def say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    asyncio.run(generate(**json.loads(sys.argv[1])))

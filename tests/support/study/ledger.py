"""What participants were shown, written down outside the server, and how it compares with what the server kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, select

from explorelab.study.database.tables import answers, blocks, choices, consents, people, settings, visits
from explorelab.study.session.identity import keyed_identity

type Name = tuple[str, int, int]
"""Whose choice, of which block, on which trial."""


def identity_of(key: str, secret: bytes) -> str:
    """By what the database with this secret knows the person with this browser key."""
    return keyed_identity(sha256(f"plain:{key}".encode()).hexdigest(), secret)


class Ledger:
    """Every choice that a person was told of, with the reward that was on the screen."""

    def __init__(self) -> None:
        self.shown: dict[Name, tuple[int, float | None]] = {}
        """Square and reward; no reward where only the fact that the block had moved on was seen."""
        self.how: Counter[str] = Counter()
        self.contradictions: list[str] = []
        self.points: dict[str, float] = {}
        self.sent: dict[Name, list[dict[str, Any]]] = {}
        """Whose answers to which page, for which time: everything that was sent, most of it once."""
        self.acknowledged: dict[Name, dict[str, Any]] = {}
        """Those of them that the server said it had kept."""
        self._epochs: dict[str, int] = {}
        self._behind: Counter[tuple[str, int]] = Counter()

    def witness(self, key: str) -> Any:
        """To be told of every answer to this person's pages."""

        def hear(path: str, body: Mapping[str, Any], answer: dict[str, Any]) -> None:
            if path == "/api/choice":
                self.note((key, body["block"], body["trial"]), answer["arm"], answer["reward"], "answer")
                self._in_charge(key, body["epoch"])
            if path == "/api/page":
                self._note_page((key, body["step"], body["attempt"]), body["answers"])
            state = answer.get("state")
            if state is not None:
                self._epochs[key] = max(self._epochs.get(key, 0), state["epoch"])
                self.hear_state(key, state)

        return hear

    def asking(self, key: str, answerer: Any) -> Any:
        """An answerer whose answers are written down before they are sent."""

        def answers(page: dict[str, Any]) -> dict[str, Any]:
            given: dict[str, Any] = answerer(page)
            self.sent.setdefault((key, page["step"], page["attempt"]), []).append(given)
            return given

        return answers

    def _note_page(self, name: Name, given: dict[str, Any]) -> None:
        if self.acknowledged.setdefault(name, given) != given:
            self.contradictions.append(f"page {name[1:]} was acknowledged with two kinds of answers")

    def _in_charge(self, key: str, epoch: int) -> None:
        """A page that another has replaced may still hear of the choice that was under way, and of no other."""
        if epoch < self._epochs[key]:
            self._behind[key, epoch] += 1
            if self._behind[key, epoch] > 1:
                self.contradictions.append(f"a page of epoch {epoch} goes on after epoch {self._epochs[key]} took over")

    def hear_state(self, key: str, state: Mapping[str, Any]) -> None:
        """A page that shows a state shows the choice before it: its reward, or at least that it was made."""
        block = state["block"]
        if state["stage"] == "play" and block["trial"] > 0:
            self.note((key, block["number"], block["trial"] - 1), block["position"], block["last_reward"], "state")
        if state["stage"] in ("debriefing", "finished"):
            self.points[key] = state["points"]

    def moved_on(self, key: str, n_trials: Mapping[int, int]) -> None:
        """The person has come to the end of these blocks: their last choices are known to be made."""
        for block, n in n_trials.items():
            if (key, block, n - 1) not in self.shown:
                self.shown[key, block, n - 1] = (-1, None)
                self.how["block over"] += 1

    def note(self, name: Name, arm: int, reward: float, how: str) -> None:
        """A choice and its reward are on the screen; they must be what they were the last time."""
        if name not in self.shown:
            self.shown[name] = (arm, reward)
            self.how[how] += 1
        elif self.shown[name] != (arm, reward):
            self.contradictions.append(f"{name[1:]} was {self.shown[name]}, then {(arm, reward)} ({how})")


def compare(ledger: Ledger, engine: Engine) -> dict[str, Any]:
    """Counts of everything that was shown and kept, and in `faults` every difference between the two, in words."""
    with engine.connect() as connection:
        rows = connection.execute(select(choices).order_by(choices.c.person, choices.c.block, choices.c.trial)).all()
        persons = connection.execute(select(people)).all()
        block_rows = connection.execute(select(blocks)).all()
        n_consents = Counter(connection.execute(select(consents.c.person)).scalars())
        secret = bytes.fromhex(connection.execute(select(settings.c.value).where(settings.c.name == "secret")).scalar_one())
    identities = {person.id: person.identity for person in persons}
    shown = {(identity_of(key, secret), *rest): value for (key, *rest), value in ledger.shown.items()}
    stored = Counter((identities[row.person], row.block, row.trial) for row in rows)
    faults = list(ledger.contradictions)
    faults += [f"shown and lost: {name[1:]}" for name in shown.keys() - stored.keys()]
    faults += [f"stored and never shown: {name[1:]}" for name in stored.keys() - shown.keys()]
    faults += [f"stored {n} times: {name[1:]}" for name, n in stored.items() if n > 1]
    checked = 0
    for row in rows:
        arm, reward = shown.get((identities[row.person], row.block, row.trial), (-1, None))
        if reward is not None:
            checked += 1
            if (arm, reward) != (row.arm, row.reward):
                faults.append(f"shown {(arm, reward)}, stored {(row.arm, row.reward)} on {(row.block, row.trial)}")
    faults += _course(rows, persons, block_rows, n_consents)
    faults += compare_answers(ledger, engine, identities, secret)
    told = {identity_of(key, secret): points for key, points in ledger.points.items()}
    faults += [f"points shown {told[p.identity]}, stored {p.points}" for p in persons if told.get(p.identity) != p.points]
    return {
        "people": len(persons),
        "shown": len(shown),
        "stored": len(rows),
        "rewards_compared": checked,
        "how_shown": dict(ledger.how),
        "flags": dict(Counter(word for row in rows for word in row.flags.split())),
        "pages_acknowledged": len(ledger.acknowledged),
        "most_attempts": max((row.attempts for row in rows), default=0),
        "faults": faults,
    }


def compare_answers(ledger: Ledger, engine: Engine, identities: Mapping[int, str], secret: bytes) -> list[str]:
    """Every difference between the answers that were sent and acknowledged, and those that are kept."""
    with engine.connect() as connection:
        left = connection.execute(select(visits)).all()
        rows = connection.execute(select(answers)).all()
    kept: dict[Name, dict[str, Any]] = {(identities[row.person], row.step, row.attempt): {} for row in left}
    for row in rows:
        kept[identities[row.person], row.step, row.attempt][row.question] = json.loads(row.answer)
    own = {key: identity_of(key, secret) for key in {name[0] for name in ledger.sent}}
    sent = {(own[key], *rest): given for (key, *rest), given in ledger.sent.items()}
    acknowledged = {(own[key], *rest): given for (key, *rest), given in ledger.acknowledged.items()}
    faults = [f"pages left twice: {len(left)} rows, {len(kept)} pages"] if len(left) != len(kept) else []
    faults += [f"page {name[1:]} was acknowledged and is lost" for name in acknowledged.keys() - kept.keys()]
    faults += [f"page {name[1:]} is kept and was never sent" for name in kept.keys() - sent.keys()]
    for name, given in kept.items():
        if given not in sent.get(name, []):
            faults.append(f"page {name[1:]} is kept with {given}, which was never sent")
        elif acknowledged.get(name, given) != given:
            faults.append(f"page {name[1:]} was acknowledged with {acknowledged[name]} and is kept with {given}")
    return faults


def _course(rows: Any, persons: Any, block_rows: Any, n_consents: Mapping[int, int]) -> list[str]:
    """Whether everyone's course is whole: every trial once, each from where the last one ended, points that add up."""
    faults = []
    by_block: dict[tuple[int, int], list[Any]] = {}
    for row in rows:
        by_block.setdefault((row.person, row.block), []).append(row)
    kinds = {}
    for block in block_rows:
        kinds[block.person, block.number] = block.kind
        made = by_block.get((block.person, block.number), [])
        if [row.trial for row in made] != list(range(block.n_trials)):
            faults.append(f"block {block.number} has {len(made)} of {block.n_trials} choices, or not in order")
        positions = [block.start, *(row.arm for row in made)]
        if any(row.position != position for row, position in zip(made, positions, strict=False)):
            faults.append(f"block {block.number}: a choice starts where the one before did not end")
    earned: Counter[int] = Counter()
    for (person, number), made in by_block.items():
        if kinds.get((person, number)) == "task":
            earned[person] += sum(row.reward for row in made)
    if missing := by_block.keys() - kinds.keys():
        faults.append(f"choices without a block: {len(missing)}")
    for person in persons:
        if person.stage != "finished":
            faults.append(f"a person stopped at {person.stage}")
        if n_consents.get(person.id, 0) != 1:
            faults.append(f"a person has {n_consents.get(person.id, 0)} consents")
        if earned[person.id] != person.points:
            faults.append(f"points are {person.points}, and rewards add up to {earned[person.id]}")
    return faults

"""Who may not have played by hand or in time, judged by the flags of their choices and events on their page.

Such people are shown to the researcher, left out of choices.csv and of payments until someone says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, func, select

from explorelab.study.database.tables import choices, events, people

TOLD = ("simulated", "webdriver")
"""Events that show nobody is playing by hand: the page played by itself, or a program controls the browser."""
SHARES: Mapping[str, float] = {"synthetic": 0.1, "early": 0.1, "hurried": 0.5, "regular": 0.5, "slow": 0.25, "absent": 0.95}
"""Flags that raise a doubt if at least this share of a person's choices has them; absent: no click."""
LEAST = 3
"""The fewest flagged choices that count: everyone has a bad moment."""
REASONS: Mapping[str, str] = {
    "simulated": "the page played by itself",
    "webdriver": "a program controlled the browser",
    "synthetic": "clicks not made by mouse, finger or key",
    "early": "choices before their time was up",
    "hurried": "clicks faster than a hand can make",
    "regular": "clicks always after exactly the same time",
    "slow": "much more time taken than the clock allows",
    "absent": "hardly a click in the whole study",
}
"""What each word means, for people."""


def doubts(n_choices: int, flags: Mapping[str, int], happened: Collection[str]) -> tuple[str, ...]:
    """Why this person may not have played as people do; nothing if there is no reason to think so."""
    told = [kind for kind in TOLD if kind in happened]
    return (*told, *(word for word, share in SHARES.items() if flags.get(word, 0) >= max(LEAST, share * n_choices)))


def doubted(connection: Connection, person: int | None = None) -> dict[int, tuple[str, ...]]:
    """The reasons to doubt each person, or one person, if there are any; robots are excluded."""
    persons = select(people.c.id).where(people.c.pilot.is_(False))
    if person is not None:
        persons = persons.where(people.c.id == person)
    happened: dict[int, set[str]] = {}
    told = select(events.c.person, events.c.kind).where(events.c.kind.in_(TOLD), events.c.person.in_(persons))
    for who, kind in connection.execute(told.distinct()):
        happened.setdefault(who, set()).add(kind)
    flags: dict[int, dict[str, int]] = {}
    by = (choices.c.person, choices.c.flags, choices.c.missed)
    counted = select(*by, func.count()).where(choices.c.person.in_(persons))
    made: dict[int, int] = {}
    for who, words, missed, n in connection.execute(counted.group_by(*by)):
        made[who] = made.get(who, 0) + n
        for word in [*words.split(), *(["absent"] if missed else [])]:
            counts = flags.setdefault(who, {})
            counts[word] = counts.get(word, 0) + n
    found = {who: doubts(made.get(who, 0), flags.get(who, {}), happened.get(who, ())) for who in flags | happened}
    return {who: why for who, why in found.items() if why}

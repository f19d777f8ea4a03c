"""What people were promised for taking part: fixed at consent, whatever study.toml says later."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache

from sqlalchemy import Connection, bindparam, select, update

from explorelab.study.config.design import Completion, Payment, Study
from explorelab.study.database.tables import Person, people


@dataclass(frozen=True)
class Terms:
    """The payment, and how people leave to get it."""

    payment: Payment
    completion: Completion


def offered(study: Study) -> str:
    """The study's current terms, stored with anyone who agrees now."""
    return json.dumps(asdict(Terms(study.payment, study.completion)), sort_keys=True)


def terms_of(study: Study, person: Person) -> Terms:
    """The terms that this person agreed to; before consent, those that are offered."""
    return Terms(study.payment, study.completion) if person.terms is None else _read(person.terms)


@lru_cache(maxsize=64)
def _read(text: str) -> Terms:
    told = json.loads(text)
    return Terms(Payment(**told["payment"]), Completion(**told["completion"]))


def bonus_of(study: Study, person: Person) -> float:
    """The person's bonus, as shown to them and under their own terms."""
    return float(terms_of(study, person).payment.bonus(person.points) if person.bonus is None else person.bonus)


def keep_terms(connection: Connection, study: Study) -> None:
    """Give people who agreed before terms were stored today's terms, so that they no longer change."""
    without = select(people.c.id).where(people.c.terms.is_(None), people.c.cell.is_not(None))
    numbers = [{"of_person": number} for number in connection.execute(without).scalars()]
    if numbers:
        change = update(people).where(people.c.id == bindparam("of_person")).values(terms=offered(study))
        connection.execute(change, numbers)

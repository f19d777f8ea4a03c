"""Advisers are led through stored choices: from the beginning or step by step, they say the same."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import explorelab as xl
from explorelab.companions.live import Companion
from explorelab.study.advice.advisers import Advisers, led_on, suggestion, warm_up
from explorelab.study.advice.messages import Answer, Moment
from explorelab.study.advice.reasons import WHY
from explorelab.study.advice.recipe import Recipe
from explorelab.study.advice.told import moment_of
from explorelab.study.computing import room as rooms
from explorelab.study.computing.pipe import Job, Reply, Told
from explorelab.study.computing.room import COULD_NOT
from explorelab.study.database.tables import choices
from tests.support.study.advised import advised_study, in_task, sealed
from tests.support.study.lab import Lab

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.grid([[1.0, 4.0, 9.0], [3.0, 8.0, 12.0], [2.0, 5.0, 7.0]], noise_var=1.0)
POLICIES = ("impersonal", "personal", "personal-quiet")


@pytest.fixture(scope="module")
def advisers() -> Advisers:
    return Advisers(Recipe((TASK,), 6, 2, ("none", *POLICIES), "stochastic-ucl", None, None, 8))


def told(trial: int, block: int = 0, advised: int | None = None) -> Told:
    arm = (5 * trial + 2 * block) % 9
    near = (arm, (arm + 1) % 9, (arm + 3) % 9) if block else None
    return Told(block, 4, arm, float(TASK.means[arm]), trial == 3, near, advised)


def moment(policy: str, news: tuple[Told, ...], known: int = 0, person: int = 1) -> Moment:
    block = news[-1].block if news else 0
    return Moment(person, policy, block, known + len(news), 4, None, known, news)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_adviser_that_was_told_step_by_step_says_what_one_says_that_was_told_at_once(
    advisers: Advisers, policy: str
) -> None:
    trials = [told(trial) for trial in range(4)] + [told(trial, block=1, advised=3) for trial in range(3)]
    room, steps = advisers.room(), []
    for known in range(len(trials)):
        steps.append(room.reply(Job(0, moment(policy, (trials[known],), known) if known else moment(policy, ())), 0.0))
        if known == 0:
            room.reply(Job(0, moment(policy, (trials[0],))), 0.0)
    at_once = [advisers.room().reply(Job(0, moment(policy, tuple(trials[: n + 1]))), 0.0) for n in range(1, len(trials))]
    assert steps[1:] == at_once
    assert len({reply.answer.arm for reply in at_once}) > 1


def test_the_arm_none_is_silent(advisers: Advisers) -> None:
    assert advisers.room().reply(Job(3, moment("none", ())), 0.0) == Reply(3, Answer(None, "none"))


def test_whoever_is_not_known_there_must_be_told_from_the_beginning(advisers: Advisers) -> None:
    room = advisers.room()
    assert room.reply(Job(0, moment("impersonal", (told(2),), known=2)), 0.0).again
    room.reply(Job(0, moment("impersonal", (told(0), told(1)))), 0.0)
    assert not room.reply(Job(0, moment("impersonal", (told(2),), known=2)), 0.0).again
    assert room.reply(Job(0, moment("impersonal", (told(2),), known=2)), 0.0).again


def test_people_are_forgotten_when_they_are_silent_or_too_many(advisers: Advisers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "MOST_PEOPLE", 3)
    room = advisers.room()
    for person in range(10):
        room.reply(Job(0, moment("impersonal", (), person=person)), float(person))
        assert len(room) <= 3
    room.reply(Job(0, moment("impersonal", (), person=99)), 9.0 + rooms.SILENT_S)
    assert len(room) == 1


def test_one_persons_trouble_is_not_everyones(advisers: Advisers) -> None:
    room = advisers.room()
    broken = told(0)._replace(arm=77)
    assert "arm" in room.reply(Job(1, moment("impersonal", (broken,))), 0.0).trouble
    nonsense: Any = moment("impersonal", (told(0),))._replace(news=("nonsense",))
    assert room.reply(Job(1, nonsense), 0.0) == Reply(1, trouble=COULD_NOT)
    assert room.reply(Job(2, moment("impersonal", (told(0),), person=2)), 0.0).answer.reason == "best"


def test_warming_up_plays_every_policy_through(advisers: Advisers) -> None:
    warm_up(advisers, advisers._recipe._replace(policies=("none", "impersonal")))


class WithoutNeed(Advisers):
    """Advisers of a person whose points never need to be renewed."""

    @property
    def _mind(self) -> Companion:
        mind = super()._mind
        return replace(mind, settings=mind.settings._replace(fewest=0.0))


def test_after_warming_up_nobody_waits_for_a_program(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever's points are renewed, and whenever, though those of whoever was played to warm up had no need of it."""
    n_trials = 26  # beyond the first room of a belief
    fresh = WithoutNeed(Recipe((TASK,), n_trials, 2, ("personal",), "stochastic-ucl", None, None, 8))
    warm_up(fresh, fresh._recipe)
    played = fresh.new("personal")
    mind = played.adviser.mind
    assert mind is not None
    always = replace(mind, settings=mind.settings._replace(fewest=np.inf))
    played = played._replace(adviser=replace(played.adviser, mind=always))
    with jax.log_compiles(), caplog.at_level(logging.WARNING):
        for block in (0, 1):
            for trial in range(n_trials):
                arm = (trial * trial + block) % 9
                news = Told(block, 4, arm, float(TASK.means[arm]), trial % 7 == 5, None, arm if trial % 2 else None)
                played = led_on(played, Moment(1, "personal", block, trial + 1, 4, None, trial, (news,)))
                suggestion(played, Moment(1, "personal", block, trial + 1, 4, None, trial, ()))
    assert played.adviser.mind is not None
    assert played.adviser.mind.posterior.n_renewed == 2 * n_trials
    assert [record.message for record in caplog.records if "ompiling" in record.message] == []


def test_advisers_are_told_what_is_stored_and_only_what_was_on_the_screen(tmp_path: Path) -> None:
    lab = Lab(advised_study(task_dynamics=("travel",)), tmp_path)
    tab = in_task(lab)
    start = tab.state["block"]["start"] if "start" in tab.state["block"] else tab.state["block"]["position"]
    goal = 0 if start > 50 else 99
    tab.choose(0, goal, **sealed(lab, tab, 0, goal, advice_shown_ms=1.0))
    tab.choose(1, None, **{**sealed(lab, tab, 1, goal), "advice": "late"})
    code = tab.token.split(".")[0]
    with lab.store.engine.connect() as connection:
        whole, rest = moment_of(connection, lab.study, code, 0), moment_of(connection, lab.study, code, 1)
    first, second = lab.rows(choices)
    assert whole is not None
    assert rest is not None
    assert (whole.trial, whole.policy, whole.near, whole.start) == (2, "impersonal", None, start)
    assert [(each.arm, each.reward, each.missed) for each in whole.news] == [
        (first.arm, first.reward, False), (second.arm, second.reward, True),
    ]  # fmt: skip
    assert [each.advised for each in whole.news] == [first.arm, None]  # the next square on the way; nothing was shown
    assert whole.news[0].near == lab.study.board.next_to(start)
    assert (rest.known, rest.news) == (1, whole.news[1:])


@pytest.mark.parametrize("policy", POLICIES)
def test_a_block_of_one_choice_is_advised_like_any_other(policy: str) -> None:
    one = Advisers(Recipe((TASK,), 1, 2, (policy,), "stochastic-ucl", None, None, 8))
    warm_up(one, one._recipe)
    room = one.room()
    first = room.reply(Job(0, Moment(1, policy, 0, 0, 4, None, 0, ())), 0.0)
    second = room.reply(Job(1, Moment(1, policy, 1, 0, 4, None, 0, (told(0),))), 0.0)
    assert [reply.trouble for reply in (first, second)] == ["", ""]
    assert all(reply.answer.reason in WHY for reply in (first, second))
    assert policy != "impersonal" or first.answer.arm is not None

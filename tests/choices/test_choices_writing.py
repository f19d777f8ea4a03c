"""Choices that are written are read again as they were; no file, however spoilt, ends in a traceback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import explorelab as xl
from explorelab.choices.advice_given import AdviceGiven
from explorelab.choices.reading import check_choices, choices_from_frame, read_choices
from explorelab.choices.table import NOWHERE, Choices, Layout
from explorelab.choices.writing import choices_from_runs, write_choices
from explorelab.recovery.score import score_test, scores
from tests.support.choice_files import FOUR, same, tidy, written

pytestmark = pytest.mark.quick_programs

LABELS = (
    st.text("abcxyz 0123456789_-\u00e9\u4e2d\"',;#", min_size=1, max_size=8)
    .map(str.strip)
    .filter(
        lambda text: text != "" and not text.replace(".", "").lstrip("-").isdigit() and text.lower() not in ("true", "false")
    )
)
FLOATS = st.floats(-1e12, 1e12, allow_subnormal=False)


@st.composite
def any_choices(draw: st.DrawFn) -> Choices:
    """Choices with everything that a file can say, each present or not."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_people, n_blocks, n_trials, n_arms = (draw(st.integers(low, 4)) for low in (1, 1, 3, 2))
    n = n_people * n_blocks
    people = draw(st.lists(LABELS, min_size=n_people, max_size=n_people, unique=True))
    length = np.where(np.arange(n) % n_blocks == 0, n_trials, chance.integers(1, n_trials + 1, n))
    present = np.arange(n_trials) < length[:, None]
    observed = present & ((np.arange(n_trials) < 2) | (chance.random((n, n_trials)) < draw(st.sampled_from([0.5, 1.0]))))
    scored = observed & ((np.arange(n_trials) < 2) | (chance.random((n, n_trials)) < draw(st.sampled_from([0.5, 1.0]))))
    arm = np.where(observed, chance.integers(0, n_arms, (n, n_trials)), NOWHERE).astype(np.int32)
    reward = np.where(
        observed, np.array(draw(st.lists(FLOATS, min_size=n, max_size=n)))[:, None] + chance.normal(size=arm.shape), 0
    )
    available = None
    if draw(st.booleans()):
        available = (chance.random((n, n_trials, n_arms)) < 0.5) | (np.arange(n_arms) == arm[..., None])
        available |= ~present[..., None]
        available |= ~available.any(2, keepdims=True)
        available = None if available.all() else available
    kind = draw(st.sampled_from(["none", "places", "line"]))
    places = {"none": None, "places": chance.normal(size=(n_arms, 2)), "line": np.arange(n_arms)[:, None] * 1.0}[kind]
    layout = Layout(n_arms, places, draw(st.sampled_from([None, 0.1, 2.0])), name=draw(LABELS))
    means = {"no": None, "one": np.tile(chance.normal(size=n_arms), (n, 1)), "each": chance.normal(size=(n, n_arms))}
    start = {"no": None, "one": np.full(n, 1), "each": np.r_[1, chance.integers(-1, n_arms, n - 1)]}
    chosen = draw(st.sampled_from(list(means)))
    return Choices(
        layout,
        tuple(people),
        np.repeat(np.arange(n_people), n_blocks),
        np.tile(np.arange(1, n_blocks + 1).astype(str), n_people),
        arm,
        reward,
        observed,
        scored,
        present,
        available,
        means[chosen],
        start[draw(st.sampled_from(list(start)))],
        {"landscape": np.arange(n), "age": chance.normal(size=n), "group": np.array(draw(LABELS)).repeat(n).astype(object)},
        note=draw(st.sampled_from(["", 'a "note"\\ with\nlines \x7f'])),
        advice=_any_advice(chance, present, n_arms) if draw(st.booleans()) else None,
    )


def _any_advice(chance: np.random.Generator, present: np.ndarray, n_arms: int) -> AdviceGiven:
    """Suggestions at some trials, some of them shown, some of these followed."""
    advised = present & (chance.random(present.shape) < 0.7)
    shown = advised & (chance.random(present.shape) < 0.7)
    followed = shown & (chance.random(present.shape) < 0.5)
    arm = np.where(advised, chance.integers(0, n_arms, present.shape), NOWHERE).astype(np.int32)
    return AdviceGiven(arm, shown, followed, np.where(present, np.where(advised, "best", "late"), "").astype(object))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(choices=any_choices(), ending=st.sampled_from(["csv", "parquet"]))
def test_what_is_written_is_read_again(tmp_path: Path, choices: Choices, ending: str) -> None:
    path = write_choices(choices, tmp_path / f"choices.{ending}")
    again = read_choices(path)
    same(again, choices)
    same(read_choices(write_choices(again, tmp_path / f"more.{ending}")), choices)


@settings(max_examples=70, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(data=st.data())
def test_no_file_however_spoilt_ends_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    frame = tidy(n_people=2, n_blocks=1).assign(missed=0, available="", x=0, y=1, reaction_time_ms=500, land="A")
    frame = frame.assign(advised=1, advice_shown=1, followed=0, advice_reason="best")
    text = frame.to_csv(index=False)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text(',;"\n\r\t 0919.-eE\x00inf\u00e9_', max_size=4)) + text[at + cut :]
    task = data.draw(
        st.sampled_from([None, FOUR, {"grid": [2, 2]}, {"arms": 4, "means_by": "land", "means": {"A": [1, 2, 3, 4]}}])
    )
    report = check_choices(written(tmp_path, text), task)
    assert report.ok == (report.choices is not None)
    assert all(str(problem) for problem in report.problems)


def test_trial_numbers_reaction_times_and_why_a_trial_is_not_scored_survive_the_round_trip(tmp_path: Path) -> None:
    frame = tidy().assign(
        reaction_time_ms=np.arange(30) + 0.5, missed=[0, 0, 1, 0, 0] * 6, forced=[1, 0, 0, 0, 0] * 6, mood=np.arange(30)
    )
    frame["trial"] -= 1
    first = choices_from_frame(frame, FOUR)
    again = read_choices(write_choices(first, tmp_path / "choices.csv"))
    same(first, again)
    assert again.table is not None
    for column in ("trial", "missed", "forced", "reaction_time_ms", "mood"):
        assert again.table[column].tolist() == frame[column].tolist()


def test_a_table_is_checked_before_it_is_written(tmp_path: Path) -> None:
    write_choices(tidy(), tmp_path / "choices.csv", FOUR)
    same(read_choices(tmp_path / "choices.csv"), choices_from_frame(tidy(), FOUR))
    with pytest.raises(xl.InputError, match="expected arm to be 0 to 1"):
        write_choices(tidy(), tmp_path / "bad.csv", {"arms": 2})
    assert not (tmp_path / "bad.csv").exists()
    with pytest.raises(xl.InputError, match=r"\.csv or \.parquet"):
        write_choices(tidy(), tmp_path / "choices.xlsx", FOUR)


def test_who_was_left_out_is_said_in_the_task_file(tmp_path: Path) -> None:
    frame = pd.concat([tidy(), pd.DataFrame([["late", 1, 1, 0, 1.0]], columns=tidy().columns)])
    write_choices(frame, tmp_path / "choices.csv", FOUR)
    assert "# Left out: participant late" in (tmp_path / "choices.toml").read_text()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_simulate_makes_is_read_again(tmp_path: Path, ending: str) -> None:
    task = xl.tasks.on_graph(xl.tasks.grid(np.arange(9.0).reshape(3, 3)), start=4)
    agent = xl.agents.stochastic_ucl(prior_mean=4, prior_var=10, length_scale=1, temperature=4)
    runs = xl.simulate(agent, task, 30, n_replicates=5, seed=3, keep="trajectories", sweep={"temperature": [1.0, 4.0]})
    choices = choices_from_runs(runs, task, prefix="robot ", first=7)
    assert choices.participants == tuple(f"robot {i}" for i in range(7, 17))
    np.testing.assert_array_equal(choices.arm[5:], runs.choice.sel(temperature=4.0).values)
    np.testing.assert_array_equal(choices.reward[:5], runs.reward.sel(temperature=1.0).values.astype(float))
    assert choices.conditions["temperature"].tolist() == [1.0] * 5 + [4.0] * 5
    assert choices.layout.shape == (3, 3)
    again = read_choices(write_choices(choices, tmp_path / f"choices.{ending}"))
    same(again, choices)
    assert again.start is not None
    assert again.start.tolist() == [4] * 10


PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]
MEANS = [0.0, 1.0, 0.5, 2.0, 1.5]


def test_arms_on_the_way_are_not_choices() -> None:
    """On a path: whoever wants to go far passes arms that nobody chose; what is on offer is one move away."""
    task = xl.tasks.on_graph(xl.tasks.bandit(MEANS, 1.0), PATH, start=0)
    agent = xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=4.0, temperature=0.5)
    runs = xl.simulate(agent, task, 15, n_replicates=30, seed=3, keep="trajectories")
    choices = choices_from_runs(runs, task)
    before = np.concatenate([np.zeros((30, 1), int), choices.arm[:, :-1]], axis=1)
    assert (np.abs(choices.arm - before) <= 1).all()
    assert choices.available is not None
    np.testing.assert_array_equal(choices.available, np.abs(np.arange(5) - before[..., None]) <= 1)
    np.testing.assert_array_equal(choices.scored, runs["chosen"].values)
    assert 0.2 < choices.scored.mean() < 0.9
    assert choices.observed.all()


def test_choices_on_a_graph_are_scored_as_they_were_drawn() -> None:
    """The mean slope of the log-likelihood is zero at the true parameters; if every hop were a free choice it is not."""
    task = xl.tasks.on_graph(xl.tasks.bandit(MEANS, 1.0), PATH, start=0)
    agent = xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=4.0, temperature=0.5)
    runs = xl.simulate(agent, task, 15, n_replicates=300, seed=3, keep="trajectories", precision="double")
    choices = choices_from_runs(runs, task)
    assert float(score_test(scores(choices, agent))["p"]) > 0.01
    free = replace(choices, scored=np.ones_like(choices.scored), available=None)
    assert float(score_test(scores(free, agent))["p"]) < 1e-6


@pytest.mark.parametrize(
    "agent",
    [xl.agents.block_ucl(), xl.agents.ucb2(alpha=0.5), xl.agents.agrawal_hedge_teneketzis()],
    ids=lambda agent: agent.name,
)
def test_arms_that_a_block_keeps_to_are_not_choices(agent: xl.Agent) -> None:
    task = xl.tasks.bandit(MEANS, 1.0)
    choices = choices_from_runs(xl.simulate(agent, task, 60, n_replicates=3, seed=3, keep="trajectories"), task)
    moved = choices.arm[:, 1:] != choices.arm[:, :-1]
    assert choices.scored[:, 0].all()
    assert choices.scored[:, 1:][moved].all()
    assert not choices.scored.all()


def test_an_edge_longer_than_the_way_round_is_no_move() -> None:
    task = xl.tasks.on_graph(xl.tasks.bandit([0.0, 1.0, 2.0], 1.0), [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 5.0)], start=0)
    runs = xl.simulate(xl.agents.random_choice(), task, 12, n_replicates=20, seed=1, keep="trajectories")
    choices = choices_from_runs(runs, task)
    assert choices.available is not None
    assert not choices.available[:, 0, 2].any()
    assert (np.take_along_axis(choices.available, choices.arm[..., None], 2)).all()


def test_anyone_who_may_go_anywhere_chooses_freely() -> None:
    task = xl.tasks.with_costs(xl.tasks.line(MEANS, 1.0), "distance")
    choices = choices_from_runs(xl.simulate(xl.agents.random_choice(), task, 9, n_replicates=3, keep="trajectories"), task)
    assert choices.scored.all()
    assert choices.available is None


def test_runs_without_trajectories_and_the_wrong_task_are_refused() -> None:
    runs = xl.simulate(xl.agents.ucb1(), xl.tasks.bandit([0, 1, 2]), 5, n_replicates=2, keep="statistics")
    with pytest.raises(xl.InputError, match="trajectories"):
        choices_from_runs(runs, xl.tasks.bandit([0, 1, 2]))
    runs = xl.simulate(xl.agents.ucb1(), xl.tasks.bandit([0, 1, 2]), 5, n_replicates=2, keep="trajectories")
    with pytest.raises(xl.InputError, match="task that was simulated"):
        choices_from_runs(runs, xl.tasks.bandit([0, 1]))


def test_a_choice_without_its_reward_cannot_be_written(tmp_path: Path) -> None:
    choices = choices_from_frame(tidy(), FOUR)
    choices.observed[0, 1] = False
    with pytest.raises(xl.InputError, match="scored but not observed"):
        write_choices(choices, tmp_path / "choices.csv")

"""Every public function that takes an executor gives the same bits here, on one process and on two; and goes on if stopped.

Functions are found by their arguments: a new one without an example here fails the first test.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab._support.work import units
from explorelab._support.work.finished import Finished
from explorelab.agents.agent_names import agent_of
from explorelab.choices.table import Choices
from tests.contract.test_docstrings import FUNCTIONS
from tests.support.people import population
from tests.support.siblings import slow, slow_but

pytestmark = pytest.mark.quick_programs

AGENT = "win-stay-lose-shift"
OWN = Path(__file__).parents[1] / "support" / "my_models.py"
TASK = xl.tasks.bandit([0.0, 1.0])
PLAIN: dict[str, Any] = {"n_starts": 2, "seed": 1, "progress": False}


@cache
def people() -> Choices:
    agent = xl.agents.win_stay_lose_shift()
    everyone = population(agent, n=5, horizon=8, blocks=2, task=TASK)
    # People differ in how much they played, which the arrays of a share must not depend on.
    return everyone.rows(np.arange(9))


def _report(folder: Path, **how: Any) -> dict[str, bytes]:
    page = xl.write_report(people(), folder / "r.html", agents=["random-choice", AGENT], quick=True, **PLAIN, **how)
    files = [page, *sorted(each for each in (folder / "r_files").rglob("*") if each.is_file())]
    return {each.name: each.read_bytes() for each in files}


EXAMPLES: dict[str, Callable[..., Any]] = {
    "simulate": lambda folder, **how: xl.simulate(
        ["ucb1", "epsilon-greedy"], xl.tasks.bandit([0.0, 1.0]), 8, 300, 1, keep="trajectories", progress=False, **how
    ),
    "fit": lambda folder, **how: xl.fit(people(), AGENT, "map", **PLAIN, **how),
    "fit em": lambda folder, **how: xl.fit(people(), AGENT, "em", **PLAIN, **how),
    "fit effects": lambda folder, **how: xl.fit(two_groups(), AGENT, "em", effects="win_stay ~ group", **PLAIN, **how),
    "cross_validate": lambda folder, **how: xl.cross_validate(eight(), AGENT, "em", **PLAIN, **how),
    "compare": lambda folder, **how: xl.compare(eight(), ["random-choice", AGENT], **PLAIN, **how),
    "recover_parameters": lambda folder, **how: xl.recover_parameters(people(), AGENT, n_people=5, **PLAIN, **how),
    "recover_models": lambda folder, **how: xl.recover_models(
        people(), ["random-choice", AGENT], n_data_sets=3, **PLAIN, **how
    ),
    "plan effect": lambda folder, **how: xl.plan(
        TASK, AGENT, effect="win_stay", horizon=8, people=[6], n_simulations=8, false_alarms=False, **PLAIN, **how
    ),
    "plan recover": lambda folder, **how: xl.plan(
        TASK, AGENT, recover="win_stay", horizon=[8, 9], n_simulations=20, **PLAIN, **how
    ),
    "plan agents": lambda folder, **how: xl.plan(
        TASK, agents=["random-choice", AGENT], horizon=8, people=[4], n_simulations=20, **PLAIN, **how
    ),
    "forecast": lambda folder, **how: xl.forecast(people(), AGENT, n_folds=2, n_points=8, seed=1, progress=False, **how),
    "write_report": _report,
}
"""By function, several of some."""


def two_groups() -> Choices:
    return Choices(**{**people().__dict__, "conditions": {"group": np.where(people().participant < 2, "a", "b")}})


def eight() -> Choices:
    """Those who played two blocks."""
    return people().rows(np.arange(8))


def same(one: Any, other: Any) -> bool:
    if isinstance(one, xr.DataTree):
        pairs = zip(one.subtree, other.subtree, strict=True)
        return all(a.path == b.path and same(a.to_dataset(inherit=False), b.to_dataset(inherit=False)) for a, b in pairs)
    return one.identical(other) if isinstance(one, xr.Dataset) else one == other


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """The result of an example without any of this."""
    return cache(lambda name: EXAMPLES[name](tmp_path_factory.mktemp("here")))


@pytest.fixture(scope="module")
def executor() -> Iterator[Any]:
    with xl.workers(2) as processes:
        yield processes


def test_every_function_that_takes_an_executor_has_an_example() -> None:
    takes = {name for name, function in FUNCTIONS.items() if "executor" in inspect.signature(function).parameters}
    assert takes == {name.partition(" ")[0] for name in EXAMPLES}


REPORT = "write_report"
"""Which does all that the others do, and has its own test of being killed (tests/cli/test_resuming.py)."""


@pytest.mark.parametrize("name", slow_but([name for name in EXAMPLES if name != REPORT], EXAMPLES))
def test_processes_give_the_same_bits(name: str, here: Any, executor: Any, tmp_path: Path) -> None:
    sent: list[object] = []
    before = executor.submit
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "submit", lambda *args: sent.append(args) or before(*args))
        assert same(EXAMPLES[name](tmp_path, executor=executor), here(name))
    assert sent


@pytest.mark.parametrize("name", ["simulate", "fit em"])
@pytest.mark.slow
def test_so_does_a_single_process(name: str, here: Any, tmp_path: Path) -> None:
    with xl.workers(1) as executor:
        assert same(EXAMPLES[name](tmp_path, executor=executor), here(name))


class StoppedError(Exception):
    """What a test throws."""


@pytest.mark.parametrize("name", [*(name for name in EXAMPLES if name not in ("simulate", REPORT)), *slow(REPORT)])
def test_one_that_was_stopped_goes_on_to_the_same_bits(name: str, here: Any, tmp_path: Path) -> None:
    """Stopped after one part, then after three more."""
    every: list[str] = []
    put = Finished.put
    for stop in (1, 3, None):
        done: list[str] = []

        def count(self: Finished, key: str, result: object, stop: int | None = stop, done: list[str] = done) -> None:
            put(self, key, result)
            done.append(key)
            if len(done) == stop:
                raise StoppedError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Finished, "put", count)
            if stop is None:
                assert same(EXAMPLES[name](tmp_path, resume=tmp_path / "parts"), here(name))
            else:
                with pytest.raises(StoppedError):
                    EXAMPLES[name](tmp_path, resume=tmp_path / "parts")
        every += done
    assert len(set(every)) == len(every)  # nothing is done twice


def test_an_agent_of_a_users_own_travels_with_its_file(tmp_path: Path, executor: Any) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN.read_text(encoding="utf-8"), encoding="utf-8")
    agent = agent_of(f"{file}:two_rates")
    here = xl.fit(people(), agent, **PLAIN)
    assert same(xl.fit(people(), agent, **PLAIN, executor=executor), here)
    file.write_text("", encoding="utf-8")
    with pytest.raises(xl.InputError, match=r"a worker needs .*mine\.py for the agent two-rates, which is another file"):
        xl.fit(people(), agent, **{**PLAIN, "seed": 2}, executor=executor)


def test_an_agent_made_in_python_travels_with_its_functions_or_is_refused(executor: Any) -> None:
    bonus = 0.5
    agent = xl.agent(
        "closed", learner="delta-rule", limit=lambda params, belief, moment: belief.mean + bonus,
        parameters=["temperature"], values={"prior_mean": 0.0, "learning_rate": 0.3},
    )  # fmt: skip
    assert same(xl.fit(people(), agent, **PLAIN, executor=executor), xl.fit(people(), agent, **PLAIN))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("explorelab.agents.own.sending.find_spec", lambda name: None)
        with pytest.raises(xl.ExplorelabError, match="closed was made in Python and cannot be sent to other processes"):
            xl.fit(people(), agent, **PLAIN, executor=executor)


def test_longer_runs_add_to_what_there_is(tmp_path: Path) -> None:
    """A group that has not settled in two rounds goes on from them."""
    how: dict[str, Any] = {**PLAIN, "resume": tmp_path / "parts", "tolerance": 1e-4}
    xl.fit(people(), AGENT, "em", **how, rounds=2)
    before = set((tmp_path / "parts").iterdir())
    longer = xl.fit(people(), AGENT, "em", **how, rounds=4)
    assert before < set((tmp_path / "parts").iterdir())
    assert same(longer, xl.fit(people(), AGENT, "em", **PLAIN, tolerance=1e-4, rounds=4))


def test_without_an_executor_or_a_folder_nothing_is_divided() -> None:
    assert not units.is_divided()
    assert not units.is_elsewhere()

"""A Dask cluster, started for real: a scheduler and workers as processes, one of which is killed at work."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

import explorelab as xl
from explorelab._support.work import units
from tests.support.command_line import explorelab
from tests.support.people import population
from tests.support.work_to_do import Cluster, cluster, noted, where

pytestmark = [
    pytest.mark.skipif(find_spec("distributed") is None, reason="needs explorelab[dask]"),
    pytest.mark.quick_programs,
    # Of Dask's own making.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]
AGENT = "win-stay-lose-shift"


@pytest.fixture(scope="module")
def three() -> Iterator[Cluster]:
    with cluster(3) as running:
        yield running


@pytest.fixture
def client(three: Cluster) -> Iterator[object]:
    from distributed import Client

    with Client(three.address, timeout="60s", set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@units.long_work
def worked(function: object, each: list[tuple[object, ...]], executor: object = None) -> list[object]:
    return list(units.results(function, each, progress=False))  # type: ignore[arg-type]


def test_a_fit_on_the_cluster_has_the_same_bits(client: object) -> None:
    people = population(xl.agents.win_stay_lose_shift(), n=5, horizon=8, task=xl.tasks.bandit([0.0, 1.0]))
    here, there = (
        xl.fit(people, AGENT, n_starts=2, progress=False, executor=executor)
        for executor in (None, client.get_executor())  # type: ignore[attr-defined]
    )
    for a, b in zip(here.subtree, there.subtree, strict=True):
        assert a.to_dataset(inherit=False).identical(b.to_dataset(inherit=False))


def test_a_killed_worker_costs_time_and_nothing_else(three: Cluster, client: object) -> None:
    def kill() -> None:
        time.sleep(0.6)
        three.workers[0].kill()

    Thread(target=kill).start()
    done = worked(where, [(x, 0.1) for x in range(40)], executor=client.get_executor())  # type: ignore[attr-defined]
    assert [x for x, _, _ in done] == list(range(40))  # type: ignore[misc]
    assert three.workers[0].wait(10) == -9
    assert {taken for *_, taken in done} == {1}  # type: ignore[misc]
    assert os.getpid() not in {process for _, process, _ in done}  # type: ignore[misc]


def test_work_that_is_given_up_is_taken_off_the_cluster(client: object, tmp_path: Path) -> None:
    executor = client.get_executor()  # type: ignore[attr-defined]

    @units.long_work
    def given_up(executor: object) -> None:
        slow = units.results(where, [(x, 0.3) for x in range(200)], progress=False)
        next(slow)
        slow.close()  # type: ignore[attr-defined]

    given_up(executor)
    began = time.monotonic()
    assert worked(noted, [(1, str(tmp_path))], executor=executor) == [2]
    assert time.monotonic() - began < 10  # what was left would take half a minute


def test_a_command_works_on_the_cluster(three: Cluster, client: object, tmp_path: Path) -> None:
    people = population(xl.agents.win_stay_lose_shift(), n=5, horizon=8, task=xl.tasks.bandit([0.0, 1.0]))
    xl.write_choices(people, tmp_path / "people.csv")
    run = ("fit", "people.csv", "--agent", AGENT, "--starts", 2, "--out")
    assert explorelab(*run, "here.nc", cwd=tmp_path).returncode == 0
    done = explorelab(*run, "there.nc", "--dask", three.address, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here.nc").read_bytes() == (tmp_path / "there.nc").read_bytes()

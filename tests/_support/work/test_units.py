"""Units of work here and in other processes: in order, on one core each, done again where a process was lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import explorelab as xl
from explorelab._support.parallel import cores
from explorelab._support.work import units
from explorelab._support.work.distributing import MOST_LOST, WorkersLostError
from explorelab._support.work.payload import opened, packed, payload, perform
from explorelab._support.work.processes import Workers
from explorelab.errors import InputError, NotSentError
from tests.support.work_to_do import ROOT, deadly, deadly_once, doubled, refusing, setting, where

pytestmark = pytest.mark.quick_programs


@units.long_work
def worked(function: object, each: list[tuple[object, ...]], executor: Executor | None = None) -> list[object]:
    return list(units.results(function, each, progress=False))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with xl.workers(2) as executor:
        yield executor


def test_results_are_in_order_whoever_is_first(two: Workers) -> None:
    each = [(x, 0.05 * (x == 0)) for x in range(20)]
    assert worked(doubled, each) == worked(doubled, each, executor=two) == [2 * x for x in range(20)]


def test_two_processes_do_the_work_and_each_takes_one_core(two: Workers) -> None:
    done = worked(where, [(x, 0.02) for x in range(20)], executor=two)
    assert len({process for _, process, _ in done} - {os.getpid()}) == 2  # type: ignore[misc]
    assert {taken for _, _, taken in done} == {1}  # type: ignore[misc]


def test_a_few_units_here_have_all_cores_and_many_have_one_each() -> None:
    several = cores()
    few, many = ([(x,) for x in range(n)] for n in (several - 1, 4 * several))
    assert {taken for *_, taken in worked(where, few)} <= {several}  # type: ignore[misc]
    assert {taken for *_, taken in worked(where, many)} == {1}  # type: ignore[misc]


def test_work_within_a_unit_is_not_divided_again(two: Workers) -> None:
    with units.inside():
        assert {process for _, process, _ in worked(where, [(x,) for x in range(4)])} == {os.getpid()}  # type: ignore[misc]


def test_the_packages_own_errors_come_back_as_they_are(two: Workers) -> None:
    with pytest.raises(InputError, match=r"^x must not be 0\.$"):
        worked(refusing, [(0,)], executor=two)
    assert worked(doubled, [(1,)], executor=two) == [2]


def test_what_a_killed_process_was_doing_is_done_again(tmp_path: Path) -> None:
    with xl.workers(2) as executor:
        assert worked(deadly_once, [(x, str(tmp_path / "mark")) for x in range(8)], executor=executor) == list(range(8))
        assert (tmp_path / "mark").exists()


def test_a_pool_of_somebody_elses_is_replaced_when_it_breaks(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        assert worked(deadly_once, [(x, str(tmp_path / "mark")) for x in range(5)], executor=executor) == list(range(5))


def test_it_gives_up_where_processes_die_again_and_again() -> None:
    with xl.workers(1) as executor, pytest.raises(WorkersLostError, match=f"ended {MOST_LOST + 1} times"):
        worked(deadly, [(1,)], executor=executor)


def test_forked_processes_are_refused() -> None:
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as executor,
        pytest.raises(InputError, match="would be forked"),
    ):
        worked(doubled, [(1,)], executor=executor)


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(InputError, match=r"executor must have the interface .* got int"):
        worked(doubled, [(1,)], executor=4)  # type: ignore[arg-type]


def test_threads_will_do_too() -> None:
    with ThreadPoolExecutor(2) as executor:
        assert worked(doubled, [(x,) for x in range(9)], executor=executor) == [2 * x for x in range(9)]


def test_what_cannot_be_sent_is_said_in_a_sentence(two: Workers) -> None:
    with pytest.raises(NotSentError, match="this work cannot be sent to other processes or kept"):
        worked(doubled, [(lambda: 1,)], executor=two)


def test_another_version_is_noticed_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = payload(doubled, (1,))
    monkeypatch.setattr("explorelab._support.work.payload.__version__", "9.9")
    with pytest.raises(InputError, match=r"a worker has explorelab 9\.9, but the work comes from"):
        opened(perform(sent))


def test_arrays_of_jax_travel_with_all_their_digits() -> None:
    with jax.enable_x64(True):
        third = jnp.asarray(1 / 3)
    sent = packed({"third": third})
    code = "import pickle, sys; print(repr(pickle.loads(sys.stdin.buffer.read())['third'].item()))"
    said = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True).stdout
    assert said.decode().strip() == repr(1 / 3)


def test_settings_of_jax_that_matter_are_those_of_the_sender(two: Workers) -> None:
    assert worked(setting, [("jax_disable_most_optimizations",)]) == [True]  # as this file is marked
    assert worked(setting, [("jax_disable_most_optimizations",)], executor=two) == [True]


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """As in front of a terminal: what a shell starts in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_is_not_lost_while_work_is_handed_over(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with heeding_interrupts(), xl.workers(1) as executor:
        submit = executor._pool.submit

        def interrupted(*given: Any) -> Any:
            if when == "before":
                os.kill(os.getpid(), signal.SIGINT)
            future = submit(*given)
            if when == "after":
                os.kill(os.getpid(), signal.SIGINT)
            return future

        monkeypatch.setattr(executor._pool, "submit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            executor.submit(where, 1, 0.0)
        monkeypatch.undo()
        # The process that was started meanwhile does not heed it.
        process = executor.submit(where, 2, 0.0).result()[1]
        os.kill(process, signal.SIGINT)
        assert executor.submit(where, 3, 0.0).result()[1] == process


ORPHANS = """
import explorelab as xl, os, signal, time
from explorelab._support.work import units
from tests.support.work_to_do import where

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with xl.workers(2) as executor:
        done = [executor.submit(where, x, 0.3) for x in range(2)]
        print(*{each.result()[1] for each in done}, flush=True)
        list(map(executor.submit, [time.sleep] * 2, [60] * 2))
        time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_their_owner_however_it_ends(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(ORPHANS, encoding="utf-8")
    owner = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        assert owner.stdout is not None
        theirs = list(map(int, owner.stdout.readline().split()))
        assert theirs
        owner.send_signal(how)
        owner.wait(20)
        until = time.monotonic() + 20
        while any(map(_runs, theirs)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(map(_runs, theirs))
    finally:
        owner.kill()
        owner.communicate()


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

"""Problems in calls: every problem once, in order, and no core left with a long call at the end."""

import numpy as np
import pytest

from explorelab.fitting.search import batches


@pytest.mark.quick
@pytest.mark.parametrize("workers", [1, 2, 3, 16])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 40, 400, 1001])
def test_shares_hold_every_problem_once_and_end_small(n, workers):
    found = batches.shares(n, workers)
    assert [i for share in found for i in share] == list(range(n))
    sizes = [len(share) for share in found]
    assert all(1 <= size <= batches.PER_CALL for size in sizes)
    # The first call is the one that compiles, while the others wait.
    assert sizes[:1] == [1] * min(n, 1)
    assert sizes[1:] == sorted(sizes[1:], reverse=True)
    if n > 2 * workers:
        assert sizes[-workers:] == [1] * workers


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_those_of_the_problems_in_their_order(workers, monkeypatch):
    monkeypatch.setattr(batches, "cores", lambda: workers)
    calls = []

    def call(part, count):
        calls.append(int(count))
        assert len(part) == batches.PER_CALL
        return {"square": part**2, "twice": 2 * part}

    given = np.arange(53.0)
    found = batches.in_calls(call, given, "squaring", progress=False)
    np.testing.assert_array_equal(found["square"], given**2)
    np.testing.assert_array_equal(found["twice"], 2 * given)
    assert sum(calls) == 53


@pytest.mark.quick
def test_workers_are_never_far_from_ending_together():
    rng = np.random.default_rng(0)
    for n, workers in ((40, 2), (400, 2), (400, 16)):
        lasts = rng.exponential(size=n)
        ends = np.zeros(workers)
        for share in batches.shares(n, workers)[1:]:
            ends[ends.argmin()] += lasts[share].sum()
        assert ends.max() <= lasts[1:].sum() / workers + lasts.max()

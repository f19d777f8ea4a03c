"""Tasks that change: what is asked for is what is built, and what makes no sense is answered in a sentence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import explorelab as xl

pytestmark = pytest.mark.quick

BANDIT = xl.tasks.bandit([1.0, 2.0, 3.0])

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "means of one time": (lambda: xl.tasks.moving([1.0, 2.0]), r"two dimensions, time and arm, got .* \(2,\)"),
    "means that are NaN": (lambda: xl.tasks.moving([[1.0, np.nan]]), "must not contain NaN"),
    "no means": (lambda: xl.tasks.moving([]), "means must be"),
    "too much decay": (lambda: xl.tasks.restless(2, decay=1.1), "decay must be at least 0 and at most 1, got 1.1"),
    "negative steps": (lambda: xl.tasks.restless(2, diffusion_sd=-1), "diffusion_sd must be at least 0 .*got -1"),
    "centres of three": (lambda: xl.tasks.restless(2, centre=[1, 2, 3]), "one for each of the 2 arms, got 3"),
    "points elsewhere": (lambda: xl.tasks.restless(2, centre=0), "points from 1 to 100 must hold the means"),
    "points upside down": (lambda: xl.tasks.with_points(BANDIT, (10, 1)), "lowest reward first"),
    "half a point": (lambda: xl.tasks.with_points(BANDIT, (0.5, 10)), "points must be a whole number"),
    "hazard beyond 1": (lambda: xl.tasks.switching(n_arms=2, hazard=2), "hazard must be"),
    "a table of levels": (lambda: xl.tasks.switching([[1.0, 2.0]]), "one mean for each arm"),
    "negative time": (lambda: xl.tasks.with_blocked(BANDIT, [(0, -1, 2)]), "first trial .* at least 1, got -1"),
    "time backwards": (lambda: xl.tasks.with_blocked(BANDIT, [(0, 5, 2)]), "last trial .* at least 5, got 2"),
    "an arm too many": (lambda: xl.tasks.with_blocked(BANDIT, [(3, 1, 2)]), "at most 2, got 3"),
    "a table of another size": (
        lambda: xl.tasks.with_blocked(BANDIT, np.zeros((4, 2), bool)),
        r"3 arms, got shape \(4, 2\)",
    ),
    "nothing on offer": (lambda: xl.tasks.with_blocked(BANDIT, [(i, 3, 3) for i in range(3)]), "on trial 3 none is"),
    "forced onto a blocked arm": (
        lambda: xl.tasks.with_forced(xl.tasks.with_blocked(BANDIT, [(1, 2, 2)]), [0, 1]),
        "on trial 2 arm 1 is blocked",
    ),
    "forced nowhere": (lambda: xl.tasks.with_forced(BANDIT, [0, 3]), "a forced arm must be at most 2, got 3"),
    "blocked on a graph": (
        lambda: xl.tasks.with_blocked(xl.tasks.on_graph(xl.tasks.line([1.0, 2.0])), [(0, 1, 2)]),
        "graph of moves",
    ),
    "forced and seen": (lambda: xl.tasks.horizon_game(1, seen=(1, 3), forced=[0, 0, 1, 1]), "arm 0 1 times"),
    "paths beyond the end": (lambda: xl.tasks.paths(xl.tasks.moving([[1.0], [2.0]]), 3), "at most 2"),
    "the best arm": (lambda: xl.tasks.restless(3).best, "means are fixed, but restless has means that walk at random"),
    "the gaps": (lambda: xl.tasks.moving([[1.0], [2.0]]).gaps, "means that follow a given path"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_makes_no_sense_is_one_sentence(case: str) -> None:
    build, words = WRONG[case]
    with pytest.raises(xl.InputError, match=words) as caught:
        build()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_nothing_blocked_and_nothing_forced_change_nothing() -> None:
    assert xl.tasks.with_blocked(BANDIT, []).is_steady
    assert xl.tasks.with_blocked(BANDIT, np.zeros((4, 3), bool)).is_steady
    assert xl.tasks.with_forced(BANDIT, [-1, -1]).is_steady


def test_spans_are_the_table() -> None:
    table = np.zeros((5, 3), bool)
    table[1:3, 0], table[4:5, 2] = True, True
    by_spans = xl.tasks.with_blocked(BANDIT, [(0, 2, 3), (2, 5, 5)])
    np.testing.assert_array_equal(by_spans.available, xl.tasks.with_blocked(BANDIT, table).available)


def test_the_horizon_task_is_as_published() -> None:
    games = xl.tasks.horizon_task(2000, seed=3)
    assert {game.n_trials for game in games} == {5, 10}
    assert abs(np.mean([game.n_trials == 5 for game in games]) - 0.5) < 0.01
    for game in games[:200]:
        assert game.forced is not None
        assert len(game.forced) == 4
        seen = np.bincount(game.forced, minlength=2)
        informative = game.conditions["informative_arm"]
        assert (informative == -1) == (seen[0] == seen[1])
        assert informative == -1 or seen[int(informative)] == 1
        assert {40.0, 60.0} & set(game.means.tolist())
        assert abs(np.diff(game.means)[0]) in (4, 8, 12, 20, 30)
        assert game.conditions["difference"] == np.diff(game.means)[0]
        assert (game.noise.var, game.points) == (64, (1, 100))
    shares = np.mean([game.conditions["information"] == "equal" for game in games])
    assert abs(shares - 0.5) < 0.05

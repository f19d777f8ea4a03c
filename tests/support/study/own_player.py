"""Somebody who plays blocks of one's own at random, as the page lets them, and sends every choice twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from explorelab.study.database import tables
from tests.support.study.lab import Tab


def choosable(tab: Tab) -> list[int]:
    """The arms that may be chosen, as the page can tell: those that it is sent or, on a grid, the dynamic says."""
    shown, board = tab.state["block"], tab.lab.study.board_of(tab.lab.rows(tables.blocks)[-1])
    if shown["available"] is not None:
        return list(shown["available"])
    return list(board.allowed(shown["dynamic"], shown["position"]) or range(board.n_arms))


def play(tab: Tab, seed: int = 1) -> list[dict[str, Any]]:
    """The rest of the block in play; the answers."""
    rng, made = np.random.default_rng(seed), []
    for trial in range(tab.state["block"]["trial"], tab.state["block"]["n_trials"]):
        arm = int(rng.choice(choosable(tab)))
        answer = tab.choose(trial, arm)
        assert answer.status_code == 200, answer.text
        made.append(answer.json())
        again = tab.post("choice", **tab.report(trial, arm))
        assert {**again.json(), "state": None} == {**answer.json(), "state": None}
        tab.state["block"] |= {name: made[-1][name] for name in ("available", "position", "goal")}
    tab.state = made[-1]["state"]
    return made

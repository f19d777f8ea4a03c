"""Small studies for tests: the paper's design with few choices and short clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import explorelab as xl
from explorelab.study.config.design import BlockPlan, Completion, Server, Study, Texts

PAGES = ("consent", "instructions", "debriefing", "declined", "withdrawn", "preview", "expired")


def small_study(*, deadline_ms: int = 20, n_trials: int = 6, n_training: int = 3, **changes: Any) -> Study:
    """The paper's design, shortened."""
    dynamics = ("standard", "neighbour", "travel")
    study = Study(
        name="small",
        title="A small study",
        width=10,
        height=10,
        landscapes={"A": xl.tasks.landscape("A"), "B": xl.tasks.landscape("B"), "training": xl.tasks.landscape("training")},
        timings={"fast": deadline_ms, "slow": 4 * deadline_ms},
        training=tuple(BlockPlan("training", each, "slow", 4 * deadline_ms, "training", n_training) for each in dynamics),
        task_timings=("fast", "slow"),
        task_dynamics=dynamics,
        task_landscapes=("A", "B"),
        n_task_blocks=2,
        n_trials=n_trials,
        texts=Texts("en", "ltr", {page: f"# {page}\n\nText of {page}." for page in PAGES}, {"start": "Start"}),
        completion=Completion("THANKS42", ""),
        server=Server(120.0, 100_000, 100_000, 1_000_000, 1_000_000),
    )
    return replace(study, **changes)

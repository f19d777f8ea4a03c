"""What is worth a look in a file of choices, and who is left out of it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from explorelab.choices.checks.schema import problems
from explorelab.choices.reading import CheckReport, check_choices, choices_from_frame
from tests.support.choice_files import FOUR, tidy, written


def test_a_participant_with_one_trial_is_left_out_listed_and_counted(tmp_path: Path) -> None:
    frame = pd.concat([tidy(), pd.DataFrame([["late", 1, 1, 0, 1.0]], columns=tidy().columns)])
    report = check_choices(written(tmp_path, frame), FOUR)
    assert report.ok
    assert [(e.participant, e.n_trials) for e in report.exclusions] == [("late", 1)]
    assert report.counts["excluded"] == 1
    assert report.counts["participants"] == 4
    assert report.choices is not None
    assert report.choices.participants == ("p0", "p1", "p2")
    assert report.choices.exclusions == report.exclusions
    assert report.choices.table is not None
    assert len(report.choices.table) == 30
    assert any("late" in str(warning) for warning in report.warnings)


def test_a_participant_who_never_chose_is_left_out() -> None:
    frame = tidy().assign(missed=(tidy().participant == "p1").astype(int))
    assert [e.participant for e in choices_from_frame(frame, FOUR).exclusions] == ["p1"]


def test_if_everyone_would_be_left_out_that_is_a_problem() -> None:
    assert "nothing to fit" in str(problems(tidy(n_people=2, n_blocks=1, n_trials=1), FOUR)[0])


def test_warnings_do_not_stop_reading(tmp_path: Path) -> None:
    frame = tidy().drop(index=[28, 29])
    frame.loc[frame.participant == "p0", "arm"] = 2
    frame["reaction_time_ms"] = 0.8
    report = check_choices(written(tmp_path, frame), {"arms": 4, "horizon": 5})
    assert report.choices is not None
    told = [str(warning) for warning in report.warnings]
    assert any("expected 5 trials in a block (the horizon), got 3 for participant p2, block 2" in text for text in told)
    assert any("arm 2 in every trial" in text and "p0" in text for text in told)
    assert any("in seconds" in text for text in told)
    assert len(told) == 3


def test_blocks_that_begin_differently_are_a_warning() -> None:
    frame = tidy().drop(index=0)
    frame["trial"] -= 1
    looked = check_frame(frame)
    assert looked.ok
    assert "Is the first trial missing" in str(looked.warnings[0])


def check_frame(frame: pd.DataFrame) -> CheckReport:
    from explorelab.choices.checks.schema import look_at
    from explorelab.choices.raw import raw_of_frame
    from explorelab.choices.reading import _report
    from explorelab.choices.task_file import task_of

    return _report(look_at(raw_of_frame(frame), task_of(FOUR)), "table")


@pytest.mark.parametrize("n_trials", [9, pytest.param(90, marks=pytest.mark.slow)])
def test_ten_thousand_people_are_checked(tmp_path: Path, n_trials: int) -> None:
    frame = tidy(n_people=10_000, n_blocks=2, n_trials=n_trials, n_arms=100).assign(missed=0, group="a")
    path = written(tmp_path, frame)
    report = check_choices(path, {"grid": [10, 10], "horizon": n_trials})
    assert report.ok
    assert report.counts["trials"] == 20_000 * n_trials

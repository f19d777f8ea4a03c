"""Columns about advice: read as they are written, checked, counted, and never conditions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explorelab.choices.reading import check_choices, choices_from_frame
from explorelab.choices.table import NOWHERE
from tests.support.choice_files import FOUR, tidy, written

pytestmark = pytest.mark.quick


def advised(**changes: object) -> pd.DataFrame:
    """Arm 2 is suggested at every third trial."""
    frame = tidy()
    on = np.arange(len(frame)) % 3 == 0
    frame["advised"] = pd.array(np.where(on, 2, 0), "Int64")
    frame.loc[~on, "advised"] = pd.NA
    frame["advice_shown"], frame["advice_reason"] = on.astype(int), np.where(on, "best", "late")
    return frame.assign(**changes)


def test_what_was_advised_is_kept_trial_by_trial_and_cut_with_the_rows() -> None:
    choices = choices_from_frame(advised(), FOUR)
    given = choices.advice
    assert given is not None
    assert set(choices.conditions) == set()
    np.testing.assert_array_equal(given.shown, given.arm == 2)
    np.testing.assert_array_equal(given.arm == NOWHERE, ~given.shown)
    np.testing.assert_array_equal(given.late, ~given.shown)
    np.testing.assert_array_equal(given.followed, given.shown & (choices.arm == 2))
    assert given.followed.any()
    part = choices.rows([1, 3]).advice
    assert part is not None
    np.testing.assert_array_equal(part.arm, given.arm[[1, 3]])


@pytest.mark.parametrize(
    ("changes", "task", "suggested"),
    [
        ({"advised": 3, "arm": 1}, {"arms": 4, "first_arm": 1}, 2),
        ({"advised": "c", "arm": "a"}, {"arms": ["a", "b", "c", "d"]}, 2),
        ({"advised": 9, "arm": 1}, None, 9),
    ],
    ids=["counted from 1", "named", "inferred arms"],
)
def test_suggestions_are_numbered_as_arms_are(changes: dict, task: dict | None, suggested: int) -> None:
    frame = advised(**changes, advice_shown=1)
    choices = choices_from_frame(frame, task)
    assert choices.advice is not None
    assert (choices.advice.arm == suggested).all()
    assert choices.table is not None
    assert choices.table["advised"].tolist() == (["c"] * 30 if "c" in changes.values() else [suggested] * 30)


@pytest.mark.parametrize(
    ("changes", "task", "said"),
    [
        ({"advised": 7}, FOUR, "expected the number of the arm that was suggested, or nothing if none was, got 7"),
        ({"advised": "x", "arm": "a"}, {"arms": ["a", "b"]}, "expected the name of the arm that was suggested"),
        ({"advice_shown": 2}, FOUR, "expected 0, 1 or nothing, got 2"),
        ({"advice_shown": 1}, FOUR, "expected 0 where nothing was advised, got 1"),
        ({"followed": "perhaps"}, FOUR, "expected 0, 1 or nothing, got 'perhaps'"),
        ({"followed": 1}, FOUR, "expected 0 or nothing where no advice was shown, got 1"),
    ],
)
def test_what_cannot_be_is_a_problem_with_its_place(tmp_path, changes: dict, task: dict, said: str) -> None:
    report = check_choices(written(tmp_path, advised(**changes)), task)
    assert said in " ".join(map(str, report.problems))
    assert report.choices is None


def test_advice_is_counted_where_there_is_some(tmp_path) -> None:
    report = check_choices(written(tmp_path, advised()), FOUR)
    given = report.choices.advice
    assert (report.counts["advised"], report.counts["followed"]) == (10, given.followed.sum())
    assert "advised" not in check_choices(written(tmp_path, tidy()), FOUR).counts
    assert not any("vary within a block" in note for note in report.notes)

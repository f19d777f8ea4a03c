"""`explorelab check` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.choice_files import change, tidy, written
from tests.support.command_line import explorelab

pytestmark = pytest.mark.quick


def test_check_says_what_was_found_and_ends_well(tmp_path: Path) -> None:
    path = written(tmp_path, tidy(), "[task]\narms = 4\nhorizon = 6\n")
    done = explorelab("check", str(path))
    assert done.returncode == 0, done.stderr
    assert "3 participants, 6 blocks, 30 trials" in done.stdout
    assert "warning: row 2: expected 6 trials in a block (the horizon), got 5" in done.stdout


def test_check_tells_all_problems_and_ends_with_status_2(tmp_path: Path) -> None:
    path = written(tmp_path, change(arm={3: 9}, reward={4: "lots [of] it"}))
    (tmp_path / "other.toml").write_text("[task]\narms = 4\n")
    done = explorelab("check", str(path), "--task", str(tmp_path / "other.toml"))
    assert done.returncode == 2
    assert "problem: row 5, column arm: expected arm to be 0 to 3, got 9." in done.stdout
    assert "problem: row 6, column reward: expected a number, got 'lots [of] it'." in done.stdout
    assert "Traceback" not in done.stderr


def test_check_as_json(tmp_path: Path) -> None:
    done = explorelab("check", str(written(tmp_path, change(arm={3: 9.5}))), "--json")
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert not told["ok"]
    assert told["problems"][0] | {"message": "", "cause": ""} == {
        "row": 5,
        "column": "arm",
        "value": "9.5",
        "message": "",
        "cause": "",
        "count": 1,
        "counted": "rows",
        "rows": [5],
    }


def test_check_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = explorelab("check", str(tmp_path / "none.csv"))
    assert done.returncode == 2
    assert "cannot read the file" in done.stdout
    assert "Traceback" not in done.stderr

"""Numbers in files: decimals as people write them, and every other number as it is."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from explorelab._support.written_numbers import tidied
from explorelab.choices.reading import choices_from_frame, read_choices
from explorelab.choices.writing import write_choices
from explorelab.cli.app import app
from explorelab.study.export.cells import Table
from tests.support.choice_files import tidy

pytestmark = pytest.mark.quick

LEFT_OVERS = [1501.1 - 1500, 0.1 + 0.2, 60.1 - 59, -3 * 1.1, 1e6 + 0.1 - 1e6, 4.35 * 100]
MEANT = [1.1, 0.3, 1.1, -3.3, None, 435.0]
LONG = re.compile(r"\d\.\d*(0{7,}|9{7,})\d*")


@pytest.mark.parametrize(("left", "meant"), [pair for pair in zip(LEFT_OVERS, MEANT, strict=True) if pair[1] is not None])
def test_what_arithmetic_leaves_of_a_decimal_is_that_decimal(left: float, meant: float) -> None:
    assert left != meant
    assert tidied(left) == meant


@pytest.mark.parametrize("value", [math.pi, 1 / 3, 1e-7, -2.5e-13, 1e15 + 0.5, 1e300, 5e-324, 0.0, math.inf, 123.789012345])
def test_other_numbers_stay_as_they_are(value: float) -> None:
    assert tidied(value) == value
    assert math.isnan(tidied(math.nan))


def test_random_numbers_stay_as_they_are() -> None:
    values = np.random.default_rng(0).normal(size=10_000) * 30
    assert [tidied(value) for value in values.tolist()] == values.tolist()


def test_an_export_of_a_study_holds_decimals_as_people_write_them(tmp_path: Path) -> None:
    with Table(tmp_path / "t.csv", ["overrun_ms", "reward"]) as table:
        for left in LEFT_OVERS:
            table.add([left, math.pi])
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[1] == f"1.1,{math.pi!r}"
    assert [line.split(",")[0] for line in lines[1:4]] == ["1.1", "0.3", "1.1"]
    assert lines[6].startswith("435,")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rewards_are_written_to_the_last_bit(tmp_path: Path, ending: str) -> None:
    frame = tidy().assign(reward=np.resize(LEFT_OVERS, 30))
    path = write_choices(choices_from_frame(frame, {"arms": 4}), tmp_path / f"choices.{ending}")
    assert set(np.unique(read_choices(path).reward)) == set(LEFT_OVERS)


def test_what_simulate_writes_and_prints_has_no_long_rows_of_digits(tmp_path: Path) -> None:
    means = ["simulate", "--means", "0.1,0.3,0.7", "-T", "40", "-n", "4", "--precision", "double"]
    result = CliRunner().invoke(app, [*means, "--json", "--csv", str(tmp_path / "runs.csv")])
    assert result.exit_code == 0, result.output
    assert not LONG.search((tmp_path / "runs.csv").read_text())
    assert not LONG.search(json.dumps(json.loads(result.output)))

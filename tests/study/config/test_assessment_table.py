"""The table [assessment]: whether the researcher's page shows what the companion finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorelab.errors import InputError
from explorelab.study.config.study_folder import load_study
from tests.support.study.server import write_study


def written(folder: Path, table: str) -> Path:
    write_study(folder, "sqlite:///study.db")
    with (folder / "study.toml").open("a", encoding="utf-8") as file:
        file.write(table)
    return folder


@pytest.mark.parametrize(
    ("table", "expected"), [("", True), ("[assessment]\n", True), ("[assessment]\nenabled = false", False)]
)
def test_people_are_assessed_unless_the_study_says_otherwise(tmp_path: Path, table: str, expected: bool) -> None:
    assert load_study(written(tmp_path / "study", table)).assessment is expected


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[assessment]\nenabled = "no"', "[assessment] enabled must be true or false, got 'no'."),
        ("[assessment]\nenabled = 0", "[assessment] enabled must be true or false, got 0."),
        ("[assessment]\nenable = false", "enable"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        load_study(written(tmp_path / "study", table))
    assert said in str(raised.value).replace('"no"', "'no'")

"""Tables on a terminal: whatever its width, every number is there in full."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import explorelab
from explorelab.cli.app import app
from explorelab.cli.tables.terminal_table import print_table

pytestmark = pytest.mark.quick

HEADINGS = ["model", "median of something long", "quartiles", "observed regret", "published regret", "BIC", "why not"]


def printed(width: int, headings: list[str], rows: list[list[str]], **how: object) -> str:
    console = Console(file=io.StringIO(), width=width, legacy_windows=False)
    print_table(console, headings, rows, **how)
    return console.file.getvalue()


def random_rows(seed: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    numbers = [[f"{10 ** rng.uniform(-3, 9):,.2f}" for _ in range(4)] for _ in range(5)]
    return [
        [
            f"stochastic-ucl+stay+lapse:length_scale={i}",
            *row[:1],
            f"{row[1]} – {row[2]}",
            *row[1:],
            "not identified: 12; flat: 3",
        ]
        for i, row in enumerate(numbers)
    ]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_number_is_cut_and_no_line_is_longer_than_the_terminal(width: int, plain: bool) -> None:
    for seed in range(3):
        rows = random_rows(seed)
        text = printed(width, HEADINGS, rows, words=(0, 6), plain=plain)
        assert "…" not in text
        assert all(cell in text for row in rows for cell in row[1:6])
        assert max(map(len, text.splitlines())) <= width


def test_what_fits_is_one_table_with_its_headings_in_one_line() -> None:
    text = printed(200, HEADINGS, random_rows(0), words=(0, 6))
    assert text.count("model") == 1
    assert "median of something long" in text


def test_a_table_that_is_cut_in_two_repeats_the_first_column_and_the_title_stands_once() -> None:
    text = printed(60, HEADINGS, random_rows(0), words=(0, 6), title="by BIC", caption="most visited")
    assert text.count("model") > 1
    assert text.count("by BIC") == text.count("most visited") == 1


def test_markup_in_a_cell_is_shown_as_it_is() -> None:
    assert "[bold]x" in printed(80, ["a", "b"], [["[bold]x", "1"]])


def test_every_table_of_the_command_line_is_printed_by_the_one_function() -> None:
    package = Path(explorelab.__file__).parent
    using = [path.name for path in package.rglob("*.py") if re.search(r"from rich\.table import", path.read_text())]
    assert using == ["terminal_table.py"]


@pytest.mark.parametrize(
    "command",
    [
        ["bounds", "--means", "0,1e-3,50000", "--agent", "block-ucl", "--costs", "1e5", "-T", "90000000"],
        ["bounds", "--means", "0,1e200", "-s", "credibility_power=2", "-T", "1000"],
        ["simulate", "--means", "0,1e12", "-T", "50", "-n", "5", "--costs", "1e9"],
    ],
)
def test_commands_keep_their_numbers_at_eighty_columns(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "…" not in result.output
    assert max(map(len, result.output.splitlines())) <= 80

"""The examples of docs/study-blocks.md are studies that can be played."""

import re
from pathlib import Path

import pytest

from tests.support.study.own_blocks import own_study

DOCS = Path(__file__).parents[4] / "docs" / "study-blocks.md"
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
EXPECTED = ([3], [3], [21], [2], [3])
"""How many blocks someone plays in each; the last plays them in two orders."""


def test_there_is_an_expectation_for_every_example():
    assert len(EXAMPLES) == len(EXPECTED)


@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_an_example_is_a_study(tmp_path, number):
    study = own_study(tmp_path / "study", EXAMPLES[number])
    assert [len(study.plan(cell, seed=1)) for cell in study.cells[:1]] == EXPECTED[number]
    for cell in study.cells:
        assert all(study.scene(plan) is not None for plan in study.plan(cell))


def test_the_examples_balance_what_they_say(tmp_path):
    factors = own_study(tmp_path / "factors", EXAMPLES[3])
    assert len(factors.cells) == 2 * 2 * 2  # deadline, feedback, two orders of two worlds
    pages = own_study(tmp_path / "pages", EXAMPLES[4])
    played = [[(plan.page, plan.name) for plan in pages.plan(cell)] for cell in pages.cells]
    assert played == [
        [(0, "practice"), (1, "first"), (1, "second")],
        [(0, "practice"), (1, "second"), (1, "first")],
    ]


def test_every_setting_is_in_the_docs():
    from explorelab.study.config.blocks.settings import SETTINGS

    text = DOCS.read_text(encoding="utf-8")
    assert [setting for setting in SETTINGS if f"`{setting}`" not in text] == []

"""One of a thing is not called several: in the helpers, in what commands print, and in every text of the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import explorelab as xl
from explorelab._support.counted import counted, each_of, plural
from tests.support.choice_files import tidy, written
from tests.support.command_line import explorelab

pytestmark = pytest.mark.quick

SOURCE = Path(xl.__file__).parent


def test_the_word_goes_with_the_number() -> None:
    assert [counted(n, "block") for n in (0, 1, 2)] == ["0 blocks", "1 block", "2 blocks"]
    assert [plural(n, "is", "are") for n in (0, 1, 2)] == ["are", "is", "are"]
    assert [each_of(n, "arm") for n in (1, 2)] == ["the one arm", "each of the 2 arms"]


def test_a_file_of_one_person_is_told_of_in_the_singular(tmp_path: Path) -> None:
    written(tmp_path, tidy(n_people=1, n_blocks=1), "[task]\narms = 4\n")
    said = explorelab("check", "choices.csv", cwd=tmp_path).stdout
    assert "1 participant, 1 block, 5 trials" in said


def test_a_fit_of_one_person_is_told_of_in_the_singular(tmp_path: Path) -> None:
    written(tmp_path, tidy(n_people=1, n_blocks=1), "[task]\narms = 4\n")
    said = explorelab("fit", "choices.csv", "--agent", "win-stay-lose-shift", "--starts", 1, cwd=tmp_path).stdout
    assert "1 person, 5 choices" in said


def test_one_replicate_of_one_arm_is_told_of_in_the_singular(tmp_path: Path) -> None:
    said = explorelab("simulate", "--means", "0", "-T", 3, "-n", 1, cwd=tmp_path).stdout
    assert "bandit: 1 arm," in said
    assert "1 replicate," in said


SEVERAL = "people|[a-z]{3,}(?<![aiuos])s"
"""How a word for several things ends; not "across", "this", "is", "plus"."""
NO_NOUN = {
    "always", "does", "gives", "has", "its", "keeps", "less", "means", "must", "needs", "says", "takes", "was", "yes",
    "asks", "wants", "commits", "makes", "times", "report", "differs", "lacks", "holds",
}  # fmt: skip
COUNT = re.compile(r"(len|int|whole)\(.*|(\w+\.)*n(_\w+)?|.*\.(size|sum\(\))|.*\.sizes\[.*|.*\['n_?\w*'\]")
"""Expressions that count something."""
ALWAYS_SEVERAL = {
    "choices/formats/psych201.py: {len(rows)} games",
    "choices/reading.py: {len(self.problems)} problems",
    "cli/tables/companion_tables.py: {told['nats_per_choice']} nats",
    "cli/tables/recovery_tables.py: {about['n']} simulated people",
    "fitting/effects/effects_table.py: {len(levels)} values",
    "fitting/bayes/convergence.py: {n_draws} draws",
    "fitting/bayes/convergence.py: {n_draws} trees",
    "paper/blocks.py: {whole(n_moves)} transitions",
    "paper/human_task.py: {regret['log'].sizes['time']} choices",
    "paper/limit_figures.py: {alpha.size} values",
    "paper/prior_figures.py: {whole(n_pairs)} comparisons",
    "plots/phenotype_figure.py: {n} curves",
    "recovery/planning/plan_words.py: {int(one['simulated'].sum())} simulated people",
    "regret/observed.py: {rows.sum()} blocks",
    "report/sections/comparison_section.py: {whole(n)} people",
    "report/sections/condition_tables.py: {whole(len(rows))} rows",
    "report/sections/conditions_section.py: {len(results.cells)} combinations",
    "report/sections/data_section.py: {whole(high)} trials",
    "report/sections/data_section.py: {whole(len(kinds))} values",
    "report/sections/prediction_section.py: {len(known)} statistics",
    "report/sections/prediction_section.py: {n} respects",
    "theory/bounds_table.py: {n_best} arms",
}
"""One is told otherwise there, or cannot be."""


def numbers_before_several() -> Iterator[str]:
    """Every f-string of the source in which something that counts stands before a word for several."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.JoinedStr):
                continue
            for value, after in zip(node.values, node.values[1:], strict=False):
                if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                    continue
                word = re.match(rf" (?:[a-z-]+ )??({SEVERAL})\b", str(after.value))
                if word and word[1] not in NO_NOUN and COUNT.fullmatch(ast.unparse(value.value)):
                    yield f"{path.relative_to(SOURCE)}: {{{ast.unparse(value.value)}}}{word[0]}"


def test_no_text_puts_a_number_before_a_word_for_several() -> None:
    assert set(numbers_before_several()) == ALWAYS_SEVERAL

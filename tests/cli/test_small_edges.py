"""Names and what is printed: agents with values in their names, choices in a line, functions where the docs say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import explorelab as xl
from explorelab.agents.agent_names import parsed
from explorelab.choices.reading import choices_from_frame
from explorelab.fitting.model import prepare
from tests.support.choice_files import tidy

pytestmark = pytest.mark.quick_programs

CHOICES = choices_from_frame(tidy(n_blocks=1, n_trials=12), {"arms": 4, "noise_var": 1.0})
DOCS = Path(__file__).parents[2]


def test_the_name_of_an_agent_may_give_values() -> None:
    assert parsed("stochastic-ucl+lapse:prior_var=4:lapse=0.1") == ("stochastic-ucl+lapse", {"prior_var": 4, "lapse": 0.1})
    ready = prepare(CHOICES, "stochastic-ucl:prior_var=4")
    assert [dimension.name for dimension in ready.space] == ["prior_mean", "temperature"]
    assert ready.agent.params["prior_var"] == 4


@pytest.mark.slow
def test_a_comparison_takes_agents_with_values_in_their_names() -> None:
    names = ["delta-rule:learning_rate=0.5", "delta-rule:learning_rate=0.1", "delta-rule"]
    tree = xl.compare(CHOICES, names, n_starts=1)
    assert tree["models"]["model"].values.tolist() == names
    assert tree["people"]["n_parameters"].values.tolist() == [2, 2, 3]
    fixed = xl.compare(CHOICES, ["delta-rule", "random-choice"], fixed={"delta-rule": {"learning_rate": 0.5}}, n_starts=1)
    assert float(tree["people"]["bic"][0, 0]) == pytest.approx(float(fixed["people"]["bic"][0, 0]))


@pytest.mark.parametrize(
    ("name", "says"),
    [("delta-rule:learning_rate", "must be NAME=VALUE"), ("delta-rule:lerning_rate=1", "did you mean 'learning_rate'")],
)
def test_a_value_that_is_none_is_an_error(name: str, says: str) -> None:
    with pytest.raises(xl.InputError, match=says):
        xl.compare(CHOICES, [name, "random-choice"])


def test_choices_print_in_a_line() -> None:
    assert repr(CHOICES) == "<Choices from table: 3 participants, 3 blocks, 36 trials, 36 of them scored, 4 arms>"
    assert repr(CHOICES.layout) == "<Layout task: 4 arms, noise of variance 1>"


@pytest.mark.parametrize("page", sorted(path.name for path in [*DOCS.glob("docs/*.md"), DOCS / "README.md"]))
def test_what_the_docs_call_by_name_is_there(page: str) -> None:
    path = DOCS / page if page == "README.md" else DOCS / "docs" / page
    for name in set(re.findall(r"\bxl\.([a-z_0-9]+)", path.read_text())):
        assert hasattr(xl, name), f"{page}: xl.{name}"


def test_the_functions_that_the_guide_to_people_names_are_the_packages() -> None:
    assert callable(xl.loo_by_block)
    assert "loo_by_block" in xl.__all__

"""A model's file imports its own neighbours, and they belong to it as much as the file itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import explorelab as xl
from explorelab.agents.agent_names import agent_of
from explorelab.agents.own.neighbours import digest, neighbours

pytestmark = pytest.mark.quick_programs

MODEL = """
import random
import jax.numpy as jnp
import explorelab as xl
from helper import RATE

print("rate", RATE)


def start(params, n_arms):
    return jnp.zeros(n_arms)


def update(params, value, arm, reward):
    return value.at[arm].add(RATE * (reward - value[arm]))


mine = xl.agent("mine", learner=(start, update), parameters=["temperature"])
"""


@pytest.fixture
def model(tmp_path):
    """Writes a model and its helper into a folder of this name."""

    def write(folder: str, rate: float) -> Path:
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        (path / "helper.py").write_text(f"from deeper import *\nRATE = {rate}\n")
        (path / "deeper.py").write_text("THERE = 1\n")
        (path / "random.py").write_text("raise RuntimeError('never to be run')\n")
        (path / "model.py").write_text(MODEL)
        return path / "model.py"

    return write


def learned(file: Path) -> float:
    """What the model believes of an arm that paid 1."""
    agent = agent_of(f"{file}:mine")
    learner, params = agent.rule.learner, {**agent.params, "n_arms": 2.0}
    return float(learner.update(params, learner.init(params, 2), 0, 1.0).mean[0])


def test_helpers_of_the_same_name_in_two_folders_are_not_mixed_up(model):
    before = dict(sys.modules)
    assert [learned(model("one", 0.25)), learned(model("other", 0.75))] == [0.25, 0.75]
    assert "helper" not in sys.modules
    assert {name: module for name, module in sys.modules.items() if name in before} == before


def test_somebody_elses_module_of_that_name_is_left_alone(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "helper", theirs := type(sys)("helper"))
    assert learned(model("one", 0.5)) == 0.5
    assert sys.modules["helper"] is theirs


def test_a_helper_that_changed_is_run_again_and_noticed_by_saved_fits(model, tmp_path):
    file = model("one", 0.25)
    assert learned(file) == 0.25
    choices = xl.simulate_choices(xl.blank_choices(xl.tasks.bandit([0.0, 1.0]), 2, 1, 10), agent_of(f"{file}:mine"))
    fit = xl.fit(choices, f"{file}:mine", "map", n_starts=1, progress=False)
    model("one", 0.5)
    assert learned(file) == 0.5
    with pytest.raises(xl.InputError, match="has changed since"):
        xl.latent_variables(choices, None, fit, progress=False)


def test_what_belongs_to_a_file(model):
    file = model("one", 0.25)
    assert [each.name for each in neighbours(file)] == ["deeper.py", "helper.py"]
    alone = file.with_name("deeper.py")
    assert neighbours(alone) == []
    assert digest(str(file)) != digest(str(alone))
    assert digest(str(file.with_name("nothing.py"))) == ""


def test_a_package_beside_belongs_with_all_its_files(model):
    file = model("one", 0.25)
    (file.parent / "helper.py").unlink()
    (file.parent / "helper").mkdir()
    (file.parent / "helper" / "__init__.py").write_text("from helper.numbers import RATE\n")
    (file.parent / "helper" / "numbers.py").write_text("RATE = 0.125\n")
    assert [each.name for each in neighbours(file)] == ["__init__.py", "numbers.py"]
    assert learned(file) == 0.125


def test_what_a_file_prints_does_not_get_among_results(model, capsys):
    agent_of(f"{model('one', 0.0625)}:mine")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "rate 0.0625\n")

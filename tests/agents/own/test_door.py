"""What is wrong with a user's own agent is said at once, in a sentence that names the part and the line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import explorelab as xl
from explorelab.agents.agent_names import agent_of, check_together
from explorelab.agents.own.trial import N_ARMS
from explorelab.agents.parameters import _ADDED
from explorelab.agents.registry import OWN
from explorelab.errors import InputError

pytestmark = pytest.mark.quick_programs


@pytest.fixture(autouse=True)
def _forgotten_afterwards():
    with patch.dict(_ADDED), patch.dict(OWN):
        yield


def start(params, n_arms):
    return jnp.zeros(n_arms)


def update(params, value, arm, reward):
    return value.at[arm].add(params["learning_rate"] * (reward - value[arm]))


GOOD: dict[str, Any] = {"learner": (start, update), "parameters": ["learning_rate", "temperature"]}


def branching(params, value, arm, reward):
    if reward > value[arm]:
        return value
    return value + params["learning_rate"]


def with_numpy(params, belief, moment):
    return np.maximum(belief.mean, 0.0)


class Odd(NamedTuple):
    expected: Any


def steep(params, belief, value, moment, available):
    """A square root of 0 in a branch that is not taken."""
    odd = jnp.where(params["temperature"] > 0, 0.0, jnp.sqrt(0.0 * params["temperature"]))
    return jax.nn.log_softmax(value / params["temperature"] + odd * jnp.arange(value.shape[0]))


def read(name):
    return lambda params, belief, moment: belief.mean + params[name]


def facts(typical: float) -> Any:
    return xl.parameter("zeal", scale="log", typical=typical)


def unknown_key(params, belief, moment):
    raise KeyError("nothing\nof the kind")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no learner": ({"learner": 3}, "learner must be a pair of functions"),
    "an unknown learner": ({"learner": "delta"}, "unknown learner 'delta': did you mean 'delta-rule'"),
    "an unknown limit": ({"limit": "means"}, "unknown limit 'means': did you mean 'mean'"),
    "an unknown choice rule": ({"choice": "soft-max"}, "unknown choice rule 'soft-max': did you mean 'softmax'"),
    "an unknown commitment": ({"commitment": "frame"}, "unknown commitment 'frame': did you mean 'frames'"),
    "an unknown habit": ({"habits": ["lapsed"]}, "unknown habit 'lapsed': did you mean 'lapse'"),
    "a limit that is no function": ({"limit": 3}, "limit must be a function"),
    "a choice that is no function": ({"choice": 3}, "choice must be a function"),
    "a belief of the wrong shape": (
        {"learner": (lambda params, n: jnp.zeros((n, 2)), update)},
        r"mean of the belief that the learner of odd starts with must be one number for each arm, .* got shape \(3, 2\)",
    ),
    "a belief without a mean": (
        {"learner": (lambda params, n: Odd(jnp.zeros(n)), lambda params, belief, arm, reward: belief)},
        "odd, learner's start: a belief must be an array with one number for each arm, or a tuple with the field mean",
    ),
    "another belief afterwards": (
        {"learner": (start, lambda params, value, arm, reward: (value, value))},
        "the learner's update of odd",
    ),
    "a belief that grows": (
        {"learner": (start, lambda params, value, arm, reward: jnp.append(value, reward))},
        "the learner's update of odd must keep the shapes of the belief, got",
    ),
    "a limit of one number": (
        {"limit": lambda params, belief, moment: belief.mean.sum()},
        r"what the limit of odd returns must be one number for each arm, of shape \(3,\) with 3 arms, got shape \(\)",
    ),
    "a choice of one arm": (
        {"choice": lambda params, belief, value, moment, available: value.max()},
        "what the choice rule of odd returns must be one number for each arm",
    ),
    "probabilities that do not add up": (
        {"choice": lambda params, belief, value, moment, available: value / params["temperature"]},
        "the choice rule of odd must return log-probabilities that add up to one, got probabilities .* on trial",
    ),
    "probabilities, not their logarithms": (
        {"choice": lambda params, belief, value, moment, available: jax.nn.softmax(value / params["temperature"])},
        "must return log-probabilities that add up to one",
    ),
    "no numbers": (
        {"choice": lambda params, belief, value, moment, available: value * jnp.nan * params["temperature"]},
        "log-probabilities that are not numbers",
    ),
    "slopes that are not finite": ({"choice": steep}, "the slope of the log-probabilities of odd along temperature is not"),
    "an if on a value": (
        {"learner": (start, branching)},
        r"the learner's update of odd cannot be traced by JAX \(test_door.py, line \d+: if reward > value\[arm\]:\)",
    ),
    "NumPy on a value": (
        {"limit": with_numpy},
        r"the limit of odd cannot be traced by JAX \(test_door.py, line \d+: return",
    ),
    "another error": ({"limit": unknown_key}, r"the limit of odd fails with KeyError \(test_door.py, line \d+"),
    "too few arguments": ({"limit": lambda params: 0}, "the limit of odd fails with TypeError"),
    "an unknown parameter": (
        {"parameters": ["learning_rat", "temperature"]},
        "unknown parameter of odd 'learning_rat': did you mean 'learning_rate'",
    ),
    "a parameter that is not declared": (
        {"limit": read("zest")},
        "the limit of odd reads the parameter 'zest', which odd does not declare .*: add it to parameters",
    ),
    "a parameter that is never read": (
        {"parameters": ["learning_rate", "temperature", "bonus"]},
        "odd has the parameter 'bonus', but none of its parts reads it",
    ),
    "no parameter at all": ({"parameters": [3]}, "parameters must be a list of parameters or names"),
    "a parameter twice": ({"parameters": ["learning_rate", "temperature", "temperature"]}, "must be listed once"),
    "a value out of range": ({"values": {"learning_rate": 2.0}}, "learning_rate must be at least 0 and at most 1, got 2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_an_agent_is_refused_in_a_sentence(case):
    changes, told = WRONG[case]
    with pytest.raises(InputError, match=told) as caught:
        xl.agent("odd", **{**GOOD, **changes})
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?"))
    assert "odd" not in OWN


@pytest.mark.parametrize("name", ["kalman-ucb", "two words", "a:b", "a+b", "a/b", "", "3"])
def test_a_name_that_is_taken_or_no_name_is_refused(name):
    with pytest.raises(InputError, match="already has an agent kalman-ucb" if "kal" in name else "name of an agent must be"):
        xl.agent(name, **GOOD)


def test_a_parameter_with_two_meanings_is_refused_in_one_agent_and_among_several():
    one = facts(1.0)
    other = facts(2.0)
    with pytest.raises(InputError, match="zeal is declared twice in odd, with different facts"):
        xl.agent("odd", **{**GOOD, "limit": read("zeal"), "parameters": [*GOOD["parameters"], one, other]})
    made = [
        xl.agent(name, **{**GOOD, "limit": read("zeal"), "parameters": [*GOOD["parameters"], row]})
        for name, row in {"first": one, "second": other}.items()
    ]
    with pytest.raises(InputError, match="zeal is declared twice in first and second, with different facts"):
        check_together(made)
    check_together([made[0], replace(made[1], own_parameters=(facts(1.0),))])  # declared again, but the same


def test_the_checks_cover_parts_of_the_package_too():
    agent = xl.agent("odd", learner="kalman", limit="constant-bonus", choice="softmax", habits=["stay", "lapse"],
                     parameters=["prior_mean", "prior_var", "bonus", "temperature"], values={"drift_var": 0.0})  # fmt: skip
    assert agent.name == "odd+stay+lapse"
    assert agent.free == ("prior_mean", "prior_var", "bonus", "temperature", "stickiness", "lapse")
    task, same = xl.tasks.bandit([0.0, 1.0, 0.5]), {"bonus": 1.0, "temperature": 0.3, "prior_mean": 0.0, "prior_var": 1.0}
    theirs = xl.agents.with_habits(xl.agents.kalman_ucb(**same), "stay", "lapse")
    ours = xl.simulate(agent.with_values(**same), task, 30, 8, precision="double")
    np.testing.assert_array_equal(ours.regret, xl.simulate(theirs, task, 30, 8, precision="double").regret)


def test_a_noise_that_is_not_used_is_not_asked_for():
    """A learner of one's own that does not read noise_var plays a task without noise."""
    agent = xl.agent("odd", **GOOD)
    assert float(xl.simulate(agent, xl.tasks.bandit([0.0, 1.0], 0.0), 10, 4).regret_mean[-1]) >= 0


def test_the_trial_has_more_than_two_arms_so_that_a_shape_by_chance_is_found():
    assert N_ARMS > 2


# Files ----------------------------------------------------------------------------------------------------------------

GOOD_FILE = """
import explorelab as xl
mine = xl.agent("mine", learner="delta-rule", parameters=["prior_mean", "learning_rate", "temperature"])
also = xl.agents.kalman_ucb(bonus=2.0)
number = 3
def maker(): return mine
"""
FILES: dict[str, tuple[str, str, str]] = {
    "no such name": (GOOD_FILE, "mime", r"unknown agent in m\.py 'mime': did you mean 'mine'"),
    "nothing like it": (GOOD_FILE, "zzz", r"unknown agent in m\.py 'zzz': expected one of also, mine"),
    "no agent": (GOOD_FILE, "number", r"number in m\.py must be an agent, .* got 3; its agents are mine"),
    "a function": (GOOD_FILE, "maker", r"maker in m\.py must be an agent, .* got a function"),
    "no agents at all": ("x = 1", "mine", r"m\.py has no agent 'mine', nor any other"),
    "no Python": ("def (:", "mine", r"m\.py does not parse: .* \(line 1\)"),
    "an error": ("x = 1\ny = x / 0", "mine", r"m\.py stops with ZeroDivisionError \(m\.py, line 2: y = x / 0\)"),
    "a missing module": ("import nowhere_at_all", "mine", r"m\.py stops with ModuleNotFoundError"),
    "an exit": ("raise SystemExit(3)", "mine", r"m\.py stops with SystemExit"),
    "a wrong agent": (
        "import explorelab as xl\nxl.agent('mine', learner='delta')", "mine", r"\(m\.py, line 2.*unknown learner 'delta'",
    ),
    "a name that is taken": (
        GOOD_FILE + "from dataclasses import replace\ntaken = replace(mine, name='kalman-ucb')\n", "taken",
        "already has an agent kalman-ucb",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_what_is_wrong_with_a_file_is_told_in_a_sentence(case, tmp_path, monkeypatch):
    text, name, told = FILES[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        agent_of(f"m.py:{name}")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"m\.py: there is no such file"):
        agent_of(f"{tmp_path / 'm.py'}:mine")


def test_a_file_is_read_again_when_it_has_changed_and_may_import_its_neighbours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "neighbour_of_m.py").write_text("RATE = 0.25")
    (tmp_path / "m.py").write_text(
        "from neighbour_of_m import RATE" + GOOD_FILE + "\nmine = mine.with_values(learning_rate=RATE)"
    )
    first = agent_of("m.py:mine")
    assert first.params["learning_rate"] == 0.25
    assert agent_of("m.py:mine").rule is first.rule
    (tmp_path / "m.py").write_text(GOOD_FILE)
    assert agent_of("m.py:mine").params["learning_rate"] != 0.25
    assert agent_of("m.py:also").params["bonus"] == 2.0

"""One grammar for agents in text: names, files, habits and values, alone and in lists."""

import pytest

import explorelab as xl
from explorelab.agents.agent_names import agent_of, label_of, labelled, listed, one, parsed
from explorelab.errors import InputError

pytestmark = pytest.mark.quick

FILE = "tests/support/my_models.py"


@pytest.mark.parametrize(
    ("text", "name", "fixed"),
    [
        ("kalman-ucb", "kalman-ucb", {}),
        (" kalman-ucb ", "kalman-ucb", {}),
        ("kalman-ucb+lapse:bonus=2", "kalman-ucb+lapse", {"bonus": 2}),
        ("kalman-ucb:bonus=2:prior-mean=3", "kalman-ucb", {"bonus": 2, "prior_mean": 3}),
        ("kalman-ucb:bonus=2,prior_mean=3", "kalman-ucb", {"bonus": 2, "prior_mean": 3}),
        ("kalman-ucb:prior_mean=1,-2,.5:bonus=2", "kalman-ucb", {"prior_mean": [1, -2, 0.5], "bonus": 2}),
        ("stochastic-ucl:kernel=matern32", "stochastic-ucl", {"kernel": "matern32"}),
        ("my.py:two_rates", "my.py:two_rates", {}),
        ("a+b/my.py:two_rates+lapse:lapse=0.1", "a+b/my.py:two_rates+lapse", {"lapse": 0.1}),
        (r"C:\models\my.py:two_rates:temperature=2", r"C:\models\my.py:two_rates", {"temperature": 2}),
    ],
)
def test_a_reference_is_a_name_and_values(text, name, fixed):
    assert parsed(text) == (name, fixed)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]),
        ("a, b ,", ["a", "b"]),
        ("m.py:x,delta-rule:prior_mean=50,kalman-ucb", ["m.py:x", "delta-rule:prior_mean=50", "kalman-ucb"]),
        ("delta-rule:prior_mean=50,temperature=2,b", ["delta-rule:prior_mean=50:temperature=2", "b"]),
        ("a:prior_mean=1,2,3,b+stay:x=1", ["a:prior_mean=1,2,3", "b+stay:x=1"]),
        ("", []),
    ],
)
def test_a_list_is_split_where_agents_begin(text, parts):
    assert listed(text) == parts


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: parsed("bonus=2"), "the name of an agent must come before its values, got 'bonus=2'"),
        (lambda: listed("bonus=2,kalman-ucb"), "the name of an agent must come before its values"),
        (lambda: parsed("kalman-ucb:bonus"), "a value in an agent's name must be NAME=VALUE, got 'bonus'"),
        (lambda: parsed("my.py:temperature=2"), "the name of an agent must come before its values"),
        (lambda: parsed("my.py"), r"my\.py must be followed by the name of an agent in it, as in my\.py:my_agent"),
        (lambda: parsed("my.py:"), r"my\.py must be followed by the name of an agent in it"),
        (lambda: one("a,b"), "--agent must name one agent, got a, b"),
        (lambda: one(" , "), "--agent must name one agent, got none"),
        (lambda: agent_of("kalman-ucb:bones=2"), "unknown parameter of kalman-ucb 'bones': did you mean 'bonus'"),
        (lambda: agent_of("kalman-ucb+lapsing"), "unknown habit 'lapsing': did you mean 'lapse'"),
        (lambda: agent_of(f"{FILE}:two_rates:rate_ip=2"), "unknown parameter of .* 'rate_ip': did you mean 'rate_up'"),
        (lambda: agent_of(f"{FILE}:two_rates:rate_up=2"), r"rate_up must be above 0 and below 1, got 2"),
        (lambda: labelled(["kalman-ucb", "kalman-ucb"]), "kalman-ucb is given 2 times"),
        (lambda: labelled([agent_of(f"{FILE}:loyal"), f"{FILE}:loyal"]), "loyal is given 2 times"),
    ],
)  # fmt: skip
def test_what_no_agent_is_called_is_told_in_a_sentence(call, told):
    with pytest.raises(InputError, match=told):
        call()


def test_results_call_an_agent_by_its_name_not_by_its_file():
    assert label_of(f"{FILE}:two_rates") == "two-rates"
    assert label_of(f"{FILE}:two_rates+lapse:temperature=2") == "two-rates+lapse:temperature=2"
    assert label_of("kalman-ucb:bonus=2") == "kalman-ucb:bonus=2"
    # In the same process the label finds the agent too.
    assert agent_of("two-rates+lapse:temperature=2").params["temperature"] == 2


def test_agents_of_one_name_are_told_apart_by_their_values():
    two = [xl.agents.kalman_ucb(bonus=1.0), xl.agents.kalman_ucb(bonus=2.0), "delta-rule"]
    assert list(labelled(two)) == ["kalman-ucb:bonus=1", "kalman-ucb:bonus=2", "delta-rule"]

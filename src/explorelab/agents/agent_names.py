"""How agents are named in text: one grammar for every command, list and file.

    reference = agent {"+" habit} {":" parameter "=" value}
    agent     = name of the package's | file ".py:" name in the file
    list      = reference {"," reference}

Examples: stochastic-ucl+lapse:length_scale=0, and the list my_model.py:two_rates,delta-rule:prior_mean=50,kalman-ucb. A
value may also follow a comma: what begins with `parameter=`, or is a number after a value, belongs to the agent before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from explorelab._support import checks
from explorelab._support.name_value import Written, name_and_value
from explorelab.agents.factors import Agent, Argument
from explorelab.agents.own.declared import check_same
from explorelab.agents.own.model_file import place_of
from explorelab.agents.registry import OWN, agent_named, split_name
from explorelab.errors import InputError

SETTING = re.compile(r"\s*[A-Za-z_][\w-]*\s*=")
NUMBER = re.compile(r"\s*[-+]?(\d|\.\d|inf\b|nan\b)", re.IGNORECASE)


class Named(NamedTuple):
    """An agent's name, with habits, and the values fixed in it."""

    name: str
    fixed: dict[str, Written | list[Written]]


def parsed(text: str) -> Named:
    """Split text such as name+habit:parameter=value:parameter=value into the agent's name and its values."""
    text = text.strip()
    place = place_of(text)
    start = 0 if place is None else text.index(".py:") + len(".py:")
    head, *settings = text[start:].split(":")
    if SETTING.match(head):
        raise InputError(f"the name of an agent must come before its values, got {text!r}.")
    together: list[str] = []
    for part in ",".join(settings).split(","):
        if together and NUMBER.match(part):
            together[-1] += f",{part}"
        elif settings:
            together.append(part)
    fixed = dict(name_and_value("a value in an agent's name", setting) for setting in together)
    return Named((text[:start] + head).strip(), fixed)


def listed(text: str) -> list[str]:
    """The references in a comma-separated list."""
    found: list[str] = []
    for part in text.split(","):
        if not part.strip():
            continue
        if SETTING.match(part) or (NUMBER.match(part) and found and "=" in found[-1]):
            if not found:
                raise InputError(f"the name of an agent must come before its values, got {text!r}.")
            found[-1] += ("," if NUMBER.match(part) else ":") + part.strip()
        else:
            found.append(part.strip())
    return found


def one(text: str, flag: str = "--agent") -> str:
    """The only reference in a text; an error if there are several or none."""
    found = listed(text)
    if len(found) != 1:
        raise InputError(f"{flag} must name one agent, got {', '.join(found) or 'none'}.")
    return found[0]


def agent_of(reference: str | Agent, **given: Argument) -> Agent:
    """The agent that a reference means, with these values in addition; those in the reference go before."""
    if isinstance(reference, Agent):
        return reference.with_values(**given) if given else reference
    name, fixed = parsed(reference)
    return agent_named(name, **{**given, **fixed})


def label_of(reference: str | Agent) -> str:
    """What results call an agent: its name and the values fixed in it, without the file that it came from."""
    if isinstance(reference, Agent):
        return reference.name
    name, fixed = parsed(reference)
    if place_of(name) is None:
        return reference.strip()
    agent = agent_named(name)
    fixed = fixed if agent.own else {**agent.given, **fixed}  # type: ignore[dict-item]
    return ":".join([agent.name, *(f"{key}={_written(value)}" for key, value in fixed.items())])


def labelled(agents: Sequence[str | Agent] | Mapping[str, str | Agent]) -> dict[str, str | Agent]:
    """The agents by labels that tell them apart: by values if they have the same name; an error if nothing does."""
    if isinstance(agents, Mapping):
        return dict(agents)
    agents = [agents] if isinstance(agents, str | Agent) else list(agents)
    labels = [label_of(each) for each in agents]
    for label in {each for each in labels if labels.count(each) > 1}:
        places = [i for i, each in enumerate(labels) if each == label]
        for i, told in zip(places, _told_apart(label, [agents[i] for i in places]), strict=True):
            labels[i] = told
    return dict(zip(labels, agents, strict=True))


def _told_apart(label: str, agents: Sequence[str | Agent]) -> list[str]:
    """Labels with the values in which agents of one name differ."""
    given = [agent_of(each).params for each in agents]
    names = [name for name in given[0] if any(_differ(given[0][name], other.get(name)) for other in given[1:])]
    told = [":".join([label, *(f"{name}={_written(values.get(name))}" for name in names)]) for values in given]
    if len(set(told)) < len(told):
        raise InputError(f"{label} is given {len(agents)} times: give each agent once, or another name.")
    return told


def _differ(one: object, other: object) -> bool:
    return checks.shown(one) != checks.shown(other)


def _written(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, int | float) or getattr(value, "ndim", 1) == 0 else str(value)  # type: ignore[arg-type]


def check_together(references: Iterable[str | Agent]) -> None:
    """Raise if two of the agents have parameters of their own with the same name and different facts."""
    agents = [agent for each in references if (agent := _own(each)) is not None]
    check_same(" and ".join(agent.name for agent in agents), [row for agent in agents for row in agent.own_parameters])


def _own(reference: str | Agent) -> Agent | None:
    """The agent, if it is a user's own."""
    if isinstance(reference, Agent):
        return reference if reference.own else None
    name = parsed(reference).name
    base = split_name(name)[0]
    return agent_named(name) if place_of(base) is not None or base in OWN else None

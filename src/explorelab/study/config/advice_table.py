"""The table [advice] of study.toml: who is advised how, and from when on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorelab.errors import InputError
from explorelab.study.config.design import Advice
from explorelab.study.config.fields import Table, TomlFile
from explorelab.tasks import Task

TABLE = "advice"
PRIOR = ("prior_mean", "prior_var", "length_scale")
KEYS = ("arms", "agent", "group", *PRIOR, "from_choice", "n_points", "within_ms", "processes")
LONGEST = 64
"""Characters in the name of a condition."""


def read_advice(toml: TomlFile, folder: Path, played: Sequence[Task], n_trials: int) -> Advice | None:
    """The advice that the study gives in blocks on these tasks; None if it has no such table."""
    if TABLE not in toml.values:
        return None
    # Imported here because only studies with advice need it, and it takes a second.
    from explorelab.companions.advice import POLICIES

    table = toml.table(TABLE, known=KEYS)
    arms = table.names("arms", "kind of advice", POLICIES)
    agent = table.text("agent", 200, "")
    personal = any(arm in POLICIES and POLICIES[arm].personal for arm in arms)
    usual = Advice(arms=())
    advice = Advice(
        arms=arms,
        agent=_beside(folder, agent) or None,
        group=_group(table, folder),
        prior=_prior(table),
        from_choice=table.whole("from_choice", 1, n_trials, default=usual.from_choice),
        n_points=table.whole("n_points", 8, 4096, default=usual.n_points),
        within_ms=table.whole("within_ms", 1, 60_000, "milliseconds", usual.within_ms),
        processes=table.whole("processes", 1, 64, default=usual.processes),
    )
    if played:
        _check_companion(table, advice, personal, played[0], n_trials)
    return advice


def group_file(values: Mapping[str, Any]) -> str:
    """The file of the group that a study.toml names; empty if there is none."""
    table = values.get(TABLE)
    name = table.get("group", "") if isinstance(table, dict) else ""
    return name if isinstance(name, str) else ""


def agent_file(values: Mapping[str, Any]) -> str:
    """The file of the agent that a study.toml names; empty if it is one of the package's."""
    table = values.get(TABLE)
    name = table.get("agent", "") if isinstance(table, dict) else ""
    file, colon, _ = name.partition(".py:") if isinstance(name, str) else ("", "", "")
    return file + ".py" if colon else ""


def _beside(folder: Path, agent: str) -> str:
    """The agent, with the whole path of its file if that is in the study folder: other processes read it too."""
    file, colon, rest = agent.partition(".py:")
    return f"{(folder / file).resolve()}{colon}{rest}" if colon and (folder / f"{file}.py").is_file() else agent


def _group(table: Table, folder: Path) -> Any:
    name = table.text("group", 2000, "")
    if not name:
        return None
    from explorelab.companions.scene import read_group

    if not (folder / name).is_file():
        table.problem("group", f"must be a file in the study folder, written by `explorelab fit --method em`, got {name!r}.")
        return None
    try:
        return read_group(folder / name)
    except InputError as error:
        table.problem("group", f"must be a fit by em, bayes or nuts: {error}")
    return None


def _prior(table: Table) -> Mapping[str, float] | None:
    """The prior of the adviser; None if it is to be that of the study's landscapes."""
    given = [key for key in PRIOR if key in table.values]
    if not given:
        return None
    least = {"prior_mean": -1e6, "prior_var": 1e-9, "length_scale": 1e-6}
    for key in ("prior_mean", "prior_var"):
        if key not in given:
            table.problem("", f"must have both prior_mean and prior_var or neither, got no {key}.")
    return {key: table.number(key, least[key], 1e12 if key == "prior_var" else 1e6) for key in given}


def _check_companion(table: Table, advice: Advice, personal: bool, task: Task, n_trials: int) -> None:
    """Note what makes it impossible to estimate a person: an unknown agent, or a group of another agent or task."""
    from explorelab.agents.agent_names import agent_of
    from explorelab.companions.scene import check_companion

    try:
        if advice.agent is not None:
            agent_of(advice.agent)
    except InputError as error:
        table.problem("agent", f"must be the name of an agent: {error}")
        return
    if not personal and advice.group is None:
        return
    try:
        check_companion(advice.person, advice.group, task, n_trials)
    except InputError as error:
        table.problem("agent" if advice.group is None else "group", f"does not fit the study: {error}")

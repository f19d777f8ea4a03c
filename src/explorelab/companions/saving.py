"""A companion in a file: what was observed, and all that it needs to think the same again.

The posterior itself is not stored. Loading replays the observations through the same programs, which gives the same bits and
cannot disagree with what was observed.
"""

from __future__ import annotations

import json
import os
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support.door import door
from explorelab._support.files import check_writable, read_tree, write_whole
from explorelab.agents import Agent
from explorelab.agents.own.saved import as_attributes, from_attributes
from explorelab.choices.table import NOWHERE, Layout
from explorelab.companions.live import Companion, begun, observed, started
from explorelab.companions.past import Past, Trial
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import Group, Numbers, Scene
from explorelab.errors import InputError
from explorelab.fitting.likelihood import ways_of
from explorelab.fitting.objective import Model
from explorelab.fitting.search.solve import limits
from explorelab.fitting.spaces import Dimension, Space, axes_of, origin_of
from explorelab.tasks import Task
from explorelab.tasks.graphs import Moves
from explorelab.tasks.noise import Noise
from explorelab.tasks.task import Costs

KIND = "explorelab companion 1"
"""Says what the file is, and which form it has."""


@door
def save_companion(mind: Companion, path: str | os.PathLike[str]) -> None:
    """Write a companion as netCDF, completely or not at all; `load_companion` reads it, to go on to the same bits.

    Parameters
    ----------
    mind
        Companion to save.
    path
        File to write.
    """
    check_writable(Path(path))
    tree = _as_tree(mind)
    write_whole(Path(path), lambda beside: tree.to_netcdf(beside, engine="h5netcdf"))


@door
def load_companion(path: str | os.PathLike[str], agent: str | Agent | None = None) -> Companion:
    """Read a companion that `save_companion` wrote, and replay what it had observed.

    Parameters
    ----------
    path
        File to read.
    agent
        The agent of the companion, if it is your own and not found where it was.
    """
    tree = read_tree(Path(path), "companion", "save_companion")
    if tree.attrs.get("kind") != KIND:
        raise InputError(f"{path}: expected a companion written by save_companion, got another kind of file.")
    task = _task_from(tree)
    settings = Settings(**json.loads(tree.attrs["settings"]))
    # Without the task, which may be that of the last block alone: each trial says itself what was on offer.
    mind = begun(_scene_from(tree, agent), settings, int(tree.attrs["horizon"]))
    return _replayed(mind, _past_from(tree), task)


def _replayed(mind: Companion, past: Past, task: Task | None) -> Companion:
    for number, (start, block) in enumerate(zip(past.starts, past.blocks, strict=True)):
        mind = started(mind, number, start)
        for trial in block:
            mind = observed(mind, trial)
    return replace(mind, task=task)


# The parts, to and from the file --------------------------------------------------------------------------------------


def _as_tree(mind: Companion) -> xr.DataTree:
    scene, layout = mind.scene, mind.scene.layout
    kept = as_attributes(scene.agent)
    if scene.agent.own and "agent_file" not in kept:
        raise InputError(f"{scene.agent.name} cannot be saved: only agents of xl.agents and agents in files can.")
    attrs = {
        "kind": KIND,
        **kept,
        "settings": json.dumps(mind.settings._asdict()),
        "horizon": mind.horizon,
        "layout": json.dumps([layout.n_arms, layout.noise_var, layout.shape, layout.name, layout.arm_names]),
        "space": json.dumps([astuple(dimension) for dimension in scene.space], default=float),
        "fixed": _written(scene.numbers.fixed),
    }
    parts = {"/": xr.Dataset(attrs=attrs), "/past": _past_table(mind), "/arms": _arms_table(mind)}
    group = scene.numbers.group
    parts["/group"] = xr.Dataset(
        {
            "mean": ("parameter", np.asarray(group.mean)),
            "covariance": (("parameter", "parameter_2"), np.asarray(group.covariance)),
        }
    )
    return xr.DataTree.from_dict(parts)


def _written(values: Any) -> str:
    return json.dumps({name: np.asarray(value).tolist() for name, value in values.items()})


def _scene_from(tree: xr.DataTree, agent: str | Agent | None) -> Scene:
    agent = from_attributes(tree.attrs, "the companion", agent)
    n_arms, noise_var, shape, name, arm_names = json.loads(tree.attrs["layout"])
    layout = Layout(
        n_arms,
        _if_there(tree["arms"].to_dataset(), "layout_places"),
        noise_var,
        None if shape is None else tuple(shape),
        name,
        None if arm_names is None else tuple(arm_names),
    )
    space: Space = tuple(Dimension(*each) for each in json.loads(tree.attrs["space"]))
    group = Group(*(tree["group"].to_dataset()[name].values for name in ("mean", "covariance")))
    with jax.enable_x64(True):
        fixed = {name: jnp.asarray(value, jnp.float64) for name, value in json.loads(tree.attrs["fixed"]).items()}
        numbers = Numbers(ways_of(layout), fixed, origin_of(space), *limits(space), group)
    return Scene(agent, Model(agent.rule, axes_of(space), n_arms), space, layout, numbers)


def _past_table(mind: Companion) -> xr.Dataset:
    past, n_arms = mind.past, mind.n_arms
    trials = [trial for block in past.blocks for trial in block]
    offers = [trial.available if trial.available is not None else (False,) * n_arms for trial in trials]
    columns = {
        "block": np.repeat(np.arange(len(past.blocks)), [len(block) for block in past.blocks]),
        "arm": np.array([trial.arm for trial in trials], np.int64),
        "reward": np.array([trial.reward for trial in trials], np.float64),
        "observed": np.array([trial.observed for trial in trials], np.int8),
        "scored": np.array([trial.scored for trial in trials], np.int8),
        "advised": np.array([trial.advised for trial in trials], np.int64),
    }
    table = {name: ("trial", values) for name, values in columns.items()}
    available = np.array(offers, np.int8).reshape(len(trials), n_arms)
    return xr.Dataset(
        {**table, "available": (("trial", "arm_number"), available), "starts": ("block_number", [*past.starts])}
    )


def _past_from(tree: xr.DataTree) -> Past:
    table = tree["past"].to_dataset()
    starts = tuple(int(start) for start in table["starts"].values)
    blocks: list[list[Trial]] = [[] for _ in starts]
    columns = (table[name].values for name in ("block", "arm", "reward", "observed", "scored", "advised", "available"))
    for block, arm, reward, seen, scored, advised, offer in zip(*columns, strict=True):
        available = tuple(map(bool, offer)) if offer.any() else None
        blocks[int(block)].append(Trial(int(arm), float(reward), bool(seen), bool(scored), available, int(advised)))
    return Past(tuple(map(tuple, blocks)), starts)


def _arms_table(mind: Companion) -> xr.Dataset:
    """Where the arms lie and, if the task is known, what they pay."""
    task, parts = mind.task, {"layout_places": mind.scene.layout.places}
    attrs: dict[str, Any] = {"has_task": int(task is not None)}
    if task is not None:
        task.check_plain("a saved companion")
        parts |= {"means": task.means, "task_places": task.places}
        if task.moves is not None:
            parts |= {"next_hop": task.moves.next_hop, "length": task.moves.length}
            attrs["weighted"] = int(task.moves.weighted)
        if task.costs is not None:
            parts |= {"costs": task.costs.mean}
            attrs["costs_kind"] = task.costs.kind
        attrs |= {
            "noise_kind": task.noise.kind,
            "noise_scale": float(task.noise.scale),
            "name": task.name,
            "note": task.note,
        }
        attrs["start"] = NOWHERE if task.start is None else task.start
    there = {name: np.asarray(value) for name, value in parts.items() if value is not None}
    variables = {name: ([f"{name}_{k}" for k in range(value.ndim)], value) for name, value in there.items()}
    return xr.Dataset(variables, attrs=attrs)


def _task_from(tree: xr.DataTree) -> Task | None:
    arms = tree["arms"].to_dataset()
    told = arms.attrs
    if not told["has_task"]:
        return None
    hops, costs = _if_there(arms, "next_hop"), _if_there(arms, "costs")
    return Task(
        arms["means"].values,
        Noise(str(told["noise_kind"]), float(told["noise_scale"])),
        str(told["name"]),
        _if_there(arms, "task_places"),
        None if hops is None else Moves(hops, arms["length"].values, bool(told["weighted"])),
        None if costs is None else Costs(costs, str(told["costs_kind"])),  # type: ignore[arg-type]
        None if int(told["start"]) == NOWHERE else int(told["start"]),
        str(told["note"]),
    )


def _if_there(table: xr.Dataset, name: str) -> np.ndarray | None:
    return table[name].values if name in table else None

"""Latent variables of a fitted agent on every trial that a person played: beliefs, limits, probabilities."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Array, Float, Int

from explorelab._support.checks import Variables
from explorelab._support.door import door
from explorelab._support.extras import needs
from explorelab._support.files import write_whole
from explorelab.agents import Agent
from explorelab.agents.factors import AnyArray, Params, Ways
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.known import estimated, fitted_of, same_people
from explorelab.fitting.likelihood import Block, replay
from explorelab.fitting.objective import Model
from explorelab.fitting.search.batches import in_calls, mapped
from explorelab.recovery.truth import known_of

ARMS = {
    "mean": "expected reward before the trial",
    "sd": "standard deviation of that belief",
    "limit": "what the arm is worth to the agent: its upper credible limit, or another index",
    "bonus": "limit less mean",
    "probability": "probability of choosing the arm",
}
"""Over row, trial and arm."""

CHOSEN = {
    "chosen_mean": "expected reward of the arm chosen",
    "chosen_sd": "standard deviation of that belief",
    "chosen_limit": "limit of the arm chosen",
    "chosen_bonus": "bonus of the arm chosen",
    "chosen_probability": "probability of the choice made",
    "prediction_error": "reward less what was expected of the arm",
    "best_limit": "highest limit of any arm on offer",
    "entropy": "entropy of the choice, in nats",
}
"""Over row and trial."""

ENDINGS = (".csv", ".parquet", ".nc")


class Thought(NamedTuple):
    """The agent's thoughts on every arm on every trial."""

    mean: Float[AnyArray, "trial arm"]
    sd: Float[AnyArray, "trial arm"]
    limit: Float[AnyArray, "trial arm"]
    log_probs: Float[AnyArray, "trial arm"]


@partial(jax.jit, static_argnames="model")
def _thought(model: Model, fixed: Params, ways: Ways, argument: tuple[Block, Params], count: Int[Array, ""]) -> Thought:
    def one(each: tuple[Block, Params]) -> Thought:
        block, params = each
        told = replay(model.rule, {**fixed, **params}, ways, model.n_arms, block)
        sd = jax.vmap(lambda belief: belief.sd)(told.belief)
        mean = jax.vmap(lambda belief: belief.mean)(told.belief)
        return Thought(mean, sd, told.value, told.log_probs)

    return mapped(one, argument, count)


@door
def latent_variables(
    choices: Choices,
    agent: str | Agent | None,
    fit: xr.DataTree,
    *,
    arms: bool = True,
    progress: bool | None = None,
) -> xr.Dataset:
    """The fitted agent's beliefs, the value it gave every arm, and the probability of each choice, before every trial.

    Over row, trial and arm: `mean`, `sd`, `limit`, `bonus` (limit minus mean), `probability`. Over row and trial: the same
    for the chosen arm (`chosen_mean`, ...), `prediction_error`, `best_limit`, `entropy`; `choice`, `reward`, `scored`. NaN
    where there was no trial or no choice. The attribute `warning` says whether the fit failed to converge; it is empty if
    all is well.

    Parameters
    ----------
    choices
        People's choices.
    agent
        Agent or its name; None for the agent of the fit.
    fit
        Fit of the agent to these choices.
    arms
        Whether to keep the variables over arms, which are large: with 100 arms, 100 numbers each per trial.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    known = known_of(choices, agent, fit)
    same_people(choices, fit)
    fitted = fitted_of(choices, known)
    params = {name: values[choices.participant] for name, values in estimated(known).items()}

    def call(part: tuple[Block, Params], count: np.int32) -> Thought:
        return _thought(fitted.model, fitted.data.fixed, fitted.data.ways, part, count)

    thought = in_calls(call, (fitted.data.blocks, params), "replaying", progress)
    by_arm = _by_arm(choices, thought)
    variables: Variables = {
        "choice": (("row", "trial"), choices.arm),
        "reward": (("row", "trial"), np.where(choices.observed, choices.reward, np.nan)),
        "scored": (("row", "trial"), choices.scored),
        **{name: (("row", "trial"), v, {"long_name": CHOSEN[name]}) for name, v in _of_chosen(choices, by_arm).items()},
    }
    if arms:
        variables |= {name: (("row", "trial", "arm"), v, {"long_name": ARMS[name]}) for name, v in by_arm.items()}
    coords: Variables = {
        "participant": ("row", np.asarray(choices.participants)[choices.participant]),
        "block": ("row", choices.block),
        "trial": np.arange(1, choices.n_trials + 1),
    }
    if choices.layout.arm_names is not None:
        coords["arm_name"] = ("arm", np.array(choices.layout.arm_names, object))
    attrs = {"agent": known.agent.name, "method": str(fit.attrs["method"]), "source": choices.source}
    attrs["warning"] = known.warning
    return xr.Dataset(variables, coords, attrs)


def _by_arm(choices: Choices, thought: Thought) -> dict[str, np.ndarray]:
    with np.errstate(invalid="ignore"):  # limit and mean of an arm never seen may both be infinite
        bonus = thought.limit - thought.mean
    values = (thought.mean, thought.sd, thought.limit, bonus, np.exp(thought.log_probs))
    there = choices.present[:, :, None]
    return {name: np.where(there, v, np.nan) for name, v in zip(ARMS, values, strict=True)}


def _of_chosen(choices: Choices, by_arm: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    at = np.maximum(choices.arm, 0)[:, :, None]
    sampled = choices.observed

    def chosen(name: str, where: np.ndarray) -> np.ndarray:
        return np.where(where, np.take_along_axis(by_arm[name], at, axis=2)[:, :, 0], np.nan)

    p = by_arm["probability"]
    possible = p > 0
    on_offer = by_arm["limit"] if choices.available is None else np.where(choices.available, by_arm["limit"], -np.inf)
    return {
        **{f"chosen_{name}": chosen(name, sampled) for name in ("mean", "sd", "limit", "bonus")},
        "chosen_probability": chosen("probability", choices.scored),
        "prediction_error": np.where(sampled, choices.reward - chosen("mean", sampled), np.nan),
        "best_limit": np.where(choices.present, on_offer.max(2), np.nan),
        "entropy": np.where(choices.present, -(p * np.log(np.where(possible, p, 1.0))).sum(2, where=possible), np.nan),
    }


def trial_table(latent: xr.Dataset) -> pd.DataFrame:
    """One row per trial played: participant, block, trial, arm, reward, and the agent's view of the choice."""
    names = ["choice", "reward", "scored", *CHOSEN]
    table = latent[names].to_dataframe().reset_index()
    table = table[np.isfinite(table["entropy"])].drop(columns="row").rename(columns={"choice": "arm"})
    table["arm"] = _called(latent, table["arm"])
    return table[["participant", "block", "trial", "arm", "reward", "scored", *CHOSEN]].reset_index(drop=True)


def _called(latent: xr.Dataset, arms: pd.Series) -> pd.Series:
    """The arms by name, if they have names."""
    names = latent.coords.get("arm_name")
    return arms if names is None else arms.map(dict(enumerate(names.values.tolist())))


def arm_table(latent: xr.Dataset) -> pd.DataFrame:
    """One row per arm and trial played: participant, block, trial, arm, whether it was chosen, the agent's view of it."""
    if "probability" not in latent:
        raise InputError("these latent variables do not include those of every arm.")
    table = latent[[*ARMS, "choice"]].to_dataframe().reset_index()
    table = table[np.isfinite(table["probability"])]
    table["chosen"] = table["arm"] == table["choice"]
    table["arm"] = _called(latent, table["arm"])
    return table[["participant", "block", "trial", "arm", "chosen", *ARMS]].reset_index(drop=True)


def check_ending(path: Path) -> None:
    """Raise if latent variables cannot be written under this name."""
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: expected a name ending in .csv, .parquet or .nc, got {path.suffix or 'none of them'}.")
    if path.suffix == ".parquet":
        needs("parquet", "writing a Parquet file")


def write_latent(latent: xr.Dataset, path: Path) -> None:
    """Write latent variables: .csv, one row per trial; .parquet, one row per arm and trial; .nc, everything, as netCDF."""
    path = Path(path)
    check_ending(path)
    if path.suffix == ".csv":
        write_whole(path, lambda at: trial_table(latent).to_csv(at, index=False, float_format="%.9g"))
    elif path.suffix == ".parquet":
        write_whole(path, lambda at: arm_table(latent).to_parquet(at, index=False))
    else:
        packed = {str(name): {"zlib": True, "complevel": 4} for name in latent.data_vars if latent[name].dtype.kind == "f"}
        write_whole(path, lambda at: latent.to_netcdf(at, engine="h5netcdf", encoding=packed))

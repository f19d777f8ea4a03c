"""What became of simulated teams: regret with and without advice, differences with intervals, and plain numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import xarray as xr

from explorelab._support.written_numbers import JsonObject
from explorelab.companions.team.team_block import Job, TeamBlock

INTERVAL = 1.959964
ALONE = {"none": 0.0, "expert": 1.0}
"""The probability of following with which nobody advises, and the adviser plays alone."""


def result_of(
    blocks: dict[Job, TeamBlock], kinds: list[str], names: list[str], chances: list[float], n: int, about: dict[str, object]
) -> xr.Dataset:
    """The regret of every team, its means and its differences."""

    def gather(part: str) -> np.ndarray:
        def of(kind: str, chance: float, policy: str) -> list[float]:
            follow = ALONE["none"] if policy == "none" else chance
            return [getattr(blocks[Job(kind, policy, follow, i)], part) for i in range(n)]

        return np.array(
            [[[of(kind, chance, policy) for policy in ("none", *names)] for chance in chances] for kind in kinds]
        )

    axes = ("kind", "follow", "policy", "person")
    alone = [blocks[Job(kinds[0], "impersonal", ALONE["expert"], i)].regret for i in range(n)]
    found = xr.Dataset(
        {
            "regret": (axes, gather("regret"), {"long_name": "expected regret"}),
            "silent": (axes, gather("silent"), {"long_name": "share of trials without a suggestion"}),
            "follow_estimate": (axes, gather("follow"), {"long_name": "estimated probability of following"}),
            "expert_alone": ("person", alone, {"long_name": "expected regret of the adviser alone"}),
        },
        coords={"kind": kinds, "follow": chances, "policy": ["none", *names]},
        attrs=about,
    )
    found["mean"], found["standard_error"] = (
        found.regret.mean("person"),
        found.regret.std("person", ddof=1) / np.sqrt(n),
    )
    for base in ("none", "impersonal"):
        if base in found.policy.values:
            found = found.assign(_differences(found.regret, base))
    return found


def _differences(regret: xr.DataArray, base: str) -> dict[str, xr.DataArray]:
    """Difference of means in per cent of the base's, paired by person, with its 95 % interval (delta method)."""
    reference = regret.sel(policy=base, drop=True)
    ratio = regret.mean("person") / reference.mean("person")
    n = regret.sizes["person"]
    error = (regret - ratio * reference).std("person", ddof=1) / np.sqrt(n) / reference.mean("person")
    middle, wide = 100 * (ratio - 1), 100 * INTERVAL * error
    return {f"vs_{base}": middle, f"vs_{base}_low": middle - wide, f"vs_{base}_high": middle + wide}


def team_summary(result: xr.Dataset) -> JsonObject:
    """The result as plain numbers: a row for each kind of person, probability of following and policy."""
    teams = []
    for kind, follow, policy in product(*(result[axis].values for axis in ("kind", "follow", "policy"))):
        at = result.sel(kind=kind, follow=follow, policy=policy)
        row = {"kind": str(kind), "follow": float(follow), "policy": str(policy)}
        row |= {"regret": float(at["mean"]), "standard_error": float(at.standard_error), "silent": float(at.silent.mean())}
        for base in ("none", "impersonal"):
            if f"vs_{base}" in result:
                row[f"vs_{base}"] = [float(at[f"vs_{base}{end}"]) for end in ("", "_low", "_high")]
        teams.append(row)
    return {**result.attrs, "expert_alone": float(result.expert_alone.mean()), "teams": teams}

"""Which parameters a person's choices identify, and which ones are mostly what was expected beforehand.

A fit already says where an estimate sits at a bound or trades off with another. Under a prior an estimate has a standard
error even if the choices say nothing; so it is also asked how much of the prior's variance is left once they are seen.
"""

from __future__ import annotations

import numpy as np
import xarray as xr

MOST_LEFT = 0.5
"""An estimate that keeps more than this share of its prior's variance is mostly prior."""
MOSTLY_PRIOR = "mostly what the prior says"


def with_identified(fit: xr.DataTree) -> xr.Dataset:
    """The estimates of a fit by "map" or "em", with what identifies them judged anew.

    Over participant and parameter: `left`, the share of the prior's variance that remains; `identified`; `remark`, why not.
    """
    table = fit["estimates"].to_dataset().transpose("participant", "parameter", "parameter_2", ...)
    prior = np.ones(table.sizes["parameter"])
    if "group" in fit.children:
        prior = fit["group"].to_dataset()["z_sd"].values ** 2
    left = np.diagonal(table["z_covariance"].values, axis1=1, axis2=2) / prior
    remark = table["remark"].values.astype(object)
    remark = np.where((remark == "") & (left > MOST_LEFT), MOSTLY_PRIOR, remark).astype(str)
    both = ("participant", "parameter")
    return table.assign(left=(both, left), remark=(both, remark), identified=(both, remark == ""))


def reasons(table: xr.Dataset, name: str) -> dict[str, int]:
    """Why a parameter is not identified, and for how many people."""
    kinds, counts = np.unique([_kind(str(each)) for each in table["remark"].sel(parameter=name).values], return_counts=True)
    return {str(kind): int(n) for kind, n in zip(kinds, counts, strict=True) if kind}


def _kind(remark: str) -> str:
    """A remark without its numbers, so that people with the same one can be counted."""
    return remark.split(" (")[0].split(", ")[0].replace("_", " ")

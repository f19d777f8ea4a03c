"""What is needed to reproduce a report: command, settings, versions, and checksums of the files."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from explorelab.plots.words import counted, named, plain, whole
from explorelab.report.analysis import Analysis
from explorelab.report.section import Section, Table

LIBRARIES = ("explorelab", "jax", "jaxlib", "numpy", "scipy", "pandas", "xarray", "matplotlib", "jinja2")


def versions() -> dict[str, str]:
    """The versions of Python and the libraries used."""
    return {"Python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def command(data: Sequence[Path], out: Path, given: Mapping[str, object]) -> str:
    """The command that reproduces this report."""
    words = ["explorelab", "report", *([path.name for path in data] or ["choices.csv"]), "--out", out.name]
    for name, value in given.items():
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False:
            words += [f"--{name}", str(value)]
    return shlex.join(words)


def fingerprint(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def repeat_section(found: Analysis, told: str, files: dict[str, str], has: dict[str, str]) -> Section:
    """Settings, search space, files and versions."""
    lead = [
        "The same command, data and versions give the same numbers. "
        + ("" if files else "The choices did not come from a file, so there is no command to reproduce the report.")
    ]
    tables = [_settings(found), _space(found), *_files(files), _versions(has)]
    return Section("repeat", "How to reproduce this report", [lead[0].strip(), told] if files else lead, tables=tables)


def _settings(found: Analysis) -> Table:
    settings = found.settings
    simulated = [
        ("people in parameter recovery", whole(settings.n_recovered)),
        ("people per agent in model recovery", whole(settings.n_data_sets)),
        ("simulated groups in predictive checks", whole(settings.n_copies)),
        ("noise of simulated rewards", settings.noise),
    ]
    rows = [
        ("agents compared", ", ".join(settings.models)),
        ("agent reported", f"{found.main} ({'as requested' if settings.agent else 'most evidence'})"),
        (
            "criterion",
            {"bic": "BIC of maximum-likelihood fits", "cv": "left-out blocks, predicted by MAP"}[settings.criterion],
        ),
        ("blocks left out within", settings.within or "no condition"),
        *([("effects of conditions", settings.effects)] if settings.effects else []),
        ("fitting method", settings.method),
        ("starting points per fit", whole(settings.starts)),
        ("resampled curves per phenotype", whole(settings.n_bootstrap)),
        *simulated,
        ("seed", str(settings.seed)),
        ("quick", "yes (few starts and simulations)" if settings.quick else "no"),
    ]
    return Table("Settings", ("setting", "value"), rows, (0, 1))


def _space(found: Analysis) -> Table:
    space = found.fit["space"].to_dataset()
    rows = []
    for name in map(str, space["parameter"].values):
        one = space.sel(parameter=name)
        cells = [plain(one[field], 4) for field in ("centre", "spread", "low", "high")]
        rows.append([named(name), one["scale"].item(), *cells])
    fixed = json.loads(str(found.fit.attrs["fixed"]))
    held = {name: value for name, value in fixed.items() if isinstance(value, int | float)}
    rows += [[named(name), "fixed", plain(value, 4), "", "", ""] for name, value in sorted(held.items())]
    heads = ("parameter", "scale", "centre or value", "spread on the scale", "lower bound", "upper bound")
    return Table(f"Search space of the parameters of {found.main}, and fixed values", heads, rows, (0, 1))


def _files(files: dict[str, str]) -> list[Table]:
    if not files:
        return []
    return [Table(counted(len(files), "file") + " read, with SHA-256", ("file", "SHA-256"), list(files.items()), (0, 1))]


def _versions(has: dict[str, str]) -> Table:
    return Table("Versions", ("software", "version"), list(has.items()), (0, 1))

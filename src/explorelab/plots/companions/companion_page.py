"""The folder of an assessment: a page with a small curve for each person, a figure, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from explorelab._support.files import check_folder_of, write_whole
from explorelab._support.whole_folders import check_folder_writable, put_folder, workshop
from explorelab._support.written_numbers import DIGITS
from explorelab.choices.table import Choices
from explorelab.companions.assessment.assess import people_table, trials_table
from explorelab.companions.assessment.rest_of_block import LABELS
from explorelab.companions.assessment.weaknesses import SHOWN
from explorelab.errors import InputError
from explorelab.plots.companions.companion_figures import draw_assessment
from explorelab.plots.pages import inside, rendered, width_of
from explorelab.plots.style import SavedFigure, save, style
from explorelab.plots.words import counted, fixed, interval, joined, name_of, percent, plain, who_played, whole
from explorelab.regret.forms import NONE

WIDTH, HEIGHT, STRIP = 150, 46, 9
"""Of a small curve and of the strip below it, in pixels."""
FILES = ("page.html", "people.csv", "trials.csv", "minds.nc", *(f"assessment.{end}" for end in SavedFigure._fields))


def check_minds_folder(folder: Path) -> None:
    """Raise unless the folder can be written, and replaces nothing but an earlier assessment."""
    check_folder_of(folder)
    check_folder_writable(folder)
    others = sorted({path.name for path in folder.iterdir()} - set(FILES)) if folder.is_dir() else []
    if others:
        raise InputError(f"{folder}: expected a new folder or an earlier assessment, got one that contains {others[0]}.")


def write_minds(found: xr.Dataset, choices: Choices, folder: Path) -> Path:
    """Write everything about an assessment into the folder, completely or not at all; return the page."""
    check_minds_folder(folder)
    target = folder.resolve()
    with workshop(target, "minds", within=target.parent) as made:
        with style():
            drawing = draw_assessment(found)
        saved = save(drawing.figure, drawing.data, made / "assessment")
        for name, table in (("people.csv", people_table(found)), ("trials.csv", trials_table(found))):
            table.to_csv(made / name, index=False, float_format=DIGITS, lineterminator="\n")
        write_whole(made / "minds.nc", lambda path: found.to_netcdf(path, engine="h5netcdf"))
        picture = {"image": inside("svg+xml", saved.svg.read_bytes()), "width": width_of(drawing.figure)}
        (made / "page.html").write_text(_page(found, choices, picture), encoding="utf-8", newline="\n")
        for path in made.iterdir():
            path.chmod(0o644)
        put_folder(made, target)
    return folder / "page.html"


def _page(found: xr.Dataset, choices: Choices, picture: dict[str, Any]) -> str:
    parameters = [str(name) for name in found["parameter"].values]
    return rendered(
        "explorelab.plots.companions",
        title=f"What a companion knew of {who_played(choices)}",
        source=found.attrs["source"] or "choices",
        note=found.attrs["note"],
        agent=found.attrs["agent"],
        shorts=_shorts(found),
        picture=picture,
        columns=["person", "regret", "form", "regret per choice", "nats a choice", *map(name_of, parameters), "weaknesses"],
        forms=LABELS,
        size={"width": WIDTH, "height": HEIGHT, "strip": STRIP},
        people=[_person(found, number) for number in range(found.sizes["participant"])],
    )


def _shorts(found: xr.Dataset) -> list[str]:
    """The whole group in a few sentences."""
    label, weak = found["label"].values, found["weakness_probability"]
    forms = joined(f"{whole((label == form).sum())} {form}" for form in LABELS if (label == form).any())
    probable = np.nanmean(found["nats"].values)
    said = [
        f"Regret by the end of {counted(found.sizes['row'], 'block')}: {forms}.",
        f"The choices made were predicted with {fixed(probable)} nats a choice: a geometric mean probability of "
        f"{percent(np.exp(-probable), 1)}.",
    ]
    if weak.size:
        shares = weak.mean("participant").values
        worst = str(weak["weakness"].values[shares.argmax()])
        said.append(f"The most common weakness is “{worst}”, expected of {percent(shares.max())} of people.")
    return said


def _person(found: xr.Dataset, number: int) -> dict[str, Any]:
    name = str(found["participant"].values[number])
    own = found.isel(row=np.flatnonzero(found["who"].values == name))
    curves = [curve[np.isfinite(curve)] for curve in own["observed_regret"].values]
    curves = [curve for curve in curves if curve.size] or [np.zeros(1)]
    lost = sum(curve[-1] for curve in curves) / sum(map(len, curves))
    last, end = own.isel(row=-1), max(int(np.isfinite(own["observed_regret"].values[-1]).sum()) - 1, 0)
    cells = [
        {"text": fixed(lost, 1), "value": float(lost), "under": ""},
        {"text": fixed(found["nats"][number]), "value": float(found["nats"][number]), "under": ""},
    ]
    for parameter in found["parameter"].values:
        at = last.isel(trial=end).sel(parameter=parameter)
        under = interval(at["low"], at["high"], 2)
        cells.append({"text": plain(at["estimate"], 3), "value": float(at["estimate"]), "under": under})
    return {
        "name": name,
        "final": float(curves[-1][-1]),
        "lines": _lines(curves, float(np.nanmax(found["observed_regret"].values)), found.sizes["trial"]),
        "strips": _strips(own.isel(row=-1)["form_probability"].values, found.sizes["trial"]),
        "said": _said(curves[-1], last),
        "form": _forms(own["label"].values),
        "cells": cells,
        "weaknesses": _weaknesses(found.isel(participant=number)),
        "weakest": float(found["weakness_probability"][number].max()) if found.sizes["weakness"] else 0.0,
    }


def _lines(curves: Sequence[np.ndarray], most: float, n_trials: int) -> list[str]:
    """Points of each block's curve, all on one scale; the last block comes last."""
    drawn = []
    for curve in curves:
        x = np.arange(len(curve) + 1) / max(n_trials, 1) * WIDTH
        y = HEIGHT - 1.5 - np.concatenate([[0.0], curve]).clip(min=0) / max(most, 1e-12) * (HEIGHT - 3)
        drawn.append(" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True)))
    return drawn


def _strips(forms: np.ndarray, n_trials: int) -> list[dict[str, Any]]:
    """Rectangles of the probabilities of each form: each assessment lasts until the next one."""
    at = np.flatnonzero(np.isfinite(forms).all(1))
    drawn = []
    for start, trial in zip(np.concatenate([[0], at[:-1] + 1]), at, strict=True):
        top = 0.0
        for form, share in zip(LABELS, forms[trial].tolist(), strict=True):
            x, width = start / n_trials * WIDTH, (trial + 1 - start) / n_trials * WIDTH
            box = {"x": f"{x:.2f}", "y": f"{top * STRIP:.2f}", "width": f"{width:.2f}", "height": f"{share * STRIP:.2f}"}
            drawn += [{"form": form, **box}] if share > 0 else []
            top += share
    return drawn


def _said(curve: np.ndarray, last: xr.Dataset) -> str:
    """The picture in words."""
    forms = last["form_probability"].values
    at = np.flatnonzero(np.isfinite(forms).all(1))
    told = [f"regret rises to {whole(curve[-1])} after {counted(len(curve), 'choice')}"]
    for trial in at[np.unique(np.linspace(0, at.size - 1, min(3, at.size)).round().astype(int))] if at.size else ():
        best = int(forms[trial].argmax())
        told.append(f"after {trial + 1}, {LABELS[best]} has {percent(forms[trial, best])}")
    return "; ".join(told)


def _forms(labels: np.ndarray) -> str:
    if len(labels) == 1:
        return str(labels[0])
    return ", ".join(f"{(labels == form).sum()} {form}" for form in (*LABELS[:-1], NONE) if (labels == form).any())


def _weaknesses(one: xr.Dataset) -> list[dict[str, str]]:
    order = np.argsort(-one["weakness_probability"].values, kind="stable")
    shown = []
    for k in order:
        each = one.isel(weakness=int(k))
        if float(each["weakness_probability"]) < SHOWN:
            continue
        costs = f"It costs them about {whole(each['weakness_cost'])} in a block."
        said = f"{each['weakness_sentence'].item()} {costs}"
        shown.append(
            {"name": str(each["weakness"].item()), "probability": percent(each["weakness_probability"]), "said": said}
        )
    return shown

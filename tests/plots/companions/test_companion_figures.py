"""Figures of companions draw what was found, whatever the agent."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from explorelab.companions.assessment.rest_of_block import LABELS
from explorelab.companions.assessment.weaknesses import WEAKNESSES
from explorelab.plots.companions.companion_figures import draw_assessment, draw_forecast, draw_person
from explorelab.plots.style import Drawing, style

T = 6
pytestmark = pytest.mark.quick


def assessed(n_parameters: int, n_weaknesses: int, form: str = "log") -> xr.Dataset:
    """An assessment of two people, made up; the last person's block ends early."""
    rng = np.random.default_rng(0)
    regret = np.cumsum(rng.uniform(size=(2, T)), axis=1)
    regret[1, 4:] = np.nan
    forms = np.full((2, T, len(LABELS)), np.nan)
    forms[0, [2, 5]] = [[0.5, 0.2, 0.3, 0.0], [0.0, 0.0, 1.0, 0.0]]
    forms[1, [2, 3]] = [[0.5, 0.2, 0.3, 0.0], [0.0, 0.0, 1.0, 0.0]]
    to_come = np.where(np.isfinite(forms[..., 0]), 7.0, np.nan)
    middle = np.where(np.isfinite(regret), 1.0, np.nan)[..., None] * np.ones(n_parameters)
    names = ["temperature", "prior_mean", "prior_var", "length_scale", "stickiness", "travel_cost", "novelty"][:n_parameters]
    weak = list(WEAKNESSES)[:n_weaknesses]
    return xr.Dataset(
        {
            "observed_regret": (("row", "trial"), regret),
            "probability": (("row", "trial"), np.where(np.isfinite(regret), 0.5, np.nan)),
            "form_probability": (("row", "trial", "form"), forms),
            "regret_to_come": (("row", "trial"), to_come),
            "regret_if_advised": (("row", "trial"), to_come / 2),
            **{
                part: (("row", "trial", "parameter"), by * middle)
                for part, by in (("low", 0.1), ("estimate", 1.0), ("high", 9.0))
            },
            "label": ("row", [form, form]),
            "weakness_probability": (("participant", "weakness"), np.full((2, n_weaknesses), 0.9)),
        },
        {"trial": np.arange(1, T + 1), "form": list(LABELS), "parameter": names, "weakness": weak},
    )


def drawn(drawing: Drawing) -> None:
    with style():
        drawing.figure.canvas.draw()


@pytest.mark.parametrize("n_parameters", [0, 1, 4, 5, 7])
def test_a_person_has_a_panel_for_each_parameter_up_to_six(n_parameters: int) -> None:
    with style():
        drawing = draw_person(assessed(n_parameters, 5), 1, {"temperature": 2.0})
    drawn(drawing)
    assert len(drawing.axes) == 3 + min(n_parameters, 6)
    expected = drawing.data.query("curve == 'expected at the end'")
    regret = assessed(0, 0)["observed_regret"].values[1]
    np.testing.assert_allclose(expected["y"], regret[[2, 3]] + 7)


@pytest.mark.parametrize(("n_weaknesses", "form"), [(5, "log"), (0, "log"), (2, "none")])
def test_an_assessment_is_drawn_without_weaknesses_or_forms_too(n_weaknesses: int, form: str) -> None:
    with style():
        drawing = draw_assessment(assessed(2, n_weaknesses, form))
    drawn(drawing)
    data = drawing.data
    assert len(data.query("part == 'length'")) == n_weaknesses
    shown = data.query("curve == 'log, mean'")["y"].tolist()
    assert shown == ([] if form == "none" else pytest.approx([30, 100, 100]))


def test_a_forecast_shows_each_person_under_what_the_group_knew() -> None:
    found = xr.Dataset(
        {
            **{f"nats{end}": ("participant", [2.0, 1.0 + by]) for by, end in enumerate(("", "_group", "_table"))},
            **{f"nats_by_trial{end}": ("trial", [2.0, 1.0, 1.5]) for end in ("", "_group", "_table")},
            "predicted": ("bin", [np.nan, 0.01, 0.5]),
            "observed": ("bin", [np.nan, 0.0, 0.4]),
            "n_predictions": ("bin", [0.0, 20.0, 10.0]),
        },
        {"trial": [1, 2, 3], "participant": ["a", "b"]},
        {f"nats_per_choice{end}": 1.5 for end in ("", "_group", "_table")},
    )
    with style():
        drawing = draw_forecast(found)
    drawn(drawing)
    people = drawing.data.query("panel == '(b) Each person' and curve == 'the person too'")
    assert people["y"].tolist() == [1.0, 2.0]

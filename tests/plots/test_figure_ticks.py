"""Figures: axes that count have whole ticks, and titles fit on the page whatever an agent was built from."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import explorelab as xl
from explorelab.plots.comparison_figure import draw_comparison
from explorelab.plots.people_figures import _histogram
from explorelab.plots.regret_figure import regret_figure
from explorelab.plots.style import Drawing, style, thousands, whole_ticks

pytestmark = pytest.mark.quick


def ticks_of(axis: object) -> list[float]:
    axis.figure.canvas.draw()
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_ticklocs() if low <= tick <= high]


@pytest.mark.parametrize("values", [[3], [3, 3, 3], [1, 2], [2, 2, 2, 5], [0], list(range(40)), [100] * 3 + [7]])
def test_a_histogram_of_counts_has_whole_ticks_on_both_axes(values: list[int]) -> None:
    with style():
        drawing = Drawing([["c"]])
        _histogram(drawing, "c", np.array(values, float), "arms tried", "arms", "blocks", whole=True)
        axes = drawing.axes["c"]
        for axis in (axes.xaxis, axes.yaxis):
            ticks = ticks_of(axis)
            assert ticks
            assert all(tick == round(tick) for tick in ticks)


@pytest.mark.parametrize("high", [0.3, 1, 2, 7, 1e6])
def test_ticks_are_labelled_with_what_they_are(high: float) -> None:
    with style():
        drawing = Drawing([["a"]])
        axes = drawing.panel("a", "", "x", "y")
        axes.set_ylim(0, high)
        thousands(axes.yaxis)
        drawing.figure.canvas.draw()
        told = [label.get_text() for label in axes.get_yticklabels()]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("span", [(0, 1), (2.6, 3.4), (0, 3), (0, 90)])
def test_whole_ticks_are_whole_however_few(span: tuple[float, float]) -> None:
    with style():
        axes = Drawing([["a"]]).panel("a", "", "x", "y", xlim=span)
        whole_ticks(axes.xaxis)
        assert all(tick == round(tick) for tick in ticks_of(axes.xaxis))


def test_neither_the_agent_nor_the_figure_shows_a_matrix() -> None:
    task = xl.tasks.line(np.arange(30.0))
    agent = xl.agents.deterministic_ucl(prior_mean=np.arange(30.0), prior_cov=np.eye(30) + 0.5)
    assert repr(agent) == "deterministic-ucl(prior_mean=<30 numbers>, prior_cov=<30 x 30 numbers>)"
    runs = xl.simulate(agent, task, 10, 3)
    with style():
        drawing = regret_figure(runs, xl.regret_bounds(agent, task, 10))
    title = drawing.figure.get_suptitle()
    assert "array" not in title
    assert "<30 x 30 numbers>" in title
    assert len(title) < 300


def test_few_numbers_are_shown_as_they_are() -> None:
    assert (
        repr(xl.agents.deterministic_ucl(prior_mean=[1, 2], prior_var=4.0))
        == "deterministic-ucl(prior_mean=[1, 2], prior_var=4.0)"
    )
    assert repr(xl.agents.deterministic_ucl(prior_mean=np.array([1.5, 2.0]))) == "deterministic-ucl(prior_mean=[1.5, 2.0])"


@pytest.mark.parametrize("behind", [0.2, 8, 60, 5000])
def test_the_axis_of_evidence_has_more_than_its_zero(behind: float) -> None:
    names = ["one", "two"]
    evidence = xr.DataArray([[0.0, -behind]], {"model": names}, ("participant", "model"))
    columns = {
        "lost_evidence": [0.0, -behind],
        "alpha": [1.5, 1.5],
        "frequency": [0.5, 0.5],
        "protected_exceedance": [0.5, 0.5],
    }
    models = xr.Dataset({name: ("model", values) for name, values in columns.items()}, {"model": names})
    with style():
        axes = draw_comparison(evidence, models, "one").axes["a"]
        assert len(ticks_of(axes.xaxis)) >= 3

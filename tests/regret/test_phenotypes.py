"""The three forms of regret: parameters recovered, fits checked against SciPy, the shares that the notes expect."""

import functools
import math
import warnings

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import curve_fit

import explorelab as xl
from explorelab.regret.forms import FORMS, fit_regret_curves, fitted_regret, shares
from explorelab.regret.forms_fast import best_forms

pytestmark = pytest.mark.quick

T = np.arange(1, 91)
N_SEEDS = 2000


CURVES = {
    "linear": lambda t, a, b: a + b * t,
    "power": lambda t, a, b: a * t**b,
    "log": lambda t, a, b: a + b * np.log(t),
}


@pytest.mark.parametrize("power", ["raw", "log-log"])
@pytest.mark.parametrize(("form", "a", "b"), [("linear", 40, 3), ("power", 12, 0.6), ("power", 0.5, 1.7), ("log", 20, 90)])
def test_the_parameters_of_an_exact_curve_come_back_with_its_label(form, a, b, power):
    fit = fit_regret_curves(CURVES[form](T, a, b), power=power)
    assert fit["label"].item() == form
    assert fit["a"].sel(form=form).item() == pytest.approx(a, rel=1e-9)
    assert fit["b"].sel(form=form).item() == pytest.approx(b, rel=1e-9)


def test_every_form_fits_noisy_curves_as_well_as_scipy_does():
    rng = np.random.default_rng(1)
    curves = np.cumsum(rng.normal(rng.uniform(1, 30, (30, 1)), 15, (30, 90)), axis=1)
    fit = fit_regret_curves(curves)
    for form in FORMS:
        ours = fit.sel(form=form)
        for i, curve in enumerate(curves):
            start = (ours["a"][i].item() * 1.05, ours["b"][i].item() * 0.98)
            (a, b), _ = curve_fit(CURVES[form], T, curve, p0=start, xtol=1e-14, ftol=1e-14)
            assert ours["b"][i].item() == pytest.approx(b, rel=1e-6)
            assert ours["a"][i].item() == pytest.approx(a, rel=1e-5)
            assert ours["ssr"][i].item() == pytest.approx(((curve - CURVES[form](T, a, b)) ** 2).sum(), rel=1e-9)


def test_no_power_law_on_a_fine_grid_fits_better():
    rng = np.random.default_rng(2)
    curves = np.cumsum(rng.normal(0, 10, (200, 40)), axis=1)
    t = np.arange(1, 41)
    fit = fit_regret_curves(curves).sel(form="power")
    exponents = np.linspace(-20, 20, 20001)
    shapes = np.where(exponents[:, None] > 0, t / 40, t / 1) ** exponents[:, None]
    best = (curves**2).sum(1) - ((curves @ shapes.T) ** 2 / (shapes**2).sum(1)).max(1)
    assert (fit["ssr"].values <= best + 1e-9 * (curves**2).sum(1)).all()


def test_the_log_log_fit_leaves_out_times_without_regret_but_is_scored_at_all():
    curve = 5 * T**0.8
    curve[:3] = (-4, 0, -1)
    fit = fit_regret_curves(curve, power="log-log").sel(form="power")
    assert fit["b"].item() == pytest.approx(0.8, rel=1e-9)
    assert fit["ssr"].item() == pytest.approx(((curve - 5 * T**0.8) ** 2).sum(), rel=1e-9)


def test_a_curve_without_regret_has_no_log_log_law_and_raises_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_regret_curves(-np.arange(1.0, 20.0), power="log-log")
    assert fit["label"].item() == "linear"
    assert math.isinf(fit["ssr"].sel(form="power").item())
    assert math.isnan(fit["b"].sel(form="power").item())


@pytest.mark.parametrize("slope", [7.0, -7.0, 1e-30, 1e30])
def test_forms_that_fit_equally_well_go_to_the_first(slope):
    assert fit_regret_curves(slope * T)["label"].item() == "linear"


@pytest.mark.parametrize("power", ["raw", "log-log"])
@pytest.mark.parametrize(
    "curve",
    [np.zeros(10), np.full(10, 3.0), np.full(40, -0.3), np.full(10, 1e12) + 1e-3 * np.arange(10), [1.0, 2.0], [0.0, 0.0]],
    ids=["nothing lost", "constant", "negative", "constant to rounding", "two points", "two zeros"],
)
def test_a_curve_that_every_form_fits_has_none(curve, power):
    """Also by the fast way, and among curves that have one."""
    assert fit_regret_curves(curve, power=power)["label"].item() == "none"
    curves = np.stack([curve, 3.0 + np.arange(len(curve)) ** 2])
    expected = [-1, -1] if len(curve) < 3 else [-1, FORMS.index(fit_regret_curves(curves[1], power=power)["label"].item())]
    assert best_forms(curves, power).tolist() == expected


@pytest.mark.parametrize("power", ["raw", "log-log"])
@pytest.mark.parametrize("n_trials", [0, 1, 2])
def test_the_fast_way_finds_no_form_in_a_curve_that_is_too_short(n_trials, power):
    assert best_forms(np.ones((3, n_trials)), power).tolist() == [-1, -1, -1]


def test_shares_are_of_the_curves_that_have_a_form():
    fits = fit_regret_curves(np.stack([7.0 * T, np.zeros(T.size), 9.0 * T, 3 + np.log(T)]))
    assert shares(fits) == {"linear": pytest.approx(2 / 3), "power": 0.0, "log": pytest.approx(1 / 3)}
    assert all(math.isnan(share) for share in shares(fit_regret_curves(np.zeros(9))).values())


def test_dimensions_and_coordinates_are_those_of_the_regret():
    regret = xr.DataArray(np.ones((5, 2, 3)).cumsum(0), dims=("time", "agent", "replicate"), coords={"agent": ["x", "y"]})
    fit = fit_regret_curves(regret)
    assert fit["ssr"].dims == ("agent", "replicate", "form")
    assert fit["label"].sel(agent="x").shape == (3,)
    assert fit.attrs["power"] == "raw"


def test_fitted_curves_are_those_that_were_scored():
    curves = np.random.default_rng(3).uniform(0, 5, (4, 90)).cumsum(1)
    fit = fit_regret_curves(curves)
    residuals = xr.DataArray(curves, dims=("curve", "time")) - fitted_regret(fit, T)
    np.testing.assert_allclose((residuals**2).sum("time").transpose("curve", "form"), fit["ssr"], rtol=1e-8)


@pytest.mark.parametrize(
    ("regret", "options", "message"),
    [
        ([1.0], {}, "at least 2 times"),
        ([1.0, float("nan")], {}, "NaN"),
        ([1.0, 2.0], {"times": [1, 2, 3]}, "one value for each of the 2 points"),
        ([1.0, 2.0], {"times": [0, 1]}, "above 0"),
        ([1.0, 2.0], {"times": [2, 2]}, "must not all be the same"),
        ([1.0, 2.0], {"power": "loglog"}, "did you mean 'log-log'"),
        (xr.DataArray([1.0, 2.0], dims="t"), {}, "dimension 'time'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(regret, options, message):
    with pytest.raises(xl.InputError, match=message):
        fit_regret_curves(regret, **options)


AGENTS = {
    "linear": {"prior_mean": 30, "prior_var": 1000, "temperature": 4},
    "log": {"prior_mean": 200, "prior_var": 10, "length_scale": 4, "temperature": 1},
}


@functools.cache
def _observed_regret(name):
    agent = xl.agents.stochastic_ucl(**AGENTS[name])
    return xl.simulate(agent, xl.tasks.landscape("B"), 90, N_SEEDS, seed=5, keep="replicates", progress=False)[
        "observed_regret"
    ]


@pytest.mark.parametrize(
    ("name", "power", "expected"),
    [("linear", "raw", 0.29), ("linear", "log-log", 0.83), ("log", "raw", 0.57), ("log", "log-log", 0.92)],
)
@pytest.mark.slow
def test_the_share_of_seeds_that_get_their_agents_label_is_as_noted(name, power, expected):
    share = shares(fit_regret_curves(_observed_regret(name), power=power))[name]
    standard_error = math.sqrt(2 * expected * (1 - expected) / N_SEEDS)
    assert abs(share - expected) < 3 * standard_error


def test_the_linear_agents_power_law_has_exponent_one():
    exponents = fit_regret_curves(_observed_regret("linear"))["b"].sel(form="power")
    assert exponents.median().item() == pytest.approx(1.0, abs=0.01)


def test_the_log_agent_loses_under_a_third_of_what_the_linear_agent_loses():
    assert (_observed_regret("log")[:, -1] < _observed_regret("linear")[:, -1] / 3).all()

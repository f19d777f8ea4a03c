"""Group-level model selection: the published numbers, plain updates written out, Monte Carlo, invariances, bad input."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.special import digamma, gammaln

import explorelab as xl
from explorelab.choices.table import Choices, Layout
from explorelab.comparison.group import _largest, exceedance_probability, group_selection
from explorelab.fitting.criteria import aic, bic, chance_nll, share_foreseen

pytestmark = pytest.mark.quick

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "wu2020"


def _plain_updates(evidence, prior, n_updates):
    """Stephan et al. (2009), equations 14 and 15, and the free energies of Rigoux et al. (2014), as they are printed."""
    n_models = evidence.shape[1]
    alpha = np.full(n_models, prior)
    for _ in range(n_updates):
        u = evidence + digamma(alpha) - digamma(alpha.sum())
        g = np.exp(u - u.max(1, keepdims=True))
        g /= g.sum(1, keepdims=True)
        alpha = prior + g.sum(0)
    log_r = digamma(alpha) - digamma(alpha.sum())
    entropy = gammaln(alpha).sum() - gammaln(alpha.sum()) - ((alpha - 1) * log_r).sum() - (g * np.log(g + 1e-300)).sum()
    joint = (
        gammaln(prior * n_models) - n_models * gammaln(prior) + ((prior - 1) * log_r).sum() + (g * (evidence + log_r)).sum()
    )
    return alpha, g, joint + entropy


def _evidence(n_people=30, n_models=4, seed=0, scale=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(-200, scale, (n_people, n_models)) + np.linspace(0, scale / 2, n_models)


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published group comparison (shared/data/wu2020) is not here")
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-10, 1e-13])
def test_published_protected_exceedance_probabilities_come_back_to_every_printed_digit(tolerance):
    nll = np.loadtxt(PUBLISHED / "spatial_nll.csv", delimiter=",")
    found = group_selection(-nll, names=["GP-UCB", "mean tracker"], tolerance=tolerance)["protected_exceedance"].values
    assert ",".join(f"{value:.5g}" for value in found) == (PUBLISHED / "spatial_pxp.csv").read_text().strip()


@pytest.mark.parametrize("prior", [1.0, 0.5, 3.0])
def test_the_fixed_point_is_that_of_the_plain_updates(prior):
    evidence = _evidence()
    alpha, g, free_energy = _plain_updates(evidence, prior, 3000)
    found = group_selection(evidence, prior=prior)
    np.testing.assert_allclose(found["alpha"], alpha, rtol=1e-8)
    np.testing.assert_allclose(found["responsibility"], g, atol=1e-8)
    assert found["free_energy"].item() == pytest.approx(free_energy, abs=1e-8)
    assert found["free_energy_equal"].item() == pytest.approx(np.log(np.exp(evidence).mean(1)).sum(), abs=1e-9)


@pytest.mark.parametrize("alpha", [[4, 7, 5], [1, 1.5, 20, 18], [0.5, 3, 2, 2.5, 0.1]])
def test_exceedance_agrees_with_draws_from_the_dirichlet(alpha):
    n_draws = 400_000
    best = np.random.default_rng(1).dirichlet(alpha, n_draws).argmax(1)
    share = np.bincount(best, minlength=len(alpha)) / n_draws
    exact = exceedance_probability(alpha)
    assert (np.abs(share - exact) < 4 * np.sqrt(exact * (1 - exact) / n_draws) + 1e-12).all()


@pytest.mark.parametrize("alpha", [[1, 1, 1], [0.05, 0.02, 0.01], [3.0] * 12, [1e5, 1e5 + 300, 9e4, 1], [1, 50, 0.3, 400]])
def test_exceedance_probabilities_add_up_to_one(alpha):
    assert exceedance_probability(alpha).sum() == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("alpha", [[96.1, 34.9], [1, 3], [9000, 10000]])
def test_the_integral_is_the_beta_tail_for_two_models(alpha):
    alpha = np.asarray(alpha, float)
    integral = [_largest(alpha, k) for k in (0, 1)]
    np.testing.assert_allclose(integral, exceedance_probability(alpha), rtol=1e-10)


def test_three_models_with_whole_counts_agree_with_the_closed_form():
    # X_k ~ Gamma(n) with n = 1, 1, 2: P(the third is largest) = E[(1 - exp(-X))^2] = 1 - 2 / 2^2 + 1 / 3^2
    assert exceedance_probability([1, 1, 2])[2] == pytest.approx(1 - 2 / 4 + 1 / 9, abs=1e-13)


@pytest.mark.parametrize("n_models", [2, 3, 5])
def test_evidence_without_differences_protects_to_one_over_k(n_models):
    found = group_selection(np.random.default_rng(2).normal(0, 0.01, (60, n_models)))
    np.testing.assert_allclose(found["protected_exceedance"], 1 / n_models, atol=0.05)
    assert found["omnibus_risk"].item() > 0.8


def test_a_model_that_everyone_uses_is_certain():
    found = group_selection(np.tile([0.0, -20.0, -25.0], (40, 1)))
    assert found["protected_exceedance"].values[0] > 1 - 1e-6
    assert found["frequency"].values[0] == pytest.approx(41 / 43, abs=1e-6)


def test_a_constant_for_each_person_changes_nothing_but_the_free_energies():
    evidence = _evidence()
    shift = np.random.default_rng(3).normal(0, 1e4, (30, 1))
    before, after = group_selection(evidence), group_selection(evidence + shift)
    for name in ("alpha", "exceedance", "protected_exceedance", "responsibility", "omnibus_risk"):
        np.testing.assert_allclose(after[name], before[name], rtol=1e-7, atol=1e-9)
    assert (after["free_energy"] - before["free_energy"]).item() == pytest.approx(shift.sum(), rel=1e-9)


def test_models_in_another_order_give_the_same_answers_in_that_order():
    evidence, order = _evidence(), [2, 0, 3, 1]
    before, after = group_selection(evidence), group_selection(evidence[:, order])
    for name in ("alpha", "exceedance", "protected_exceedance", "responsibility"):
        np.testing.assert_allclose(after[name], before[name].isel(model=order), atol=1e-9)


def test_many_people_whose_models_hardly_differ_settle_soon():
    found = group_selection(np.random.default_rng(4).normal(0, 1e-3, (10_000, 3)))
    alpha = found["alpha"].values
    np.testing.assert_allclose(alpha, 1 + found["responsibility"].sum("participant"), rtol=1e-8)
    assert found["omnibus_risk"].item() > 0.99


@pytest.mark.parametrize(
    ("evidence", "protected"),
    [
        ([[-3.0]], [1.0]),
        ([[-3.0], [-1e9]], [1.0]),
        ([[0.0, 0.0, 0.0]], [1 / 3] * 3),
        ([[0.0, -1e300]], [0.625, 0.375]),
        (np.tile([-1e9, -1e9], (7, 1)), [0.5, 0.5]),
    ],
)
def test_one_model_one_person_ties_and_huge_evidence(evidence, protected):
    found = group_selection(evidence)
    np.testing.assert_allclose(found["protected_exceedance"], protected, atol=1e-9)
    assert found["responsibility"].sum("model").values == pytest.approx(1)


def test_labels_of_a_data_array_are_kept():
    table = xr.DataArray(
        _evidence(3, 2).T, dims=("model", "person"), coords={"model": ["a", "b"], "person": ["x", "y", "z"]}
    )
    found = group_selection(table)
    assert found["model"].values.tolist() == ["a", "b"]
    assert found["participant"].values.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(found["alpha"], group_selection(table.values.T)["alpha"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"log_evidence": [1.0, 2.0]}, "table participant x model"),
        ({"log_evidence": [[1.0, float("nan")]]}, "NaN"),
        ({"log_evidence": [[1.0, -float("inf")]]}, "finite"),
        ({"log_evidence": [[1.0, 2.0]], "names": ["a"]}, "one for each of the 2 models"),
        ({"log_evidence": [[1.0, 2.0]], "names": ["a", "a"]}, "differ from each other"),
        ({"log_evidence": [[1.0, 2.0]], "prior": 0}, "at least 0.01"),
        ({"log_evidence": [[1.0, 2.0]], "prior": [1, 1, 1]}, "one for each of the 2 models"),
        ({"log_evidence": [[1.0, 2.0]], "tolerance": 0}, "above 0"),
        ({"log_evidence": xr.DataArray([[1.0]], dims=("a", "b"))}, "participant x model"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, message):
    with pytest.raises(xl.InputError, match=message):
        group_selection(**arguments)


def test_criteria_are_their_formulas():
    assert aic(-100.0, 3) == 206
    assert bic(-100.0, 3, 90) == pytest.approx(200 + 3 * np.log(90))
    np.testing.assert_allclose(
        share_foreseen(np.array([0.0, 3.0, 6.0, 0.0]), np.array([6.0, 6.0, 6.0, 0.0])), [1, 0.5, 0, np.nan]
    )


def test_chance_counts_the_arms_on_offer_at_every_scored_trial():
    available = np.ones((2, 2, 4), bool)
    available[0, 0, 2:] = False
    yes = np.ones((2, 2), bool)
    scored = np.array([[True, True], [True, False]])
    arm, reward, blocks = np.zeros((2, 2), np.int32), np.zeros((2, 2)), np.array(["1", "2"])
    choices = Choices(Layout(4), ("a",), np.zeros(2, int), blocks, arm, reward, yes, scored, yes, available=available)
    np.testing.assert_allclose(chance_nll(choices), [np.log(2) + np.log(4) + np.log(4)])
    np.testing.assert_allclose(share_foreseen(np.log([2]), chance_nll(choices)), 1 - 1 / 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bic(-1.0, 2, 0), "n must be at least 1"),
        (lambda: aic(-1.0, -2), "k must be at least 0"),
    ],
)
def test_criteria_refuse_what_they_cannot_be_of(call, message):
    with pytest.raises(xl.InputError, match=message):
        call()

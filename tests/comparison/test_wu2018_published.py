"""Wu et al. (2018) from the library's parts: every published fold at its parameters, refits, and a model that beats them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon

from explorelab.choices.table import Choices
from explorelab.comparison.left_out_blocks import cross_validate, folds_of
from explorelab.fitting.model import prepare
from explorelab.fitting.search.solve import predicted
from explorelab.fitting.spaces import standard
from tests.support import wu2018_models as wu

pytestmark = pytest.mark.skipif(not wu.FOLDER.is_dir(), reason="the choices of Wu et al. (2018) are not here")

SUM_OF_NLL = {"RBFUCB": 70_285.75, "BMTUCB": 82_710.72, "LRBFUCB": 57_488.84, "LBMTUCB": 58_498.65, "LocalSearch": 66_188.69}
"""Over all 640 folds, as published."""


def at_published(name: str, choices: Choices, rows: np.ndarray, params: dict[str, np.ndarray], agent: Any = None) -> Any:
    """Negative log-likelihood of each of these blocks at its own parameters."""
    fitted = prepare(choices, agent or wu.model(name), space=wu.space(name))
    return -predicted(fitted, rows, standard(fitted.space, params)[:, None])[:, 0]


# The likelihood at the published parameters ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", wu.MODELS)
def test_every_published_fold_has_the_published_likelihood(name):
    choices = wu.rescaled_choices()
    known = wu.published(name, choices)
    nll = at_published(name, choices, folds_of(choices, "horizon").left_out, known.params)
    assert len(nll) == 640
    assert np.abs(nll - known.nll).max() < 1e-5
    assert nll.sum() == pytest.approx(SUM_OF_NLL[name], abs=0.01)


@pytest.mark.parametrize("quirk", sorted(wu.QUIRKS))
def test_each_quirk_is_needed_for_the_published_likelihood(quirk):
    choices = wu.rescaled_choices()
    choices = choices.rows(choices.participant < 10)
    known = wu.published("RBFUCB", choices)
    agent = wu.model("RBFUCB", wu.QUIRKS - {quirk})
    nll = at_published("RBFUCB", choices, folds_of(choices, "horizon").left_out, known.params, agent)
    assert np.abs(nll - known.nll).max() > 0.01


# Fitted anew ----------------------------------------------------------------------------------------------------------

STARTS = 4
R2 = {"LRBFUCB": 0.376, "LBMTUCB": 0.365, "LocalSearch": 0.281, "RBFUCB": 0.237, "BMTUCB": 0.102}
"""As published, the best first: the mean over people of 1 - nLL / (n log 121), all folds of a person together."""


def train_nll_published(name: str, choices: Choices) -> np.ndarray:
    """Negative log-likelihood of each fold's training rounds at the published parameters."""
    training, params = np.array(folds_of(choices, "horizon").training), wu.published(name, choices).params
    return np.sum([at_published(name, choices, rows, params) for rows in training.T], axis=0)


def refitted(name: str, choices: Choices) -> Any:
    return cross_validate(choices, wu.model(name), "ml", within="horizon", space=wu.space(name), n_starts=STARTS)


@pytest.mark.slow
def test_refits_find_what_the_authors_found():
    choices = wu.rescaled_choices()
    choices = choices.rows(np.isin(choices.participant, [0, 23, 62]))
    known, folds = wu.published("LRBFUCB", choices), refitted("LRBFUCB", choices)["folds"]
    assert (folds.train_nll.values < train_nll_published("LRBFUCB", choices) + 0.5).all()
    # Better training likelihoods in far corners cost some out-of-sample likelihood.
    assert folds.nll.values.sum() == pytest.approx(known.nll.sum(), rel=0.02)


@cache
def full_refit(name: str) -> Any:
    return refitted(name, wu.rescaled_choices())


@pytest.mark.slow
@pytest.mark.parametrize("name", wu.MODELS)
def test_refits_predict_as_well_as_published(name):
    """Within half the distance between any two models, which therefore have the published order."""
    assert float(full_refit(name)["people"].r2.mean()) == pytest.approx(R2[name], abs=0.005)


@pytest.mark.slow
def test_refits_of_the_best_model_train_no_worse_than_published():
    worse = full_refit("LRBFUCB")["folds"].train_nll.values > train_nll_published("LRBFUCB", wu.rescaled_choices()) + 0.5
    assert worse.mean() <= 0.01


@pytest.mark.slow
def test_refitted_parameters_have_the_published_medians():
    folds = full_refit("LRBFUCB")["folds"].to_dataset()
    # Each person's median over folds, then the median over people.
    medians = folds.estimate.to_pandas().groupby(folds.participant.values).median().median()
    assert medians["length_scale"] == pytest.approx(0.754, rel=0.03)
    assert medians["bonus"] == pytest.approx(0.496, rel=0.02)
    assert medians["temperature"] == pytest.approx(0.0886, rel=0.08)


# Better than published ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_situated_ucl_predicts_people_better_than_the_best_published_model():
    people = cross_validate(wu.human_choices(), "situated-ucl", "em", within="horizon", n_starts=2)["people"].to_dataset()
    assert float(people.r2.mean()) > 0.465
    assert float(people.r2_averaged.mean()) > 0.48
    choices = wu.rescaled_choices()
    rows = folds_of(choices, "horizon").left_out
    theirs = np.bincount(choices.participant[rows], wu.published("LRBFUCB", choices).nll)
    ours = people.nll.sel(participant=list(choices.participants)).values
    assert (ours < theirs).sum() >= 75
    assert wilcoxon(theirs, ours, alternative="greater").pvalue < 1e-9

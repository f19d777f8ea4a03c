"""The published study of Wu et al. (2018) from the library's parts: every fold at its parameters, refits, and better ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wu2018_models as wu

from explorelab.fitting.crossvalidation import folds_of
from explorelab.fitting.model import prepare
from explorelab.fitting.solve import predicted
from explorelab.fitting.spaces import standard
from explorelab.people.data import Choices

pytestmark = pytest.mark.skipif(not wu.FOLDER.is_dir(), reason="the choices of Wu et al. (2018) are not here")

SUM_OF_NLL = {"RBFUCB": 70_285.75, "BMTUCB": 82_710.72, "LRBFUCB": 57_488.84, "LBMTUCB": 58_498.65, "LocalSearch": 66_188.69}
"""Over all 640 folds, as published."""


def at_published(name: str, choices: Choices, rows: np.ndarray, params: dict[str, np.ndarray], agent: Any = None) -> Any:
    """Negative log-likelihood of each of these blocks at its own parameters."""
    fitted = prepare(choices, agent or wu.model(name), space=wu.space(name))
    return -predicted(fitted, rows, standard(fitted.model.space, params)[:, None])[:, 0]


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

"""Columns become levels and slopes that span the same effects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explorelab.fitting.effects.effect_design import Design, design_of
from explorelab.fitting.effects.formulas import columns_of

pytestmark = pytest.mark.quick

PERSON = np.repeat(np.arange(10), 3)
TABLE = pd.DataFrame({
    "group": np.where(PERSON < 4, "a", "b").astype(object),
    "age": 20.0 + PERSON,
    "session": np.tile([1, 2, 3], 10),
    "mood": np.random.default_rng(0).normal(size=30),
})  # fmt: skip
LIMITS = (np.array([-5.0]), np.array([5.0]))

FORMULAS = {
    "1": ["p"],
    "group": ["p"],
    "0 + group": ["p"],
    "group + age": ["p"],
    "C(session)": ["p", "p: C(session)[T.2]", "p: C(session)[T.3]"],
    "0 + C(session)": ["p: C(session)[1]", "p: C(session)[2]", "p: C(session)[3]"],
    "group * C(session)": ["p", "p: C(session)[T.2]", "p: C(session)[T.3]"],
    "0 + group:C(session)": 3,
    "group + mood:age + mood": 2,
    "mood + group:mood": 2,
    "C(group, contr.treatment('b'))": ["p"],
}


def made(formula: str) -> tuple[np.ndarray, Design]:
    columns = columns_of("p", formula, TABLE)
    return columns.values, design_of("", ["p"], [columns], PERSON, None, LIMITS, set())


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_people_are_estimated_by_follows_from_the_formula(formula: str) -> None:
    expected, (_, design) = FORMULAS[formula], made(formula)
    assert design.latents == tuple(expected) if isinstance(expected, list) else len(design.latents) == expected


@pytest.mark.parametrize("formula", FORMULAS)
def test_effects_inside_and_as_written_give_every_block_the_same_mean(formula: str) -> None:
    values, design = made(formula)
    inside = np.random.default_rng(1).normal(size=design.n_effects)
    means = np.einsum("rl,rl->r", design.slope[:, 0], (design.of_person @ inside)[PERSON])
    np.testing.assert_allclose(values @ (design.back @ inside), means, atol=1e-9)


def test_columns_are_centred_and_scaled_where_an_intercept_takes_up_the_difference() -> None:
    _, design = made("group * mood")
    assert design.of_person[:, 0, 0] == pytest.approx(1)
    assert design.of_person[:, 0, 1].mean() == pytest.approx(0)
    assert design.of_person[:, 0, 1].std() == pytest.approx(1)
    assert design.slope[:, 0, 1].std() == pytest.approx(1)


def test_degrees_of_freedom_count_people() -> None:
    assert made("group + age")[1].freedom.tolist() == [7, 7, 7]
    assert made("group * C(session)")[1].freedom.tolist() == [8] * 6


@pytest.mark.parametrize("unit", [1e-300, 1e-13, 1.0, 1e12, 1e300])
def test_the_unit_of_a_column_changes_nothing_but_its_effect(unit: float) -> None:
    table = TABLE.assign(age=TABLE["age"] * unit)
    columns = columns_of("p", "group + age", table)
    design = design_of("", ["p"], [columns], PERSON, None, LIMITS, set())
    plain = made("group + age")[1]
    np.testing.assert_allclose(design.of_person, plain.of_person, atol=1e-9)
    np.testing.assert_allclose(design.back[2] * unit, plain.back[2], rtol=1e-6, atol=1e-12)


def test_years_can_be_told_from_the_intercept() -> None:
    table = TABLE.assign(age=1e7 + PERSON)
    columns = columns_of("p", "age", table)
    assert design_of("", ["p"], [columns], PERSON, None, LIMITS, set()).n_effects == 2

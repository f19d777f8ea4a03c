"""Formulas that cannot be meant are refused in one sentence, before anything is fitted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import explorelab as xl
from tests.support.conditions import AGENT, in_conditions

pytestmark = pytest.mark.quick


@cache
def people() -> xl.Choices:
    return in_conditions(8, sessions=2, horizon=6)


def refused(effects, choices=None, method="em", **settings) -> str:
    with pytest.raises(xl.InputError) as error:
        xl.fit(choices or people(), AGENT, method, effects=effects, progress=False, **settings)
    told = str(error.value)
    assert told.endswith((".", "?")), told
    assert "\n" not in told
    return told


BAD = {
    "temperature ~ grop": "did you mean 'group'?",
    "temperature ~ nothing_like_it": "expected one of age, block, group",
    "temprature ~ group": "did you mean 'temperature'?",
    "prior_mean ~ group": "unknown free parameter",
    "temperature ~ site": "is 'here' in every block",
    "temperature ~ group +": "cannot be read",
    "temperature ~ (group": "cannot be read",
    "temperature ~ np.log(group)": "cannot be evaluated",
    "temperature ~ np.load(group)": "got np.load()",
    "temperature ~ nosuch(age)": "got nosuch()",
    "temperature ~ {__import__('os').getpid()}": "expected columns and the functions",
    "temperature ~ C(group, (lambda: 1)())": "expected columns and the functions",
    "temperature ~ group.__class__": "expected columns and the functions",
    "temperature = 0.1 if group.mean() > 0": "got group.mean()",
    "temperature = 0.1 if @group == 'a'": "expected columns and the functions",
    "temperature ~ group + C(group)": "is a combination of the others",
    "temperature ~ 0": "no columns",
    "temperature ~ group | session": "one right-hand side",
    "temperature ~ C(age)": "more people than columns",
    "temperature ~ np.log(age - 20)": "not a finite number",
    "temperature": "must read like",
    "temperature ~ group ~ age": "must read like",
    "temperature ~ group; temperature ~ age": "one formula for temperature",
    "": "got none",
    " ; ": "got none",
    "temperature = cold if group == 'a'": "must be a number",
    "temperature = -1 if group == 'a'": "cannot be held at -1",
    "temperature = 1 if grop == 'a'": "cannot be evaluated",
    "temperature = 1 if group == 'c'": "no block",
    "temperature = 1 if age > 0": "in every block",
    "temperature = 1 if age": "true or false",
    "temperature = 1 if group == 'a'; temperature = 2 if age > 21": "held at two values in",
    "temperature = inf if group == 'a'": "cannot be held at inf",
    "temperature ~ .": "name the columns",
    "temperature ~ . - age": "name the columns",
    "temperature ~ C(age, 3)": "cannot be evaluated",
    "temperature ~ ``": "between backticks is empty",
    "temperature ~ `no such`": "unknown condition",
    "log(temperature) ~ group": "unknown free parameter",
    "~ group": "unknown free parameter",
    "temperature ~ group + (1|participant)": "cannot be read",
    "temperature ~ poly(age, 20)": "too many",
    "temperature ~ age + I(2 * age)": "is a combination of the others",
    "temperature ~ I(age / 0)": "not a finite number",
    "temperature ~ group; learning_rate": "must read like",
    "temperature ~ group\nlearning_rate ~ age": "must read like",
}


@pytest.mark.parametrize("effects", BAD, ids=str)
def test_a_wrong_formula_is_refused_in_one_sentence(effects: str) -> None:
    assert BAD[effects] in refused(effects)


@pytest.mark.parametrize("method", ["ml", "map"])
@pytest.mark.parametrize("settings", [{"effects": "temperature ~ group"}, {"shared": ["temperature"]}], ids=str)
def test_methods_without_a_group_refuse_effects(method: str, settings: dict) -> None:
    with pytest.raises(xl.InputError, match="needs method 'em', 'bayes' or 'nuts'"):
        xl.fit(people(), AGENT, method, progress=False, **settings)


def test_missing_values_are_counted_and_listed() -> None:
    for column, missing in (("age", np.nan), ("group", "")):
        values = people().conditions[column].copy()
        values[:4] = missing
        told = refused(f"temperature ~ {column}", replace(people(), conditions={**people().conditions, column: values}))
        assert f"{column} is missing for 2 of 8 participants ({', '.join(people().participants[:2])})" in told


def test_text_among_numbers_is_named() -> None:
    ages = people().conditions["age"].astype(str).astype(object)
    ages[0] = "unknown"
    told = refused("temperature ~ age", replace(people(), conditions={**people().conditions, "age": ages}))
    assert "got 'unknown' among numbers" in told


def test_a_column_that_changes_within_a_single_person_is_refused() -> None:
    once = np.zeros(people().n_rows)
    once[0] = 1.0
    told = refused("temperature ~ once", replace(people(), conditions={**people().conditions, "once": once}))
    assert "changes within one person only" in told


def test_a_column_within_blocks_is_named() -> None:
    frame = people().table
    assert frame is None
    import pandas as pd

    told = refused("temperature ~ trial", replace(people(), table=pd.DataFrame({"trial": [1, 2]})))
    assert "changes within a block" in told


def test_something_must_differ_between_people() -> None:
    assert "all shared" in refused("temperature ~ group", shared=["temperature", "learning_rate"])
    assert "did you mean 'temperature'?" in refused("temperature ~ group", shared=["temprature"])
    assert "at least 2 participants" in refused("temperature ~ 1", people().rows([0]), n_starts=1)


@pytest.mark.parametrize("values", [np.array([1j, 2j]), np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")], ids=str)
def test_values_that_are_neither_numbers_nor_names_are_refused(values: np.ndarray) -> None:
    column = values[(people().participant > 3).astype(int)]
    assert "must be numbers or names" in refused(
        "temperature ~ when", replace(people(), conditions={**people().conditions, "when": column})
    )

"""An agent prepared for fitting, with effects of conditions on its parameters."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from explorelab.choices.table import Choices
from explorelab.errors import InputError, unknown_name
from explorelab.fitting.effects.effect_design import INTERCEPT, design_of
from explorelab.fitting.effects.formulas import (
    Columns,
    Effects,
    check_conditions,
    columns_of,
    conditions_table,
    held_values,
    parsed,
)
from explorelab.fitting.empirical_bayes import ONE_PERSON
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Maps
from explorelab.fitting.search.solve import limits


def with_effects(choices: Choices, fitted: Fitted, effects: Effects | None, shared: Sequence[str] | None) -> Fitted:
    """The same with the effects, checked against the choices; unchanged if there are none and nothing is shared."""
    names = [dimension.name for dimension in fitted.space]
    together = (shared,) if isinstance(shared, str) else tuple(shared or ())
    for name in together:
        if name not in names:
            raise unknown_name("free parameter in shared", name, names)
    if effects is None and not together:
        return fitted
    if names and len({*together}) == len(names):
        raise InputError(f"people must differ in some free parameter, but {', '.join(names)} are all shared.")
    if choices.n_participants < 2:
        raise InputError(ONE_PERSON)
    formulas = parsed(effects, names) if effects is not None else None
    table = conditions_table(choices)
    one = Columns((INTERCEPT,), ("1",), np.ones((choices.n_rows, 1)))
    columns, held, text = [one] * len(names), None, ""
    if formulas is not None:
        check_conditions(formulas, choices, table)
        held = held_values(formulas, fitted.space, table)
        columns = [columns_of(name, formulas.of[name], table) if name in formulas.of else one for name in names]
        text = formulas.text
    bounds = limits(fitted.space)
    design = design_of(text, names, columns, choices.participant, held, bounds, {*together})
    if not design.moving:
        return fitted._replace(design=design)
    with jax.enable_x64(True):
        data = fitted.data._replace(maps=Maps(design.slope, design.held, *bounds))
    return fitted._replace(data=data, design=design)

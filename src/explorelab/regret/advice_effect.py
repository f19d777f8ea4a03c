"""What advice did: how much of it was shown and followed, and what people lost with and without it.

People are the units: a person's blocks of one arm of the study (one kind of advice) are averaged first. Regret is observed
regret at the end of a block of the most common length; shorter blocks are left out, as in the phenotypes' mean curves.

By phenotype. Advice changes how regret grows, so the form of an advised curve says little about the person. Where people
also played without advice, their first such block gives their phenotype, and effects are computed from their other blocks
(`APART`). If nobody has another block without advice, that one is compared too (`SAME`): people whose regret was large in it
by chance are then more often called linear, which makes advice look better for them. Where everyone had the same advice in
all blocks, the form of each block itself is all there is (`OWN`): the people of one form then differ between arms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from explorelab._support.checks import Floats
from explorelab.choices.advice_given import ARM_OF_STUDY, NONE, AdviceGiven
from explorelab.choices.table import Choices
from explorelab.regret.clusters import Band, clustered_share, mean_band
from explorelab.regret.differences import difference, mean_of, per_person
from explorelab.regret.forms import FORMS

ADVISED = "advised"
"""The arm of blocks with advice where the data do not name it."""
APART, SAME, OWN = "apart", "same", "own"
"""Where the phenotype of a person comes from."""
HAPPENED = ("shown", "late", "silent", "not_asked", "followed")
"""What is counted; `followed` is a share of what was shown, the others are shares of all choices."""
EVERYONE = "everyone"


@dataclass(frozen=True, eq=False)
class AdviceEffect:
    """What is known about the effect of advice."""

    arms: tuple[str, ...]
    """Kinds of advice in the data; the first is what the others are compared with."""
    arm: np.ndarray
    """The arm of each row of the choices, as an index into `arms`."""
    within: bool
    """Whether somebody played in several arms."""
    length: int
    """Choices after which regret is compared."""
    n_short: int
    """Blocks left out because they are shorter."""
    given: pd.DataFrame | None
    """For each arm: people, blocks, choices, and the shares of `HAPPENED` with intervals; None if choices do not say."""
    curves: dict[str, Band]
    """Mean regret over time by arm, with bands."""
    effects: pd.DataFrame
    """For everyone and each phenotype, and each arm: mean regret, and the difference from the first arm, with intervals."""
    basis: str
    """Where phenotypes come from: `APART`, `SAME` or `OWN`."""
    shares: pd.DataFrame
    """For each arm the share of blocks of each form, with intervals."""
    by_following: pd.DataFrame
    """For each arm the mean loss of a choice, where advice that was shown was followed and where it was not."""

    @property
    def reference(self) -> str:
        """The arm that others are compared with."""
        return self.arms[0]


def has_advice(choices: Choices) -> bool:
    """Whether somebody was advised, or could have been."""
    arms, _ = _arms(choices)
    return bool(set(arms) - {NONE})


def advice_effect(choices: Choices, phenotypes: xr.Dataset) -> AdviceEffect:
    """The effect of advice, given the phenotype of every block as `label_phenotypes` finds it."""
    arms, arm = _arms(choices)
    curves = phenotypes["regret"].values
    length = int(np.isfinite(phenotypes["mean_regret"].values).sum())
    whole = phenotypes["n_trials"].values >= length
    label = phenotypes["label"].values.astype(str)
    people = choices.participant
    final = curves[:, length - 1]
    basis, first = _basis(people, arm, arms, whole)
    kinds = _kinds(label, people, basis, first)
    effects = [_effects(EVERYONE, arms, arm, people, final, whole, choices.n_participants)]
    used = whole & ~first if basis == APART else whole
    effects += [_effects(form, arms, arm, people, final, used & (kinds == form), choices.n_participants) for form in FORMS]
    bands = {name: mean_band(curves[whole & (arm == k), :length], people[whole & (arm == k)]) for k, name in enumerate(arms)}
    return AdviceEffect(
        arms=arms,
        arm=arm,
        within=bool(pd.Series(arm).groupby(people).nunique().max() > 1),
        length=length,
        n_short=int((~whole).sum()),
        given=None if choices.advice is None else _given(choices, choices.advice, arms, arm),
        curves=bands,
        effects=pd.concat(effects, ignore_index=True),
        basis=basis,
        shares=_shares(arms, arm, label, people),
        by_following=_by_following(choices, curves, arms, arm),
    )


def _arms(choices: Choices) -> tuple[tuple[str, ...], np.ndarray]:
    """The arms of the study, without advice first, and the arm of each row."""
    named = choices.conditions.get(ARM_OF_STUDY)
    if named is not None:
        of_row = np.asarray(named).astype(str)
        of_row = np.where(np.char.str_len(of_row) > 0, of_row, NONE)
    elif choices.advice is not None:
        of_row = np.where(choices.advice.shown.any(1), ADVISED, NONE)
    else:
        of_row = np.full(choices.n_rows, NONE)
    arms = tuple(sorted(set(of_row.tolist()), key=lambda name: (name != NONE, name)))
    return arms, np.array([arms.index(name) for name in of_row.tolist()])


def _basis(people: np.ndarray, arm: np.ndarray, arms: tuple[str, ...], whole: np.ndarray) -> tuple[str, np.ndarray]:
    """Where phenotypes come from, and a mask of everyone's first block without advice."""
    first = np.zeros(len(people), bool)
    if arms[0] != NONE:
        return OWN, first
    plain, advised = whole & (arm == 0), whole & (arm != 0)
    both = np.intersect1d(people[plain], people[advised])
    if not both.size:
        return OWN, first
    at = np.flatnonzero(plain)
    first[at[np.unique(people[at], return_index=True)[1]]] = True
    spare = np.intersect1d(people[plain & ~first], both)
    return (APART if spare.size else SAME), first


def _kinds(label: np.ndarray, people: np.ndarray, basis: str, first: np.ndarray) -> np.ndarray:
    """The phenotype of each row's person, or of the row itself; empty for a person who has none."""
    if basis == OWN:
        return label
    of_person = dict(zip(people[first].tolist(), label[first].tolist(), strict=True))
    return np.array([of_person.get(each, "") for each in people.tolist()])


def _effects(
    kind: str, arms: tuple[str, ...], arm: np.ndarray, people: np.ndarray, final: Floats, used: np.ndarray, n_people: int
) -> pd.DataFrame:
    """Mean regret of each arm and its difference from the first, among some of the blocks."""
    each = [per_person(final[at], people[at], n_people) for at in (used & (arm == k) for k in range(len(arms)))]
    rows = []
    for k, name in enumerate(arms):
        mean, apart = mean_of(each[k]), difference(each[k], each[0])
        row = {"phenotype": kind, "arm": name, "n_people": int(np.isfinite(each[k]).sum())}
        row |= {"n_blocks": int((used & (arm == k)).sum())}
        row |= {"n_both": int((np.isfinite(each[k]) & np.isfinite(each[0])).sum()) if k else 0}
        row |= {"regret": mean.value, "low": mean.low, "high": mean.high}
        told = apart._asdict() if k else dict.fromkeys(apart._fields, np.nan)
        rows.append(row | {f"difference{'' if end == 'value' else f'_{end}'}": value for end, value in told.items()})
    return pd.DataFrame(rows)


def _given(choices: Choices, given: AdviceGiven, arms: tuple[str, ...], arm: np.ndarray) -> pd.DataFrame:
    """How much advice there was, by arm."""
    present, shown = choices.present, given.shown
    masks = {"shown": shown, "late": given.late, "not_asked": given.not_asked, "followed": given.followed}
    masks["silent"] = ~(shown | masks["late"] | masks["not_asked"])
    who = np.broadcast_to(choices.participant[:, None], present.shape)
    rows = []
    for k, name in enumerate(arms):
        here = present & (arm == k)[:, None]
        row = {"arm": name, "n_people": np.unique(who[here]).size, "n_blocks": int((arm == k).sum())}
        row |= {"n_choices": int(here.sum()), "n_shown": int((here & shown).sum())}
        for what in HAPPENED if name != NONE else ():
            of = here & shown if what == "followed" else here
            low, high = clustered_share(masks[what][of], who[of]) if of.any() else (np.nan, np.nan)
            share = float(masks[what][of].mean()) if of.any() else np.nan
            row |= {what: share, f"{what}_low": low, f"{what}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def _shares(arms: tuple[str, ...], arm: np.ndarray, label: np.ndarray, people: np.ndarray) -> pd.DataFrame:
    """How common each form is among the blocks of each arm."""
    rows = []
    for k, name in enumerate(arms):
        at = (arm == k) & np.isin(label, FORMS)
        for form in FORMS:
            is_form = label[at] == form
            low, high = clustered_share(is_form, people[at]) if at.any() else (np.nan, np.nan)
            share = float(is_form.mean()) if at.any() else np.nan
            rows.append({"arm": name, "phenotype": form, "n_blocks": int(is_form.sum()), "share": share, "low": low,
                         "high": high})  # fmt: skip
    return pd.DataFrame(rows)


def _by_following(choices: Choices, curves: Floats, arms: tuple[str, ...], arm: np.ndarray) -> pd.DataFrame:
    """The mean loss of a choice with advice on the screen, followed and not; everyone counts once."""
    columns = ["arm", "followed", "n_people", "n_choices", "loss"]
    given = choices.advice
    if given is None:
        return pd.DataFrame(columns=columns)
    loss = np.diff(curves, axis=1, prepend=0.0)
    rows = []
    for k, name in enumerate(arms):
        for followed in (True, False):
            at = given.shown & (given.followed == followed) & choices.present & (arm == k)[:, None]
            row = np.nonzero(at)[0]
            mean = mean_of(per_person(loss[at], choices.participant[row], choices.n_participants)).value
            n_people = np.unique(choices.participant[row]).size
            rows.append((name, followed, n_people, int(at.sum()), mean))
    return pd.DataFrame([row for row in rows if given.shown[arm == arms.index(row[0])].any()], columns=columns)

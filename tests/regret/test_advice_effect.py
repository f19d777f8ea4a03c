"""The effect of advice: exact where it is known, the same as the textbook's intervals, and covering as often as it says."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from explorelab.choices.reading import choices_from_frame
from explorelab.regret.advice_effect import APART, EVERYONE, OWN, SAME, advice_effect, has_advice
from explorelab.regret.differences import difference, mean_of, per_person
from explorelab.regret.phenotypes import label_phenotypes

pytestmark = pytest.mark.quick

MEANS = [10.0, 6.0, 0.0]
"""The best arm loses nothing, the next one 4 a choice, the last one 10."""
TASK = {"arms": 3, "noise_var": 1.0, "means": MEANS}


def block(person, number, arm, lost, n=10, advised=None, more=None):
    """A block in which the arm is always the same, and so is the loss of each choice."""
    chosen = {0.0: 0, 4.0: 1, 10.0: 2}[lost]
    table = pd.DataFrame({"participant": person, "block": number, "trial": range(1, n + 1), "arm": chosen})
    table["reward"] = MEANS[chosen] + np.tile([0.5, -0.5], n)[:n]
    table["advice_arm"] = arm
    on = arm != "none"
    table["advised"] = pd.array([advised if on else None] * n, "Int64")
    table["advice_shown"] = int(on and advised is not None)
    return table.assign(**(more or {}))


def effect_of(*blocks):
    choices = choices_from_frame(pd.concat(blocks, ignore_index=True), TASK)
    return advice_effect(choices, label_phenotypes(choices, bootstrap=0))


def row_of(effect, arm, kind=EVERYONE):
    table = effect.effects
    return table[(table["arm"] == arm) & (table["phenotype"] == kind)].iloc[0]


def test_between_people_the_difference_is_that_of_people_and_not_of_blocks():
    """One person of each arm has three blocks: as one person they count once."""
    blocks = [block("a", k, "none", 10.0) for k in range(3)] + [block("b", 0, "none", 4.0)]
    blocks += [block("c", k, "personal", 4.0, advised=1) for k in range(3)] + [block("d", 0, "personal", 0.0, advised=1)]
    effect = effect_of(*blocks)
    assert effect.arms == ("none", "personal")
    assert not effect.within
    none, personal = row_of(effect, "none"), row_of(effect, "personal")
    assert (none["regret"], personal["regret"], personal["difference"]) == (70.0, 20.0, -50.0)
    assert (none["n_people"], none["n_blocks"]) == (2, 4)
    theirs = stats.ttest_ind([40.0, 0.0], [100.0, 40.0], equal_var=False).confidence_interval(0.95)
    np.testing.assert_allclose([personal["difference_low"], personal["difference_high"]], list(theirs))
    assert effect.basis == OWN


def test_within_people_the_interval_is_that_of_paired_differences():
    lost = {"a": (10.0, 4.0), "b": (4.0, 0.0), "c": (10.0, 0.0)}
    blocks = [block(who, k, arm, lost[who][k], advised=0) for who in lost for k, arm in enumerate(("none", "personal"))]
    effect = effect_of(*blocks)
    assert effect.within
    personal = row_of(effect, "personal")
    theirs = stats.ttest_rel([40.0, 0.0, 0.0], [100.0, 40.0, 100.0]).confidence_interval(0.95)
    np.testing.assert_allclose(personal["difference"], -200 / 3)
    np.testing.assert_allclose([personal["difference_low"], personal["difference_high"]], list(theirs))
    assert personal["n_both"] == 3
    assert effect.basis == SAME  # the only block without advice gives the phenotype and is compared


def test_a_phenotype_from_a_block_of_its_own_is_not_compared():
    """Everyone's first block is linear; what is compared is the second against the advised ones."""
    people = "abc"
    blocks = [block(who, 0, "none", 10.0) for who in people] + [block(who, 1, "none", 4.0) for who in people]
    blocks += [block(who, 2, "personal", 0.0, advised=0) for who in people]
    effect = effect_of(*blocks)
    assert effect.basis == APART
    assert row_of(effect, "none", "linear")["regret"] == 40.0
    assert row_of(effect, "personal", "linear")["difference"] == -40.0
    assert row_of(effect, "none")["regret"] == 70.0  # overall, all blocks count


def test_what_happened_is_counted_by_arm():
    reasons = ["best", "best", "late", "failed", "not asked", "worse", "little to gain", "best", "best", "best"]
    shown = np.isin(reasons, "best")
    columns = {
        "advice_reason": reasons,
        "advice_shown": shown.astype(int),
        "advised": pd.array(np.where(shown, 1, 0), "Int64"),
    }
    columns["followed"] = pd.array(np.where(shown, [1, 0, 0, 0, 0, 0, 0, 1, 1, 1], -1), "Int64")
    made = block("c", 0, "personal", 4.0, advised=1, more=columns)
    made.loc[~shown, ["followed", "advised"]] = pd.NA
    effect = effect_of(block("a", 0, "none", 10.0), made)
    given = effect.given.set_index("arm").loc["personal"]
    found = {name: given[name] for name in ("shown", "late", "silent", "not_asked", "followed")}
    assert found == {"shown": 0.5, "late": 0.2, "silent": 0.2, "not_asked": 0.1, "followed": 0.8}
    assert given["followed_low"] < 0.8 < given["followed_high"]
    assert np.isnan(effect.given.set_index("arm").loc["none", "shown"])
    losses = effect.by_following.set_index("followed")
    assert (losses.loc[True, "n_choices"], losses.loc[False, "n_choices"]) == (4, 1)
    one = row_of(effect, "personal")
    assert one["difference"] == -60.0
    assert np.isnan(one["difference_low"])  # one person in each arm


def test_without_a_column_followed_choosing_what_was_shown_is_following():
    effect = effect_of(block("a", 0, "personal", 4.0, advised=1), block("b", 0, "personal", 10.0, advised=1))
    assert effect.given["followed"].item() == 0.5
    assert effect.arms == ("personal",)
    assert effect.effects["difference"].isna().all()


def test_arms_that_the_data_do_not_name_are_told_apart_by_what_was_shown():
    frame = pd.concat([block("a", 0, "none", 10.0), block("b", 0, "x", 4.0, advised=2)]).drop(columns="advice_arm")
    choices = choices_from_frame(frame, TASK)
    assert advice_effect(choices, label_phenotypes(choices, bootstrap=0)).arms == ("none", "advised")


def test_blocks_that_ended_early_are_left_out_and_counted():
    effect = effect_of(
        block("a", 0, "none", 10.0), block("b", 0, "none", 4.0), block("c", 0, "personal", 4.0, n=5, advised=1)
    )
    assert (effect.length, effect.n_short) == (10, 1)
    assert np.isnan(row_of(effect, "personal")["regret"])


@pytest.mark.parametrize("changes", [{"advised": None}, {"advice_arm": "none"}])
def test_choices_without_advice_have_none(changes):
    frame = block("a", 0, "none", 10.0)
    frame = (
        frame.drop(columns=["advised", "advice_shown", "advice_arm"]) if "advised" in changes else frame.assign(**changes)
    )
    assert not has_advice(choices_from_frame(frame, TASK))


# The interval


@pytest.mark.parametrize("both", [0, 6, 20], ids=["between", "some in both", "within"])
def test_intervals_hold_the_true_difference_as_often_as_they_say(both):
    """Skewed regret, unequal numbers and spreads, one to three blocks a person: 1000 data sets."""
    rng, truth, held = np.random.default_rng(7), -8.0, 0
    n = 20 if both else 24
    for _ in range(1000):
        person = rng.gamma(4.0, 3.0, n)
        has = [np.arange(n) < (n + both) // 2, np.arange(n) >= (n - both) // 2]
        values = []
        for at, shift, noise in zip(has, (truth, 0.0), (4.0, 8.0), strict=True):
            who = np.repeat(np.flatnonzero(at), rng.integers(1, 4, at.sum()))
            values.append(per_person(person[who] + shift + noise * rng.standard_normal(who.size), who, n))
        found = difference(*values)
        held += found.low <= truth <= found.high
    assert 0.93 <= held / 1000 <= 0.97  # a standard error is 0.7 %


def test_a_difference_of_nobody_is_unknown_and_of_equals_is_sure():
    nobody, two = np.full(2, np.nan), np.array([1.0, np.nan])
    assert np.isnan(difference(nobody, two)).all()
    assert difference(two, two)[0] == 0.0
    assert np.isnan(difference(two, two)[1:]).all()
    assert difference(np.full(3, 2.0), np.full(3, 1.0)) == (1.0, 1.0, 1.0)
    assert mean_of(two)[0] == 1.0

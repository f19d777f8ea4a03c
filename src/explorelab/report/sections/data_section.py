"""The data: people, blocks, trials, exclusions, and what people did, before any model."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorelab._support.counted import plural
from explorelab.choices.conditions import MISSING, Condition, Covariate
from explorelab.choices.table import Choices
from explorelab.fitting.criteria import without_information
from explorelab.plots.people_figures import distinct_arms, draw_data
from explorelab.plots.words import (
    counted,
    joined,
    most_listed,
    percent,
    plain,
    who_played,
    whole,
)
from explorelab.recovery.behaviour import Each, of_each
from explorelab.regret.differences import per_person
from explorelab.regret.observed import yardsticks
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table

MOST_ROWS = 30
"""Exclusions listed on the page; the CSV file has all of them."""
MOST_VALUES = 8


def data_section(found: Analysis) -> Section:
    """People, blocks, trials, exclusions, conditions; rewards, repeats and arms tried."""
    choices = found.choices
    each = of_each(choices, best_mean=0.0 if choices.means is None else None)
    tables = [_counts(found), *_exclusions(choices), *_conditions(found)]
    files = {}
    if choices.exclusions:
        files["table_exclusions"] = pd.DataFrame([vars(each) for each in choices.exclusions])
    return Section(
        "data",
        "Data and exclusions",
        [part for part in (_lead(choices), excluded(choices), _silent(choices), _did(choices, each)) if part],
        _short(choices),
        [_picture(choices, each)],
        tables,
        _notes(found),
        files,
    )


def people(choices: Choices) -> str:
    """326 people, 1 person, 6 robots."""
    return who_played(choices)


def trials_a_block(choices: Choices) -> str:
    """90 trials, or 20 to 40 trials."""
    lengths = choices.present.sum(1)
    low, high = int(lengths.min()), int(lengths.max())
    return counted(low, "trial") if low == high else f"{whole(low)} to {whole(high)} trials"


def arms(choices: Choices) -> str:
    """100 arms on a grid of 10 × 10."""
    layout = choices.layout
    if layout.shape is not None:
        return f"{counted(layout.n_arms, 'arm')} on a grid of {layout.shape[0]} × {layout.shape[1]}"
    return counted(layout.n_arms, "arm") + (" with places" if layout.places is not None else "")


def _lead(choices: Choices) -> str:
    blocks = np.bincount(choices.participant, minlength=choices.n_participants)
    span = (
        "one"
        if blocks.max() == 1
        else f"{blocks.min()}"
        if blocks.min() == blocks.max()
        else f"{blocks.min()} to {blocks.max()}"
    )
    made, given = int(choices.scored.sum()), int((choices.present & ~choices.scored).sum())
    each = f", {span} each," if choices.n_participants > 1 else ""
    told = f"{counted(given, 'further trial')} {plural(given, 'was', 'were')} forced or missed and not scored."
    return (
        f"{people(choices)} played {counted(choices.n_rows, 'block')}{each} of {trials_a_block(choices)} and chose among "
        f"{arms(choices)}. That makes {counted(made, 'choice')} for a model to explain. "
        f"{told if given else 'No trial was forced or missed.'}"
    )


def excluded(choices: Choices) -> str:
    """Who was excluded and why, in a sentence."""
    if not choices.exclusions:
        return "Nobody was excluded."
    who = sorted({each.participant for each in choices.exclusions})
    trials = sum(each.n_trials for each in choices.exclusions)
    reasons = joined(sorted({each.reason for each in choices.exclusions}))
    return (
        f"{counted(len(who), 'participant')} of {whole(choices.n_participants + len(who))} in the file "
        f"{plural(len(who), 'was', 'were')} excluded, with {counted(trials, 'trial')} ({reasons}); "
        "nothing else was left out."
    )


def _silent(choices: Choices) -> str:
    """Who made no informative choice, in a sentence."""
    who = without_information(choices)
    if not who:
        return ""
    return (
        f"{counted(len(who), 'participant')} never chose among several arms, because every trial was missed, was "
        "forced, or had "
        f"only one arm on offer: {most_listed(who)}. They have no estimates and do not count in any comparison."
    )


def _of(trials: int) -> str:
    """The first trial, the first 30 trials."""
    return "trial" if trials == 1 else counted(trials, "trial")


def _did(choices: Choices, each: Each) -> str:
    reward = each.curves["reward"]
    third = max(1, choices.n_trials // 3)
    early, late = (
        np.nanmean(part) if np.isfinite(part).any() else np.nan for part in (reward[:, :third], reward[:, -third:])
    )
    tried = distinct_arms(choices)
    words = [
        f"The mean reward was {plain(early)} over the first {_of(third)} and {plain(late)} over the last {_of(third)}",
    ]
    known = yardsticks(choices)
    if known is not None:
        best = "the best arm of each moment" if choices.means_change else "the best arm"
        words[0] += f" (choosing at random would give {plain(known.random)}, {best} {plain(known.best)})"
    repeats = each.curves["repeat"]
    if np.isfinite(repeats).any():
        words.append(f"{percent(np.nanmean(repeats))} of choices repeated the last arm")
    words.append(f"the median block visited {whole(np.median(tried))} of {counted(choices.layout.n_arms, 'arm')}")
    return "; ".join(words) + "."


def _short(choices: Choices) -> str:
    made = int(choices.scored.sum())
    who = len({each.participant for each in choices.exclusions})
    out = f"{counted(who, 'participant')} excluded" if who else "nobody excluded"
    return f"{people(choices)}, {counted(choices.n_rows, 'block')}, {counted(made, 'choice')}; {out}."


def _picture(choices: Choices, each: Each) -> Picture:
    alt = f"Reward and repeated choices over time, and the number of arms tried. {_did(choices, each)}"
    caption = (
        "What people did, before any model: mean reward and share of repeated choices over trials"
        f"{', with 95 % bands over people' if choices.n_participants > 1 else ''}; and the number of different arms sampled "
        "per block."
    )
    return Picture("data", draw_data(choices, each), caption, alt)


def _counts(found: Analysis) -> Table:
    choices = found.choices
    rows = [
        ("participants", whole(choices.n_participants)),
        ("blocks", whole(choices.n_rows)),
        ("trials", whole(choices.present.sum())),
        ("free choices, scored", whole(choices.scored.sum())),
        ("trials learned from", whole(choices.observed.sum())),
        ("arms", whole(choices.layout.n_arms)),
        ("excluded participants", whole(len({each.participant for each in choices.exclusions}))),
    ]
    if choices.layout.noise_var is not None:
        rows.append(("variance of the reward noise", plain(choices.layout.noise_var)))
    return Table("The data analysed", ("", "number"), rows)


def _exclusions(choices: Choices) -> list[Table]:
    if not choices.exclusions:
        return []
    rows = [(each.participant, each.block or "all", whole(each.n_trials), each.reason) for each in choices.exclusions]
    caption = "Excluded"
    if len(rows) > MOST_ROWS:
        caption += f" (the first {MOST_ROWS} of {len(rows)}; all are in table_exclusions.csv)"
    return [Table(caption, ("participant", "blocks", "trials", "reason"), rows[:MOST_ROWS], (0, 1, 3))]


def _conditions(found: Analysis) -> list[Table]:
    """Conditions with the people and blocks at each level, then the other further columns."""
    choices, rows = found.choices, []
    of = {each.name: each for each in found.columns.conditions}
    of |= {name: each for each in of.values() for name in each.also}
    covariates = {each.name: each for each in found.columns.covariates}
    for name, values in choices.conditions.items():
        if name in of:
            one = of[name]
            kind = one.design if name == one.name else f"the same blocks as {one.name}"
            rows.append((name, kind, _level_counts(choices, one)))
        elif name in covariates:
            rows.append((name, "covariate", _range(covariates[name], choices)))
        else:
            kinds = np.unique(np.asarray(values).astype(str))
            same = len(kinds) == 1 or name in found.columns.constant
            words = _constant(values) if same else f"{whole(len(kinds))} values, such as {kinds[0]}"
            rows.append((name, "constant" if same else "labels", words))
    caption = "Conditions (with people and blocks at each level) and other columns"
    return [Table(caption, ("column", "is", "values"), rows, (0, 1, 2))] if rows else []


def _constant(values: np.ndarray) -> str:
    """The one value of a column, and in how many blocks it is missing."""
    missing = pd.isna(pd.Series(values)).to_numpy() | (np.asarray(values).astype(str) == "")
    if missing.all():
        return "missing everywhere"
    value = np.asarray(values)[~missing][0]
    return (
        f"{value} but for {counted(int(missing.sum()), 'block')} where it is missing"
        if missing.any()
        else f"{value} everywhere"
    )


def _level_counts(choices: Choices, condition: Condition) -> str:
    """Slow (40 people, 40 blocks), fast (40 people, 40 blocks)."""
    said, short = [], len(condition.levels) > MOST_VALUES
    for k, level in enumerate(condition.levels[:MOST_VALUES]):
        at = condition.rows(k)
        n = len(set(choices.participant[at].tolist()))
        said.append(f"{level} ({counted(n, 'person', 'people')}, {counted(int(at.sum()), 'block')})")
    missing = int((condition.level == MISSING).sum())
    more = [f"{whole(len(condition.levels) - MOST_VALUES)} more"] if short else []
    return ", ".join([*said, *more, *([f"missing ({counted(missing, 'block')})"] if missing else [])])


def _range(covariate: Covariate, choices: Choices) -> str:
    """19 to 64, median 31."""
    has = np.isfinite(covariate.values)
    values = covariate.values[has]
    people = per_person(values, choices.participant[has], choices.n_participants)
    known = people[np.isfinite(people)]
    lacking = f"; missing for {counted(len(people) - known.size, 'person', 'people')}" if known.size < len(people) else ""
    return f"{plain(values.min())} to {plain(values.max())}, median over people {plain(np.median(known))}{lacking}"


def _notes(found: Analysis) -> list[str]:
    notes: list[str] = []
    if found.check is not None:
        inside = found.choices.note
        notes += [f"Worth checking in the file: {warning}" for warning in found.check.warnings]
        notes += [note for note in found.check.notes if note not in inside]
    return notes

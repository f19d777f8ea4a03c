"""The effect of advice: how much of it was shown and followed, and regret with and without it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explorelab.choices.advice_given import NONE
from explorelab.plots.advice_figures import draw_advice
from explorelab.plots.words import counted, fixed, interval, joined, percent, percents, plain, whole
from explorelab.regret.advice_effect import APART, EVERYONE, HAPPENED, OWN, SAME, AdviceEffect
from explorelab.regret.forms import FORMS
from explorelab.report.analysis import Analysis
from explorelab.report.section import Picture, Section, Table, left_out
from explorelab.report.sections.regret_section import LONG

KEY, TITLE = "advice", "Effect of advice"
WORDS = {"not_asked": "not asked for"}


def advice_section(found: Analysis) -> Section | None:
    """What was shown and followed, and the difference that it made; None for choices without advice."""
    if "advice" in found.missing:
        return left_out(KEY, TITLE, found.missing["advice"])
    effect = found.advice
    if effect is None:
        return None
    return Section(
        KEY,
        TITLE,
        [each for each in (_shown(effect), _difference(effect), _by_phenotype(effect)) if each],
        _short(effect),
        [Picture("advice", draw_advice(effect), _caption(effect), _alt(effect))],
        [*_given(effect), _effects(effect), *_shares(effect), *_following(effect)],
        _notes(effect),
        {"table_advice_effects": effect.effects} | ({} if effect.given is None else {"table_advice_given": effect.given}),
    )


def _rows(effect: AdviceEffect, kind: str = EVERYONE) -> pd.DataFrame:
    return effect.effects[effect.effects["phenotype"] == kind]


def _against(effect: AdviceEffect) -> pd.DataFrame:
    """The overall rows of the arms that are compared with the first."""
    rows = _rows(effect)
    return rows[rows["arm"] != effect.reference]


def _shown(effect: AdviceEffect) -> str:
    """How often advice was shown and followed, in a sentence for each arm."""
    if effect.given is None:
        return "The data do not say what was suggested at each choice, only which kind of advice each block had."
    told = []
    for _, row in effect.given.iterrows():
        if row["arm"] == NONE:
            continue
        who = f"With {row['arm']} advice ({counted(row['n_people'], 'person', 'people')})"
        if not row["n_shown"]:
            told.append(f"{who}, nothing was shown.")
            continue
        told.append(
            f"{who}, a suggestion was on the screen for {percent(row['shown'])} of {counted(row['n_choices'], 'choice')} "
            f"and was followed {percent(row['followed'])} of the time"
            f"{_ends(percents(row['followed_low'], row['followed_high']))}."
        )
    return " ".join(told)


def _ends(between: str) -> str:
    return f" (95 % interval {between})" if between else ""


def _difference(effect: AdviceEffect) -> str:
    """Regret of each arm, and its difference from the first."""
    rows = _rows(effect).set_index("arm")
    first = rows.loc[effect.reference]
    base = f"{plain(first['regret'])}{_ends(interval(first['low'], first['high']))}"
    if len(effect.arms) < 2:
        return (
            f"Everyone was in the arm {effect.reference}, with a mean regret of {base} after "
            f"{counted(effect.length, 'choice')}: without another arm, nothing can be said about what advice does."
        )
    if not np.isfinite(first["regret"]):
        return f"No block of the arm {effect.reference} has {counted(effect.length, 'choice')}, so that nothing is compared."
    told = [f"After {counted(effect.length, 'choice')} the mean regret in the arm {effect.reference} was {base}."]
    for _, row in _against(effect).iterrows():
        if not np.isfinite(row["regret"]):
            told.append(f"No block of the arm {row['arm']} lasted that long.")
            continue
        gap = row["difference"]
        way = "the same" if gap == 0 else f"{plain(abs(gap))} {'less' if gap < 0 else 'more'}"
        share = f", {percent(abs(gap) / first['regret'])} of it" if first["regret"] > 0 and gap else ""
        told.append(f"With {row['arm']} advice it was {plain(row['regret'])}, {way}{share}: {_verdict(row)}.")
    return " ".join(told)


def _verdict(row: pd.Series) -> str:
    low, high = row["difference_low"], row["difference_high"]
    if not np.isfinite(low):
        return "too few people for an interval"
    said = f"difference {plain(row['difference'])}, 95 % interval {interval(low, high)}"
    return said if low > 0 or high < 0 else f"{said}, which includes no difference"


def _by_phenotype(effect: AdviceEffect) -> str:
    """Where phenotypes come from, and what that means for a reader."""
    if len(effect.arms) < 2:
        return ""
    caution = "Advice itself changes how regret grows, so a phenotype seen under advice is partly its effect."
    told = {
        APART: "Below, a person's phenotype is therefore that of their first block without advice, and this block is left "
        "out of the comparison.",
        SAME: "Below, a person's phenotype is therefore that of their block without advice. The same block is compared with "
        "those with advice: someone who lost much in it by chance is likelier to be called linear, so that advice looks "
        "better for linear people and worse for others than it is.",
        OWN: "Nobody was advised in only some of their blocks, so there is no phenotype from before the advice: rows by "
        "phenotype compare blocks whose regret took the same form with and without advice, which are not the same kind of "
        "people. They describe; they do not show for whom advice works.",
    }
    return f"{caution} {told[effect.basis]}"


def _short(effect: AdviceEffect) -> str:
    rows = _against(effect)
    known = rows[np.isfinite(rows["difference"])]
    if not len(known):
        return "Advice was given, but there is nothing to compare it with."
    parts = [
        f"{row['arm']} {plain(row['difference'])}{_ends(interval(row['difference_low'], row['difference_high']))}"
        for _, row in known.iterrows()
    ]
    return f"Regret at the end of a block, against {effect.reference}: {joined(parts)}."


def _caption(effect: AdviceEffect) -> str:
    told = "(a) Mean observed regret in each arm of the study, with 95 % bands over people"
    if len(effect.arms) < 2:
        return f"{told[4:]}."
    return (
        f"{told}; (b) difference in mean regret after {counted(effect.length, 'choice')} from the arm {effect.reference} "
        "with 95 % intervals: left of zero, advice helped. Open marks: too few people for an interval."
    )


def _alt(effect: AdviceEffect) -> str:
    return f"Regret over time by arm and differences between arms. {_difference(effect)}"


def _share(row: pd.Series, name: str) -> str:
    ends = percents(row[f"{name}_low"], row[f"{name}_high"])
    return f"{percent(row[name])} ({ends})" if ends else percent(row[name])


def _given(effect: AdviceEffect) -> list[Table]:
    if effect.given is None:
        return []
    arms = [row for _, row in effect.given.iterrows()]
    counts = {"people": "n_people", "blocks": "n_blocks", "choices": "n_choices"}
    rows = [(words, *(whole(row[name]) for row in arms)) for words, name in counts.items()]
    for what in HAPPENED:
        cells = ("–" if row["arm"] == NONE else _share(row, what) for row in arms)
        rows.append((WORDS.get(what, what), *cells))
    return [Table("Advice by arm of the study, with 95 % intervals", ("", *(row["arm"] for row in arms)), rows)]


def _effects(effect: AdviceEffect) -> Table:
    several = len(effect.arms) > 1
    rows = []
    for _, row in effect.effects[effect.effects["n_people"] > 0].iterrows():
        people = (whole(row["n_people"]), whole(row["n_blocks"]))
        cells = [LONG.get(row["phenotype"], row["phenotype"]), row["arm"], *people, plain(row["regret"])]
        cells.append(interval(row["low"], row["high"]) or "–")
        if several:
            first = row["arm"] == effect.reference
            ends = interval(row["difference_low"], row["difference_high"]) or "–"
            cells += ["", ""] if first else [plain(row["difference"]), ends]
        rows.append(cells)
    heads = ["phenotype", "arm", "people", "blocks", "regret", "95 % interval"]
    heads += [f"against {effect.reference}", "95 % interval"] if several else []
    return Table(f"Regret after {counted(effect.length, 'choice')}, by arm and phenotype", heads, rows, (0, 1))


def _shares(effect: AdviceEffect) -> list[Table]:
    """How common each form is in each arm: an outcome like any other, so that arms can be compared."""
    if len(effect.arms) < 2 or not effect.shares["n_blocks"].sum():
        return []
    rows = []
    for name in effect.arms:
        one = effect.shares[effect.shares["arm"] == name].set_index("phenotype")
        cells = [
            f"{percent(row['share'])} ({percents(row['low'], row['high'])})" if np.isfinite(row["share"]) else "–"
            for row in (one.loc[form] for form in FORMS)
        ]
        rows.append((name, *cells, whole(one["n_blocks"].sum())))
    heads = ("arm", *(LONG[form] for form in FORMS), "blocks with a form")
    return [Table("Phenotypes of blocks by arm: shares with 95 % intervals", heads, rows)]


def _following(effect: AdviceEffect) -> list[Table]:
    table = effect.by_following
    if not len(table):
        return []
    rows = [
        (row["arm"], "followed" if row["followed"] else "not followed", whole(row["n_people"]), whole(row["n_choices"]),
         fixed(row["loss"]))
        for _, row in table.iterrows()
    ]  # fmt: skip
    heads = ("arm", "suggestion on the screen", "people", "choices", "mean loss of a choice")
    return [Table("Choices with a suggestion on the screen, followed and not (descriptive)", heads, rows, (0, 1))]


def _notes(effect: AdviceEffect) -> list[str]:
    how = (
        "Some people played in several arms, so their own differences count (paired where everyone did)"
        if effect.within
        else "Everyone played in one arm, so people of different arms are compared (Welch's interval)"
    )
    notes = []
    if len(effect.arms) > 1:
        notes.append(
            f"People are the units: a person's blocks of one arm are averaged first. {how}. Nothing else, such as landscape "
            "or order, is adjusted for: the study's design has to balance it. Intervals are not corrected for the number of "
            "comparisons."
        )
    if len(effect.by_following):
        notes.append(
            "Whether a suggestion is followed depends on how good it looks and on who gets it. The mean loss of choices "
            "that followed and of those that did not is no effect of following."
        )
    if effect.given is not None:
        notes.append(
            "Shown: on the screen before the first click. Late: not ready in time, or it could not be computed. Silent: the "
            "adviser had nothing to suggest. Not asked for: before the first choice with advice, or the page never asked. "
            "Followed is a share of what was shown, the others of all choices."
        )
    if effect.n_short:
        notes.append(
            f"{counted(effect.n_short, 'block')} shorter than {counted(effect.length, 'choice')} left out of the "
            "comparison; if advice makes people stay or leave, this biases it."
        )
    return notes

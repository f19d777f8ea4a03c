"""Regret of task blocks as people play, and which of the paper's three forms the finished ones follow."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.special import stdtrit

from explorelab._support.checks import Floats
from explorelab.regret import paper_people
from explorelab.regret.clusters import clustered_share
from explorelab.regret.forms import FORMS, NONE
from explorelab.regret.forms_fast import best_forms
from explorelab.regret.phenotypes import FEWEST_TRIALS
from explorelab.study.admin.answers import Curve, Phenotypes, Share
from explorelab.study.admin.image import BlockRow, Image
from explorelab.study.config.design import Study
from explorelab.study.database.tables import Block

FEWEST_FOR_BAND = 3
"""With two curves the interval would be 13 standard errors on either side, which is meaningless."""


def losses(study: Study, landscape: str, rewards: Floats) -> Floats:
    """What each choice lost: the landscape's largest mean minus the reward."""
    return float(study.landscapes[landscape].means.max()) - rewards


def curves(study: Study, image: Image, persons: set[int]) -> list[Curve]:
    """Mean observed regret by dynamic and timing."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, block in _task_blocks(study, image, persons):
        rows.setdefault((block.dynamic, block.timing), []).append(row)
    best = {name: float(task.means.max()) for name, task in study.landscapes.items()}
    planned = list(product(study.task_dynamics, study.task_timings))
    found = []
    for dynamic, timing in [*planned, *sorted(rows.keys() - set(planned))]:  # a study may have been changed halfway
        at = rows.get((dynamic, timing), [])
        tops = np.array([best[image.blocks[row].landscape] for row in at])
        finished = sum(_is_finished(image, row) for row in at)
        lost = tops[:, None] - image.reward[at] if at else np.zeros((0, 0))
        found.append(_curve(dynamic, timing, lost, finished))
    return found


def _curve(dynamic: str, timing: str, lost: Floats, n_finished: int) -> Curve:
    """The mean of cumulative losses whose blocks have reached different choices.

    It adds up mean losses rather than averaging sums, so the curve does not jump where people currently are.
    """
    there = np.isfinite(lost)
    n = there.sum(0)
    reached = int((n > 0).sum())
    lost, there, n = lost[:, :reached], there[:, :reached], n[:reached]
    each = np.where(there, lost, 0.0)
    mean = np.cumsum(each.sum(0) / n)
    regret = np.cumsum(each, axis=1)
    middle = np.where(there, regret, 0.0).sum(0) / n
    squares = np.where(there, (regret - middle) ** 2, 0.0).sum(0)
    degrees = np.maximum(n - 1, 1)
    reach = np.where(n >= FEWEST_FOR_BAND, stdtrit(degrees, 0.975) * np.sqrt(squares / degrees / n), np.nan)
    return Curve(
        dynamic=dynamic, timing=timing, n_blocks=len(lost), n_finished=n_finished, n=n.tolist(), mean=_rounded(mean),
        low=_rounded(mean - reach), high=_rounded(mean + reach),
    )  # fmt: skip


def _rounded(values: Floats) -> list[Any]:
    return [None if value != value else value for value in values.round(1).tolist()]


class Forms:
    """The form of every finished task block, found once."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._known: dict[int, int] = {}

    def phenotypes(self, image: Image, persons: set[int]) -> list[Phenotypes]:
        """Shares of the forms over all finished task blocks, and over those of each dynamic."""
        done = [
            (row, block)
            for row, block in _task_blocks(self._study, image, persons)
            if block.n_trials >= FEWEST_TRIALS and _is_finished(image, row)
        ]
        self._learn(image, done)
        done = [(row, block) for row, block in done if self._known[block.id] >= 0]  # others have no form
        form = np.array([self._known[block.id] for _, block in done], np.int64)
        who = np.array([block.person for _, block in done], np.int64)
        dynamic = np.array([block.dynamic for _, block in done], np.str_)
        every = [("all", np.ones(len(done), bool))] if len(self._study.task_dynamics) > 1 else []
        every += [(name, dynamic == name) for name in self._study.task_dynamics]
        return [
            Phenotypes(dynamic=name, n=int(among.sum()), shares=_shares(form[among], who[among])) for name, among in every
        ]

    def _learn(self, image: Image, done: list[tuple[int, BlockRow]]) -> None:
        """Fit the forms to new blocks, one block length at a time."""
        new = [(row, block) for row, block in done if block.id not in self._known]
        for length in {block.n_trials for _, block in new}:
            alike = [(row, block) for row, block in new if block.n_trials == length]
            regret = [regret_of(self._study, block.landscape, image.reward[row, :length]) for row, block in alike]
            labels = best_forms(np.stack(regret), "raw").tolist()
            self._known |= {block.id: label for (_, block), label in zip(alike, labels, strict=True)}

    def forget(self) -> None:
        """Start over: something was deleted, and block numbers may be reused."""
        self._known.clear()


def regret_of(study: Study, landscape: str, rewards: Floats) -> Floats:
    """Observed regret after each of these rewards."""
    return np.cumsum(losses(study, landscape, rewards))


def form_of(study: Study, block: Block, rewards: Floats) -> str | None:
    """The form of one task block, once it is finished."""
    if block.kind != "task" or len(rewards) < max(block.n_trials, FEWEST_TRIALS):
        return None
    best = int(best_forms(regret_of(study, block.landscape, rewards)[None], "raw")[0])
    return FORMS[best] if best >= 0 else NONE


def _shares(form: np.ndarray, who: np.ndarray) -> list[Share]:
    shares = []
    for number, name in enumerate(FORMS):
        is_one = form == number
        low, high = clustered_share(is_one, who) if is_one.size else (None, None)
        share = float(is_one.mean()) if is_one.size else None
        shares.append(
            Share(form=name, n=int(is_one.sum()), share=share, low=low, high=high, paper=paper_people.SHARES[name])
        )
    return shares


def _is_finished(image: Image, row: int) -> bool:
    return image.sums.choices[row] >= image.blocks[row].n_trials


def _task_blocks(study: Study, image: Image, persons: set[int]) -> list[tuple[int, BlockRow]]:
    """Task blocks of these people whose landscape the study still has."""
    return [
        (row, block)
        for row, block in enumerate(image.blocks)
        if block.kind == "task" and block.person in persons and block.landscape in study.landscapes
    ]

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
from explorelab.study.config.blocks.scenes import Scene
from explorelab.study.config.design import BlockPlan, Study
from explorelab.study.database.tables import Block

FEWEST_FOR_BAND = 3
"""With two curves the interval would be 13 standard errors on either side, which is meaningless."""


ALL = "all"
"""The line of a block that no factor changes."""


class Bests:
    """The largest mean at each choice of a block; those of paths that are drawn for each block are remembered."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._steady: dict[tuple[Scene, int], Floats] = {}
        self._drawn: dict[int, Floats] = {}

    def of(self, image: Image, block: BlockRow) -> Floats:
        """For each choice of a block whose scene the study has."""
        scene = self._study.scene(block)
        assert scene is not None
        if scene.task.change is None or not scene.task.change.own_paths:
            key = scene, block.n_trials
            if key not in self._steady:
                self._steady[key] = scene.best(0, 0, block.n_trials)
            return self._steady[key]
        if block.id not in self._drawn:
            self._drawn[block.id] = scene.best(image.seed_of[block.person], block.number, block.n_trials).astype(np.float32)
        return self._drawn[block.id]

    def forget(self) -> None:
        """Start over: something was deleted, and block numbers may be reused."""
        self._drawn.clear()


def panel_of(study: Study, block: BlockRow | Block | BlockPlan) -> tuple[str, str]:
    """The panel in which a block's regret is drawn, and the line there: its dynamic and timing, or its name and levels."""
    if study.design is None or not block.name:
        return block.dynamic, block.timing
    return block.name, block.scene.removeprefix(block.name).removeprefix("-") or ALL


def panels(study: Study) -> list[tuple[str, str]]:
    """Every panel and line that the design has."""
    if study.design is None:
        return list(product(study.task_dynamics, study.task_timings))
    return [panel_of(study, plan) for plan in study.design.every_plan if plan.kind == "task"]


def curves(study: Study, image: Image, persons: set[int], bests: Bests) -> list[Curve]:
    """Mean observed regret by dynamic and timing or, of blocks of one's own, by their names and the levels of factors."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, block in _task_blocks(study, image, persons):
        rows.setdefault(panel_of(study, block), []).append(row)
    planned = panels(study)
    found = []
    for panel, line in [*planned, *sorted(rows.keys() - set(planned))]:  # a study may have been changed halfway
        at = rows.get((panel, line), [])
        finished = sum(_is_finished(image, row) for row in at)
        found.append(_curve(panel, line, _lost(image, at, bests), finished))
    return found


def _lost(image: Image, at: list[int], bests: Bests) -> Floats:
    """What each choice lost: the largest mean minus the reward."""
    if not at:
        return np.zeros((0, 0))
    tops = np.full((len(at), image.reward.shape[1]), np.nan)
    for i, row in enumerate(at):
        best = bests.of(image, image.blocks[row])
        tops[i, : len(best)] = best
    return tops - image.reward[at]


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

    def __init__(self, study: Study, bests: Bests) -> None:
        self._study, self._bests = study, bests
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
        panel = np.array([panel_of(self._study, block)[0] for _, block in done], np.str_)
        names = dict.fromkeys(name for name, _ in panels(self._study))
        every = [("all", np.ones(len(done), bool))] if len(names) > 1 else []
        every += [(name, panel == name) for name in names]
        return [
            Phenotypes(dynamic=name, n=int(among.sum()), shares=_shares(form[among], who[among])) for name, among in every
        ]

    def _learn(self, image: Image, done: list[tuple[int, BlockRow]]) -> None:
        """Fit the forms to new blocks, one block length at a time."""
        new = [(row, block) for row, block in done if block.id not in self._known]
        for length in {block.n_trials for _, block in new}:
            alike = [(row, block) for row, block in new if block.n_trials == length]
            regret = [np.cumsum(self._bests.of(image, block) - image.reward[row, :length]) for row, block in alike]
            labels = best_forms(np.stack(regret), "raw").tolist()
            self._known |= {block.id: label for (_, block), label in zip(alike, labels, strict=True)}

    def forget(self) -> None:
        """Start over: something was deleted, and block numbers may be reused."""
        self._known.clear()


def regret_of(scene: Scene, block: Block, seed: int, rewards: Floats) -> Floats:
    """Observed regret after each of these rewards of a person with this seed."""
    return np.cumsum(scene.best(seed, block.number, block.n_trials)[: len(rewards)] - rewards)


def form_of(block: Block, regret: Floats) -> str | None:
    """The form of one task block with this observed regret, once it is finished."""
    if block.kind != "task" or len(regret) < max(block.n_trials, FEWEST_TRIALS):
        return None
    best = int(best_forms(regret[None], "raw")[0])
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
    """Task blocks of these people whose landscape or scene the study still has."""
    return [
        (row, block)
        for row, block in enumerate(image.blocks)
        if block.kind == "task" and block.person in persons and study.scene(block) is not None
    ]

"""A person's block: what was lost so far, and how the rest of it may go.

The block so far is known. How it may go on is played from points of the posterior, each of which goes on as the person would
with those parameters; and once more by the adviser alone, with the task's prior and what the person has seen.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax
import numpy as np

from explorelab._support.rounding import without_rounding
from explorelab.agents import playing
from explorelab.agents.factors import Params, Rule, Ways, prepared
from explorelab.agents.playing import Playing, Seen, room_for
from explorelab.choices.table import NOWHERE
from explorelab.companions.assessment.what_suits import expert_for
from explorelab.companions.past import Past, Trial, arrays_of
from explorelab.companions.sampling import points as compiled
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block
from explorelab.regret.forms import FORMS, NONE
from explorelab.regret.forms_fast import best_forms
from explorelab.simulation.futures import Future, futures, world_of
from explorelab.tasks import Task

if TYPE_CHECKING:
    from explorelab.companions.live import Companion

LABELS = (*FORMS, NONE)
PADDED = 32
"""Arrays of trials are as long as a multiple of this, so that few programs serve blocks of all lengths."""


def task_of(mind: Companion) -> Task:
    """The task that is played; an error if its means are unknown."""
    if mind.task is None or not np.isfinite(mind.task.means).all():
        raise InputError("regret needs the true mean rewards: pass companion() a task that has them.")
    mind.task.check_plain("an assessment")
    return mind.task


def losses_so_far(task: Task, block: tuple[Trial, ...]) -> np.ndarray:
    """Loss against the best arm on each trial so far, by rewards and by means (2 x trial), as in `regret.observed`."""
    arm = np.array([trial.arm for trial in block], int)
    reward = np.array([trial.reward for trial in block])
    observed = np.array([trial.observed for trial in block], bool)
    mean = np.where(arm == NOWHERE, 0.0, task.means[np.maximum(arm, 0)])
    earned = np.stack([np.where(observed, reward, mean), mean])
    return without_rounding(task.best - earned, task.best, earned)


def shares(curves: np.ndarray) -> dict[str, float]:
    """The share of each form of regret among these curves, and of none."""
    found = best_forms(curves, "raw")
    return {label: float((found == (k if label != NONE else -1)).mean()) for k, label in enumerate(LABELS)}


def curves(mind: Companion, futures: Future | None) -> np.ndarray:
    """Observed regret from the first trial to the end of the block, future x trial."""
    task = task_of(mind)
    so_far = losses_so_far(task, mind.past.blocks[-1])[0]
    if futures is None:
        return np.cumsum(so_far)[None]
    lost = task.best - futures.reward
    lost[:, : len(so_far)] = so_far
    return np.cumsum(lost, axis=1)


def to_come(mind: Companion, futures: Future | None) -> float:
    """Expected regret in what is left of the block."""
    if futures is None:
        return 0.0
    return float(task_of(mind).gaps[futures.arm[:, mind.past.t - 1 :]].sum(1).mean())


def going_on(mind: Companion, n_futures: int) -> Future | None:
    """The rest of the block as the person may play it; None if it is over."""
    if mind.past.t > mind.horizon:
        return None
    model, points = mind.scene.model, mind.posterior.points
    learner, n_arms = model.rule.learner, model.n_arms
    kept = resampled(mind.posterior.weight, n_futures)
    with jax.enable_x64(True):
        points = points.taken(kept)
        room = room_for(learner, n_arms, mind.horizon)
        if room != room_for(learner, n_arms, max(mind.past.t - 1, 1)):
            points = compiled.with_room(model, points, room)
        return _played(mind, model.rule, points.ready, points.playing, n_futures, shared=False)


def advised(mind: Companion, tasks: tuple[Task, ...], n_futures: int) -> Future | None:
    """The rest of the block as the adviser would play it, who knows such landscapes (the policy "impersonal", followed)."""
    if mind.past.t > mind.horizon:
        return None
    expert, n_arms = expert_for(tasks), mind.n_arms
    past = Past(mind.past.blocks[-1:], mind.past.starts[-1:])
    blocks = arrays_of(past, expert.rule.learner, n_arms).blocks
    room = room_for(expert.rule.learner, n_arms, max(mind.horizon, blocks.arm.shape[1]))
    known = {"noise_var": task_of(mind).noise.var, "horizon": mind.horizon, "n_arms": n_arms, **expert.params}
    with jax.enable_x64(True):
        params = {name: np.asarray(value, np.float64) for name, value in known.items()}
        block = jax.tree.map(lambda x: x[0], blocks)
        ready, now = _after(expert.rule, n_arms, room, params, mind.scene.numbers.ways, block)
        return _played(mind, expert.rule, ready, now, n_futures, shared=True)


def _played(mind: Companion, rule: Rule, ready: Params, now: Playing, n_futures: int, shared: bool) -> Future:
    """The rest of the block from these states; if they are `shared`, all futures begin in the same one."""
    task = task_of(mind)
    luck = keys_of(mind, len(mind.past.blocks), mind.past.t), np.arange(n_futures, dtype=np.uint32)
    return cut(mind, futures(*how(mind, rule), shared, ready, now, world_of(task), *luck, *when(mind, mind.past)))


def how(mind: Companion, rule: Rule) -> tuple[Rule, str, int]:
    """What is compiled for."""
    return rule, task_of(mind).noise.kind, -(-mind.horizon // PADDED) * PADDED


def when(mind: Companion, past: Past) -> tuple[np.int32, np.int32, np.int32]:
    """Time and place of the next trial, and the end of the block."""
    return np.int32(past.t), np.int32(past.position), np.int32(mind.horizon)


def cut(mind: Companion, done: Future) -> Future:
    """The trials of the block, without those that fill the arrays up."""
    return jax.tree.map(lambda x: np.array(x)[:, : mind.horizon], done)


def keys_of(mind: Companion, *numbers: int) -> np.ndarray:
    """The luck of futures that have these numbers."""
    return np.random.SeedSequence([mind.settings.seed, 4, *numbers]).generate_state(4).reshape(2, 2)


def resampled(weight: np.ndarray, n: int) -> np.ndarray:
    """Points in proportion to their weights, each as often as its weight says, to within one."""
    return np.searchsorted(np.cumsum(weight), (np.arange(n) + 0.5) / n).clip(max=len(weight) - 1)


@partial(jax.jit, static_argnames=("rule", "n_arms", "room"))
def _after(rule: Rule, n_arms: int, room: int, params: Params, ways: Ways, block: Block) -> tuple[Params, Playing]:
    """Somebody with these parameters after a block's trials; those that fill the arrays up teach nothing."""
    ready = prepared(rule, params, ways)
    seen = Seen(block.arm, block.arm, block.reward, block.observed)
    return ready, playing.after(rule, ready, n_arms, block.available, seen, room)

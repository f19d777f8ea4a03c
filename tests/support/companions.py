"""People for companions to think along with: short blocks with everything that a trial can be."""

from dataclasses import replace

import numpy as np

import explorelab as xl
from explorelab.choices.table import Choices
from explorelab.companions.live import Companion, begun, observed, started
from explorelab.companions.past import past_blocks
from explorelab.companions.posterior import Settings
from explorelab.companions.scene import Group, Scene, scene_of

SIX = ("stochastic-ucl", "situated-ucl", "kalman-ucb", "delta-rule", "win-stay-lose-shift", "local-search")
"""Agents of every kind: correlated and independent learners, with and without habits, with and without a softmax."""


def some_choices(
    agent: str = "stochastic-ucl", n_people: int = 1, n_blocks: int = 2, horizon: int = 12, seed: int = 0
) -> Choices:
    """Simulated people on a grid of 3 x 3: the first trial of a block is forced, some trials are missed, some restricted."""
    rng = np.random.default_rng(seed)
    means = 10 * rng.standard_normal((3, 3))
    blank = xl.blank_choices(xl.tasks.grid(means, noise_var=4.0), n_people, n_blocks, horizon)
    scored, is_observed = blank.scored.copy(), blank.observed.copy()
    arm, reward = blank.arm.copy(), blank.reward.copy()
    arm[:, 0], reward[:, 0], scored[:, 0] = rng.integers(9, size=len(arm)), 1.5, False
    missed = rng.uniform(size=arm.shape) < 0.1
    missed[:, 0] = False
    scored, is_observed = scored & ~missed, is_observed & ~missed
    available = rng.uniform(size=(*arm.shape, 9)) < 0.8
    available[..., 4] = True
    np.put_along_axis(available[:, :1], np.maximum(arm[:, :1, None], 0), True, axis=2)
    blank = replace(blank, arm=arm, reward=reward, scored=scored, observed=is_observed, available=available, missed=missed)
    played = xl.simulate_choices(blank, agent, seed=seed)
    # On the last trial of a block, the reward is not shown.
    is_observed[:, -1] = False
    return replace(played, observed=is_observed)


def at_a_point(scene: Scene, z: np.ndarray) -> Scene:
    """The scene with a group in which everyone has these parameters."""
    group = Group(np.asarray(z, float), 1e-18 * np.eye(len(z)))
    return scene._replace(numbers=scene.numbers._replace(group=group))


def thought_along(mind: Companion, choices: Choices, who: int = 0) -> tuple[Companion, np.ndarray]:
    """A companion after everything that a person did, and the log-probability that it gave each free choice."""
    told = []
    for number, (start, trials) in enumerate(past_blocks(choices, np.flatnonzero(choices.participant == who))):
        mind = started(mind, number, start)
        for trial in trials:
            if trial.scored:
                told.append(np.log(mind.predict(trial.available)[trial.arm]))
            mind = observed(mind, trial)
    return mind, np.array(told)


def fresh(choices: Choices, agent: str, n_points: int = 64, method: str = "laplace", seed: int = 0) -> Companion:
    """A companion for one of these people, with the weak prior."""
    return begun(scene_of(choices, agent, None), Settings(method, n_points, seed), choices.n_trials)

"""The companion: thinks along with one person, choice by choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import jax
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.counted import counted
from explorelab._support.door import door
from explorelab.agents import Agent
from explorelab.choices.table import NOWHERE
from explorelab.companions.past import Past, Trial, checked_advice, checked_arm, checked_offer, checked_trial, offered
from explorelab.companions.posterior import (
    FOLLOWING,
    METHODS,
    Posterior,
    Settings,
    before,
    in_new_block,
    renewed,
    reweighed,
    taught,
)
from explorelab.companions.sampling import points as compiled
from explorelab.companions.scene import Scene, check_same_arms, scene_on
from explorelab.errors import InputError
from explorelab.fitting.results import on_natural_scale
from explorelab.tasks import Task

if TYPE_CHECKING:
    from explorelab.companions.advice import Suggestion
    from explorelab.companions.assessment.one_person import Assessment

INTERVAL = 1.959964
"""Standard deviations to either side of the mean that hold 95 %."""


@dataclass(frozen=True, eq=False)
class Companion:
    """What is known of one person. Every change gives a new companion and leaves the old one as it was."""

    scene: Scene
    settings: Settings
    past: Past
    posterior: Posterior
    horizon: int
    task: Task | None = None
    """The task with its true means, if known; regret needs them."""
    _thought: dict[bytes, np.ndarray] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        done, now = counted(self.past.n_scored, "choice"), f"block {len(self.past.blocks)}, trial {self.past.t}"
        return f"<Companion {self.scene.agent.name}: {done}, {now}>"

    # Learning about the person ----------------------------------------------------------------------------------------

    def observe(
        self,
        arm: int | None = None,
        reward: float | None = None,
        *,
        available: Sequence[bool] | np.ndarray | None = None,
        forced: bool = False,
        missed: bool = False,
        advised: int | None = None,
        unseen: bool = False,
    ) -> Companion:
        """The companion after one trial.

        Parameters
        ----------
        arm
            Arm that was sampled, from 0; None if none was, which only a missed trial allows.
        reward
            Its reward.
        available
            Which arms could be chosen, one truth value for each; None for all or, on a graph of moves, for those that one
            move reaches.
        forced
            Whether the arm was given, so that it says nothing about the person.
        missed
            Whether the person gave no answer: nothing was sampled, or an arm was sampled for them.
        advised
            Arm that had been suggested to them, if one was; one that is not available counts as none.
        unseen
            Whether the reward was not shown: the choice says something about the person, who learned nothing from it.
        """
        offer = available if forced or missed else self._on_offer(available)
        trial = checked_trial(self.n_arms, arm, reward, offer, forced, missed, advised, unseen)
        with jax.enable_x64(True):
            posterior = self.posterior
            if trial.scored:
                log_probs = self._log_probs(trial)
                self._check_possible(log_probs, trial)
                posterior = reweighed(posterior, log_probs, trial)
            posterior = taught(self.scene, posterior, self.past, trial)
            past = self.past.after(trial)
            posterior = renewed(self.scene, posterior, past, self.settings)
        return replace(self, past=past, posterior=posterior, _thought={})

    def next_block(self, start: int | None = None, task: Task | None = None) -> Companion:
        """The companion before the same person's next block: beliefs begin anew, what is known of the person stays.

        Parameters
        ----------
        start
            Arm where they stand before the first trial; by default the task's, if it has one.
        task
            The task of the block, if its means, noise or moves are others; its arms must lie where they did.
        """
        if task is None:
            task = self.task
        else:
            check_same_arms(self.scene.layout, task)
        at = checked_arm(self.n_arms, "start", task.start if start is None and task is not None else start)
        with jax.enable_x64(True):
            posterior = in_new_block(self.scene, self.posterior)
        return replace(self, past=self.past.with_block(at), posterior=posterior, task=task, _thought={})

    # What is known ----------------------------------------------------------------------------------------------------

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self.scene.layout.n_arms

    @property
    def estimates(self) -> xr.Dataset:
        """Mean, standard deviation and 95 % interval of every parameter; `z_mean` and `z_covariance` in standard units.

        The interval is the normal one on the parameter's own scale; `estimate` is its middle, in natural units.
        """
        weight, z = self.posterior.weight, np.asarray(self.posterior.points.z)
        mean = weight @ z
        away = z - mean
        covariance = (away.T * weight) @ away
        sd, space = np.sqrt(np.diagonal(covariance)), self.scene.space
        low, middle, high = (on_natural_scale(space, self._inside(mean + k * sd)) for k in (-INTERVAL, 0.0, INTERVAL))
        names = list(self.scene.names)
        return xr.Dataset(
            {
                "estimate": ("parameter", middle),
                "low": ("parameter", low),
                "high": ("parameter", high),
                "z_mean": ("parameter", mean),
                "z_sd": ("parameter", sd),
                "z_covariance": (("parameter", "parameter_2"), covariance),
                "n_effective": ((), self.posterior.n_effective, {"long_name": "effective number of points"}),
            },
            coords={"parameter": names, "parameter_2": names},
        )

    @property
    def next_choice(self) -> np.ndarray:
        """Probability of each arm on the next trial, if all arms in reach are available and nothing is advised."""
        return self.predict()

    def predict(self, available: Sequence[bool] | np.ndarray | None = None, advised: int | None = None) -> np.ndarray:
        """Probability of each arm on the next trial.

        Parameters
        ----------
        available
            Which arms can be chosen, one truth value for each; None for all or, on a graph of moves, for those that one
            move reaches.
        advised
            Arm that is suggested to the person, if one is.
        """
        offer = self._on_offer(available)
        trial = Trial(available=offer, advised=checked_advice(self.n_arms, advised, offer))
        own = self.posterior.weight @ np.exp(self._log_probs(trial))
        if trial.advised == NOWHERE:
            return own
        follow = self.follow_probability
        return follow * (np.arange(self.n_arms) == trial.advised) + (1 - follow) * own

    @property
    def follow_probability(self) -> float:
        """Expected probability that the person follows advice; 0.5 as long as there was none."""
        return float(self.posterior.following @ FOLLOWING)

    @property
    def phenotype(self) -> dict[str, float]:
        """Probability of each form of regret (linear, power, log, none) at the end of the block; needs the task's means."""
        from explorelab.companions.assessment.one_person import phenotype

        return phenotype(self)

    def assessment(self) -> Assessment:
        """How the person is doing: form of regret, regret so far and to come, alone and advised, and weaknesses."""
        from explorelab.companions.assessment.one_person import assessed

        return assessed(self)

    def advice(
        self,
        policy: str = "personal",
        expert: Agent | None = None,
        available: Sequence[bool] | np.ndarray | None = None,
    ) -> Suggestion:
        """What to suggest before the next choice, and why; its `arm` is None for silence.

        Parameters
        ----------
        policy
            One of `companions.advice.POLICIES`.
        expert
            Agent that the adviser would play by itself; by default UCL with the prior of the task: the mean, variance and
            smoothness of its arms, but not which of them is good.
        available
            Which arms can be chosen, as in `predict`; only these are suggested.
        """
        from explorelab.companions.advice import adviser_for
        from explorelab.companions.expert import prior_for

        if self.task is None:
            raise InputError("advice needs the task that the person plays: pass companion() a task.")
        own = prior_for([self.task]) if expert is None else expert
        adviser = adviser_for(policy, own, self.scene.layout, float(self.task.noise.var), self.horizon, self)
        return replace(adviser, past=self.past).suggest(self._on_offer(available))

    # Inside -----------------------------------------------------------------------------------------------------------

    def _on_offer(self, available: Sequence[bool] | np.ndarray | None) -> tuple[bool, ...] | None:
        """The arms on offer as somebody says or, if nobody does, those that one move reaches; None for all."""
        if available is None and self.task is not None and self.task.moves is not None and self.past.position != NOWHERE:
            available = self.task.moves.allowed[self.past.position]
        return checked_offer(self.n_arms, available)

    def _log_probs(self, trial: Trial) -> np.ndarray:
        """Log-probability of every arm on the next trial, at every point."""
        available = offered(trial, self.n_arms)
        key = available.tobytes()
        if key not in self._thought:
            with jax.enable_x64(True):
                now = np.int32(self.past.t), np.int32(self.past.position), available
                self._thought[key] = compiled.log_probs(self.scene.model, self.posterior.points, *now)
        return self._thought[key]

    def _inside(self, z: np.ndarray) -> np.ndarray:
        return np.clip(z, self.scene.numbers.low, self.scene.numbers.high)

    def _check_possible(self, log_probs: np.ndarray, trial: Trial) -> None:
        """Raise if no point can have made this choice."""
        counts = (log_probs[:, trial.arm] > -np.inf) & (self.posterior.weight > 0)
        if not counts.any() and trial.advised != trial.arm:
            raise impossible(self.scene.agent.name, trial.arm, self.past.t)


def impossible(agent: str, arm: int, t: int) -> InputError:
    """The error about a choice that no parameters explain."""
    return InputError(
        f"{agent} gives the choice of arm {arm} on trial {t} probability zero, whatever its parameters: let it lapse "
        f"({agent}+lapse), or use another agent."
    )


@door
def companion(
    agent: str | Agent | None = None,
    group: xr.DataTree | None = None,
    task: Task | None = None,
    *,
    horizon: int = 90,
    method: Literal["laplace", "particles"] = "laplace",
    n_points: int = 512,
    seed: int = 0,
) -> Companion:
    """A companion for somebody who has not chosen yet: the live posterior of one person's parameters.

    `mind = mind.observe(arm=37, reward=22.0)` after every choice; `mind.next_block()` before the person's next block. Then
    `mind.estimates`, `mind.next_choice` and `mind.follow_probability` say what is known.

    Parameters
    ----------
    agent
        Agent that models the person, or its name; by default the group's, or "stochastic-ucl".
    group
        Fit of the agent to other people by "em", "bayes" or "nuts": what is expected of a person; None for the weak prior of
        `fit`.
    task
        The task that the person plays. Its means serve for the units of rewards, for regret, and, unless `advice` is given
        an expert, for the adviser's prior, which knows how arms vary but not which are good.
    horizon
        Number of choices in a block.
    method
        "laplace" (points drawn by importance around the most probable ones) or "particles" (resampled and moved).
    n_points
        Number of points that carry the posterior.
    seed
        Same seed, same result.
    """
    if task is None:
        raise InputError("a companion needs the task that the person plays: pass task.")
    checks.one_of("method", method, METHODS)
    settings = Settings(
        method, checks.whole("n_points", n_points, at_least=8, at_most=2**20), checks.whole("seed", seed, at_least=0)
    )
    horizon = checks.whole("horizon", horizon, at_least=1, at_most=checks.MANY)
    mind = begun(scene_on(task, agent, group, horizon), settings, horizon, task)
    return mind if task.start is None else replace(mind, past=Past(starts=(task.start,)))


def begun(scene: Scene, settings: Settings, horizon: int, task: Task | None = None) -> Companion:
    """A companion before the person's first choice."""
    with jax.enable_x64(True):
        return Companion(scene, settings, Past(), before(scene, settings), horizon, task)


def started(mind: Companion, number: int, start: int) -> Companion:
    """The companion before a block: a companion's first block is already begun."""
    at = None if start == NOWHERE else start
    if number:
        return mind.next_block(at)
    return mind if at is None else replace(mind, past=mind.past._replace(starts=(at,)))


def observed(mind: Companion, trial: Trial) -> Companion:
    """The companion after a trial that was read from a file."""
    advised = None if trial.advised == NOWHERE else trial.advised
    if trial.arm == NOWHERE:
        return mind.observe(missed=True, available=trial.available, advised=advised)
    reward = trial.reward if trial.observed else None
    return mind.observe(
        trial.arm, reward, available=trial.available, forced=not trial.scored, advised=advised, unseen=not trial.observed
    )

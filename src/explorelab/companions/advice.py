"""Advice: policies as data, and an adviser that plays along with a person.

    none         says nothing
    impersonal   what the expert would do with what the person has seen: UCL with the task's prior
    personal     what raises the team's reward: knows how this person chooses, whether they follow, and how many choices are
                 left; learns from rewards how smooth the landscape is along each axis, and uses the person's own prior as
                 far as it foresees rewards better than the task's
    ... -quiet   the same, but silent where advice would change little

Whatever the policy, an adviser goes silent whose expectations rewards have proved wrong, or whose suggestions have paid less
than the person's own choices. The latter may still suggest the arm that has paid most so far in this block, if it paid
clearly more than the person's own choices do: that is no longer a matter of what the adviser expects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import jax
import numpy as np

from explorelab._support import checks
from explorelab.agents import Agent
from explorelab.choices.table import NOWHERE, Layout
from explorelab.companions.expert import Expert, View, expert_of, together, used_up, view_of, worth
from explorelab.companions.live import Companion
from explorelab.companions.past import Arrays, Details, Past, arrays_of, checked_arm, checked_offer, checked_trial
from explorelab.companions.sampling import points as compiled

MIN_RECORD = 3
"""Suggestions taken, and choices of their own, before a record says anything."""
WORSE = 1.0
"""Standard errors by which what was suggested must have paid less than own choices for the adviser to go silent."""
PROVED = 1.5
"""Standard deviations of the rewards of own choices by which an arm must have paid more than these to be proved."""
WORTH_SAYING = 0.02
"""What a suggestion must gain, in standard deviations of the rewards seen, to be worth saying (quiet policies)."""
MIN_SEEN = 2
"""Rewards seen before an expert can be called wrong."""
SURPRISE = 9.0
"""Mean square of the rewards, in standard deviations from what the expert expected, above which it is wrong."""
OWN_PRIOR = 0.1
"""Odds, beforehand, that the person's own prior foresees rewards better than the task's."""
N_CONSIDERED = 12
"""Arms of the highest worth that are looked at more closely."""


class Suggestion(NamedTuple):
    """What is suggested, and why or why not."""

    arm: int | None
    """None for silence."""
    reason: str
    """One of `REASONS`."""
    gain: float = 0.0
    """Expected gain in reward over what the person would choose by themselves, as the adviser sees it."""


REASONS = {
    "best": "the arm that the adviser takes to be best for the team",
    "none": "the policy gives no advice",
    "little to gain": "advice would change little",
    "wrong": "rewards are far from what the adviser expected",
    "worse": "what was suggested has paid less than what the person chose alone",
    "over": "the block is over",
}


@dataclass(frozen=True, eq=False)
class Adviser:
    """An adviser in the middle of somebody's block. Every change gives a new one."""

    policy: Policy
    expert: Expert
    layout: Layout
    noise_var: float
    horizon: int
    past: Past
    mind: Companion | None = None
    """What is known of the person; None if the policy does not ask."""

    def observe(self, arm: int | None = None, reward: float | None = None, **details: Unpack[Details]) -> Adviser:
        """The adviser after one trial; the arguments are those of `Companion.observe`."""
        if self.mind is None:
            return replace(self, past=self.past.after(checked_trial(self.layout.n_arms, arm, reward, **details)))
        mind = self.mind.observe(arm, reward, **details)
        return replace(self, past=self.past.after(mind.past.blocks[-1][-1]), mind=mind)

    def next_block(self, start: int | None = None) -> Adviser:
        """The adviser before the same person's next block."""
        at = checked_arm(self.layout.n_arms, "start", start)
        return replace(self, past=self.past.with_block(at), mind=None if self.mind is None else self.mind.next_block(start))

    def suggest(self, available: Sequence[bool] | np.ndarray | None = None) -> Suggestion:
        """What to suggest before the next choice."""
        offer = checked_offer(self.layout.n_arms, available)
        if self.policy.suggest is None:
            return Suggestion(None, "none")
        if self.past.t > self.horizon:
            return Suggestion(None, "over")
        offered = np.ones(self.layout.n_arms, bool) if offer is None else np.array(offer)
        if is_worse(self.past):
            offered &= proved(self.past, self.layout.n_arms)
            if not offered.any():
                return Suggestion(None, "worse")
        return self.policy.suggest(self, offered)


class Policy(NamedTuple):
    """How an adviser decides."""

    name: str
    about: str
    suggest: Callable[[Adviser, np.ndarray], Suggestion] | None
    """From the adviser and the arms on offer; None to say nothing."""
    personal: bool = False
    """Whether it needs a companion."""


def is_worse(past: Past) -> bool:
    """Whether suggestions that were taken seem to have paid less than the person's own choices."""
    trials = [trial for block in past.blocks for trial in block if trial.scored and trial.observed]
    taken = np.array([trial.reward for trial in trials if trial.advised == trial.arm])
    own = np.array([trial.reward for trial in trials if trial.advised != trial.arm])
    if min(len(taken), len(own)) < MIN_RECORD:
        return False
    error = np.sqrt(taken.var(ddof=1) / len(taken) + own.var(ddof=1) / len(own))
    return bool(taken.mean() - own.mean() < -WORSE * error)


def proved(past: Past, n_arms: int) -> np.ndarray:
    """The arm that has paid most in this block, if it paid clearly more than the person's own choices (a mask)."""
    seen = [trial for trial in past.blocks[-1] if trial.observed]
    own = [trial.reward for trial in seen if trial.scored and trial.advised != trial.arm]
    if not own:
        return np.zeros(n_arms, bool)
    arm, reward = np.array([trial.arm for trial in seen]), np.array([trial.reward for trial in seen])
    n = np.bincount(arm, minlength=n_arms)
    paid = np.where(n > 0, np.bincount(arm, reward, n_arms) / np.maximum(n, 1), -np.inf)
    return (paid == paid.max()) & (paid > np.mean(own) + PROVED * np.std(own))


def is_wrong(view: View, n_seen: int) -> bool:
    """Whether rewards lie too far from what the expert that foresees them best expects of them."""
    best = int(np.argmax(view.log_weight))
    return n_seen >= MIN_SEEN and bool(view.surprise[best] > SURPRISE)


def _seen(adviser: Adviser) -> Arrays:
    return arrays_of(adviser.past, adviser.expert.rule.learner, adviser.layout.n_arms)


def _view(adviser: Adviser, expert: Expert, offered: np.ndarray, arrays: Arrays) -> View:
    past = adviser.past
    return view_of(expert, arrays, len(past.blocks) - 1, past.t, past.position, offered)


def _n_seen(adviser: Adviser) -> int:
    return sum(trial.observed for block in adviser.past.blocks for trial in block)


def _impersonal(adviser: Adviser, offered: np.ndarray) -> Suggestion:
    view = _view(adviser, adviser.expert, offered, _seen(adviser))
    if is_wrong(view, _n_seen(adviser)):
        return Suggestion(None, "wrong")
    arm = int(np.argmax(np.where(offered, view.log_probs[0], -np.inf)))
    last = adviser.past.position
    limit = view.mean[0] + np.sqrt(np.maximum(np.diagonal(view.covariance[0]), 0.0))
    return Suggestion(arm, "best", float(limit[arm] - limit[last]) if last != NOWHERE else np.inf)


def _personal(adviser: Adviser, offered: np.ndarray) -> Suggestion:
    mind = adviser.mind
    assert mind is not None  # the policy is personal
    arrays = _seen(adviser)
    follow, own = mind.follow_probability, mind.predict(offered)
    n_left = adviser.horizon - adviser.past.t
    experts = [adviser.expert, *_own_expert(mind)]
    views = [_view(adviser, expert, offered, arrays) for expert in experts]
    view = together(views, [0.0, np.log(OWN_PRIOR)][: len(views)])
    if is_wrong(view, _n_seen(adviser)):
        return Suggestion(None, "wrong")
    best = np.where(offered, view.mean, -np.inf).argmax(1)
    mean = view.weight @ view.mean
    value = np.where(offered, worth(view, adviser.noise_var, n_left, follow + (1 - follow) * own[best]), -np.inf)
    likely = np.argsort(-value, kind="stable")[: min(N_CONSIDERED, int(offered.sum()))]
    total = value[likely] + used_up(mind, likely, mean, offered, (1 - follow) * n_left)
    chosen = int(np.argmax(total))
    alone = float(own[offered] @ value[offered])
    return Suggestion(int(likely[chosen]), "best", float(total[chosen]) - alone)


def _own_expert(mind: Companion) -> list[Expert]:
    """The person's own beliefs at the parameters that they most probably have, if they have a prior."""
    if "prior_mean" not in {*mind.scene.names, *mind.scene.numbers.fixed}:
        return []
    with jax.enable_x64(True):
        z = mind.posterior.weight @ np.asarray(mind.posterior.points.z)
        ready = compiled.begun(mind.scene.model, mind.scene.numbers, z[None]).ready
    return [Expert(mind.scene.model.rule, mind.n_arms, ready, np.zeros(1))]


def _quietly(suggest: Callable[[Adviser, np.ndarray], Suggestion]) -> Callable[[Adviser, np.ndarray], Suggestion]:
    """The same, but silent where the person would most likely do as well alone."""

    def quiet(adviser: Adviser, offered: np.ndarray) -> Suggestion:
        said = suggest(adviser, offered)
        rewards = [trial.reward for block in adviser.past.blocks for trial in block if trial.observed]
        spread = float(np.std(rewards)) if len(rewards) > 2 else 0.0
        if said.reason == "best" and said.gain < WORTH_SAYING * spread:
            return said._replace(arm=None, reason="little to gain")
        return said

    return quiet


POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy("none", "no advice", None),
        Policy("impersonal", "what UCL with the task's prior would do", _impersonal),
        Policy("personal", "what raises the reward of this person and the adviser together", _personal, personal=True),
        Policy("impersonal-quiet", "as impersonal, silent where little is to be gained", _quietly(_impersonal)),
        Policy("personal-quiet", "as personal, silent where little is to be gained", _quietly(_personal), personal=True),
    )
}
"""The policies by name."""


def adviser_for(
    policy: str, expert: Agent, layout: Layout, noise_var: float, horizon: int, mind: Companion | None = None
) -> Adviser:
    """An adviser for somebody who has not chosen yet; `mind` is a companion who has not either, for personal policies."""
    chosen: Policy = checks.one_of("advice policy", policy, POLICIES)
    return Adviser(
        chosen,
        expert_of(expert, layout, noise_var, horizon, stretched=chosen.personal),
        layout,
        noise_var,
        horizon,
        Past(),
        mind if chosen.personal else None,
    )

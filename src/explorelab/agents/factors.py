"""The vocabulary of agents: what the four factors are and how they fit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

type Params = Mapping[str, Any]
"""Named parameters in natural units; scalars, or arrays for what belongs to each arm."""

type Value = Float[Array, " arm"]
type Available = Bool[Array, " arm"] | None
"""Which arms may be chosen now; `None` means all of them."""


class Belief(Protocol):
    """What the agent expects of each arm next. Every learner's belief has at least these two."""

    @property
    def mean(self) -> Value: ...  # noqa: D102

    @property
    def sd(self) -> Value: ...  # noqa: D102


class Moment(NamedTuple):
    """When a decision is made."""

    t: Int[Array, ""]
    """Time of the decision, from 1; rewards up to t - 1 are known."""
    n_decisions: Int[Array, ""]
    """How many decisions were made before this one (fewer than t - 1 when the agent commits to blocks)."""
    position: Int[Array, ""] | np.integer[Any] = np.int32(-1)
    """The arm chosen last, or where the agent stands at first; -1: nowhere yet."""


class Chance(NamedTuple):
    """The randomness of one decision; whatever a rule leaves unused is never computed."""

    uniform: Float[Array, ""]
    """A number in the open interval (0, 1)."""
    key: PRNGKeyArray
    """For rules that need more than one number, such as a draw for every arm."""


class Told(NamedTuple):
    """What was chosen and seen on each trial of a block."""

    arm: Int[Array, " trial"]
    reward: Float[Array, " trial"]
    observed: Bool[Array, " trial"]
    """Whether the reward was seen; other trials teach nothing."""


@dataclass(frozen=True)
class Learner:
    """How rewards become a belief."""

    name: str
    prepare: Callable[[Params, Float[Array, "arm arm"] | None], Params]
    """Whatever follows from the parameters alone, computed once (the prior covariance from a length scale)."""
    init: Callable[[Params, int], Any]
    """The belief before the first reward, for that many arms."""
    update: Callable[[Params, Any, Int[Array, ""], Float[Array, ""]], Any]
    """The belief after one reward from one arm."""
    stages: Callable[[int, int], tuple[int, ...]] = lambda n_arms, horizon: (horizon,)
    """Times at which the belief's arrays change size, the last one being the horizon."""
    resize: Callable[[Params, Any, int], Any] = lambda params, belief, until: belief
    """The same belief with room for the rewards up to that time."""
    seen: Callable[[Params, Any], Value] | None = None
    """How often each arm has been seen, where the belief knows; otherwise the simulator counts."""
    replay: Callable[[Params, int, Told], Any] | None = None
    """The belief before every trial (its `mean` and `sd`) of a block whose choices are known, all at once; the same numbers
    as `update` one by one, and cheaper to differentiate. None: one by one."""


type Limit = Callable[[Params, Any, Moment], Value]
"""What each arm is worth to the agent now: an upper credible limit, or another index."""


@dataclass(frozen=True)
class ChoiceRule:
    """How values become a choice. `log_probs` is the primitive; `draw` must follow it."""

    name: str
    log_probs: Callable[[Params, Any, Value, Moment, Available], Value]
    draw: Callable[[Params, Any, Value, Moment, Available, Chance], Int[Array, ""]]
    walks: bool = False
    """Whether it asks how long the walks between arms are (`walks` among the parameters)."""
    exact: bool = True
    """False: `log_probs` are counted from draws, which is enough to draw by and too coarse to score choices by."""
    seeks_best: bool = False
    """Whether it takes the arm of the highest value, so that the least difference decides."""
    certain: bool = False
    """Whether it takes that arm always: any other choice is impossible, unless a habit lets it lapse."""


@dataclass(frozen=True)
class Commitment:
    """For how long a decision binds."""

    name: str
    length: Callable[[Params, Any, Int[Array, ""], Int[Array, ""]], Int[Array, ""]] | None = None
    """Goal selections that follow from choosing `arm` after `n_goals` of them; `None`: decide at every step."""


@dataclass(frozen=True)
class Rule:
    """A decision rule: learner x limit x choice x commitment. Hashable, so static to `jit`."""

    learner: Learner
    limit: Limit
    choice: ChoiceRule
    commitment: Commitment


class Ways(NamedTuple):
    """How far arms are from each other; None where they lie nowhere, or nobody asks."""

    distances: Float[Array, "arm arm"] | None = None
    """Straight, for priors."""
    walks: Float[Array, "arm arm"] | None = None
    """Along the axes, for those who walk."""


def prepared(rule: Rule, params: Params, ways: Ways) -> Params:
    """The parameters with all that follows from them and from where the arms lie."""
    params = rule.learner.prepare(params, ways.distances)
    return {**params, "walks": ways.walks} if rule.choice.walks else params


@dataclass(frozen=True, eq=False)
class Agent:
    """A decision rule with a value for each of its parameters."""

    name: str
    rule: Rule
    params: Params
    """Values in natural units; a `noise_var` that is missing is taken from the task."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """What the agent was built from."""
    build: Callable[..., Agent] | None = None
    """Builds an agent of the same name from other values, with the same checks."""
    least_horizon: int = 1
    """The shortest horizon for which the rule is defined."""
    free: tuple[str, ...] = ()
    """The parameters in which people differ: those that a fit estimates unless told otherwise."""

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={_short(value)}' for name, value in self.given.items())})"


MOST_SHOWN = 4
"""Numbers of a list that are written out where an agent is shown; longer ones and matrices are told by their size."""


def _short(value: Any) -> str:
    shape = np.shape(value)
    if len(shape) == 0 or (len(shape) == 1 and shape[0] <= MOST_SHOWN):
        return repr(value.tolist() if hasattr(value, "tolist") else value)
    return f"<{' x '.join(map(str, shape))} numbers>"

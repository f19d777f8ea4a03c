"""The vocabulary of agents: the four factors and how they fit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from explorelab._support.checks import Unchecked
from explorelab.errors import unknown_name

if TYPE_CHECKING:
    from explorelab.agents.parameters import Parameter

type AnyArray = Any
"""A number or an array: of JAX inside compiled calls, of NumPy outside; no type has what both have."""

type Pytree = Any
"""Arrays in tuples, dictionaries or NamedTuples that JAX maps over; Python has no type for "the same, one axis more"."""

type Params = Mapping[str, AnyArray]
"""Named parameters in natural units; scalars, or arrays with one value per arm."""

type Argument = npt.ArrayLike | None
"""What an agent's builder may be given: a number, one for each arm, a matrix, or a word; None for its default."""

type Value = Float[Array, " arm"]
type Available = Bool[Array, " arm"] | None
"""Which arms may be chosen now; `None` means all of them."""


class Belief(Protocol):
    """The agent's belief about each arm. Every learner's belief has at least these two properties."""

    @property
    def mean(self) -> Value: ...  # noqa: D102

    @property
    def sd(self) -> Value: ...  # noqa: D102


class CountingBelief(Protocol):
    """A belief that also knows how often each arm was seen."""

    @property
    def mean(self) -> Value: ...  # noqa: D102

    @property
    def sd(self) -> Value: ...  # noqa: D102

    @property
    def plays(self) -> Value: ...  # noqa: D102


type AnyBelief = Any
"""The belief of any learner; each rule names what it needs of one, and an agent pairs it with a learner that has that."""


class Moment(NamedTuple):
    """The time and place of a decision."""

    t: Int[Array, ""]
    """Time of the decision, from 1; rewards up to t - 1 are known."""
    n_decisions: Int[Array, ""]
    """Number of decisions before this one (fewer than t - 1 when the agent commits to blocks)."""
    position: Int[Array, ""] | np.int32 = np.int32(-1)
    """The arm chosen last, or where the agent starts; -1 for nowhere yet."""


class Chance(NamedTuple):
    """The randomness of one decision; parts that a rule does not use are never computed."""

    uniform: Float[Array, ""]
    """A number in the open interval (0, 1)."""
    key: PRNGKeyArray
    """For rules that need more than one number, such as a draw for every arm."""


class Told(NamedTuple):
    """The arm and reward of each trial of a block."""

    arm: Int[Array, " trial"]
    reward: Float[Array, " trial"]
    observed: Bool[Array, " trial"]
    """Whether the reward was seen; other trials teach nothing."""


@dataclass(frozen=True)
class Learner:
    """How rewards become a belief."""

    name: str
    prepare: Callable[[Params, Float[Array, "arm arm"] | None], Params]
    """Adds quantities that follow from the parameters and are computed once (the prior covariance from a length scale)."""
    init: Callable[[Params, int], AnyBelief]
    """The belief before the first reward, for the given number of arms."""
    update: Callable[[Params, AnyBelief, Int[Array, ""], Float[Array, ""]], AnyBelief]
    """The belief after one reward from one arm."""
    stages: Callable[[int, int], tuple[int, ...]] = lambda n_arms, horizon: (horizon,)
    """Times at which the belief's arrays change size, ending with the horizon."""
    resize: Callable[[Params, AnyBelief, int], AnyBelief] = lambda params, belief, until: belief
    """The same belief with room for the rewards up to that time."""
    seen: Callable[[Params, AnyBelief], Value] | None = None
    """How often each arm has been seen, if the belief knows; otherwise the simulator counts."""
    replay: Callable[[Params, int, Told], AnyBelief] | None = None
    """The belief (its `mean` and `sd`) before every trial of a block whose choices are known, all at once: the same numbers
    as from `update`, but cheaper to differentiate. None to use `update` trial by trial."""
    after: Callable[[Params, int, Told, int], AnyBelief] | None = None
    """The belief after a block whose choices are known, with room until a time, all at once: the same numbers as from
    `update`, to rounding. None to use `update` trial by trial."""
    places: bool = False
    """Whether it needs the distances between arms whatever the prior."""


type Limit = Callable[[Params, AnyBelief, Moment], Value]
"""The value of each arm to the agent now: an upper credible limit or another index."""


@dataclass(frozen=True)
class ChoiceRule:
    """How values become a choice. `log_probs` is the primitive; `draw` and `scores` must follow it."""

    name: str
    log_probs: Callable[[Params, AnyBelief, Value, Moment, Available], Value]
    draw: Callable[[Params, AnyBelief, Value, Moment, Available, Chance], Int[Array, ""]]
    walks: bool = False
    """Whether it needs the distances along the axes between arms (`walks` among the parameters)."""
    exact: bool = True
    """False if `log_probs` are counted from draws: enough to simulate, but too coarse to score choices."""
    seeks_best: bool = False
    """Whether it chooses the arm with the highest value, so that the smallest difference decides."""
    certain: bool = False
    """Whether it always chooses that arm: any other choice is impossible, unless a habit lets it lapse."""
    scores: Callable[[Params, AnyBelief, Value, Moment, Available, Int[Array, ""]], Value] | None = None
    """`log_probs` for scoring one arm, if that costs less: its own logarithm as exact, those of the others only as exact as
    makes no difference to their probabilities."""


@dataclass(frozen=True)
class Commitment:
    """How long a decision lasts."""

    name: str
    length: Callable[[Params, AnyBelief, Int[Array, ""], Int[Array, ""]], Int[Array, ""]] | None = None
    """Goal selections that follow from choosing `arm` after `n_goals` of them; `None` to decide at every step."""


@dataclass(frozen=True)
class Rule:
    """A decision rule: learner x limit x choice x commitment. Hashable, so static to `jit`."""

    learner: Learner
    limit: Limit
    choice: ChoiceRule
    commitment: Commitment


class Ways(NamedTuple):
    """Distances between arms; None if they have no places, or none are needed."""

    distances: Float[Array, "arm arm"] | None = None
    """Euclidean distances, for priors."""
    walks: Float[Array, "arm arm"] | None = None
    """Distances along the axes, for travel costs."""


def prepared(rule: Rule, params: Params, ways: Ways) -> Params:
    """The parameters with everything that follows from them and from the places of the arms."""
    params = rule.learner.prepare(params, ways.distances)
    return {**params, "walks": ways.walks} if rule.choice.walks else params


@dataclass(frozen=True, eq=False)
class Agent:
    """A decision rule with a value for each of its parameters."""

    name: str
    rule: Rule
    params: Params
    """Values in natural units; a missing `noise_var` is taken from the task."""
    given: Mapping[str, object] = field(default_factory=dict)
    """The arguments that the agent was built with."""
    build: Callable[..., Agent] | None = None
    """Builds an agent of the same name from other values, with the same checks."""
    least_horizon: int = 1
    """The shortest horizon for which the rule is defined."""
    free: tuple[str, ...] = ()
    """The parameters in which people differ, which a fit estimates by default."""
    own_parameters: tuple[Parameter, ...] = ()
    """What a user declared about parameters of their own; those of the package are in its table."""
    origin: str = ""
    """The file of a user's own agent, with its name there if that is known: my_model.py:two_rates."""
    file_sha256: str = ""
    """The SHA-256 of that file when it was read, if it was read for this agent."""
    own: bool = True
    """Whether it is a user's own: the package knows nothing of its parts."""

    def with_values(self, **values: Argument) -> Agent:
        """The same agent with other values of some parameters, as in `agent.with_values(temperature=2)`."""
        if self.build is not None:
            return self.build(**{**self.given, **values})
        for name in values:
            if name not in self.params:
                raise unknown_name(f"parameter of {self.name}", name, self.params)
        numbers = {name: np.asarray(value, float) for name, value in values.items()}
        return replace(self, params={**self.params, **numbers}, given={**self.given, **values})

    def __reduce__(self) -> tuple[Callable[..., Agent], tuple[Any, ...]]:
        """To other processes it goes by name, by its file, or with its functions."""
        from explorelab.agents.own.sending import reduced

        return reduced(self)

    def __copy__(self) -> Agent:
        return self

    def __deepcopy__(self, memo: object) -> Agent:
        return self

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={_short(value)}' for name, value in self.given.items())})"


MOST_SHOWN = 4
"""Longest list written out when an agent is shown; longer ones and matrices are shown by their size."""


def _short(value: Unchecked) -> str:
    shape = np.shape(value)
    if len(shape) == 0 or (len(shape) == 1 and shape[0] <= MOST_SHOWN):
        return repr(value.tolist() if hasattr(value, "tolist") else value)
    return f"<{' x '.join(map(str, shape))} numbers>"

"""Choice rules: from the value of every arm to a log-probability of choosing it, and to a draw."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from explorelab.agents.factors import Available, Belief, Chance, ChoiceRule, Moment, Params, Value
from explorelab.agents.learners.correlated import RootBelief
from explorelab.agents.learners.trackers import OutcomeBelief
from explorelab.agents.rules.best_arm import log_probs_of_best
from explorelab.agents.rules.ties import first_of, is_best, same

NEVER = -jnp.inf


def _among(value: Value, available: Available) -> Value:
    return value if available is None else jnp.where(available, value, NEVER)


def _best(params: Params, belief: Belief, value: Value, available: Available) -> Bool[Array, " arm"]:
    best = is_best(params, belief, _among(value, available))
    # Unavailable arms have the value -inf, and available ones may too.
    return best if available is None else best & available


def log_of(probability: Value) -> Value:
    """The logarithm; -inf for a probability of 0, with derivative 0 rather than 0 / 0."""
    possible = probability > 0
    return jnp.where(possible, jnp.log(jnp.where(possible, probability, 1.0)), NEVER)


def _arms(value: Value) -> Int[Array, " arm"]:
    return jnp.arange(value.shape[0], dtype=jnp.int32)


# Greedy ---------------------------------------------------------------------------------------------------------------


def _draw_lowest(
    params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
) -> Int[Array, ""]:
    return first_of(_best(params, belief, value, available))


def _log_probs_lowest(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
    first = first_of(_best(params, belief, value, available))
    return jnp.where(_arms(value) == first, 0.0, NEVER).astype(value.dtype)


def _pick_uniformly(candidates: Bool[Array, " arm"], uniform: Float[Array, ""]) -> Int[Array, ""]:
    n = candidates.sum(dtype=jnp.int32)
    rank = jnp.minimum((uniform * n).astype(jnp.int32), n - 1)
    return (jnp.cumsum(candidates, dtype=jnp.int32) <= rank).sum(dtype=jnp.int32)


def _draw_random_tie(
    params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
) -> Int[Array, ""]:
    return _pick_uniformly(_best(params, belief, value, available), chance.uniform)


def _log_probs_random_tie(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
    best = _best(params, belief, value, available)
    return jnp.where(best, -jnp.log(best.sum().astype(value.dtype)), NEVER)


greedy_lowest = ChoiceRule("greedy-lowest", _log_probs_lowest, _draw_lowest, seeks_best=True, certain=True)
greedy_random = ChoiceRule("greedy-random", _log_probs_random_tie, _draw_random_tie, seeks_best=True, certain=True)

GREEDY: dict[str, ChoiceRule] = {"lowest": greedy_lowest, "random": greedy_random}
"""How to choose among several best arms: the lowest-numbered, or one at random."""


# Softmax --------------------------------------------------------------------------------------------------------------


def boltzmann(value: Value, temperature: Float[Array, ""], available: Available) -> Value:
    """Log of exp(Q_i / v) / sum_j exp(Q_j / v), with the paper's conventions at the edges.

    v = 0 is a uniform choice among the best arms, v = inf a uniform choice among all; arms of infinite value (not yet
    seen, under an uninformative prior) are chosen before all others, uniformly. An arm too far below the best to be
    chosen at all, even if the parameters change a little, has no derivative either.
    """
    value = _among(value, available)
    top = lax.stop_gradient(value.max())  # it cancels
    finite, alike = jnp.isfinite(value), jnp.isinf(temperature)
    below = jnp.where(finite, value - top, 0.0)
    # Both branches of a `where` are differentiated: first find what can be divided, then divide only that.
    reached = finite & ~alike & jnp.isfinite(below / jnp.where(alike, 1.0, temperature))
    logits = jnp.where(reached, below, 0.0) / jnp.where(reached, temperature, 1.0)
    best = ~(value < top) | ((temperature == 0) & same(value, top))
    best = best if available is None else best & available
    possible = best | ((reached | alike) & finite & jnp.isfinite(top))
    return jax.nn.log_softmax(jnp.where(possible, logits, NEVER))


def draw_from(log_probs: Value, uniform: Float[Array, ""]) -> Int[Array, ""]:
    """The arm at which the cumulative probability first reaches `uniform`; never an arm of probability 0.

    One past the last arm if the probabilities are not numbers, so that whoever asked can tell.
    """
    cumulative = jnp.cumsum(jnp.exp(log_probs))
    # Strictly below a share of the actual total, so that rounding in the sum cannot point past the last arm.
    return (~(cumulative >= uniform * cumulative[-1])).sum(dtype=jnp.int32)


def _constant(params: Params, value: Value, moment: Moment, available: Available) -> Float[Array, ""]:
    return params["temperature"]


def _logarithmic(params: Params, value: Value, moment: Moment, available: Available) -> Float[Array, ""]:
    log_t = jnp.log(moment.t.astype(value.dtype))
    # Infinite at t = 1, whatever nu; written so that its derivative there is zero, not 0/0.
    started = log_t > 0
    return jnp.where(started, params["cooling_rate"] / jnp.where(started, log_t, 1.0), jnp.inf)


def smallest_gap(value: Value, available: Available = None) -> Float[Array, ""]:
    """Delta Q_min, the smallest difference between the values of two available arms; inf - inf counts as 0."""
    if value.shape[0] < 2:
        return jnp.zeros((), value.dtype)
    ordered = jnp.sort(_among(value, available))
    gaps = jnp.where(same(ordered[1:], ordered[:-1]), 0.0, ordered[1:] - ordered[:-1])
    if available is None:
        return gaps.min()
    # Unavailable arms are sorted to the front; a single available arm has no gap.
    n = available.sum()
    between_available = jnp.arange(value.shape[0] - 1) >= value.shape[0] - n
    return jnp.where(n < 2, 0.0, jnp.where(between_available, gaps, jnp.inf).min())


def _feedback(params: Params, value: Value, moment: Moment, available: Available) -> Float[Array, ""]:
    gap = smallest_gap(value, available)
    cooling = 2 * jnp.log(moment.t.astype(value.dtype))
    # 0/0 = 1 (two equal values at t = 1), by the paper's definition; x/0 = inf is the uniform choice.
    started = cooling > 0
    return jnp.where(started, gap / jnp.where(started, cooling, 1.0), jnp.where(gap == 0, 1.0, jnp.inf))


def _softmax(name: str, temperature: Callable[[Params, Value, Moment, Available], Float[Array, ""]]) -> ChoiceRule:
    def log_probs(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
        return boltzmann(value, temperature(params, value, moment, available), available)

    def draw(
        params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
    ) -> Int[Array, ""]:
        return draw_from(log_probs(params, belief, value, moment, available), chance.uniform)

    return ChoiceRule(name, log_probs, draw)


softmax_constant = _softmax("softmax", _constant)
softmax_log = _softmax("softmax-log", _logarithmic)
softmax_feedback = _softmax("softmax-feedback", _feedback)

SOFTMAX: dict[str, ChoiceRule] = {
    "constant": softmax_constant,
    "log": softmax_log,
    "feedback": softmax_feedback,
}
"""Temperature over time: v; nu / log t; or Delta Q_min / (2 log t), the paper's feedback rule."""


# Without values -------------------------------------------------------------------------------------------------------


def _log_probs_uniform(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
    return boltzmann(jnp.zeros_like(value), jnp.ones((), value.dtype), available)


def _draw_uniform(
    params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
) -> Int[Array, ""]:
    return draw_from(_log_probs_uniform(params, belief, value, moment, available), chance.uniform)


uniform = ChoiceRule("uniform", _log_probs_uniform, _draw_uniform)
"""Chooses every available arm with equal probability."""


def _log_probs_wsls(params: Params, belief: OutcomeBelief, value: Value, moment: Moment, available: Available) -> Value:
    """Stay with probability win_stay or 1 - lose_shift; otherwise all other available arms are equally likely.

    The choice is uniform before the first choice and where staying is impossible; staying is certain if no other arm is
    available.
    """
    allowed = jnp.ones(value.shape, bool) if available is None else available
    last = _arms(value) == moment.position
    stays, others = allowed & last, allowed & ~last
    n_others = jnp.maximum(others.sum(), 1)
    stay = jnp.where(belief.won > 0, params["win_stay"], 1 - params["lose_shift"]).astype(value.dtype)
    stay = jnp.where(others.any(), stay, 1.0)
    stay = jnp.where(stays.any(), stay, 0.0)
    probability = jnp.where(stays, stay, jnp.where(others, (1 - stay) / n_others, 0.0))
    return log_of(probability)


def _draw_wsls(
    params: Params, belief: OutcomeBelief, value: Value, moment: Moment, available: Available, chance: Chance
) -> Int[Array, ""]:
    return draw_from(_log_probs_wsls(params, belief, value, moment, available), chance.uniform)


win_stay_lose_shift = ChoiceRule("win-stay-lose-shift", _log_probs_wsls, _draw_wsls)
"""Needs the learner that remembers whether the last reward was a win."""


# Epsilon-greedy -------------------------------------------------------------------------------------------------------


def _constant_epsilon(params: Params, value: Value, moment: Moment) -> Float[Array, ""]:
    return params["epsilon"]


def _decaying_epsilon(params: Params, value: Value, moment: Moment) -> Float[Array, ""]:
    """min(1, c N / (d^2 t)) (Auer, Cesa-Bianchi & Fischer 2002, figure 3)."""
    t = moment.t.astype(value.dtype)
    return jnp.minimum(1.0, params["epsilon_rate"] * value.shape[0] / (params["epsilon_gap"] ** 2 * t))


def _epsilon_greedy(name: str, epsilon: Callable[[Params, Value, Moment], Float[Array, ""]]) -> ChoiceRule:
    def log_probs(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
        at_random = epsilon(params, value, moment)
        allowed = jnp.ones(value.shape, bool) if available is None else available
        best = _best(params, belief, value, available)
        return log_of((1 - at_random) * best / best.sum() + at_random * allowed / allowed.sum())

    def draw(
        params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
    ) -> Int[Array, ""]:
        return draw_from(log_probs(params, belief, value, moment, available), chance.uniform)

    return ChoiceRule(name, log_probs, draw, seeks_best=True)


epsilon_constant = _epsilon_greedy("epsilon-greedy", _constant_epsilon)
epsilon_decaying = _epsilon_greedy("epsilon-n-greedy", _decaying_epsilon)


# Probability matching -------------------------------------------------------------------------------------------------


def _draw_independent(
    params: Params, belief: Belief, value: Value, moment: Moment, available: Available, chance: Chance
) -> Int[Array, ""]:
    unseen = jnp.isinf(belief.sd)
    noise = jax.random.normal(chance.key, belief.mean.shape, belief.mean.dtype)
    drawn = jnp.where(unseen, jnp.inf, belief.mean + belief.sd * noise)
    return _pick_uniformly(_best(params, belief, drawn, available), chance.uniform)


def _log_probs_independent(params: Params, belief: Belief, value: Value, moment: Moment, available: Available) -> Value:
    return log_probs_of_best(belief.mean, belief.sd, available)


def _scores_independent(
    params: Params, belief: Belief, value: Value, moment: Moment, available: Available, arm: Int[Array, ""]
) -> Value:
    return log_probs_of_best(belief.mean, belief.sd, available, arm)


probability_matching = ChoiceRule(
    "probability-matching", _log_probs_independent, _draw_independent, scores=_scores_independent
)
"""Chooses each arm with the probability that it is the best, for independent arms (Thompson 1933)."""


def _draw_joint(
    params: Params, belief: RootBelief, value: Value, moment: Moment, available: Available, chance: Chance
) -> Int[Array, ""]:
    drawn = belief.mean + belief.root @ jax.random.normal(chance.key, belief.mean.shape, belief.mean.dtype)
    return _pick_uniformly(_best(params, belief, drawn, available), chance.uniform)


def _log_probs_joint(params: Params, belief: RootBelief, value: Value, moment: Moment, available: Available) -> Value:
    """Counted from 4 096 joint draws with a fixed key: correlated arms have no closed form. Too coarse to score choices."""
    draws = jax.random.normal(jax.random.key(0), (4096, belief.mean.shape[0]), belief.mean.dtype)
    drawn = belief.mean + draws @ belief.root.T
    best = jax.vmap(lambda one: _best(params, belief, one, available))(drawn)
    return log_of((best / best.sum(1, keepdims=True)).mean(0))


probability_matching_joint = ChoiceRule("probability-matching-joint", _log_probs_joint, _draw_joint, exact=False)
"""Chooses each arm with the probability that it is the best, for correlated arms; needs a square-root belief."""

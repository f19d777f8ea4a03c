"""The value of each arm to an agent now: the paper's upper credible limit and the indices it is compared with.

Every function takes (params, belief, moment) and returns a value for each arm; an arm that must be tried first has the
value infinity. Beliefs are Gaussian (`mean`, `sd`) for the Bayesian rules and sample statistics (`mean`, `plays`,
`spread`) for the frequentist ones.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array, Float

from explorelab.agents.factors import Belief, CountingBelief, Moment, Params, Value
from explorelab.agents.learners.independent import SampleBelief, prior_weight
from explorelab.agents.rules.quantiles import upper_quantile
from explorelab.agents.rules.ties import first_of, is_best


def _time(moment: Moment, like: Value) -> Float[Array, ""]:
    return moment.t.astype(like.dtype)


def _unless_unseen(belief: Belief, value: Value) -> Value:
    return jnp.where(jnp.isinf(belief.sd), jnp.inf, value)


def _mean_and_bonus(belief: Belief, width: Float[Array, ""]) -> Value:
    """mu_i + width sigma_i: infinite for an arm never seen under an uninformative prior, mu_i where nothing is in doubt.

    Written without inf * 0, even in the derivatives of the branch not taken.
    """
    unseen = jnp.isinf(belief.sd)
    sure = (belief.sd == 0) & jnp.isinf(width)
    bonus = jnp.where(unseen, 0.0, belief.sd) * jnp.where(sure, 0.0, width)
    return jnp.where(unseen, jnp.inf, belief.mean + bonus)


# Bayesian -------------------------------------------------------------------------------------------------------------


def upper_credible_limit(params: Params, belief: Belief, moment: Moment) -> Value:
    """Q_i = mu_i + sigma_i Phi^-1(1 - 1/(K t^a)), the (1 - 1/(K t^a))-upper credible limit of every arm (section IV.A)."""
    t = _time(moment, belief.mean)
    # Uses the logarithm of 1/(K t^a), because t^a itself soon overflows.
    quantile = upper_quantile(-jnp.log(params["credibility_scale"]) - params["credibility_power"] * jnp.log(t))
    return _mean_and_bonus(belief, quantile)


def bayes_ucb(params: Params, belief: Belief, moment: Moment) -> Value:
    """The 1 - 1/(t (log T)^c) quantile of the belief (Kaufmann, Cappe & Garivier 2012, algorithm 1)."""
    t = _time(moment, belief.mean)
    quantile = upper_quantile(-jnp.log(t) - params["log_power"] * jnp.log(jnp.log(params["horizon"])))
    return _mean_and_bonus(belief, quantile)


def gp_ucb(params: Params, belief: Belief, moment: Moment) -> Value:
    """mu_i + sqrt(beta_t) sigma_i, beta_t = 2 log(N t^2 pi^2 / (6 delta)) (Srinivas et al. 2012, theorem 1, finite D)."""
    t = _time(moment, belief.mean)
    n_arms = belief.mean.shape[0]
    log_odds = math.log(n_arms * math.pi**2 / 6) + 2 * jnp.log(t) - jnp.log(params["failure_probability"])
    return _mean_and_bonus(belief, jnp.sqrt(params["beta_scale"] * 2 * log_odds))


def mean_only(params: Params, belief: Belief, moment: Moment) -> Value:
    """The expected reward of each arm; arms not yet seen under an uninformative prior come first."""
    return _unless_unseen(belief, belief.mean)


def believed_mean(params: Params, belief: Belief, moment: Moment) -> Value:
    """The expected reward of each arm, for rules that handle unseen arms themselves."""
    return belief.mean


def constant_bonus(params: Params, belief: Belief, moment: Moment) -> Value:
    """mu_i + bonus sigma_i, the same bonus at every time."""
    return _mean_and_bonus(belief, params["bonus"])


def uncertainty(params: Params, belief: Belief, moment: Moment) -> Value:
    """sigma_i, the uncertainty of each arm alone."""
    return belief.sd


def nothing(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """0 for every arm."""
    return jnp.zeros_like(belief.plays)


def knowledge_gradient(params: Params, belief: Belief, moment: Moment) -> Value:
    """mu_i + (T - t) nu_i, what one more look at arm i is worth over the rest of the task (Ryzhov, Powell & Frazier 2012).

    nu_i = s_i f(-|mu_i - max_{j != i} mu_j| / s_i), f(z) = z Phi(z) + phi(z), s_i^2 = sigma_i^4 / (sigma_i^2 + noise_var)
    is the variance that the look would remove.
    """
    mean = belief.mean
    sd = jnp.where(jnp.isinf(belief.sd), 0.0, belief.sd)
    step = sd * (sd / jnp.hypot(sd, jnp.sqrt(params["noise_var"])))
    top = mean.max()
    is_top = mean == top
    # A single arm has no runner-up, and another look at it never changes the choice.
    runner_up = jnp.where(is_top.sum() > 1, top, jnp.where(is_top, -jnp.inf, mean).max())
    gap = jnp.where(is_top, top - runner_up, top - mean)
    useful = (step > 0) & jnp.isfinite(gap)
    z = jnp.maximum(-jnp.where(useful, gap, 0.0) / jnp.where(useful, step, 1.0), _NO_GAIN)
    gain = jnp.where(useful, step * (z * norm.cdf(z) + norm.pdf(z)), 0.0)
    return _unless_unseen(belief, mean + (params["horizon"] - _time(moment, mean)) * gain)


_NO_GAIN = -40.0
"""This many standard deviations below 0, z Phi(z) + phi(z) is 0; further out it would be inf * 0."""


def gittins(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """mu_i + noise_sd g(delta^2 + n_i, discount), the Gittins index of a Gaussian arm (1979)."""
    log_weight, log_bonus = params["gittins_log_weight"], params["gittins_log_bonus"]
    at = jnp.log(prior_weight(params) + belief.plays)
    slope_low = (log_bonus[1] - log_bonus[0]) / (log_weight[1] - log_weight[0])
    slope_high = (log_bonus[-1] - log_bonus[-2]) / (log_weight[-1] - log_weight[-2])
    inside = jnp.interp(at, log_weight, log_bonus)
    low = jnp.where(jnp.isinf(at), 0.0, jnp.minimum(at - log_weight[0], 0))
    bonus = jnp.exp(inside + slope_low * low + slope_high * jnp.maximum(at - log_weight[-1], 0))
    return _unless_unseen(belief, belief.mean + jnp.sqrt(params["noise_var"]) * bonus)


# Frequentist ----------------------------------------------------------------------------------------------------------


def _first_try_all(plays: Value, value: Value) -> Value:
    return jnp.where(plays == 0, jnp.inf, value)


def sample_mean(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """The average reward of each arm; arms not yet played come first."""
    return _first_try_all(belief.plays, belief.mean)


def ucb1(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """mbar_i + b sqrt(2 ln n / n_i), n plays made so far (Auer, Cesa-Bianchi & Fischer 2002, figure 1).

    The source has rewards in [0, 1]; `reward_range` b stretches the bonus to rewards of another range.
    """
    log_plays = jnp.log(jnp.maximum(_time(moment, belief.mean) - 1, 1))
    bonus = params["reward_range"] * jnp.sqrt(2 * log_plays / jnp.maximum(belief.plays, 1))
    return _first_try_all(belief.plays, belief.mean + bonus)


def _epoch_starts(params: Params, like: Value) -> Float[Array, " epoch"]:
    """Tau(r) = ceil((1 + alpha)^r), r = 0, 1, ..., far enough for any horizon that int32 can count."""
    return params["ucb2_epochs"].astype(like.dtype)


def ucb2(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """mbar_i + b sqrt((1 + alpha) ln(e n / tau(r_i)) / (2 tau(r_i))) (Auer, Cesa-Bianchi & Fischer 2002, figure 2).

    An arm in epoch r_i has been played tau(r_i) times, so r_i is read off its count.
    """
    epochs = _epoch_starts(params, belief.mean)
    at = jnp.searchsorted(epochs, jnp.maximum(belief.plays, 1), side="right") - 1
    tau = epochs[at]
    plays = _time(moment, belief.mean) - 1
    log_ratio = 1 + jnp.log(jnp.maximum(plays, 1) / tau)
    bonus = params["reward_range"] * jnp.sqrt((1 + params["ucb2_alpha"]) * jnp.maximum(log_ratio, 0) / (2 * tau))
    return _first_try_all(belief.plays, belief.mean + bonus)


def ucb1_normal(params: Params, belief: SampleBelief, moment: Moment) -> Value:
    """mbar_i + sqrt(16 s_i^2 ln(t - 1) / n_i); arms with under 8 ln t plays come first (Auer et al. 2002, figure 4)."""
    t = _time(moment, belief.mean)
    wanted = jnp.maximum(2, jnp.ceil(8 * jnp.log(t)))
    var = belief.spread / jnp.maximum(belief.plays - 1, 1)
    bonus = jnp.sqrt(16 * var * jnp.log(jnp.maximum(t - 1, 1)) / jnp.maximum(belief.plays, 1))
    return jnp.where(belief.plays < wanted, jnp.inf, belief.mean + bonus)


def ucb_v(params: Params, belief: SampleBelief, moment: Moment) -> Value:
    """mbar_i + sqrt(2 V_i E_t / n_i) + 3 c b E_t / n_i, E_t = zeta log t (Audibert, Munos & Szepesvari 2009, eq. 1)."""
    exploration = params["exploration_rate"] * jnp.log(_time(moment, belief.mean))
    count = jnp.maximum(belief.plays, 1)
    spread_bonus = jnp.sqrt(2 * belief.spread / count * exploration / count)
    range_bonus = 3 * params["range_weight"] * params["reward_range"] * exploration / count
    return _first_try_all(belief.plays, belief.mean + spread_bonus + range_bonus)


def kl_ucb(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """The largest q with n_i (q - mbar_i)^2 / (2 noise_var) <= log t + c log log t (Garivier & Cappe 2011)."""
    log_t = jnp.log(_time(moment, belief.mean))
    budget = log_t + params["log_power"] * jnp.log(jnp.maximum(log_t, 1))
    bonus = jnp.sqrt(2 * params["noise_var"] * budget / jnp.maximum(belief.plays, 1))
    return _first_try_all(belief.plays, belief.mean + bonus)


def aht(params: Params, belief: CountingBelief, moment: Moment) -> Value:
    """Lai & Robbins' duel between a leader and a challenger, which Agrawal, Hedge & Teneketzis (1988) hold for each block.

    The leader has the best sample mean among arms with at least `leader_share` of all plays; challengers take turns. The
    challenger's value is its upper confidence bound mbar_i + sqrt(2 noise_var log n / n_i), the leader's its mean; the
    larger of the two is chosen, and no other arm can be.
    """
    n_arms = belief.mean.shape[0]
    arms = jnp.arange(n_arms)
    plays = belief.plays.sum()
    share = params.get("leader_share", 0.5 / n_arms**2)
    eligible = belief.plays >= jnp.maximum(share * plays, 1)
    leader_mean = jnp.where(eligible, belief.mean, -jnp.inf)
    leader = first_of(is_best(params, belief, leader_mean))
    bound = belief.mean + jnp.sqrt(2 * params["noise_var"] * jnp.log(jnp.maximum(plays, 1)) / jnp.maximum(belief.plays, 1))
    challenger = moment.n_decisions % n_arms
    duel = jnp.where(arms == challenger, bound, jnp.where(arms == leader, belief.mean, -jnp.inf))
    return _first_try_all(belief.plays, duel)

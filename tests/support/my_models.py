"""Two models as a user would write them in a file of their own: one with its own learner, one with its own choice rule."""

import jax
import jax.numpy as jnp

import explorelab as xl

# A learner of one's own: good news and bad news are learned at different rates.

rate_up = xl.parameter("rate_up", scale="logit", typical=0.3, symbol="a+")
rate_down = xl.parameter("rate_down", scale="logit", typical=0.3, symbol="a-")


def start(params, n_arms):
    return jnp.zeros(n_arms)


def update(params, value, arm, reward):
    surprise = reward - value[arm]
    rate = jnp.where(surprise > 0, params["rate_up"], params["rate_down"])
    return value.at[arm].add(rate * surprise)


two_rates = xl.agent(
    "two-rates",
    learner=(start, update),
    parameters=[rate_up, rate_down, "temperature"],
    about="Learns from good and from bad surprises at different rates.",
)

# A choice rule of one's own: stays with an arm that looks better than average.

loyalty = xl.parameter("loyalty", scale="logit", typical=0.5)


def loyal_softmax(params, belief, value, moment, available):
    free = jax.nn.softmax(value / params["temperature"])
    last = jnp.arange(value.shape[0]) == moment.position
    content = (last & (value > value.mean())).any()
    stays = params["loyalty"] * content
    return jnp.log((1 - stays) * free + stays * last)


loyal = xl.agent(
    "loyal",
    learner="delta-rule",
    choice=loyal_softmax,
    parameters=[loyalty, "learning_rate", "temperature"],
    values={"prior_mean": 0.0},
    about="Stays with an arm that looks better than average.",
)

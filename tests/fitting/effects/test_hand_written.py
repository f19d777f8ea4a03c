"""Effects by NUTS are those of a model written out by hand in NumPyro, on the same choices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from arviz_stats.base import array_stats
from numpyro.infer import MCMC, NUTS

import explorelab as xl
from explorelab.choices.table import Choices
from tests.support.conditions import AGENT, SPACE, in_conditions

pytestmark = [pytest.mark.slow, pytest.mark.quick_programs]
CHAINS, DRAWS = 4, 1000


def by_hand(arm: np.ndarray, reward: np.ndarray, second: np.ndarray) -> None:
    """A delta rule with softmax; temperatures of two groups of the same size differ."""
    n = len(arm)
    rate_mean = numpyro.sample("rate_mean", dist.Normal(0, 1))
    middle = numpyro.sample("middle", dist.Normal(0, 1))
    half = numpyro.sample("half", dist.Normal(0, 1))
    sd = numpyro.sample("sd", dist.HalfNormal(1.0).expand([2]))
    e = numpyro.sample("e", dist.Normal(0, 1).expand([n, 2]))
    rate = jax.nn.sigmoid(jnp.log(0.3 / 0.7) + rate_mean + sd[0] * e[:, 0])
    temperature = 0.35 * jnp.exp(middle + half * jnp.where(second, 1.0, -1.0) + sd[1] * e[:, 1])

    def person(rate, temperature, arms, rewards):
        def trial(value, seen):
            chosen, got = seen
            said = jax.nn.log_softmax(value / temperature)[chosen]
            return value.at[chosen].add(rate * (got - value[chosen])), said

        return jax.lax.scan(trial, jnp.zeros(3), (arms, rewards))[1].sum()

    numpyro.factor("choices", jax.vmap(person)(rate, temperature, arm, reward).sum())


def posterior_by_hand(choices: Choices) -> dict[str, np.ndarray]:
    second = choices.conditions["group"] == "b"
    with jax.enable_x64(True):
        sampler = NUTS(by_hand, target_accept_prob=0.9)
        mcmc = MCMC(
            sampler, num_warmup=1000, num_samples=DRAWS, num_chains=CHAINS, chain_method="vectorized", progress_bar=False
        )
        mcmc.run(jax.random.key(1), jnp.asarray(choices.arm), jnp.asarray(choices.reward), jnp.asarray(second))
        drawn = {name: np.asarray(values) for name, values in mcmc.get_samples(group_by_chain=True).items()}
    return {
        "learning_rate: Intercept": drawn["rate_mean"],
        "temperature: Intercept": drawn["middle"] - drawn["half"],
        "temperature: group[T.b]": 2 * drawn["half"],
        "sd of learning_rate": drawn["sd"][..., 0],
        "sd of temperature": drawn["sd"][..., 1],
    }


def test_means_and_sds_agree_within_monte_carlo_error() -> None:
    choices = in_conditions(16, horizon=40)
    settings = {"chains": CHAINS, "draws": DRAWS, "warmup": 1000}
    fit = xl.fit(choices, AGENT, "nuts", effects="temperature ~ group", space=SPACE, n_starts=2, progress=False, **settings)
    posterior = fit["posterior"].to_dataset()
    ours = {str(name): posterior["effects"].sel(effect=name).values for name in posterior["effect"].values}
    ours |= {f"sd of {name}": posterior["group_sd"].sel(latent=name).values for name in posterior["latent"].values}
    theirs = posterior_by_hand(choices)
    assert ours.keys() == theirs.keys()
    for name, a in ours.items():
        b = theirs[name]
        for measure, method in ((np.mean, "mean"), (np.std, "sd")):
            error = np.hypot(*(array_stats.mcse(x, chain_axis=0, draw_axis=1, method=method) for x in (a, b)))
            assert abs(measure(a) - measure(b)) < 4 * error, (name, method, measure(a), measure(b), float(error))
    table = xl.effects(fit).set_index(["parameter", "effect"])
    told = table.loc[("temperature", "group[T.b]")]
    assert told.estimate == pytest.approx(ours["temperature: group[T.b]"].mean())
    assert told.standard_error == pytest.approx(ours["temperature: group[T.b]"].std(), rel=1e-3)

"""Measure hierarchical Bayes on the paper's task: seconds until 400 effective draws of the group and 200 of every person.

`bench/people.py` runs each measurement in a process of its own. The peer is a delta rule written by hand in NumPyro, as one
finds it in tutorials (non-centred, NUTS, chains together), on the same choices as our own delta rule.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from explorelab.choices.table import Choices

BLOCKS, HORIZON = 2, 90
GROUP, PEOPLE = 400, 200
"""Effective draws that are promised of every parameter of the group, and of everyone's."""
DELTA = {"free": ["learning_rate", "temperature"], "fixed": {"prior_mean": 50.0}}


def population(n: int) -> Choices:
    """n simulated people on the paper's task, each with two blocks of 90 choices among 100 squares."""
    import explorelab as xl

    rng = np.random.default_rng(0)
    params = {
        "prior_mean": rng.normal(60, 20, n),
        "prior_var": np.exp(rng.normal(np.log(100), 0.7, n)),
        "length_scale": np.exp(rng.normal(np.log(3), 0.4, n)),
        "temperature": np.exp(rng.normal(np.log(2), 0.4, n)),
    }
    agent = xl.agents.stochastic_ucl(prior_mean=60, prior_var=100, length_scale=3, temperature=2)
    blank = xl.blank_choices(xl.tasks.landscape("B"), n, BLOCKS, HORIZON)
    return xl.simulate_choices(blank, agent, params, seed=0, progress=False)


def measure_bayes(n: int) -> dict[str, Any]:
    """The paper's model by `bayes`."""
    return _ours(n, "stochastic-ucl", "bayes")


def measure_nuts(n: int) -> dict[str, Any]:
    """The paper's model by `nuts`: a few draws, for what each costs."""
    return _ours(n, "stochastic-ucl", "nuts", chains=2, draws=40, warmup=40, on_failure="warn")


def measure_delta(n: int) -> dict[str, Any]:
    """A delta rule by `bayes`, to be compared with the peer."""
    return _ours(n, "delta-rule", "bayes", **DELTA)


def _ours(n: int, agent: str, method: Any, **settings: Any) -> dict[str, Any]:
    import warnings

    import explorelab as xl

    choices, load = population(n), os.getloadavg()[0]
    began, processor = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xl.ConvergenceWarning)
        tree = xl.fit(choices, agent, method, progress=False, **settings)
    found = {"people": n, "seconds": time.perf_counter() - began, "processor_s": time.process_time() - processor}
    measures, stats = tree["convergence"].to_dataset(), tree["sample_stats"].to_dataset()
    group = [measures[name] for name in ("group_mean", "group_sd")]
    people = [measures[name] for name in tree["space"].to_dataset()["parameter"].values]
    found |= {
        "load": load,
        "draws": int(stats["diverging"].size),
        "r_hat": max(float(x.sel(measure="r_hat").max()) for x in group + people),
    }
    found |= {
        name: min(float(x.sel(measure="ess_bulk").min()) for x in of) for name, of in (("group", group), ("persons", people))
    }
    found["accepted"] = float(stats["accepted"].mean()) if "accepted" in stats else float("nan")
    return found


def measure_peer(n: int) -> dict[str, Any]:
    """A delta rule with softmax by hand in NumPyro, sampled by its NUTS."""
    import jax
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from arviz_stats.base import array_stats
    from numpyro.infer import MCMC, NUTS

    choices = population(n)
    who, sd = jnp.asarray(choices.participant), float(choices.reward.std())

    def model(arm: Any, reward: Any) -> None:
        mean = numpyro.sample("mean", dist.Normal(0, 1).expand([2]))
        spread = numpyro.sample("sd", dist.HalfNormal(1.0).expand([2]))
        e = numpyro.sample("e", dist.Normal(0, 1).expand([n, 2]))
        rate = numpyro.deterministic("rate", jax.nn.sigmoid(mean[0] + spread[0] * e[:, 0]))
        temperature = numpyro.deterministic("temperature", 0.5 * sd * jnp.exp(mean[1] + spread[1] * e[:, 1]))

        def block(rate: Any, temperature: Any, arms: Any, rewards: Any) -> Any:
            def trial(value: Any, seen: Any) -> Any:
                chosen, got = seen
                said = jax.nn.log_softmax(value / temperature)[chosen]
                return value.at[chosen].add(rate * (got - value[chosen])), said

            return jax.lax.scan(trial, jnp.full(choices.layout.n_arms, 50.0), (arms, rewards))[1].sum()

        numpyro.factor("choices", jax.vmap(block)(rate[who], temperature[who], arm, reward).sum())

    load, began, processor = os.getloadavg()[0], time.perf_counter(), time.process_time()
    with jax.enable_x64(True):
        mcmc = MCMC(
            NUTS(model), num_warmup=1000, num_samples=1000, num_chains=4, chain_method="vectorized", progress_bar=False
        )
        mcmc.run(jax.random.key(0), jnp.asarray(choices.arm), jnp.asarray(choices.reward))
        drawn = {name: np.asarray(x) for name, x in mcmc.get_samples(group_by_chain=True).items()}
    found = {
        "people": n,
        "seconds": time.perf_counter() - began,
        "processor_s": time.process_time() - processor,
        "draws": 4000,
        "load": load,
    }

    def worst(names: tuple[str, ...], diagnose: Any) -> list[float]:
        return [
            float(diagnose(drawn[name].reshape(4, 1000, -1)[..., i]))
            for name in names
            for i in range(drawn[name][0, 0].size)
        ]

    def ess(x: np.ndarray) -> float:
        return array_stats.ess(x, chain_axis=0, draw_axis=1, method="bulk")

    def rhat(x: np.ndarray) -> float:
        return array_stats.rhat(x, chain_axis=0, draw_axis=1)

    group, people = ("mean", "sd"), ("rate", "temperature")
    return found | {
        "group": min(worst(group, ess)),
        "persons": min(worst(people, ess)),
        "r_hat": max(worst(group + people, rhat)),
    }


def lines(results: dict[str, Any]) -> list[str]:
    """The section of the page."""
    rows = [
        (results.get("bayes"), "stochastic-ucl, four parameters, `bayes`"),
        (results.get("delta"), "delta rule, two parameters, `bayes`"),
        (results.get("peer"), "delta rule by hand in NumPyro, NUTS"),
    ]
    told = [
        f"| {label} | {one['seconds']:.0f} | {one['processor_s']:.0f} | {one['draws']} | {one['group']:.0f} "
        f"| {one['persons']:.0f} | {one['r_hat']:.4f} | {one['load']:.0f} |"
        for one, label in rows
        if one
    ]
    if not told:
        return []
    n = next(one["people"] for one, _ in rows if one)
    text = [
        "## Hierarchical Bayes",
        "",
        f"`python -m bench.people`: {n} simulated people, two blocks of 90 choices among 100 squares, four chains; the",
        "first fit by empirical Bayes and compiling included. Promised: "
        f"{GROUP} effective draws of the group, {PEOPLE} of every person.",
        "",
        "| | seconds | processor s | draws | fewest effective: group | person | largest R-hat | load |",
        "|---|---|---|---|---|---|---|---|",
        *told,
        "",
    ]
    if (slow := results.get("nuts")) and (fast := results.get("bayes")):
        text += [
            f"NUTS alone took {slow['processor_s']:.0f} s of processor time for {slow['draws']} draws of the paper's model, "
            f"with as many steps of warm-up, `bayes` {fast['processor_s']:.0f} s for {fast['draws']}.",
            "",
        ]
    return text

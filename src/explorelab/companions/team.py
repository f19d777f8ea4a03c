"""Simulated teams of a person and an adviser, to see whom advice helps, how much, and how much it could at best.

The adviser is the one that advises people. It sees choices and rewards, estimates the person from a group of others, and
knows neither the task's means nor the person's parameters. Everything random is drawn once for each simulated person, so
that teams differ in nothing but the advice.

Regret is the expected one: on every trial, that of the suggested arm with the probability that the person follows, and that
of each arm with the probability that they choose it by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from explorelab._support import checks
from explorelab._support.door import door
from explorelab._support.parallel import cores, in_order
from explorelab._support.progress import Progress
from explorelab._support.written_numbers import JsonObject
from explorelab.agents import Agent, playing
from explorelab.agents.factors import Params, Rule, prepared
from explorelab.agents.named.ucl import stochastic_ucl
from explorelab.agents.playing import Playing, Seen
from explorelab.choices.table import NOWHERE, Layout
from explorelab.companions.advice import POLICIES, Adviser, adviser_for
from explorelab.companions.expert import prior_for
from explorelab.companions.live import begun
from explorelab.companions.posterior import Settings
from explorelab.companions.sampling import points as compiled
from explorelab.companions.scene import Scene, scene_on
from explorelab.errors import InputError
from explorelab.fitting.likelihood import ways_of
from explorelab.regret import paper_people
from explorelab.tasks import Task, landscape
from explorelab.tasks.noise import noise_kind
from explorelab.tasks.task import PROFILES

PLACES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "linear": lambda rng, n: np.zeros(n),
    "power": lambda rng, n: rng.uniform(size=n),
    "log": lambda rng, n: np.ones(n),
}
"""Where each kind of person lies between the paper's linear (0) and logarithmic agent (1)."""
FITTED = "fitted"
"""The kind of people that are drawn from a fit's group."""
INTERVAL = 1.959964
ALONE = {"none": 0.0, "expert": 1.0}
"""The probability of following with which nobody advises, and the adviser plays alone."""


class _Person(NamedTuple):
    """A simulated person, and all the chance in their block."""

    rule: Rule
    ready: Params
    uniform: np.ndarray
    """trial x 2: for their own choice, and for whether they follow."""
    noise: np.ndarray
    number: int


class _Block(NamedTuple):
    """What became of a team."""

    regret: float
    silent: float
    """Share of trials without a suggestion."""
    follow: float
    """The adviser's last estimate of the probability of following; NaN if it makes none."""


class _Job(NamedTuple):
    kind: str
    policy: str
    follow: float
    number: int


@door
def simulate_team(
    task: Task,
    *,
    people: xr.DataTree | None = None,
    policies: Sequence[str] = ("impersonal", "personal"),
    follow: Sequence[float] = (0.3, 0.6, 0.9),
    n_people: int = 20,
    horizon: int = 90,
    group: xr.DataTree | None = None,
    expert: Agent | None = None,
    n_points: int = 64,
    seed: int = 0,
    progress: bool | None = None,
) -> xr.Dataset:
    """Simulate people who play with and without advice, and return everybody's regret.

    The result has `regret` over kind, follow, policy and person; beside the policies asked for, policy "none" is the person
    alone, and "oracle" an adviser that knows the best arm and always suggests it: a bound for what advice can do. `mean` and
    `standard_error` are over people; `vs_none` and `vs_impersonal` are paired differences in per cent, with 95 % intervals
    from `_low` to `_high`; `silent` is the share of trials without a suggestion; `expert_alone` the regret of the adviser
    playing by itself.

    Parameters
    ----------
    task
        Task that is played. Advisers never see its means.
    people
        Fit by "em" or "nuts" from whose group people are drawn; by default people of the paper's three phenotypes: its
        linear agent, its logarithmic agent, and between them, with every parameter scattered by about 20 %.
    policies
        Policies of advice to compare.
    follow
        Probabilities with which people follow a suggestion.
    n_people
        Number of simulated people of each kind.
    horizon
        Number of choices of each.
    group
        Fit by "em" or "nuts" that tells the companion what people are like; by default `people`, or the weak prior of `fit`.
    expert
        Agent whose beliefs the adviser starts from; by default deterministic UCL with the prior of the task's family: mean,
        variance and length scale of landscapes A and B for one of the paper's, otherwise of the task itself.
    n_points
        Number of points that carry the companion's posterior.
    seed
        Same seed, same result.
    progress
        Whether to show a progress bar; by default only on a terminal.
    """
    names = _checked_policies(policies)
    chances = [float(checks.scalar("follow", each, at_least=0, at_most=1)) for each in follow]
    n = checks.whole("n_people", n_people, at_least=2, at_most=checks.MANY)
    horizon = checks.whole("horizon", horizon, at_least=1, at_most=checks.MANY)
    settings = Settings(n_points=checks.whole("n_points", n_points, at_least=8, at_most=2**20))
    seed = checks.whole("seed", seed, at_least=0)
    if task.moves is not None or task.costs is not None:
        raise InputError("teams play tasks without a graph of moves or costs.")
    crowd = _crowd(task, people, n, horizon, seed)
    scene = scene_on(task, None, group if group is not None else people, horizon)
    advise = partial(_adviser, task, expert if expert is not None else _family_expert(task), scene, settings, horizon)
    kinds = list(crowd)
    jobs = [_Job(kind, policy, chance, i) for kind in kinds for policy in names for chance in chances for i in range(n)]
    jobs = [*_alone(kinds, n), *jobs]
    with Progress("simulating teams", len(jobs), progress) as bar:
        blocks = dict(zip(jobs, _counted(in_order(partial(_play, task, crowd, advise), jobs, cores()), bar), strict=True))
    return _result(blocks, kinds, names, chances, n, {"task": task.name, "horizon": horizon, "n": n, "seed": seed})


def _checked_policies(policies: Sequence[str]) -> list[str]:
    names = [policies] if isinstance(policies, str) else list(policies)
    for name in names:
        checks.one_of("advice policy", name, POLICIES)
    return [*dict.fromkeys(name for name in names if name != "none"), "oracle"]


def _alone(kinds: list[str], n: int) -> list[_Job]:
    """The jobs in which the person, or the adviser, is alone."""
    jobs = [_Job(kind, "none", ALONE["none"], i) for kind in kinds for i in range(n)]
    return jobs + [_Job(kinds[0], "impersonal", ALONE["expert"], i) for i in range(n)]


def _counted(blocks: Iterator[_Block], bar: Progress) -> Iterator[_Block]:
    for block in blocks:
        bar.advance()
        yield block


# People and advisers --------------------------------------------------------------------------------------------------


def _crowd(task: Task, people: xr.DataTree | None, n: int, horizon: int, seed: int) -> dict[str, list[_Person]]:
    """The people of each kind."""
    kinds = list(PLACES) if people is None else [FITTED]
    crowd = {}
    for k, kind in enumerate(kinds):
        rng = np.random.default_rng(np.random.SeedSequence([seed, 11, k]))
        if people is None:
            rule, ready = _phenotypes(task, PLACES[kind](rng, n), rng, horizon)
        else:
            rule, ready = _drawn(task, people, n, rng, horizon)
        crowd[kind] = [
            _Person(rule, jax.tree.map(lambda x, i=i: x[i], ready), *_chance(task, rng, horizon), i) for i in range(n)
        ]
    return crowd


def _chance(task: Task, rng: np.random.Generator, horizon: int) -> tuple[np.ndarray, np.ndarray]:
    draw = noise_kind(task.noise.kind).draw
    return rng.uniform(size=(horizon, 2)), np.array([draw(task.noise.scale, rng) for _ in range(horizon)])


def _phenotypes(task: Task, place: np.ndarray, rng: np.random.Generator, horizon: int) -> tuple[Rule, Params]:
    """People at these places between the paper's two agents, each parameter multiplied by exp(0.2 g), g standard normal."""
    rule = stochastic_ucl(prior_mean=30, prior_var=1000, length_scale=1, temperature=4).rule
    values = {
        name: paper_people.on_the_line(name, place) * np.exp(paper_people.SCATTER * rng.standard_normal(len(place)))
        for name in paper_people.ENDS
    }
    fixed = {**_credibility(), "noise_var": float(task.noise.var), "horizon": float(horizon), "n_arms": float(task.n_arms)}
    if task.places is None:
        raise InputError(f"the paper's people need arms with places, but {task.name} has none.")
    with jax.enable_x64(True):
        ways = ways_of(_layout(task))
        ready = jax.vmap(lambda one: prepared(rule, {**fixed, **one}, ways))(jax.tree.map(jnp.asarray, values))
    return rule, jax.tree.map(lambda x: np.broadcast_to(x, (len(place), *x.shape)) if x.ndim == 0 else np.asarray(x), ready)


def _credibility() -> dict[str, float]:
    params = stochastic_ucl().params
    return {name: float(params[name]) for name in ("credibility_scale", "credibility_power")}


def _drawn(task: Task, fit: xr.DataTree, n: int, rng: np.random.Generator, horizon: int) -> tuple[Rule, Params]:
    """People from the group of a fit."""
    scene = scene_on(task, None, fit, horizon)
    group = scene.numbers.group
    with jax.enable_x64(True):
        z = rng.multivariate_normal(np.asarray(group.mean), np.asarray(group.covariance), size=n)
        ready = compiled.begun(scene.model, scene.numbers, z).ready
    return scene.model.rule, jax.tree.map(np.asarray, ready)


def _layout(task: Task) -> Layout:
    return Layout(task.n_arms, task.places, float(task.noise.var), name=task.name)


def _family_expert(task: Task) -> Agent:
    """UCL with the prior of the family that the task belongs to, as far as it is known."""
    family = [landscape(name) for name in PROFILES]
    ours = task.n_arms == family[0].n_arms and any(np.array_equal(task.means, one.means) for one in family)
    return prior_for(family if ours else [task])


def _adviser(task: Task, expert: Agent, scene: Scene, settings: Settings, horizon: int, policy: str, number: int) -> Adviser:
    mind = None
    if POLICIES[policy].personal:
        mind = begun(scene, settings._replace(seed=number), horizon)
    return adviser_for(policy, expert, _layout(task), float(task.noise.var), horizon, mind)


# A block --------------------------------------------------------------------------------------------------------------


def _play(task: Task, crowd: dict[str, list[_Person]], advise: Callable[[str, int], Adviser], job: _Job) -> _Block:
    """One team's block."""
    person = crowd[job.kind][job.number]
    adviser = advise(job.policy, job.number) if job.policy in POLICIES else None
    gaps, n_arms, best = task.gaps, task.n_arms, int(np.argmax(task.means))
    with jax.enable_x64(True):
        state = _begun(person.rule, n_arms, person.ready)
    position, regret, n_silent = NOWHERE, 0.0, 0
    for t, ((own_chance, follow_chance), noise) in enumerate(zip(person.uniform, person.noise, strict=True), start=1):
        advised = best if adviser is None else adviser.suggest().arm
        state, probs = _thought(person, n_arms, state, t, position)
        follow = 0.0 if advised is None else job.follow
        regret += (1 - follow) * float(probs @ gaps) + (follow * gaps[advised] if advised is not None else 0.0)
        n_silent += advised is None
        arm = min(int(np.searchsorted(np.cumsum(probs), own_chance * probs.sum())), n_arms - 1)
        if advised is not None and follow_chance < follow:
            arm = advised
        reward = float(task.means[arm] + noise)
        with jax.enable_x64(True):
            state = _learned(person.rule, person.ready, state, np.int32(arm), np.float64(reward))
        position = arm
        if adviser is not None:
            adviser = adviser.observe(arm, reward, advised=advised)
    known = np.nan if adviser is None or adviser.mind is None else adviser.mind.follow_probability
    return _Block(regret, n_silent / len(person.noise), known)


def _thought(person: _Person, n_arms: int, state: Playing, t: int, position: int) -> tuple[Playing, np.ndarray]:
    """The person with room for trial t, and the probability with which they choose each arm by themselves."""
    learner = person.rule.learner
    until = playing.room_for(learner, n_arms, t)
    with jax.enable_x64(True):
        if t > 1 and until != playing.room_for(learner, n_arms, t - 1):
            state = _with_room(person.rule, until, person.ready, state)
        return state, np.asarray(_probs(person.rule, person.ready, state, np.int32(t), np.int32(position)))


@partial(jax.jit, static_argnames=("rule", "n_arms"))
def _begun(rule: Rule, n_arms: int, ready: Params) -> Playing:
    return playing.begun(rule, ready, n_arms)


@partial(jax.jit, static_argnames=("rule", "until"))
def _with_room(rule: Rule, until: int, ready: Params, state: Playing) -> Playing:
    return playing.with_room(rule, ready, state, until)


@partial(jax.jit, static_argnames="rule")
def _probs(rule: Rule, ready: Params, state: Playing, t: jax.Array, position: jax.Array) -> jax.Array:
    return jnp.exp(playing.log_probs(rule, ready, state, t, position, None))


@partial(jax.jit, static_argnames="rule")
def _learned(rule: Rule, ready: Params, state: Playing, arm: jax.Array, reward: jax.Array) -> Playing:
    return playing.learned(rule, ready, state, None, Seen(arm, arm, reward, jnp.bool_(True)))


# The result -----------------------------------------------------------------------------------------------------------


def _result(
    blocks: dict[_Job, _Block], kinds: list[str], names: list[str], chances: list[float], n: int, about: dict[str, object]
) -> xr.Dataset:
    def gather(part: str) -> np.ndarray:
        def of(kind: str, chance: float, policy: str) -> list[float]:
            follow = ALONE["none"] if policy == "none" else chance
            return [getattr(blocks[_Job(kind, policy, follow, i)], part) for i in range(n)]

        return np.array(
            [[[of(kind, chance, policy) for policy in ("none", *names)] for chance in chances] for kind in kinds]
        )

    axes = ("kind", "follow", "policy", "person")
    alone = [blocks[_Job(kinds[0], "impersonal", ALONE["expert"], i)].regret for i in range(n)]
    found = xr.Dataset(
        {
            "regret": (axes, gather("regret"), {"long_name": "expected regret"}),
            "silent": (axes, gather("silent"), {"long_name": "share of trials without a suggestion"}),
            "follow_estimate": (axes, gather("follow"), {"long_name": "estimated probability of following"}),
            "expert_alone": ("person", alone, {"long_name": "expected regret of the adviser alone"}),
        },
        coords={"kind": kinds, "follow": chances, "policy": ["none", *names]},
        attrs=about,
    )
    found["mean"], found["standard_error"] = (
        found.regret.mean("person"),
        found.regret.std("person", ddof=1) / np.sqrt(n),
    )
    for base in ("none", "impersonal"):
        if base in found.policy.values:
            found = found.assign(_differences(found.regret, base))
    return found


def _differences(regret: xr.DataArray, base: str) -> dict[str, xr.DataArray]:
    """Difference of means in per cent of the base's, paired by person, with its 95 % interval (delta method)."""
    reference = regret.sel(policy=base, drop=True)
    ratio = regret.mean("person") / reference.mean("person")
    n = regret.sizes["person"]
    error = (regret - ratio * reference).std("person", ddof=1) / np.sqrt(n) / reference.mean("person")
    middle, wide = 100 * (ratio - 1), 100 * INTERVAL * error
    return {f"vs_{base}": middle, f"vs_{base}_low": middle - wide, f"vs_{base}_high": middle + wide}


def team_summary(result: xr.Dataset) -> JsonObject:
    """The result as plain numbers: a row for each kind of person, probability of following and policy."""
    teams = []
    for kind, follow, policy in product(*(result[axis].values for axis in ("kind", "follow", "policy"))):
        at = result.sel(kind=kind, follow=follow, policy=policy)
        row = {"kind": str(kind), "follow": float(follow), "policy": str(policy)}
        row |= {"regret": float(at["mean"]), "standard_error": float(at.standard_error), "silent": float(at.silent.mean())}
        for base in ("none", "impersonal"):
            if f"vs_{base}" in result:
                row[f"vs_{base}"] = [float(at[f"vs_{base}{end}"]) for end in ("", "_low", "_high")]
        teams.append(row)
    return {**result.attrs, "expert_alone": float(result.expert_alone.mean()), "teams": teams}

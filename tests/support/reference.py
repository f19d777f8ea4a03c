"""The paper's four algorithms in plain Python, straight from its pseudocode (appendix F), to hold the package against.

Nothing of the package is used but its random numbers (`shared_noise`), so that both play the same game. Everything is
float64, nothing is incremental: a belief is worked out from the whole history each time. Arms count from 0. Where the
printed pseudocode slips (blocks one too long; which arm a path starts from), the corrected reading is taken.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import jax
import jax.numpy as jnp
import numpy as np

from explorelab.simulation import chance
from explorelab.tasks.noise import noise_kind

K = math.sqrt(2 * math.pi * math.e)


# The game -------------------------------------------------------------------------------------------------------------


@dataclass
class Noise:
    """The random numbers of one replicate, one of each kind for every time."""

    reward: np.ndarray
    """Standard normal."""
    decision: np.ndarray
    """Uniform on (0, 1)."""
    cost: np.ndarray
    """Uniform on (0, 1)."""


def shared_noise(seed: int, replicate: int, horizon: int) -> Noise:
    """What the package's simulator draws in double precision for this replicate at times 1 .. horizon."""
    with jax.enable_x64(True):
        times = jnp.arange(1, horizon + 1, dtype=jnp.uint32)
        drawn = _drawn(jnp.asarray(chance.keys_from(seed)), jnp.uint32(replicate), times)
        return Noise(*(np.asarray(x) for x in drawn))


@jax.jit
def _drawn(keys, replicate, times):
    dtype = jnp.dtype("float64")

    def at(t):
        reward, decision = chance.bits_at(keys, chance.REWARD_AND_CHOICE, replicate, t)
        cost, _ = chance.bits_at(keys, chance.COST_AND_MORE, replicate, t)
        noise = noise_kind("gaussian").quantile(1.0, chance.uniform(reward, dtype))
        return noise, chance.uniform(decision, dtype), chance.uniform(cost, dtype)

    return jax.vmap(at)(times)


@dataclass
class Game:
    """A bandit being played: what was chosen and what came of it."""

    means: np.ndarray
    noise_sd: float
    noise: Noise
    horizon: int
    arms: list[int]
    rewards: list[float]

    @property
    def over(self) -> bool:
        return len(self.arms) == self.horizon

    @property
    def tau(self) -> int:
        """The time of the next choice, from 1."""
        return len(self.arms) + 1

    @property
    def uniform(self) -> float:
        """The random number that belongs to a decision made now."""
        return float(self.noise.decision[self.tau - 1])

    def pull(self, arm: int) -> None:
        self.rewards.append(float(self.means[arm] + self.noise_sd * self.noise.reward[self.tau - 1]))
        self.arms.append(arm)


def new_game(means, noise_sd: float, noise: Noise, horizon: int) -> Game:
    return Game(np.asarray(means, float), noise_sd, noise, horizon, [], [])


def regret(game: Game) -> np.ndarray:
    """Running expected regret."""
    return np.array([game.means.max() - game.means[i] for i in game.arms]).cumsum()


def observed_regret(game: Game) -> np.ndarray:
    """Running best mean less the rewards received."""
    return np.array([game.means.max() - r for r in game.rewards]).cumsum()


def moves_of(game: Game, start: int | None) -> list[tuple[int, int, int]]:
    """(index of the time, from, to) of every change of arm; the first choice is one only where there is a start."""
    before = [start, *game.arms[:-1]]
    return [(t, a, b) for t, (a, b) in enumerate(zip(before, game.arms, strict=True)) if a is not None and a != b]


def transitions(game: Game, start: int | None = None) -> np.ndarray:
    """Running number of changes of arm."""
    count = np.zeros(game.horizon, int)
    for t, _, _ in moves_of(game, start):
        count[t] += 1
    return count.cumsum()


def transition_cost(game: Game, mean_cost, kind: str = "fixed", start: int | None = None) -> np.ndarray:
    """Running cost of the changes of arm: at its mean, exponential, or uniform between 0 and twice the mean."""
    cost = np.zeros(game.horizon)
    for t, a, b in moves_of(game, start):
        u = game.noise.cost[t]
        cost[t] = mean_cost[a][b] * {"fixed": 1.0, "exponential": -math.log(u), "uniform": 2 * u}[kind]
    return cost.cumsum()


# Beliefs --------------------------------------------------------------------------------------------------------------

type Beliefs = Callable[[list[int], list[float]], tuple[np.ndarray, np.ndarray]]
"""From the arms and rewards so far to the mean and standard deviation of every arm's mean reward."""


def independent(n_arms: int, prior_mean, prior_var, noise_var: float) -> Beliefs:
    """(delta^2 mu_0 + n m) / (delta^2 + n) and sigma_s / sqrt(delta^2 + n), delta^2 = sigma_s^2 / sigma_0^2."""
    mu_0, sigma_0_squared = np.broadcast_to(prior_mean, n_arms), np.broadcast_to(prior_var, n_arms)

    def beliefs(arms, rewards):
        mean, sd = np.empty(n_arms), np.empty(n_arms)
        for i in range(n_arms):
            seen = [r for a, r in zip(arms, rewards, strict=True) if a == i]
            n, total = len(seen), math.fsum(seen)
            delta_squared = 0.0 if math.isinf(sigma_0_squared[i]) else noise_var / sigma_0_squared[i]
            if delta_squared + n == 0:
                mean[i], sd[i] = mu_0[i], math.inf
            else:
                mean[i] = (delta_squared * mu_0[i] + total) / (delta_squared + n)
                sd[i] = math.sqrt(noise_var) / math.sqrt(delta_squared + n)
        return mean, sd

    return beliefs


def conditioned(prior_mean, prior_cov, noise_var: float) -> Beliefs:
    """Gaussian conditioning on all that was seen, afresh each time: fine for a singular prior too."""
    cov = np.asarray(prior_cov, float)
    mu_0 = np.broadcast_to(np.asarray(prior_mean, float), len(cov))

    def beliefs(arms, rewards):
        if not arms:
            return mu_0.copy(), np.sqrt(np.diag(cov))
        cross = cov[:, arms]
        of_rewards = cov[np.ix_(arms, arms)] + noise_var * np.eye(len(arms))
        weights = np.linalg.solve(of_rewards, cross.T).T
        mean = mu_0 + weights @ (np.array(rewards) - mu_0[arms])
        return mean, np.sqrt(np.maximum(np.diag(cov) - (weights * cross).sum(1), 0))

    return beliefs


def kernel_covariance(places, prior_var: float, length_scale: float) -> np.ndarray:
    """prior_var exp(-distance / length_scale), by plain loops."""
    n = len(places)
    cov = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            cov[i, j] = prior_var * math.exp(-math.dist(places[i], places[j]) / length_scale)
    return cov


# Limits and choices ---------------------------------------------------------------------------------------------------


def credible_limits(beliefs: Beliefs, game: Game, a: float = 1.0, scale: float = K) -> np.ndarray:
    """Q_i = mean + sd * Phi^-1(1 - 1/(K tau^a)), infinite where the sd is."""
    mean, sd = beliefs(game.arms, game.rewards)
    quantile = -NormalDist().inv_cdf(1 / (scale * game.tau**a))
    return np.array([math.inf if math.isinf(s) else m + s * quantile for m, s in zip(mean, sd, strict=True)])


def best_arm(q: np.ndarray, ties: str, uniform: float) -> int:
    """The lowest-numbered best arm, or the k-th of n best arms with k = floor(u n)."""
    best = [i for i, value in enumerate(q) if value == max(q)]
    return best[0] if ties == "lowest" else best[math.floor(uniform * len(best))]


def temperature(q: np.ndarray, tau: int, cooling: str, rate: float) -> float:
    """Constant, nu / log t, or Delta Q_min / (2 log t) with 0/0 = 1, x/0 = inf and inf - inf = 0."""
    if cooling == "constant":
        return rate
    if cooling == "log":
        return rate / math.log(tau) if tau > 1 else math.inf
    pairs = [(q[i], q[j]) for i in range(len(q)) for j in range(i)]
    gap = min((0.0 if x == y else abs(x - y) for x, y in pairs), default=0.0)
    if tau == 1:
        return 1.0 if gap == 0 else math.inf
    return gap / (2 * math.log(tau))


def boltzmann_probabilities(q: np.ndarray, v: float) -> np.ndarray:
    """exp(Q_i / v), normalised; v = 0 is the best arms alone, and infinite limits come before all others."""
    top = max(q)
    if math.isinf(top) or v == 0:
        weight = np.array([float(x == top) for x in q])
    else:
        weight = np.array([math.exp((x - top) / v) for x in q])
    return weight / weight.sum()


def inverse_draw(probabilities: np.ndarray, uniform: float) -> int:
    """The first arm at which the cumulative probability reaches the uniform number."""
    reached = 0.0
    for i, p in enumerate(probabilities):
        reached += p
        if p > 0 and reached >= uniform:
            return i
    return int(np.flatnonzero(probabilities)[-1])


# The four algorithms --------------------------------------------------------------------------------------------------


def deterministic_ucl(game: Game, beliefs: Beliefs, ties: str = "lowest", a: float = 1.0, scale: float = K) -> Game:
    while not game.over:
        game.pull(best_arm(credible_limits(beliefs, game, a, scale), ties, game.uniform))
    return game


def stochastic_ucl(game: Game, beliefs: Beliefs, cooling: str, rate: float = 1.0, a: float = 1.0, scale: float = K) -> Game:
    while not game.over:
        q = credible_limits(beliefs, game, a, scale)
        v = temperature(q, game.tau, cooling, rate)
        game.pull(inverse_draw(boltzmann_probabilities(q, v), game.uniform))
    return game


def frame_blocks(horizon: int):
    """(k, length) of every block that begins within the horizon: frame k holds 2^(k-1) choices in blocks of k."""
    for k in range(1, horizon.bit_length() + 1):
        n_blocks = math.ceil(2 ** (k - 1) / k)
        for r in range(1, n_blocks + 1):
            tau = 2 ** (k - 1) + (r - 1) * k
            yield k, k if 2**k - tau >= k else 2**k - tau


def block_ucl(game: Game, beliefs: Beliefs, ties: str = "lowest", a: float = 1.0, scale: float = K) -> Game:
    for _, length in frame_blocks(game.horizon):
        if game.over:
            break
        goal = best_arm(credible_limits(beliefs, game, a, scale), ties, game.uniform)
        for _ in range(length):
            if not game.over:
                game.pull(goal)
    return game


def graphical_block_ucl(
    game: Game, beliefs: Beliefs, edges: dict, start: int = 0, ties: str = "lowest", a: float = 1.0, scale: float = K
) -> Game:
    """`edges[i, j]` is the length of the edge from i to j."""
    between = shortest_paths(edges, len(game.means))
    position = start
    for _, length in frame_blocks(game.horizon):
        if game.over:
            break
        goal = best_arm(credible_limits(beliefs, game, a, scale), ties, game.uniform)
        for arm in [*between[position, goal], *[goal] * length]:
            if not game.over:
                game.pull(arm)
        position = game.arms[-1]
    return game


def shortest_paths(edges: dict, n_arms: int) -> dict[tuple[int, int], list[int]]:
    """The intermediate arms on the way from i to j; among shortest paths, the one with the lowest next arm each time."""
    distance = {(i, j): 0.0 if i == j else edges.get((i, j), math.inf) for i in range(n_arms) for j in range(n_arms)}
    for via in range(n_arms):
        for i in range(n_arms):
            for j in range(n_arms):
                distance[i, j] = min(distance[i, j], distance[i, via] + distance[via, j])
    paths = {}
    for i in range(n_arms):
        for j in range(n_arms):
            here, path = i, []
            while here != j:
                nexts = (k for k in range(n_arms) if (here, k) in edges)
                here = next(k for k in nexts if edges[here, k] + distance[k, j] == distance[here, j])
                path.append(here)
            paths[i, j] = path[:-1]
    return paths

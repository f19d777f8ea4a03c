"""The floor: the same work as loops hand-written for it alone, compiled by Numba on all cores, and in NumPy.

Each returns what `simulate` returns for the regret: its mean and standard error over replicates at the recorded times.

There are several versions of the loop, because only measurement shows which is fastest:

- *plain*: one replicate after another, NumPy's generator as Numba offers it, in float64 or in float32 with fast maths.
- *own generator*: the same loop with xoroshiro128+ and the ziggurat in place of Numba's Mersenne twister.
- *abreast*: 128 replicates in lockstep, arranged for the vector unit, with normal numbers by a polynomial.

The first is what anyone would write; the other two are what a day of tuning this one algorithm buys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from scipy.special import ndtri

from bench.work import CREDIBILITY_SCALE, LENGTH_SCALE, PLACES, PRIOR_MEAN, PRIOR_VAR, Work

CHUNK = 128
"""Replicates that one core handles at a time."""


def _chunks(replicates: int) -> tuple[int, int]:
    """Replicates per chunk and number of chunks, such that all cores have work even with few replicates."""
    size = min(CHUNK, -(-replicates // numba.get_num_threads()))
    return size, -(-replicates // size)


class Statistics(NamedTuple):
    """Statistics over replicates at each recorded time."""

    mean: np.ndarray
    se: np.ndarray


type Floor = Callable[[Work, np.ndarray, int, int], Statistics]
"""(work, times, replicates, seed) -> regret."""


def quantiles(horizon: int, dtype: Any) -> np.ndarray:
    """Phi^-1(1 - 1/(K t)) for t = 1 .. horizon, once for all replicates."""
    return (-ndtri(1 / (CREDIBILITY_SCALE * np.arange(1, horizon + 1)))).astype(dtype)


def _statistics(total: np.ndarray, squares: np.ndarray, replicates: int) -> Statistics:
    mean = total.sum(axis=0) / replicates
    var = (squares.sum(axis=0) - replicates * mean**2) / max(replicates - 1, 1)
    return Statistics(mean, np.sqrt(np.maximum(var, 0) / replicates))


# A generator of normal numbers: xoroshiro128+ (Blackman & Vigna 2018), ziggurat of 128 layers (Marsaglia & Tsang 2000) --

_TAIL = 3.442619855899
_U64 = np.uint64


def _ziggurat() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    area, scale = 9.91256303526217e-3, 2.0**31
    edge = previous = _TAIL
    base = area / math.exp(-0.5 * edge * edge)
    inside, width, height = np.zeros(128, np.int64), np.zeros(128), np.zeros(128)
    inside[0], width[0], width[127] = int(edge / base * scale), base / scale, edge / scale
    height[0], height[127] = 1.0, math.exp(-0.5 * edge * edge)
    for i in range(126, 0, -1):
        edge = math.sqrt(-2 * math.log(area / edge + math.exp(-0.5 * edge * edge)))
        inside[i + 1], previous = int(edge / previous * scale), edge
        height[i], width[i] = math.exp(-0.5 * edge * edge), edge / scale
    return inside, width, height


_INSIDE, _WIDTH, _HEIGHT = _ziggurat()


@numba.njit(inline="always")
def _word(state: np.ndarray) -> Any:
    a, b = state[0], state[1]
    word = _U64(a + b)
    b ^= a
    state[0] = _U64((a << _U64(24)) | (a >> _U64(40))) ^ b ^ _U64(b << _U64(16))
    state[1] = _U64((b << _U64(37)) | (b >> _U64(27)))
    return word


@numba.njit
def _uniform(state: np.ndarray) -> float:
    return ((_word(state) >> _U64(11)) + 0.5) * 2.0**-53


@numba.njit
def _rarely(state: np.ndarray, signed: int, layer: int) -> float:
    """The one draw in fifty that falls outside the inner rectangle of its layer."""
    while True:
        x = signed * _WIDTH[layer]
        if layer == 0:
            while True:
                beyond = -math.log(_uniform(state)) / _TAIL
                if -2 * math.log(_uniform(state)) >= beyond * beyond:
                    return _TAIL + beyond if signed > 0 else -_TAIL - beyond
        if _HEIGHT[layer] + _uniform(state) * (_HEIGHT[layer - 1] - _HEIGHT[layer]) < math.exp(-0.5 * x * x):
            return x
        word = _word(state)
        signed, layer = np.int64(np.int32(word >> _U64(32))), np.int64(word & _U64(127))
        if abs(signed) < _INSIDE[layer]:
            return signed * _WIDTH[layer]


@numba.njit(inline="always")
def _normal(state: np.ndarray) -> float:
    word = _word(state)
    signed, layer = np.int64(np.int32(word >> _U64(32))), np.int64(word & _U64(127))
    if abs(signed) < _INSIDE[layer]:
        return signed * _WIDTH[layer]
    return _rarely(state, signed, layer)


@numba.njit
def _state(seed: int) -> np.ndarray:
    """Two words of state by splitmix64."""
    state = np.empty(2, np.uint64)
    x = _U64(seed) * _U64(0x9E3779B97F4A7C15)
    for i in range(2):
        x = _U64(x + _U64(0x9E3779B97F4A7C15))
        y = _U64((x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9))
        y = _U64((y ^ (y >> _U64(27))) * _U64(0x94D049BB133111EB))
        state[i] = y ^ (y >> _U64(31))
    return state


# Independent arms -----------------------------------------------------------------------------------------------------


def independent(dtype: Any, fastmath: bool, own_generator: bool) -> Floor:
    """UCL with an uninformative prior, one replicate after the other."""
    one, never_seen = dtype(1), dtype(1e30)

    @numba.njit(parallel=True, fastmath=fastmath, error_model="numpy")
    def chunks(means, noise_sd, quantile, times, replicates, size, n_chunks, seed):
        n_arms, n_times = means.size, times.size
        gaps = means.max() - means
        total, squares = np.zeros((n_chunks, n_times)), np.zeros((n_chunks, n_times))
        for chunk in numba.prange(n_chunks):
            state = _state(seed * n_chunks + chunk)
            np.random.seed(np.int64(state[0] & _U64(0x7FFFFFFF)))  # noqa: NPY002 (the one that Numba has)
            mean, width, count = np.empty(n_arms, dtype), np.empty(n_arms, dtype), np.empty(n_arms, dtype)
            for _ in range(min(size, replicates - chunk * size)):
                mean[:], width[:], count[:] = 0, never_seen, 0
                regret, t = 0.0, 0
                for m in range(n_times):
                    while t < times[m]:
                        z = quantile[t]
                        best, arm = mean[0] + width[0] * z, 0
                        for i in range(1, n_arms):
                            value = mean[i] + width[i] * z
                            if value > best:
                                best, arm = value, i
                        noise = _normal(state) if own_generator else np.random.normal()  # noqa: NPY002
                        reward = means[arm] + noise_sd * dtype(noise)
                        n = count[arm] + one
                        count[arm] = n
                        mean[arm] += (reward - mean[arm]) / n
                        width[arm] = noise_sd / dtype(math.sqrt(n))
                        regret += gaps[arm]
                        t += 1
                    total[chunk, m] += regret
                    squares[chunk, m] += regret * regret
        return total, squares

    def play(work: Work, times: np.ndarray, replicates: int, seed: int) -> Statistics:
        task = work.means.astype(dtype), dtype(work.noise_sd), quantiles(work.horizon, dtype)
        total, squares = chunks(*task, times, replicates, *_chunks(replicates), seed)
        return _statistics(total, squares, replicates)

    return play


def independent_abreast() -> Floor:
    """The same with a whole chunk of replicates in lockstep: every inner loop runs over replicates, in vectors.

    The number of replicates must be a multiple of CHUNK.
    """
    f32, i32, u32 = np.float32, np.int32, np.uint32

    @numba.njit(parallel=True, fastmath={"contract", "nsz", "arcp"}, error_model="numpy")
    def chunks(means, noise_sd, quantile, times, n_chunks, seed):
        n_arms, n_times = means.size, times.size
        top = means.max()
        total, squares = np.zeros((n_chunks, n_times)), np.zeros((n_chunks, n_times))
        for chunk in numba.prange(n_chunks):
            mean, width = np.zeros((n_arms, CHUNK), f32), np.full((n_arms, CHUNK), f32(1e30))
            count = np.zeros((n_arms, CHUNK), f32)
            best, arm, regret = np.empty(CHUNK, f32), np.empty(CHUNK, i32), np.zeros(CHUNK)
            bits, signed = np.empty(CHUNK, u32), np.empty(CHUNK, f32)
            floats, noise = np.empty(CHUNK, f32), np.empty(CHUNK, f32)
            words = floats.view(np.int32)
            power = np.empty(CHUNK, f32)
            state = _state(seed * n_chunks + chunk)
            for r in range(CHUNK):
                bits[r] = u32(_word(state) >> _U64(32)) | u32(1)
            t = 0
            for m in range(n_times):
                while t < times[m]:
                    z = quantile[t]
                    for r in range(CHUNK):
                        best[r], arm[r] = mean[0, r] + width[0, r] * z, 0
                    for i in range(1, n_arms):
                        for r in range(CHUNK):
                            value = mean[i, r] + width[i, r] * z
                            better = value > best[r]
                            best[r] = value if better else best[r]
                            arm[r] = i if better else arm[r]
                    # A uniform number in (-1, 1) from 23 bits of a 32-bit xorshift, and 1 - u^2.
                    for r in range(CHUNK):
                        x = bits[r]
                        x ^= u32(x << u32(13))
                        x ^= x >> u32(17)
                        x ^= u32(x << u32(5))
                        bits[r] = x
                        signed[r] = (f32(i32(x >> u32(9))) + f32(0.5)) * f32(2.0**-22) - f32(1)
                        floats[r] = (f32(1) - signed[r]) * (f32(1) + signed[r])
                    # log(1 - u^2): exponent and mantissa apart, the mantissa's by a polynomial (Cephes).
                    for r in range(CHUNK):
                        power[r] = f32((words[r] >> i32(23)) - i32(127))
                        words[r] = (words[r] & i32(0x7FFFFF)) | i32(0x3F800000)
                    for r in range(CHUNK):
                        large = floats[r] > f32(1.41421356)
                        x = (floats[r] * f32(0.5) if large else floats[r]) - f32(1)
                        p = f32(7.0376836292e-2)
                        p = p * x - f32(1.1514610310e-1)
                        p = p * x + f32(1.1676998740e-1)
                        p = p * x - f32(1.2420140846e-1)
                        p = p * x + f32(1.4249322787e-1)
                        p = p * x - f32(1.6668057665e-1)
                        p = p * x + f32(2.0000714765e-1)
                        p = p * x - f32(2.4999993993e-1)
                        p = p * x + f32(3.3333331174e-1)
                        exponent = power[r] + (f32(1) if large else f32(0))
                        power[r] = -(x * x * x * p - f32(0.5) * x * x + x + exponent * f32(0.69314718))
                    # The inverse error function in single precision (Giles 2010).
                    for r in range(CHUNK):
                        w = max(power[r], f32(0))
                        near, far = w - f32(2.5), f32(math.sqrt(w)) - f32(3)
                        p = f32(2.81022636e-08)
                        p = f32(3.43273939e-07) + p * near
                        p = f32(-3.5233877e-06) + p * near
                        p = f32(-4.39150654e-06) + p * near
                        p = f32(0.00021858087) + p * near
                        p = f32(-0.00125372503) + p * near
                        p = f32(-0.00417768164) + p * near
                        p = f32(0.246640727) + p * near
                        p = f32(1.50140941) + p * near
                        q = f32(-0.000200214257)
                        q = f32(0.000100950558) + q * far
                        q = f32(0.00134934322) + q * far
                        q = f32(-0.00367342844) + q * far
                        q = f32(0.00573950773) + q * far
                        q = f32(-0.0076224613) + q * far
                        q = f32(0.00943887047) + q * far
                        q = f32(1.00167406) + q * far
                        q = f32(2.83297682) + q * far
                        noise[r] = f32(1.41421356) * signed[r] * (p if w < f32(5) else q)
                    for r in range(CHUNK):
                        a = arm[r]
                        n = count[a, r] + f32(1)
                        count[a, r] = n
                        mean[a, r] += (means[a] + noise_sd * noise[r] - mean[a, r]) / n
                        width[a, r] = noise_sd / f32(math.sqrt(n))
                        regret[r] += top - means[a]
                    t += 1
                for r in range(CHUNK):
                    total[chunk, m] += regret[r]
                    squares[chunk, m] += regret[r] * regret[r]
        return total, squares

    def play(work: Work, times: np.ndarray, replicates: int, seed: int) -> Statistics:
        means, quantile = work.means.astype(f32), quantiles(work.horizon, f32)
        total, squares = chunks(means, f32(work.noise_sd), quantile, times, replicates // CHUNK, seed)
        return _statistics(total, squares, replicates)

    return play


def independent_numpy(work: Work, times: np.ndarray, replicates: int, seed: int) -> Statistics:
    """UCL in NumPy, all replicates at once."""
    rng = np.random.default_rng(seed)
    quantile, everyone = quantiles(work.horizon, float), np.arange(replicates)
    mean, width = np.zeros((replicates, len(work.means))), np.full((replicates, len(work.means)), np.inf)
    count, regret = np.zeros((replicates, len(work.means))), np.zeros(replicates)
    gaps, wanted, record = work.means.max() - work.means, set(times.tolist()), []
    for t in range(1, work.horizon + 1):
        arm = (mean + width * quantile[t - 1]).argmax(axis=1)
        n = count[everyone, arm] + 1
        count[everyone, arm] = n
        reward = work.means[arm] + work.noise_sd * rng.standard_normal(replicates)
        mean[everyone, arm] += (reward - mean[everyone, arm]) / n
        width[everyone, arm] = work.noise_sd / np.sqrt(n)
        regret += gaps[arm]
        if t in wanted:
            record.append((regret.mean(), regret.std(ddof=1) / math.sqrt(replicates)))
    return Statistics(*np.array(record).T)


# Correlated arms ------------------------------------------------------------------------------------------------------


def prior_covariance() -> np.ndarray:
    """Exponential kernel over the 10 x 10 grid."""
    distances = np.sqrt(((PLACES[:, None] - PLACES[None]) ** 2).sum(axis=-1))
    return PRIOR_VAR * np.exp(-distances / LENGTH_SCALE)


def correlated(dtype: Any, fastmath: bool, rows_at_once: int) -> Floor:
    """UCL with a correlated prior in rows form: the posterior covariance is the prior's minus one outer product per step.

    `rows_at_once` is how many rows are subtracted in one pass over the arms: 1 is the plain way, 4 saves loads and stores.
    """

    @numba.njit(parallel=True, fastmath=fastmath, error_model="numpy")
    def chunks(means, noise_var, cov, quantile, times, replicates, size, n_chunks, seed):
        n_arms, n_times, horizon = means.size, times.size, quantile.size
        gaps, noise_sd = means.max() - means, dtype(math.sqrt(noise_var))
        total, squares = np.zeros((n_chunks, n_times)), np.zeros((n_chunks, n_times))
        for chunk in numba.prange(n_chunks):
            state = _state(seed * n_chunks + chunk)
            mean, var, column = np.empty(n_arms, dtype), np.empty(n_arms, dtype), np.empty(n_arms, dtype)
            rows = np.empty((horizon, n_arms), dtype)
            for _ in range(min(size, replicates - chunk * size)):
                for i in range(n_arms):
                    mean[i], var[i] = dtype(PRIOR_MEAN), cov[i, i]
                regret, t = 0.0, 0
                for m in range(n_times):
                    while t < times[m]:
                        z = quantile[t]
                        best, arm = mean[0] + dtype(math.sqrt(var[0])) * z, 0
                        for i in range(n_arms):
                            column[i] = mean[i] + dtype(math.sqrt(var[i])) * z
                        for i in range(1, n_arms):
                            if column[i] > best:
                                best, arm = column[i], i
                        reward = means[arm] + noise_sd * dtype(_normal(state))
                        for i in range(n_arms):
                            column[i] = cov[arm, i]
                        whole = t // rows_at_once * rows_at_once if rows_at_once == 4 else 0
                        for k in range(0, whole, 4):
                            a, b, c, d = rows[k, arm], rows[k + 1, arm], rows[k + 2, arm], rows[k + 3, arm]
                            for i in range(n_arms):
                                first, second = a * rows[k, i] + b * rows[k + 1, i], c * rows[k + 2, i] + d * rows[k + 3, i]
                                column[i] -= first + second
                        for k in range(whole, t):
                            a = rows[k, arm]
                            for i in range(n_arms):
                                column[i] -= a * rows[k, i]
                        scale = dtype(1) / dtype(math.sqrt(noise_var + var[arm]))
                        surprise = (reward - mean[arm]) * scale
                        for i in range(n_arms):
                            row = column[i] * scale
                            rows[t, i] = row
                            mean[i] += row * surprise
                            var[i] = max(var[i] - row * row, dtype(0))
                        regret += gaps[arm]
                        t += 1
                    total[chunk, m] += regret
                    squares[chunk, m] += regret * regret
        return total, squares

    def play(work: Work, times: np.ndarray, replicates: int, seed: int) -> Statistics:
        task = work.means.astype(dtype), dtype(work.noise_sd**2), prior_covariance().astype(dtype)
        total, squares = chunks(*task, quantiles(work.horizon, dtype), times, replicates, *_chunks(replicates), seed)
        return _statistics(total, squares, replicates)

    return play


def correlated_numpy(work: Work, times: np.ndarray, replicates: int, seed: int) -> Statistics:
    """The same in NumPy, all replicates at once."""
    rng = np.random.default_rng(seed)
    cov, quantile, everyone = prior_covariance(), quantiles(work.horizon, float), np.arange(replicates)
    mean = np.full((replicates, len(work.means)), PRIOR_MEAN)
    var = np.tile(np.diag(cov), (replicates, 1))
    rows = np.zeros((replicates, work.horizon, len(work.means)))
    gaps, wanted, record, regret = work.means.max() - work.means, set(times.tolist()), [], np.zeros(replicates)
    for t in range(work.horizon):
        arm = (mean + np.sqrt(var) * quantile[t]).argmax(axis=1)
        reward = work.means[arm] + work.noise_sd * rng.standard_normal(replicates)
        seen = rows[:, :t]
        column = cov[arm] - np.matmul(seen[everyone, :, arm][:, None], seen)[:, 0]
        scale = 1 / np.sqrt(work.noise_sd**2 + var[everyone, arm])
        row = column * scale[:, None]
        rows[:, t] = row
        mean += row * ((reward - mean[everyone, arm]) * scale)[:, None]
        var = np.maximum(var - row**2, 0)
        regret += gaps[arm]
        if t + 1 in wanted:
            record.append((regret.mean(), regret.std(ddof=1) / math.sqrt(replicates)))
    return Statistics(*np.array(record).T)


PLAIN_INDEPENDENT: dict[str, Floor] = {
    "float64": independent(np.float64, False, False),
    "float32, fast maths": independent(np.float32, True, False),
}
TUNED_INDEPENDENT: dict[str, Floor] = {
    "own generator, float64": independent(np.float64, False, True),
    "own generator, float32, fast maths": independent(np.float32, True, True),
    "128 replicates abreast, float32": independent_abreast(),
}
PLAIN_CORRELATED: dict[str, Floor] = {
    "float64": correlated(np.float64, False, 1),
    "float32, fast maths": correlated(np.float32, True, 1),
}
TUNED_CORRELATED: dict[str, Floor] = {
    "four rows at once, float64, fast maths": correlated(np.float64, True, 4),
    "four rows at once, float32, fast maths": correlated(np.float32, True, 4),
}

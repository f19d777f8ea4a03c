"""Divide the work to fit a device: batches for the cache, tiles for memory and for progress."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import jax

from explorelab._support.parallel import cores
from explorelab.agents.factors import AnyBelief, Params, Rule, Ways, prepared
from explorelab.errors import InputError
from explorelab.simulation.engine import Plan, stages
from explorelab.simulation.ordered_sums import UNIT

CACHE_NUMBERS = 163_840
"""Numbers that a batch's beliefs may hold to fit a CPU core's cache: 16 correlated beliefs of 100 arms, 512 independent."""

WIDEST_BATCH = 2048
"""Wider batches gain nothing."""

GPU_UNIT = 4096
"""Replicates summed together first on a GPU, where sending many small sums back takes longer than computing them."""

TILE_NUMBERS = 1e9
"""Work of one tile, in numbers touched; about a second, so progress moves, interrupts are heeded and calls cost little."""


@dataclass(frozen=True)
class Cut:
    """How many replicates are run together."""

    batch: int | None
    """Replicates advanced in lockstep; None for the whole tile (on a GPU)."""
    unit: int
    """Replicates summed together first."""
    tile: int
    """Replicates in one compiled call: a multiple of the unit."""
    workers: int
    """Calls that run at once."""


def find_device(name: str) -> jax.Device:
    """The JAX device of this kind ("cpu", "gpu"), or whatever JAX prefers ("auto")."""
    if name == "auto":
        return jax.devices()[0]
    try:
        if not isinstance(name, str):
            raise RuntimeError
        return jax.devices(name)[0]
    except RuntimeError:
        present = ", ".join(sorted({d.platform for d in jax.devices()} | {"cpu"}))
        raise InputError(f'device must be "auto" or one that JAX finds here ({present}), got {name!r}.') from None


def working_memory(device: jax.Device, default: int) -> int:
    """Bytes to work in: half of a GPU's own memory, the default on a CPU."""
    stats = device.memory_stats() if device.platform != "cpu" else None
    return stats["bytes_limit"] // 2 if stats else default


def cut(
    rule: Rule,
    plan: Plan,
    belief_numbers: int,
    n_settings: int,
    replicates: int,
    budget_bytes: int,
    device: jax.Device,
    elsewhere: bool = False,
) -> Cut:
    """The batch, unit, tile and workers for this work, given how many numbers a belief holds.

    If it is done `elsewhere`, by nobody knows how many workers, tiles are only as large as memory and patience allow.

    Batch and unit depend only on the work, never on the budget or the cores, so neither of these changes the results.
    """
    on_cpu = device.platform == "cpu"
    workers = cores() if on_cpu and not elsewhere else 1
    unit = min(UNIT if on_cpu else GPU_UNIT, _power_of_two_from(replicates))
    wide = min(CACHE_NUMBERS // belief_numbers, WIDEST_BATCH)
    batch = max(1, _power_of_two_up_to(min(wide, replicates // 2))) if on_cpu else None
    step = max(unit, batch or 1)
    by_memory = budget_bytes / (2 * workers * bytes_per_replicate(rule, plan, belief_numbers, n_settings, on_cpu))
    by_patience = TILE_NUMBERS / (plan.horizon * n_settings * belief_numbers) if on_cpu else math.inf
    largest = max(step, int(min(by_memory, by_patience, replicates)) // step * step)
    # Tiles have one size and each worker gets as many; surplus replicates in the last tile are played and discarded.
    n_tiles = math.ceil(math.ceil(replicates / largest) / workers) * workers
    tile = math.ceil(math.ceil(replicates / n_tiles) / step) * step
    return Cut(batch, unit, tile, min(workers, math.ceil(replicates / tile)))


def bytes_per_replicate(rule: Rule, plan: Plan, belief_numbers: int, n_settings: int, on_cpu: bool) -> int:
    """Memory that one replicate needs while its tile runs: for what it records, and on a GPU for its belief as well."""
    n_cuts = sum(len(cuts) for _, cuts in stages(rule, plan))
    number = 4 if plan.dtype == "float32" else 8
    recorded = n_cuts * (3 * 8 + 4) + 4 * plan.n_arms * (n_cuts if plan.visits_at_times else 1)
    recorded += (5 + number) * plan.horizon if plan.trajectories else 0
    # Recorded numbers briefly exist three times: as scanned, as gathered, and as they are summed.
    return n_settings * 3 * recorded + (0 if on_cpu else 3 * number * belief_numbers)


def numbers_in_belief(rule: Rule, plan: Plan, params: Params, ways: Ways) -> int:
    """Numbers in a replicate's belief when it is largest; only the shapes of the parameters and ways count."""
    leaves, structure = jax.tree.flatten((params, ways))
    return _numbers_in_belief(rule, plan, tuple(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves), structure)


@lru_cache
def _numbers_in_belief(
    rule: Rule, plan: Plan, shapes: tuple[jax.ShapeDtypeStruct, ...], structure: jax.tree_util.PyTreeDef
) -> int:
    # Cached, because many small simulations of one kind would otherwise spend much of their time here.
    learner = rule.learner

    def sizes(params: Params, ways: Ways) -> list[AnyBelief]:
        ready = prepared(rule, params, ways)
        beliefs = [learner.init(ready, plan.n_arms)]
        for end in learner.stages(plan.n_arms, plan.horizon):
            beliefs.append(learner.resize(ready, beliefs[-1], end))
        return beliefs[1:]

    with jax.enable_x64(True):
        largest = jax.eval_shape(sizes, *jax.tree.unflatten(structure, shapes))
    # The covariance of a correlated prior is shared by the batch, but whole rows of it are read at each step.
    return max(1, *(sum(leaf.size for leaf in jax.tree.leaves(belief)) for belief in largest))


def _power_of_two_up_to(n: int) -> int:
    return 1 << (int(n).bit_length() - 1) if n > 0 else 0


def _power_of_two_from(n: int) -> int:
    return 1 << (int(n) - 1).bit_length()

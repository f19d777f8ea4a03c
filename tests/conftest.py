"""Settings of all tests."""

import gc
import os
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tests.support.longest import LONGEST
from tests.support.study.postgres import MISSING, Cluster, cluster, programs

if TYPE_CHECKING:
    from tests.support.study.lab import Lab

# What one test, process, run or checkout has compiled, the others need not compile again. Set before JAX is imported.
COMPILED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "explorelab" / "tests"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

# What tests import and JAX traces are many objects that stay: to look through them all so often takes long.
gc.set_threshold(50_000, 20, 20)

MOST_MAPPINGS = 20_000
"""Linux gives a process 65 530; JAX crashes when there are none left."""

COMPILED_QUICKLY = pytest.StashKey[bool]()
"""Whether JAX may hold programs of a file marked `quick_programs`."""


COMPUTED_AT_IMPORT = pytest.StashKey[list[str]]()
"""The first file, if any, that computed something with JAX when it was imported, which every process of a run repeats."""


KEPT_FOR = 30 * 24 * 3600
"""Seconds after which a compiled program is deleted, and compiled again if it is still in use."""


def pytest_configure(config: pytest.Config) -> None:
    """Delete compiled programs that are old; one of several processes does."""
    if not hasattr(config, "workerinput"):
        for program in COMPILED.glob("*"):
            if time.time() - program.stat().st_mtime > KEPT_FOR:
                program.unlink(missing_ok=True)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Note which file computes something when it is imported."""
    report = yield
    found = collector.config.stash.setdefault(COMPUTED_AT_IMPORT, [])
    if not found and "jax" in sys.modules:
        from jax._src.xla_bridge import backends_are_initialized

        if backends_are_initialized():
            found.append(collector.nodeid)
    return report


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what is there already."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files of the study evenly among the others: they wait for servers and browsers while others compute.

    Among the others, those with quick programs come last: what is compiled for users serves them too, but not the reverse.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    study = [path for path in files if _of_the_study(path)]
    others = [path for path in files if path not in study]
    for group in (study, others):
        group.sort(key=_place_among_the_longest)
    others.sort(key=lambda path: files[path][0].get_closest_marker("quick_programs") is not None)
    places = {path: (i + 0.5) / len(group) for group in (study, others) for i, path in enumerate(group)}
    items[:] = [item for path in sorted(files, key=lambda path: places[path]) for item in files[path]]


@pytest.fixture(scope="module", autouse=True)
def _compiled_programs_fit_in_memory() -> Iterator[None]:
    """Between files, forget compiled programs once there are many: each holds several mappings of memory."""
    yield
    if "jax" in sys.modules and _mappings() > MOST_MAPPINGS:
        sys.modules["jax"].clear_caches()


@pytest.fixture(scope="module", autouse=True)
def _quick_programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """In a file marked `quick_programs`, XLA leaves out the passes that take longest; not in the commands that it starts.

    Elsewhere programs are those that users run: what was compiled quickly before is forgotten, unless the file is one of the
    study, which has little to compute. On disk, JAX tells the two apart.
    """
    if request.node.get_closest_marker("quick_programs") is None:
        if request.config.stash.get(COMPILED_QUICKLY, False) and not _of_the_study(request.path):
            sys.modules["jax"].clear_caches()
            request.config.stash[COMPILED_QUICKLY] = False
        yield
        return
    import jax

    request.config.stash[COMPILED_QUICKLY] = True
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture(scope="module", autouse=True)
def _tables_stay_as_they_are() -> Iterator[None]:
    """What the tests of one file add to the package's tables, those of the next do not find."""
    from explorelab.agents.parameters import _ADDED
    from explorelab.agents.registry import OWN
    from explorelab.agents.rules.habits import HABITS
    from explorelab.tasks.noise import NOISES

    with patch.dict(_ADDED), patch.dict(OWN), patch.dict(HABITS), patch.dict(NOISES):
        yield


def _place_among_the_longest(path: Path) -> int:
    name = path.relative_to(Path(__file__).parent).as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def _of_the_study(path: Path) -> bool:
    return "study" in path.relative_to(Path(__file__).parent).parts


def _mappings() -> int:
    """How many pieces of memory this process has mapped; 0 where nobody tells."""
    maps = Path("/proc/self/maps")
    return maps.read_bytes().count(b"\n") if maps.exists() else 0


@pytest.fixture
def computed_at_import(request: pytest.FixtureRequest) -> list[str]:
    """The first file, if any, that computed something when it was imported."""
    return request.config.stash[COMPUTED_AT_IMPORT]


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    """A PostgreSQL server of our own."""
    if programs() is None:
        pytest.skip(MISSING)
    with cluster() as running:
        yield running


@pytest.fixture
def lab(tmp_path: Path) -> Iterator["Lab"]:
    """A small study that is served."""
    from tests.support.study.lab import Lab
    from tests.support.study.small_study import small_study

    lab = Lab(small_study(), tmp_path)
    with lab.client:
        yield lab

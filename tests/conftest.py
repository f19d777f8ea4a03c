"""Settings of all tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tests.support.study.postgres import MISSING, Cluster, cluster, programs

if TYPE_CHECKING:
    from tests.support.study.lab import Lab

# What one test or worker has compiled, the others need not compile again. Set before JAX is imported.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")

MOST_MAPPINGS = 20_000
"""Linux gives a process 65 530; JAX crashes when there are none left."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spread the files of the study evenly among the others: they wait for servers and browsers while others compute."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    study = [path for path in files if "study" in path.relative_to(Path(__file__).parent).parts]
    others = [path for path in files if path not in study]
    places = {path: (i + 0.5) / len(group) for group in (study, others) for i, path in enumerate(group)}
    items[:] = [item for path in sorted(files, key=lambda path: places[path]) for item in files[path]]


@pytest.fixture(scope="module", autouse=True)
def _compiled_programs_fit_in_memory() -> Iterator[None]:
    """Between files, forget compiled programs once there are many: each holds several mappings of memory."""
    yield
    if "jax" in sys.modules and _mappings() > MOST_MAPPINGS:
        sys.modules["jax"].clear_caches()


@pytest.fixture(scope="module", autouse=True)
def _tables_stay_as_they_are() -> Iterator[None]:
    """What the tests of one file add to the package's tables, those of the next do not find."""
    from explorelab.agents.parameters import _ADDED
    from explorelab.agents.rules.habits import HABITS
    from explorelab.tasks.noise import NOISES

    with patch.dict(_ADDED), patch.dict(HABITS), patch.dict(NOISES):
        yield


def _mappings() -> int:
    """How many pieces of memory this process has mapped; 0 where nobody tells."""
    maps = Path("/proc/self/maps")
    return maps.read_bytes().count(b"\n") if maps.exists() else 0


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

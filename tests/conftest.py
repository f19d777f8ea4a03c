"""Settings of all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import MISSING, Cluster, cluster, programs

# What one test or worker has compiled, the others need not compile again. Set before JAX is imported.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")


@pytest.fixture(scope="session")
def server() -> Iterator[Cluster]:
    """A PostgreSQL server of our own."""
    if programs() is None:
        pytest.skip(MISSING)
    with cluster() as running:
        yield running

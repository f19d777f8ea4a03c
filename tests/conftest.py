"""Settings of all tests."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from postgres import MISSING, Cluster, cluster, programs

if TYPE_CHECKING:
    from study_lab import Lab

# What one test or worker has compiled, the others need not compile again. Set before JAX is imported.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parent.parent / ".pytest_cache" / "compiled"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")

TOGETHER = {
    "test_choice_rules", "test_compare", "test_hierarchical", "test_people_phenotypes", "test_recovery", "test_report",
    "test_reproduce", "test_study_admin_page", "test_study_attacks", "test_study_attacks_form", "test_study_browser",
    "test_study_export", "test_study_frame", "test_study_pilot",
}  # fmt: skip
"""Files whose tests share something that is slow to make: one process runs them all."""


@pytest.hookimpl(tryfirst=True)  # before the names of the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of some files together when several processes share the work (`--dist loadgroup`)."""
    for item in items:
        if item.path.stem in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


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
    from small_study import small_study
    from study_lab import Lab

    lab = Lab(small_study(), tmp_path)
    with lab.client:
        yield lab

"""Settings of the tests of laboratories."""

from collections.abc import Iterator

import pytest

from tests.support.study.cheap_starts import cheap_starts
from tests.support.town import Town, two_studies


@pytest.fixture(scope="session", autouse=True)
def _databases_and_passwords_cost_little() -> Iterator[None]:
    with cheap_starts():
        yield


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, _databases_and_passwords_cost_little: None) -> Iterator[Town]:
    """A laboratory with the studies "a" and "b" and its owner Olga."""
    with Town(tmp_path_factory.mktemp("laboratory") / "lab") as town:
        two_studies(town)
        yield town

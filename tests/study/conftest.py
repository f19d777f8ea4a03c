"""Settings of the tests of the study."""

from collections.abc import Iterator

import pytest

from tests.support.study.cheap_starts import cheap_starts


@pytest.fixture(scope="session", autouse=True)
def _databases_and_passwords_cost_little() -> Iterator[None]:
    with cheap_starts():
        yield

"""Settings of the tests of laboratories."""

from collections.abc import Iterator

import pytest

from explorelab.study.admin.entry import passwords
from tests.support.town import Town, two_studies


@pytest.fixture(scope="module", autouse=True)
def _passwords_are_hashed_soon() -> Iterator[None]:
    """Hundreds of logins, of which none is guessed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHING_COST", 2)
        yield


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, _passwords_are_hashed_soon: None) -> Iterator[Town]:
    """A laboratory with the studies "a" and "b" and its owner Olga."""
    with Town(tmp_path_factory.mktemp("laboratory") / "lab") as town:
        two_studies(town)
        yield town

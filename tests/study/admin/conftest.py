"""Settings of the tests of the researcher's page."""

from collections.abc import Iterator

import pytest

from explorelab.study.admin.entry import passwords


@pytest.fixture(scope="module", autouse=True)
def _passwords_are_hashed_soon() -> Iterator[None]:
    """Hundreds of logins, of which none is guessed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHING_COST", 2)
        yield

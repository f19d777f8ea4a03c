"""Three whole studies from consent to the code, by mouse, on a phone and by keyboard, without a barrier on any screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sqlalchemy import select

import explorelab as xl
from explorelab.study.admin.offline import export
from explorelab.study.database import tables
from explorelab.study.server.serve import serving
from tests.support.study.browser import Study, chromium
from tests.support.study.hands import WAYS, Way, person
from tests.support.study.taking_part import take_part
from tests.support.study.three_studies import STUDIES

AXE = (Path(__file__).parents[3] / "page" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], tuple[Study, Path]]]:
    running: dict[str, tuple[Study, Path, object]] = {}

    def serve(name: str) -> tuple[Study, Path]:
        if name not in running:
            folder = tmp_path_factory.mktemp(name) / "study"
            STUDIES[name].write(folder)
            server = serving(folder)
            running[name] = (Study(folder, server.__enter__()), folder, server)
        return running[name][:2]

    yield serve
    for study, _, server in running.values():
        study.close()
        server.__exit__(None, None, None)  # type: ignore[attr-defined]


def look_for_barriers(page: Page, found: dict[str, list[str]]) -> Callable[[str], None]:
    """A function that looks at each screen once."""

    def look(screen: str) -> None:
        if screen not in found:
            page.evaluate(AXE)
            found[screen] = page.evaluate("async () => (await axe.run()).violations.map(v => v.id + ': ' + v.nodes[0].html)")

    return look


QUICK = ("bandit", "keys")
"""The one that says most is in the everyday run."""


@pytest.mark.parametrize(
    ("name", "way"),
    [pytest.param(name, way, marks=[] if (name, way) == QUICK else pytest.mark.slow) for name in STUDIES for way in WAYS],
)
def test_a_whole_study(
    served: Callable[[str], tuple[Study, Path]], browser: Browser, tmp_path: Path, name: str, way: Way
) -> None:
    (study, folder), whole = served(name), STUDIES[name]
    barriers: dict[str, list[str]] = {}
    with person(browser, way, "de-DE" if name == "bandit" else "en-GB") as page:
        chosen = take_part(page, way, study.url, whole, look_for_barriers(page, barriers))
        assert page.problems == []  # type: ignore[attr-defined]
        assert page.locator("#completion-code").inner_text().startswith("THANKS42")
    assert barriers == {screen: [] for screen in barriers}
    assert {"consent", "ready", "play", "debriefing", "finished"} <= set(barriers)
    someone = study.rows(tables.people)[-1]
    kept = [row for row in study.choices() if row.person == someone.id]
    assert someone.stage == "finished"
    assert len(chosen) == len(kept) == whole.n_choices
    # On busy cores a choice may come after its deadline.
    assert all(row.missed or row.goal == arm for arm, row in zip(chosen, kept, strict=True))
    with study._engine.connect() as connection:
        told = connection.execute(select(tables.answers).where(tables.answers.c.person == someone.id)).all()
    assert len(told) >= sum(len(answers) for answers in whole.right.values())
    export(folder, tmp_path / "data", "without", "with")
    files = [task.with_suffix(".csv") for task in (tmp_path / "data").glob("choices*.toml")]
    assert files
    for file in files:
        assert xl.check_choices(file).choices is not None, file

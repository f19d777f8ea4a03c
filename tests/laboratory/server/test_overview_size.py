"""The researcher's list with twenty studies and ten thousand people: in a second, and little memory for a study more."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest
from sqlalchemy import insert

from explorelab.laboratory.accounts.roles import Role
from explorelab.laboratory.hosting.hosted_studies import HostedStudies
from explorelab.study.database.tables import people
from tests.support.study.people_rows import PERSON
from tests.support.town import Town

pytestmark = pytest.mark.slow

STUDIES, EACH = 20, 500


def memory_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * resource.getpagesize() / 2**20


def fill(hosted: HostedStudies, name: str, now: float) -> None:
    study = hosted.get(name)
    assert study is not None
    assert study.store is not None
    stages = ("finished", "play", "consent", "withdrawn")
    rows = [
        {**PERSON, "code": f"{k}", "identity": f"{k}", "stage": stages[k % 4], "seen_at": now - k, "pilot": k % 10 == 0}
        for k in range(EACH)
    ]
    with study.store.engine.begin() as connection:
        connection.execute(insert(people), rows)


def test_twenty_studies_with_ten_thousand_people_are_listed_in_a_second(tmp_path: Path) -> None:
    with Town(tmp_path / "lab") as town:
        olga = town.join("olga", Role.OWNER)
        sizes = []
        for k in range(STUDIES):
            olga.ok("/lab/api/studies", {"name": f"study-{k}"})
            sizes.append(memory_mib())
            fill(town.hosted, f"study-{k}", town.clock.now)
        took = []
        for _ in range(5):
            wall, began = time.perf_counter(), time.process_time()
            shown = olga.told("/lab/api/studies")["studies"]
            took.append((time.process_time() - began, time.perf_counter() - wall))
        assert sum(each["n_people"] + each["n_pilots"] for each in shown) == STUDIES * EACH
        assert all(each["n_active"] > 0 for each in shown)
        grown = (sizes[-1] - sizes[4]) / (STUDIES - 5)
        cpu = min(each for each, _ in took)
        print(f"processor {cpu:.3f} s, {grown:.1f} MiB a study")
        assert cpu < 1.0
        assert max(wall for _, wall in took) < 5.0
        assert grown < 20

"""The researcher's page: what it says against plain recounts, deletion, and download."""

from __future__ import annotations

import io
import json
import statistics
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student
from sqlalchemy import insert

from explorelab.regret.forms import fit_regret_curves
from explorelab.study.database.tables import blocks, choices, consents, deletions, events, payments, people
from explorelab.study.session.assignment import counts_of
from tests.support.study.people_rows import NOW, OWN, Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path, 40, pilots=6)
    desk.token = desk.log_in()  # type: ignore[attr-defined]
    yield desk
    desk.store.close()


def delete(desk: Desk, code: str, typed: str | None = None) -> Any:
    headers = {**OWN, "X-CSRF-Token": desk.token}  # type: ignore[attr-defined]
    return desk.client.post(f"/admin/api/people/{code}/delete", json={"code": typed or code}, headers=headers)


def place(desk: Desk, person: Any) -> str:
    """Where someone is, said once more."""
    if person.stage in ("finished", "declined", "withdrawn"):
        return str(person.stage)
    if desk.clock.now - person.seen_at > 7200:
        return "gone"
    if person.stage != "play":
        return str(person.stage)
    return "training" if person.block == 0 else "task"


@pytest.mark.parametrize("pilots", [False, True])
def test_numbers_are_those_of_a_plain_recount(desk: Desk, pilots: bool) -> None:
    told = desk.get(f"/admin/api/overview?pilots={pilots}")
    among = [person for person in desk.rows(people) if person.pilot == pilots]
    numbers = {person.id for person in among}
    made = [choice for choice in desk.rows(choices) if choice.person in numbers]
    places = Counter(place(desk, person) for person in among)
    totals = told["totals"]
    names = ("consent", "instructions", "training", "task", "debriefing", "finished", "declined", "withdrawn", "gone")
    assert {name: totals[name] for name in names} == {name: places[name] for name in names}
    assert sum(places.values()) == totals["arrived"] == len(among)
    agreed = {row.person for row in desk.rows(consents) if row.agreed}
    assert totals["consented"] == len(agreed & numbers)
    assert totals["choices"] == len(made)
    assert totals["choices_last_minute"] == sum(choice.received_at > NOW - 60 for choice in made)
    lasted = [person.finished_at - person.arrived_at for person in among if person.finished_at]
    assert totals["median_minutes_finished"] == pytest.approx(statistics.median(lasted) / 60, abs=0.051)
    assert (told["n_people"], told["n_pilots"]) == (40, 6)


def test_quality_is_that_of_a_plain_recount(desk: Desk) -> None:
    quality = desk.get("/admin/api/overview")["quality"]
    numbers = {person.id for person in desk.rows(people) if not person.pilot}
    made = [choice for choice in desk.rows(choices) if choice.person in numbers]
    players = sorted({choice.person for choice in made})
    happened = [each for each in desk.rows(events) if each.person in players]
    flags = Counter(flag for choice in made for flag in choice.flags.split())
    assert quality["flags"] == flags
    assert flags  # or nothing was tested
    assert quality["missed"] == sum(choice.missed for choice in made)
    assert quality["overrun_median_ms"] == pytest.approx(statistics.median(c.overrun_ms for c in made), abs=0.051)
    assert quality["overrun_max_ms"] == pytest.approx(max(c.overrun_ms for c in made), abs=0.051)
    timing = {(block.person, block.number): block.timing for block in desk.rows(blocks)}
    for each in quality["timings"]:
        of = [choice for choice in made if timing[choice.person, choice.block] == each["timing"]]
        assert (each["choices"], each["missed"]) == (len(of), sum(choice.missed for choice in of))
    kinds = {"focus_losses": {"blur"}, "hidden_pauses": {"hidden"}, "slow_network": {"slow", "offline", "retry"}}
    for name, those in kinds.items():
        count = Counter(each.person for each in happened if each.kind in those)
        assert quality[name] == count.total()
        (histogram,) = (each for each in quality["histograms"] if each["name"] == name)
        times = Counter(min(count[person], 3) for person in players)
        assert [*histogram["counts"][:3], sum(histogram["counts"][3:])] == [times[n] for n in range(4)]
    (overrun,) = (each for each in quality["histograms"] if each["name"] == "overrun")
    assert overrun["counts"][0] == sum(choice.overrun_ms < 5 for choice in made)
    assert overrun["counts"][-1] == sum(choice.overrun_ms >= 100 for choice in made)
    assert sum(overrun["counts"]) == len(made)


def regrets(desk: Desk) -> dict[tuple[int, int], list[float]]:
    """Observed regret of every task block of people, added up by hand."""
    pilots = {person.id for person in desk.rows(people) if person.pilot}
    found: dict[tuple[int, int], list[float]] = {}
    for block in desk.rows(blocks):
        if block.kind != "task" or block.person in pilots:
            continue
        best, total = max(desk.study.landscapes[block.landscape].means), 0.0
        curve = found.setdefault((block.person, block.number), [])
        mine = [choice for choice in desk.rows(choices) if (choice.person, choice.block) == (block.person, block.number)]
        for choice in sorted(mine, key=lambda choice: choice.trial):
            total += best - choice.reward
            curve.append(total)
    return found


def test_curves_of_regret_are_those_of_a_plain_recount(desk: Desk) -> None:
    of = {(block.person, block.number): block for block in desk.rows(blocks)}
    all_curves = regrets(desk)
    n_curves = 0
    for told in desk.get("/admin/api/overview")["curves"]:
        mine = [c for key, c in all_curves.items() if (of[key].dynamic, of[key].timing) == (told["dynamic"], told["timing"])]
        assert told["n_blocks"] == len(mine)
        assert told["n_finished"] == sum(len(curve) == desk.study.n_trials for curve in mine)
        n_curves += len(mine)
        total = 0.0
        for k in range(max(map(len, mine), default=0)):
            there = [curve for curve in mine if len(curve) > k]
            total += statistics.fmean(curve[k] - (curve[k - 1] if k else 0.0) for curve in there)
            assert told["n"][k] == len(there)
            assert told["mean"][k] == pytest.approx(total, abs=0.051)
            if len(there) < 3:
                assert told["low"][k] is told["high"][k] is None
            else:
                error = statistics.stdev(curve[k] for curve in there) / len(there) ** 0.5
                reach = student.ppf(0.975, len(there) - 1) * error
                assert told["high"][k] == pytest.approx(total + reach, abs=0.11)
                assert told["low"][k] == pytest.approx(total - reach, abs=0.11)
    assert n_curves == len(all_curves) > 30


def test_forms_are_those_that_the_library_fits(desk: Desk) -> None:
    of = {(block.person, block.number): block for block in desk.rows(blocks)}
    done = {key: curve for key, curve in regrets(desk).items() if len(curve) == desk.study.n_trials}
    label = {key: str(fit_regret_curves(np.array(curve))["label"].item()) for key, curve in done.items()}
    told = {each["dynamic"]: each for each in desk.get("/admin/api/overview")["phenotypes"]}
    assert set(told) == {"all", "standard", "neighbour", "travel"}
    for dynamic, each in told.items():
        mine = Counter(form for key, form in label.items() if dynamic in ("all", of[key].dynamic))
        assert {share["form"]: share["n"] for share in each["shares"]} == {f: mine[f] for f in ("linear", "power", "log")}
        assert each["n"] == mine.total()
        for share in each["shares"]:
            assert share["share"] == pytest.approx(mine[share["form"]] / mine.total())
            assert share["low"] <= share["share"] <= share["high"]
    assert [share["paper"] for share in told["all"]["shares"]] == [0.592, 0.193, 0.215]
    assert len(set(label.values())) > 1  # or the labels were not tested


def test_conditions_count_as_for_the_next_assignment(desk: Desk) -> None:
    told = {cell["name"]: cell["active"] + cell["finished"] for cell in desk.get("/admin/api/overview")["cells"]}
    with desk.store.engine.connect() as connection:
        assert told == counts_of(connection, desk.study, False, NOW)
    assert sum(told.values()) > 20


def test_people_one_by_one_are_those_of_a_plain_recount(desk: Desk) -> None:
    told = desk.get("/admin/api/people")
    assert told["full"]
    rows = {row[0]: dict(zip(told["columns"], row, strict=True)) for row in told["rows"]}
    made, happened = desk.rows(choices), desk.rows(events)
    for person in desk.rows(people):
        row = rows.pop(person.code)
        mine = [choice for choice in made if choice.person == person.id]
        assert row["place"] == place(desk, person)
        assert (row["source"], row["pilot"], row["cell"]) == (person.source, person.pilot, person.cell or "")
        assert row["choices"] == len(mine)
        assert row["missed"] == sum(choice.missed for choice in mine)
        assert row["trial"] == sum(choice.block == person.block for choice in mine)
        assert row["n_blocks"] == (3 if person.cell else 0)
        kinds = Counter(each.kind for each in happened if each.person == person.id)
        assert (row["focus_losses"], row["hidden_pauses"]) == (kinds["blur"], kinds["hidden"])
        flags = Counter(flag for choice in mine for flag in choice.flags.split())
        assert row["flags"] == " ".join(f"{flag} {n}" for flag, n in sorted(flags.items()))
    assert not rows


def test_one_person_in_detail(desk: Desk) -> None:
    person = next(row for row in desk.rows(people) if row.stage == "finished")
    with desk.store.engine.begin() as connection:
        connection.execute(insert(payments).values(person=person.id, batch="1", bonus=1.0, at=NOW))
        connection.execute(people.update().where(people.c.id == person.id).values(platform_id="WORKER-NAME"))
    told = desk.client.get(f"/admin/api/people/{person.code}")
    detail = told.json()
    assert [len(block["regret"]) for block in detail["blocks"]] == [5, 20, 20]
    for block in detail["blocks"][1:]:
        assert block["regret"] == pytest.approx(regrets(desk)[person.id, block["number"]], abs=0.051)
    assert detail["blocks"][0]["form"] is None
    assert detail["blocks"][1]["form"] == fit_regret_curves(np.array(regrets(desk)[person.id, 1]))["label"].item()
    assert detail["points"] == pytest.approx(sum(block["points"] for block in detail["blocks"][1:]), abs=0.2)
    assert (detail["in_payment_file"], detail["place"], detail["deleted"]) == (True, "finished", False)
    assert len(detail["events"]) == sum(each.person == person.id for each in desk.rows(events))
    assert "WORKER-NAME" not in told.text  # what platforms call people is for payment alone
    assert desk.client.get("/admin/api/people/nobody").status_code == 404


def test_deleting_a_person(desk: Desk) -> None:
    person = next(row for row in desk.rows(people) if row.stage == "finished")
    desk.get("/admin/api/overview")  # what was in memory must go too
    made = sum(choice.person == person.id for choice in desk.rows(choices))
    others = {t.name: [row for row in desk.rows(t) if row.person != person.id] for t in (choices, events, blocks, consents)}
    answer = delete(desk, person.code)
    assert (answer.status_code, answer.json()) == (200, {"code": person.code, "n_choices": made})
    for table in (choices, events, blocks, consents):
        assert desk.rows(table) == others[table.name]
    bare = next(row for row in desk.rows(people) if row.id == person.id)
    assert (bare.identity, bare.code, bare.stage) == (person.identity, person.code, "withdrawn")
    left = (bare.platform_id, bare.platform_session, bare.platform_study, bare.submit_to, bare.agent, bare.cell)
    assert left == (None,) * 6
    assert [(row.by, row.n_choices, row.at) for row in desk.rows(deletions)] == [("researcher", made, NOW)]
    totals = desk.get("/admin/api/overview")["totals"]
    assert totals["choices"] == sum(
        not row.pilot for row in desk.rows(people) for c in desk.rows(choices) if c.person == row.id
    )
    assert desk.get(f"/admin/api/people/{person.code}")["deleted"]
    again = delete(desk, person.code)
    assert (again.status_code, len(desk.rows(deletions))) == (409, 1)


def test_deleting_needs_the_code_typed(desk: Desk) -> None:
    one, other = desk.rows(people)[:2]
    before = desk.dump()
    for typed in ("", "x", one.code[:-1], one.code.upper() + "x", other.code):
        headers = {**OWN, "X-CSRF-Token": desk.token}  # type: ignore[attr-defined]
        answer = desk.client.post(f"/admin/api/people/{one.code}/delete", json={"code": typed}, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    assert delete(desk, "nobody").status_code == 404
    assert desk.dump() == before


def test_the_download_is_the_export_and_leaves_nothing_behind(desk: Desk) -> None:
    before = set(Path(tempfile.gettempdir()).glob("explorelab-export-*"))
    for pilots, n in (("without", 40), ("only", 6)):
        headers = {**OWN, "X-CSRF-Token": desk.token}  # type: ignore[attr-defined]
        answer = desk.client.post(f"/admin/api/export?pilots={pilots}", json={}, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
        assert 'filename="square-field-20270115-080000.zip"' in answer.headers["content-disposition"]
        archive = zipfile.ZipFile(io.BytesIO(answer.content))
        assert archive.testzip() is None
        (name,) = (name for name in archive.namelist() if name.endswith("_data.csv") and "participants" in name)
        told = archive.read(name).decode()
        exported = {row.code for row in desk.rows(people) if row.code in told}
        agreed = {row.code for row in desk.rows(people) if row.pilot == (n == 6) and row.cell and row.stage != "withdrawn"}
        assert agreed <= exported
        assert all(row.pilot == (n == 6) for row in desk.rows(people) if row.code in exported)
    assert set(Path(tempfile.gettempdir()).glob("explorelab-export-*")) == before


def test_a_study_changed_half_way_shows_people_as_they_were_promised(desk: Desk) -> None:
    person = next(row for row in desk.rows(people) if row.stage == "finished")
    promised = [block._asdict() for block in desk.study.plan(desk.study.cells[0])] * 2
    with desk.store.engine.begin() as connection:
        one = people.c.id == person.id
        changes = {
            "stage": "play",
            "block": 4,
            "plan": json.dumps(promised),
            "cell": "no-longer",
            "bonus": 1.23,
            "seen_at": NOW,
        }
        connection.execute(people.update().where(one).values(**changes))
        connection.execute(blocks.update().where(blocks.c.person == person.id).values(timing="former"))
    told = desk.get("/admin/api/people")
    row = next(dict(zip(told["columns"], row, strict=True)) for row in told["rows"] if row[0] == person.code)
    assert (row["place"], row["n_blocks"], row["n_trials"]) == ("task", 6, promised[4]["n_trials"])
    former = [each for each in desk.get("/admin/api/overview")["curves"] if each["timing"] == "former"]
    assert sum(each["n_blocks"] for each in former) == 2
    assert desk.get(f"/admin/api/people/{person.code}")["bonus"] == 1.23

"""Whatever pages a study has, and whatever people do: everyone comes to the end, each answer is kept once, and nothing is
skipped or shown twice."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorelab.study.database import tables
from tests.support.study.lab import Lab, Tab
from tests.support.study.own_pages import BEFORE, RIGHT, paged_study

ENTRIES = {
    "welcome": 'kind = "text"\nfile = "welcome.md"',
    "quiz": 'kind = "quiz"\nfile = "quiz.toml"\nattempts = 3\non_fail = "go-on"',
    "before": 'kind = "form"\nfile = "before.toml"',
    "after": 'kind = "form"\nfile = "after.toml"',
    "pause": 'kind = "break"\nname = "pause"\nseconds = 5',
    "score": 'kind = "score"\nname = "score"',
}
GAMERS = 'kind = "text"\nfile = "gamers.md"\nshow_if.before.gamer = "yes"'
ANSWERS: dict[str, Any] = {"quiz": RIGHT, "before": BEFORE, "after": {"fun": 3, "dull": 2}}
DEEDS = ("on", "on", "on", "reload", "repeat", "other tab", "other answers", "out of turn", "wrong")


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    order=st.permutations(list(ENTRIES)).flatmap(lambda all_: st.integers(1, 6).map(lambda n: all_[:n])),
    where=st.integers(0, 6), gamer=st.booleans(), deeds=st.lists(st.sampled_from(DEEDS), max_size=25),
)  # fmt: skip
def test_everyone_comes_to_the_end(order: list[str], where: int, gamer: bool, deeds: list[str]) -> None:
    entries = [ENTRIES[name] for name in order]
    entries += [GAMERS] if "before" in order else []
    entries.insert(where, 'kind = "blocks"')
    with tempfile.TemporaryDirectory() as folder:
        study = paged_study(Path(folder) / "files", "".join(f"[[pages]]\n{entry}\n" for entry in entries), n_task_blocks=1)
        lab = Lab(study, Path(folder))
        with lab.client:
            _take_part(lab, order, gamer, deeds)


def _take_part(lab: Lab, order: list[str], gamer: bool, deeds: list[str]) -> None:
    tab, waiting = Tab(lab), list(deeds)
    tab.consent()
    seen: list[str] = []
    for _ in range(200):
        stage = tab.state["stage"]
        if stage == "debriefing":
            break
        deed = waiting.pop() if waiting else "on"
        if deed in ("reload", "other tab"):
            tab = _again(lab, tab, deed)
        elif stage in ("ready", "play"):
            tab.play_block(tab.state["block"]["number"])
        else:
            seen.append(_at_page(tab, gamer, deed))
    assert tab.state["stage"] == "debriefing"
    firsts = list(dict.fromkeys(name for name in seen if name))
    assert [name for name in firsts if name != "gamers"] == order
    assert ("gamers" in firsts) == (gamer and "before" in order)
    rows = lab.rows(tables.answers)
    assert len({(row.step, row.attempt, row.question) for row in rows}) == len(rows)
    assert len(lab.rows(tables.choices)) == sum(plan.n_trials for plan in lab.study.plan(lab.study.cells[0]))
    if "before" in order:
        (said,) = [json.loads(row.answer) for row in rows if row.question == "gamer"]
        assert said == ("yes" if gamer else "no")


def _again(lab: Lab, tab: Tab, deed: str) -> Tab:
    """The person's next page load, which shows what the last one did; the last one is not answered any more."""
    new = Tab(lab, tab.key)
    assert {**new.state, "epoch": 0} == {**tab.state, "epoch": 0} or new.state["stage"] == "play"
    if deed == "other tab":
        assert tab.post("state").json()["error"] == "taken-over"
    return new


def _at_page(tab: Tab, gamer: bool, deed: str) -> str:
    """What someone does on a page; its name if they have left it."""
    page = tab.state["page"]
    given = dict(ANSWERS.get(page["name"], {}))
    if page["name"] == "before":
        given["gamer"] = "yes" if gamer else "no"
    if deed == "wrong" and page["name"] == "quiz":
        given["dots"] = "yellow"
    report = {"step": page["step"], "attempt": page["attempt"], "answers": given, "times": {}, "elapsed_ms": 10.0}
    if deed == "out of turn":
        refused = tab.post("page", **{**report, "step": page["step"] + 1})
        assert refused.status_code == 409
        return ""
    first = tab.post("page", **report)
    assert first.status_code == 200, first.text
    if deed == "repeat":
        assert tab.post("page", **report).json() == first.json()
    if deed == "other answers" and given:
        other = {**given, next(iter(given)): {"quiz": "yellow", "before": 77, "after": 5}[page["name"]]}
        assert tab.post("page", **{**report, "answers": other}).status_code == 409
    tab.state = first.json()["state"]
    return str(page["name"])

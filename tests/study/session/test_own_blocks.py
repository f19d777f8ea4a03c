"""Blocks of one's own over HTTP: any layout, dynamic and task; rewards are those of the library's paths."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

import explorelab as xl
from explorelab.errors import InputError
from explorelab.study.config.blocks.scenes import NOISE, Scene
from explorelab.study.config.design import Study
from explorelab.study.database import tables
from explorelab.study.export.live.live_rows import Place, Since, choices_piece
from explorelab.study.export.write_export import export_study
from explorelab.study.session.assignment import counts_of
from explorelab.study.session.promises import check_promises
from explorelab.tasks.noise import noise_kind
from tests.support.study.lab import Lab, Tab
from tests.support.study.own_blocks import EVERYTHING, own_study
from tests.support.study.own_player import play
from tests.support.study.people_rows import OWN
from tests.support.study.postgres import Cluster


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return own_study(tmp_path_factory.mktemp("own") / "study")


@pytest.fixture
def lab(study: Study, tmp_path: Any) -> Iterator[Lab]:
    made = Lab(study, tmp_path)
    with made.client:
        yield made


def in_block(lab: Lab, name: str) -> Tab:
    """Someone at the beginning of the first block of this name, who chose anything before."""
    tab = Tab(lab)
    tab.consent()
    while True:
        number = tab.state["block"]["number"]
        tab.go("begin", block=number)
        if lab.rows(tables.blocks)[-1].name == name:
            return tab
        play(tab)


def means_by_library(scene: Scene, seed: int, number: int, n: int) -> np.ndarray:
    """The means of a block on each trial, as `explorelab.tasks.paths` has them."""
    own = scene.task.change is not None and scene.task.change.own_paths
    return np.asarray(xl.tasks.paths(scene.task, n, n_paths=number + 1 if own else 1, seed=seed if own else 0))[-1]


def test_whatever_is_played_rewards_are_the_librarys_means_with_noise_of_each_arms_own(lab: Lab) -> None:
    check_everything(lab)


def test_the_same_on_postgresql(study: Study, server: Cluster, tmp_path: Any) -> None:
    lab = Lab(study, tmp_path, server.new_database())
    with lab.client:
        check_everything(lab)
        written = export_study(study, lab.store.engine, tmp_path / "out", doubted="with", progress=False)
    n_choices = lab.count(tables.choices)
    lab.store.close()
    assert written.n_choices == n_choices == sum(plan.n_trials for plan in study.plan(study.cells[0]))


def check_everything(lab: Lab) -> None:
    """Somebody plays everything; each reward is the library's mean with noise of the arm's own."""
    tab = Tab(lab)
    tab.consent()
    while tab.state["stage"] != "debriefing":
        tab.go("begin", block=tab.state["block"]["number"])
        play(tab)
    person = lab.rows(tables.people)[0]
    made = lab.rows(tables.choices)
    seen: Counter[str] = Counter()
    for block in lab.rows(tables.blocks):
        scene = lab.study.scene(block)
        assert scene is not None
        seen[scene.board.layout] += 1
        means = means_by_library(scene, person.seed, block.number, block.n_trials)
        mine = [row for row in made if row.block == block.number]
        assert len(mine) == block.n_trials
        for row in mine:
            rng = np.random.default_rng([person.seed, block.number, row.trial, NOISE + row.arm])
            drawn = means[row.trial, row.arm] + noise_kind(scene.task.noise.kind).draw(scene.task.noise.scale, rng)
            if scene.task.points is not None:
                drawn = np.clip(np.round(drawn), *scene.task.points)
            assert row.reward == drawn
    assert set(seen) == {"grid", "buttons", "line", "graph"}
    counting = {block.number for block in lab.rows(tables.blocks) if block.kind == "task"}
    assert person.points == pytest.approx(sum(row.reward for row in made if row.block in counting))
    assert tab.state["payment"]["bonus"] == lab.study.payment.bonus(person.points)
    assert person.cell in {cell.name for cell in lab.study.cells}


def test_the_page_is_sent_what_it_draws_and_nothing_of_the_design(lab: Lab) -> None:
    tab = Tab(lab)
    tab.consent()
    names = set()
    while tab.state["stage"] != "debriefing":
        shown = tab.go("begin", block=tab.state["block"]["number"])["block"]
        block = lab.rows(tables.blocks)[-1]
        scene = lab.study.scene(block)
        assert scene is not None
        names.add(block.name)
        layout = shown["layout"]
        assert (layout["kind"], shown["deadline_ms"]) == (scene.board.layout, block.deadline_ms or None)
        assert len(layout["arms"]) == (0 if layout["kind"] == "grid" else scene.board.n_arms)
        assert (shown["rewards"]["kind"], shown["foregone"]) == (scene.rewards, scene.foregone)
        assert shown["outcome_ms"] == (400 if block.name == "turns" else 1000)
        assert shown["closes"] == (block.name in ("given", "game"))
        told = json.dumps([tab.state, *play(tab)])
        for secret in ("stormy", "calm", "bandit", "ring", '"levels"', "scene", "cell", "seed", "means"):
            assert secret not in told
    assert names == set(lab.study.design.blocks)


def test_hidden_rewards_are_not_sent_before_the_end(lab: Lab) -> None:
    tab = in_block(lab, "quiet")
    assert tab.state["points"] is None
    made = play(tab)
    assert {answer[name] for answer in made for name in ("reward", "points", "points_block")} == {None}
    assert tab.state["points"] is not None
    rewards = [row.reward for row in lab.rows(tables.choices)[-4:]]
    assert all(reward in range(8) for reward in rewards)


def test_foregone_rewards_are_those_that_the_other_arms_would_have_given(lab: Lab) -> None:
    made = play(in_block(lab, "turns"))
    person, block = lab.rows(tables.people)[0], lab.rows(tables.blocks)[-1]
    scene = lab.study.scene(block)
    for trial, answer in enumerate(made):
        assert answer["foregone"][answer["arm"]] == answer["reward"]
        others = [scene.reward(arm, person.seed, block.number, trial, block.n_trials) for arm in range(4)]
        assert answer["foregone"] == others
    assert len({tuple(np.array(a["foregone"]) - a["foregone"][0]) for a in made}) > 1  # noise of their own


def test_a_forced_choice_can_only_be_the_forced_arm(lab: Lab) -> None:
    tab = in_block(lab, "game")
    forced = [0, 1, 1, 1]
    for trial, arm in enumerate(forced):
        assert tab.state["block"]["available"] == [arm]
        refused = tab.choose(trial, 1 - arm)
        assert refused.status_code == 422
        assert f"Arm {1 - arm} is not on offer in choice {trial}, only {arm}." in refused.text
        answer = tab.choose(trial, arm).json()
        tab.state["block"]["available"] = answer["available"]
    assert tab.state["block"]["available"] is None


def test_a_blocked_arm_is_refused_and_not_repeated_when_nobody_clicks(lab: Lab) -> None:
    tab = in_block(lab, "given")
    assert tab.choose(0, 1).json()["available"] == [0]
    assert tab.choose(1, 1).status_code == 422
    answer = tab.choose(1, None).json()
    assert (answer["arm"], answer["goal"], answer["available"]) == (0, 0, None)
    assert lab.rows(tables.choices)[-1].missed


def test_without_a_deadline_a_choice_needs_a_click_and_is_never_too_late(lab: Lab) -> None:
    tab = in_block(lab, "turns")
    assert tab.post("choice", **tab.report(0, None)).status_code == 422
    lab.clock.now += 100
    made = tab.post("choice", **tab.report(0, 2, elapsed_ms=99_000.0, clicks=[[2, 98_999.0]]))
    assert made.status_code == 200
    row = lab.rows(tables.choices)[-1]
    assert (row.overrun_ms, row.missed, row.flags) == (0.0, False, "")


def test_a_graph_lets_nobody_jump_and_starts_where_it_says(lab: Lab) -> None:
    tab = in_block(lab, "walk")
    dynamic = tab.state["block"]["dynamic"]
    while dynamic != "neighbour":
        play(tab)
        dynamic = tab.go("begin", block=tab.state["block"]["number"])["block"]["dynamic"]
    assert tab.state["block"]["position"] == 2
    assert tab.state["block"]["available"] == [1, 2, 3]
    refused = tab.choose(0, 5)
    assert "Arm 5 is not next to arm 2, where the dot is." in refused.text
    assert tab.choose(0, 3).json()["available"] == [0, 2, 3, 4]


@pytest.mark.parametrize("leave", [0.0, 0.5])
def test_conditions_stay_balanced_when_people_drop_out(lab: Lab, leave: float) -> None:
    rng, cells = np.random.default_rng(1), lab.study.cells
    for _ in range(3 * len(cells)):
        tab = Tab(lab)
        tab.consent()
        if rng.uniform() < leave:
            tab.go("withdraw", delete=bool(rng.uniform() < 0.5))
    with lab.store.engine.connect() as connection:
        counts = counts_of(connection, lab.study, False, lab.clock.now)
    assert set(counts) == {cell.name for cell in cells}
    assert max(counts.values()) - min(counts.values()) <= 1


def test_what_people_still_have_to_play_cannot_change(lab: Lab, tmp_path: Any) -> None:
    with lab.store.engine.begin() as connection:
        check_promises(connection, lab.study, lab.clock.now)
    in_block(lab, "practice")
    changes = {
        "one mean": ("means = [1, 5, 3, 8, 2]", "means = [1, 5, 3, 8, 3]", "'street'"),
        "a colour": ("#e69f00", "#e69f01", "'bandit'"),
        "what is shown": ("foregone = true", "foregone = false", "'turns'"),
        "how long outcomes stay": ("outcome_ms = 400", "outcome_ms = 500", "'turns'"),
        "an edge": ("[0, 3]]", "[0, 4]]", "'walk'"),
        "how means change": ("path_seed = 3", "path_seed = 4", "'turns'"),
        "what is forced": ("seen = [1, 3]", "seen = [3, 1]", "'game'"),
    }
    for number, (old, new, block) in enumerate(changes.values()):
        changed = own_study(tmp_path / str(number), EVERYTHING.replace(old, new))
        with lab.store.engine.begin() as connection, pytest.raises(InputError, match=f"the block {block}"):
            check_promises(connection, changed, lab.clock.now)
    same = own_study(tmp_path / "same")
    with lab.store.engine.begin() as connection:
        check_promises(connection, same, lab.clock.now)
        connection.execute(update(tables.people).values(stage="finished"))
        check_promises(connection, changed, lab.clock.now)


def test_the_researcher_reads_why_nobody_can_be_assessed_and_sees_blocks_by_their_names(lab: Lab) -> None:
    tab = in_block(lab, "turns")
    play(tab)
    assert lab.client.post("/admin/login", json={"password": "a long password"}, headers=OWN).status_code == 200
    told = lab.client.get("/admin/api/assessments").json()
    assert told["why_not"].startswith("There is no assessment in this study: a companion needs a task whose means are fixed")
    shown = lab.client.get("/admin/api/overview").json()
    assert {"bandit", "turns", "walk"} <= {curve["dynamic"] for curve in shown["curves"]}
    (turns,) = [curve for curve in shown["curves"] if curve["dynamic"] == "turns"]
    (row,) = [row for row in lab.rows(tables.blocks) if row.name == "turns"]
    scene, person = lab.study.scene(row), lab.rows(tables.people)[0]
    best = scene.means(person.seed, row.number, row.n_trials).max(1)
    made = np.array([each.reward for each in lab.rows(tables.choices) if each.block == row.number])
    assert turns["mean"] == pytest.approx(np.cumsum(best - made), abs=0.06)
    factors = shown["cells"][0]["levels"]
    assert set(factors) == {"speed", "order_1", "order_2"}
    assert sum(cell["active"] for cell in shown["cells"]) == 1


def test_live_results_name_blocks_and_levels_of_factors(lab: Lab) -> None:
    tab = in_block(lab, "turns")
    play(tab)
    with lab.store.engine.connect() as connection:
        found, _ = choices_piece(connection, lab.study, Since(), Place(0), 10**9, "without")
    turns = [row for row in found if row["block_name"] == "turns"]
    assert len(turns) == 5
    assert {row["deadline_ms"] for row in turns} == {None}
    assert {row["world"] for row in found if row["block_name"] == "bandit"} == {"calm", "stormy"}
    for row in turns:
        assert float(str(row["foregone_rewards"]).split()[row["arm"]]) == row["reward"]


def test_each_factor_is_balanced_before_all_conditions_have_somebody(lab: Lab) -> None:
    seen: dict[str, Counter[str]] = {"speed": Counter(), "order_1": Counter(), "order_2": Counter()}
    factors = {cell.name: cell.factors for cell in lab.study.cells}
    for n in range(1, len(factors) + 1):
        Tab(lab).consent()
        for name, level in factors[lab.rows(tables.people)[-1].cell].items():
            seen[name][level] += 1
        for name, counts in seen.items():
            n_levels = 6 if name == "order_2" else 2
            few = min(counts.values()) if len(counts) == n_levels else 0
            assert max(counts.values()) - few <= 2, (n, name, counts)
    assert len({person.cell for person in lab.rows(tables.people)}) == len(factors)

"""Exports of blocks of one's own: each kind passes the check, feeds fits and reports, and says what was played."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import explorelab as xl
from explorelab.choices.reading import check_choices
from explorelab.regret.observed import observed_regret
from explorelab.study.database import tables
from explorelab.study.export.psychds import data_name
from explorelab.study.export.write_export import export_study
from tests.support.study.lab import Lab, Tab
from tests.support.study.own_blocks import own_study
from tests.support.study.own_player import play

pytestmark = pytest.mark.quick_programs


class Played:
    """A study that four people played, and its export."""

    def __init__(self, folder: Path) -> None:
        self.lab = Lab(own_study(folder / "study"), folder)
        self.out = folder / "out"
        with self.lab.client:
            for number in range(4):
                tab = Tab(self.lab)
                tab.consent()
                while tab.state["stage"] != "debriefing" and tab.state["block"]["number"] < 5 + 20 * (number > 0):
                    tab.go("begin", block=tab.state["block"]["number"])
                    play(tab, seed=number)
            self.written = export_study(self.lab.study, self.lab.store.engine, self.out, doubted="with", progress=False)

    def table(self, name: str) -> pd.DataFrame:
        file = self.out / "data" / data_name(self.lab.study.name, name)
        return pd.read_csv(file, keep_default_na=False, dtype=str)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return Played(tmp_path_factory.mktemp("own"))


FILES = ("choices", "choices-turns", "choices-given", "choices-game", "choices-walk", "choices-street", "choices-quiet")


def test_blocks_with_other_arms_have_files_of_their_own(played: Played) -> None:
    found = {path.stem for path in played.out.glob("choices*.csv") if not path.stem.endswith("-means")}
    assert found == {*FILES} - {"choices-turns"}  # its arms are those of the bandit: four, in points from 1 to 100
    rows = sum(len(pd.read_csv(played.out / f"{stem}.csv")) for stem in found)
    counting = [b for b in played.lab.rows(tables.blocks) if b.kind == "task"]
    assert rows == played.written.n_task_choices == sum(block.n_trials for block in counting)


@pytest.mark.parametrize("stem", [stem for stem in FILES if stem != "choices-turns"])
def test_each_passes_the_check_and_knows_the_means_of_each_moment(played: Played, stem: str) -> None:
    found = check_choices(played.out / f"{stem}.csv")
    assert found.ok, found
    assert not [warning for warning in found.warnings if warning.column != "reaction_time_ms"]  # nobody clicks as fast
    choices = xl.read_choices(played.out / f"{stem}.csv")
    blocks = {(row.person, row.number): row for row in played.lab.rows(tables.blocks)}
    seeds = {row.code: (row.id, row.seed) for row in played.lab.rows(tables.people)}
    order: dict[tuple[str, str], Any] = {}
    for row in played.table("blocks").itertuples():
        order[row.participant, row.block] = blocks[seeds[row.participant][0], int(row.block_number) - 1]
    for i in range(choices.n_rows):
        code = choices.participants[choices.participant[i]]
        block = order[code, str(choices.block[i])]
        scene = played.lab.study.scene(block)
        means = scene.means(seeds[code][1], block.number, block.n_trials)
        known = choices.means[i] if choices.means_change else np.tile(choices.means[i], (block.n_trials, 1))
        np.testing.assert_allclose(known[: block.n_trials], means, rtol=1e-12)
        if choices.layout.points is not None:
            assert choices.layout.points == scene.task.points
        np.testing.assert_array_equal(choices.arm[i][: block.n_trials] >= 0, True)
    assert np.isfinite(observed_regret(choices).values[choices.present]).all()


def test_forced_choices_are_learned_from_and_not_scored(played: Played) -> None:
    games = xl.read_choices(played.out / "choices-game.csv")
    assert games.scored.sum(1).tolist() == [2] * games.n_rows
    assert games.observed.all()
    assert set(games.conditions["free_choices"]) == {2}
    assert set(games.conditions["information"]) == {"unequal"}


def test_only_arms_on_offer_or_in_reach_are_available(played: Played) -> None:
    given = xl.read_choices(played.out / "choices-given.csv")
    assert given.available[0].tolist() == [[True, True], [True, False], [True, True], [True, True], [False, True]]
    walk = xl.read_choices(played.out / "choices-walk.csv")
    steps = walk.conditions["dynamic"] != "standard"
    assert walk.available[steps].sum(2).max() == 4
    assert walk.available[~steps].all()
    assert set(walk.start.tolist()) == {2}


def test_levels_of_factors_are_columns_everywhere_and_described(played: Played) -> None:
    told = json.loads((played.out / "dataset_description.json").read_text(encoding="utf-8"))
    described = {each["name"]: each["description"] for each in told["variableMeasured"]}
    for path in sorted(played.out.rglob("*.csv")):
        if not path.stem.endswith("-means"):
            header = next(csv.reader(path.read_text(encoding="utf-8").splitlines()))
            assert set(header) <= set(described), path
    assert described["world"].startswith("Level of the factor world, within persons, in this block: calm, stormy")
    assert described["speed"].startswith("Level of the factor speed, between persons")
    blocks = played.table("blocks")
    bandits = blocks[blocks.block_name == "bandit"]
    assert set(bandits.world) == {"calm", "stormy"}
    assert (bandits.world == bandits.landscape).all()
    assert set(blocks[blocks.block_name != "bandit"].world) == {""}
    assert (blocks.groupby("participant").speed.nunique() == 1).all()
    assert set(blocks[blocks.block_name == "walk"].dynamic) == {"neighbour", "travel", "standard"}
    assert set(blocks[blocks.block_name == "turns"].deadline_ms) == {""}
    assert dict(zip(blocks.block_name, blocks.layout, strict=True))["walk"] == "graph"


def test_foregone_rewards_and_arms_as_people_saw_them_are_kept(played: Played) -> None:
    made = played.table("choices")
    turns = made[made.block_name == "turns"]
    for row in turns.itertuples():
        assert float(row.foregone_rewards.split()[int(row.arm)]) == float(row.reward)
    assert set(made[made.block_name != "turns"].foregone_rewards) == {""}
    arms = played.table("arms")
    orange = arms[(arms.scene == "bandit-calm-fast") & (arms.arm == "0")].iloc[0]
    assert (orange.label, orange.colour) == ("Orange", "#e69f00")


def test_the_readme_and_the_task_files_say_what_must_be_known(played: Played) -> None:
    assert "People did not see the rewards of quiet" in (played.out / "choices-quiet.toml").read_text(encoding="utf-8")
    assert "In turns people saw the rewards of the other arms too" in (played.out / "choices.toml").read_text(
        encoding="utf-8"
    )
    readme = (played.out / "README.md").read_text(encoding="utf-8")
    assert "choices-NAME.csv" in readme


def test_the_same_export_twice(played: Played, tmp_path: Path) -> None:
    lab = played.lab
    export_study(lab.study, lab.store.engine, tmp_path / "again", doubted="with", progress=False)
    for path in sorted(played.out.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "again" / path.relative_to(played.out)).read_bytes()


@pytest.mark.slow
def test_it_feeds_the_report(played: Played, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    xl.write_report(played.out / "choices.csv", out, agents=["restless-kalman", "random-choice"], quick=True, progress=False)
    assert "restless-kalman" in (tmp_path / "report.html").read_text(encoding="utf-8")

"""Exports of a study: complete, the same every time, readable by the rest of explorelab, and without anybody's name."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import Engine, select
from typer.testing import CliRunner

import explorelab as xl
from explorelab.choices.reading import check_choices
from explorelab.cli.app import app
from explorelab.errors import InputError
from explorelab.plots.words import who_played
from explorelab.study.database import tables
from explorelab.study.database.store import engine_for
from explorelab.study.export.cells import cell, moment, safe
from explorelab.study.export.psychds import VARIABLES, data_name
from explorelab.study.export.write_export import export_study
from explorelab.study.session.choice_fields import FIELDS
from tests.support.study.rows import CONSENT, Filler, contents, fill, small_study

STUDY = small_study()
IN_IT = ("prolific", "mturk", "plain", "training", "half-way", "one choice", "withdrawn", "reading", "poor", "rich")
OFFICIAL = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = engine_for("sqlite:///study.db", tmp_path)
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Engine, dict[str, str]]]:
    """An export of a study with one of everything, the database, and the codes of people."""
    folder = tmp_path_factory.mktemp("study")
    made = engine_for("sqlite:///study.db", folder)
    codes = fill(made, STUDY)
    export_study(STUDY, made, folder / "data")
    yield folder / "data", made, codes
    made.dispose()


def table(out: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(out / "data" / data_name(STUDY.name, name), keep_default_na=False, dtype=str)


def header_of(path: Path) -> list[str]:
    return next(csv.reader(path.read_text(encoding="utf-8").splitlines()))


# What is in it ----------------------------------------------------------------------------------------------------------


def test_everyone_who_agreed_and_nobody_else(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, _, codes = filled
    expected = [codes[name] for name in IN_IT]
    for name in ("participants", "consents"):
        assert table(out, name).participant.tolist() == expected
    assert set(table(out, "events").participant) == set(expected)
    assert set(table(out, "choices").participant) == set(expected)
    everything = b"".join(contents(out).values()).decode()
    for name in ("declined", "new", "deleted", "robot", "another robot"):
        assert codes[name] not in everything


def test_every_choice_with_every_column(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, engine, codes = filled
    written = table(out, "choices")
    with engine.connect() as connection:
        query = select(tables.people.c.code, *tables.choices.c).join(tables.people)
        kept = pd.read_sql(
            query.order_by(tables.choices.c.person, tables.choices.c.block, tables.choices.c.trial), connection
        )
    kept = kept[kept.code.isin([codes[name] for name in IN_IT])].reset_index(drop=True)
    assert len(written) == len(kept) == 204
    of_advice = {field.name for field in FIELDS if field.of_advice}
    assert of_advice.isdisjoint(written.columns)  # there is none in this study
    for name in (column.name for column in tables.choices.c if column.name not in of_advice):
        if name in ("id", "person", "block", "trial", "missed", "received_at", "clicks", "flags", "changed"):
            continue
        assert np.allclose(pd.to_numeric(written[name]), kept[name], equal_nan=True), name
    assert (written.block_number.astype(int) == kept.block + 1).all()
    assert (written.trial.astype(int) == kept.trial + 1).all()
    assert (written.missed == kept.missed.astype(int).astype(str)).all()
    assert (written.clicks == kept.clicks).all()
    assert (written["flags"] == kept["flags"]).all()
    assert written["flags"].str.contains("retried").any()
    assert (pd.to_datetime(written.received_at).map(lambda at: at.timestamp()) - kept.received_at).abs().max() < 0.001


def test_columns_that_are_worked_out(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, _, codes = filled
    choices = table(out, "choices")
    for row in choices.itertuples():
        squares = [square for square, _ in json.loads(str(row.clicks))]
        assert int(str(row.changes_of_mind)) == sum(a != b for a, b in pairwise(squares))
    assert set(choices.changes_of_mind) == {"0", "1", "2"}
    blocks = table(out, "blocks")
    assert blocks[blocks.participant == codes["prolific"]].block.tolist() == ["", "1", "2"]
    assert blocks[blocks.participant == codes["prolific"]].kind.tolist() == ["training", "task", "task"]
    people = table(out, "participants").set_index("participant")
    task = choices[choices.kind == "task"]
    points = task.reward.astype(float).groupby(task.participant).sum()
    assert float(people.points[codes["plain"]]) == points[codes["plain"]]
    assert people.bonus[codes["rich"]] == "3.00"
    assert people.bonus[codes["poor"]] == "0.00"
    assert people.bonus[codes["half-way"]] == ""
    assert people.bonus[codes["reading"]] != ""


def test_times_are_utc_to_the_millisecond() -> None:
    assert moment(0.0) == "1970-01-01T00:00:00.000Z"
    assert moment(1_700_000_000.123) == "2023-11-14T22:13:20.123Z"
    assert moment(None) == ""


def test_names_of_platforms_never_leave(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, engine, _ = filled
    everything = b"".join(contents(out).values()).decode()
    people = tables.people.c
    with engine.connect() as connection:
        for row in connection.execute(
            select(people.platform_id, people.platform_session, people.platform_study, people.identity)
        ):
            for value in row:
                assert value is None or value not in everything


def test_each_consent_text_once(engine: Engine, tmp_path: Path) -> None:
    fill(engine, STUDY)
    with engine.begin() as connection:
        other = {"text": "Another text", "version": "f" * 64}
        connection.execute(tables.consents.update().where(tables.consents.c.person == 2).values(other))
    out = export_study(STUDY, engine, tmp_path / "out").out
    files = sorted((out / "materials").glob("consent-*.md"))
    assert [file.read_text() for file in files] == [CONSENT, "Another text"]
    for row in table(out, "consents").itertuples():
        assert (out / str(row.text_file)).is_file()
        assert str(row.version) in str(row.text_file)
    assert (out / "materials" / "instructions.md").read_text() == "Click.\n"


def test_the_study_itself_is_among_the_materials(engine: Engine, tmp_path: Path) -> None:
    study = replace(STUDY, files={"study.toml": b"[study]\n", "values/a.csv": b"1,2\n"})
    fill(engine, study)
    out = export_study(study, engine, tmp_path / "out").out
    assert (out / "materials" / "study" / "study.toml").read_text() == "[study]\n"
    assert (out / "materials" / "study" / "values" / "a.csv").read_text() == "1,2\n"
    assert "materials/study/" in (out / "README.md").read_text()
    assert export_study(study, engine, tmp_path / "out").files  # an export replaces an earlier one, folders and all


# Psych-DS ---------------------------------------------------------------------------------------------------------------


def test_follows_psych_ds(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, _, _ = filled
    described = json.loads((out / "dataset_description.json").read_text())
    assert described["@type"] == "Dataset"
    assert described["@context"] == "https://schema.org/"
    assert described["name"] == "A small study"
    assert described["description"].startswith("Choices of 10 people on a grid of 4 x 3 squares")
    listed = [variable["name"] for variable in described["variableMeasured"]]
    assert len(listed) == len(set(listed))
    assert all(variable["@type"] == "PropertyValue" for variable in described["variableMeasured"])
    assert all(len(variable["description"]) > 10 for variable in described["variableMeasured"])
    found: set[str] = set()
    files = sorted((out / "data").iterdir())
    assert len(files) == 6
    for file in files:
        assert re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", file.name)
        assert {part.split("-")[0] for part in file.stem.split("_")[:-1]} <= OFFICIAL
        header = header_of(file)
        assert len(header) == len(set(header))
        found |= set(header)
    found |= set(header_of(out / "choices.csv"))
    assert found == set(listed)
    assert set(listed) <= set(VARIABLES)
    for variable in described["variableMeasured"]:
        if variable["name"].endswith("_ms"):
            assert variable["unitText"] == "milliseconds"
    ignored = (out / ".psychdsignore").read_text().split()
    top = {path.name for path in out.iterdir()}
    assert top - set(ignored) == {"data", "materials", "dataset_description.json", "README.md", ".psychdsignore"}


def test_values_are_within_what_is_said_of_them(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, _, _ = filled
    for file in (out / "data").iterdir():
        frame = pd.read_csv(file)
        for name in frame.columns:
            least, most = VARIABLES[name].least, VARIABLES[name].most
            assert least is None or frame[name].dropna().min() >= least, name
            assert most is None or frame[name].dropna().max() <= most, name


def test_names_of_files_are_letters_and_digits() -> None:
    assert data_name("../../My study: 2!", "choices") == "study-Mystudy2_description-choices_data.csv"
    assert data_name("Über-äö", "events") == "study-ber_description-events_data.csv"
    assert data_name("研究", "events") == "study-unnamed_description-events_data.csv"


# choices.csv ------------------------------------------------------------------------------------------------------------


def test_choices_are_read_untouched(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, _, codes = filled
    report = check_choices(out / "choices.csv")
    assert report.ok, report.message()
    assert report.counts["trials"] == 175
    assert [e.participant for e in report.exclusions] == [codes["one choice"]]
    assert CliRunner().invoke(app, ["check", str(out / "choices.csv")]).exit_code == 0
    choices = xl.read_choices(out / "choices.csv")
    assert set(choices.conditions) == {"timing", "dynamic", "landscape"}
    assert choices.layout.shape == (4, 3)
    assert choices.layout.noise_var == 2.0
    assert choices.means is not None
    assert choices.start is not None
    assert choices.available is not None
    for row, name in enumerate(choices.conditions["landscape"]):
        assert (choices.means[row] == STUDY.landscapes[name].means).all()
    complete = table(out, "choices")
    missed = (complete[complete.kind == "task"].missed == "1").sum()
    assert choices.present.sum() - choices.scored.sum() == missed > 0
    assert (choices.observed == choices.present).all()
    assert "reconstructed" in choices.note
    assert "explorelab's" in choices.note


def test_what_was_available(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    out, _, _ = filled
    frame = pd.read_csv(out / "choices.csv", keep_default_na=False, dtype=str)
    assert set(frame.dynamic) == {"standard", "neighbour", "travel"}
    before: dict[tuple[str, str], int] = {}
    for row in frame.itertuples():
        key = (str(row.participant), str(row.block))
        position = before.get(key, int(str(row.start)))
        squares = "" if row.dynamic == "standard" else " ".join(map(str, STUDY.board.next_to(position)))
        assert row.available == squares
        assert (row.reaction_time_ms == "") == (row.missed == "1")
        before[key] = int(str(row.arm))
    complete = table(out, "choices")
    complete = complete[complete.kind == "task"]
    assert (complete.first_click_ms != complete.last_click_ms).any()
    for name, other in {"reaction_time_ms": "last_click_ms", "arm": "arm", "reward": "reward", "trial": "trial"}.items():
        assert frame[name].tolist() == complete[other].tolist()


def test_phenotypes_and_a_fit(filled: tuple[Path, Engine, dict[str, str]]) -> None:
    choices = xl.read_choices(filled[0] / "choices.csv")
    labels = xl.label_phenotypes(choices, bootstrap=0, progress=False)
    assert labels.sizes["row"] == len(choices.block)
    fit = xl.fit(choices, "local-search", "map", n_starts=2, progress=False)
    assert np.isfinite(fit["estimates"].to_dataset().estimate).all()


def test_blocks_of_other_lengths_and_noise(engine: Engine, tmp_path: Path) -> None:
    """What was played may be longer than study.toml now says; noise that differs is not given."""
    Filler(engine, small_study(12)).person()
    changed = small_study(6)
    changed.landscapes["B"] = xl.tasks.with_noise(changed.landscapes["B"], 3.0)  # type: ignore[index]
    report = check_choices(export_study(changed, engine, tmp_path / "out").choices)
    assert report.ok, report.message()
    assert report.choices is not None
    assert report.choices.layout.noise_var is None
    assert "differs between landscapes" in report.choices.note


def test_landscape_that_is_no_longer_described(engine: Engine, tmp_path: Path) -> None:
    Filler(engine, STUDY).person()
    fewer = replace(STUDY, landscapes={"A": STUDY.landscapes["A"]}, task_landscapes=("A",))
    with pytest.raises(InputError, match=r"study.toml must describe every landscape .* 'B'"):
        export_study(fewer, engine, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


def test_robots(filled: tuple[Path, Engine, dict[str, str]], tmp_path: Path) -> None:
    _, engine, codes = filled
    only = export_study(STUDY, engine, tmp_path / "only", pilots="only")
    assert table(only.out, "participants").participant.tolist() == [codes["robot"], codes["another robot"]]
    assert table(only.out, "participants").agent.tolist() == ["'=random-choice"] * 2
    assert "robots" in xl.read_choices(only.choices).note
    assert who_played(xl.read_choices(only.choices)) == "2 robots"
    assert "robots" in json.loads((only.out / "dataset_description.json").read_text())["description"]
    both = export_study(STUDY, engine, tmp_path / "both", pilots="with")
    assert both.n_people == 12
    frame = pd.read_csv(both.choices)
    assert set(frame[frame.pilot == 1].participant) == {codes["robot"], codes["another robot"]}
    assert check_choices(both.choices).ok
    assert who_played(xl.read_choices(both.choices)).endswith(" people and 2 robots")
    with pytest.raises(InputError, match="pilots"):
        export_study(STUDY, engine, tmp_path / "odd", pilots="some")  # type: ignore[arg-type]


def test_a_study_without_choices(engine: Engine, tmp_path: Path) -> None:
    filler = Filler(engine, STUDY)
    filler.person(source="pilot")
    done = export_study(STUDY, engine, tmp_path / "out")
    assert (done.n_people, done.n_choices) == (0, 0)
    said = " ".join(done.lines())
    assert "Only robots have taken part so far (1)" in said
    assert "nothing to analyse" in said


def test_counts_that_are_told(filled: tuple[Path, Engine, dict[str, str]], tmp_path: Path) -> None:
    done = export_study(STUDY, filled[1], tmp_path / "out")
    assert done[3:] == (10, 26, 204, 175, 2, 30, (1, 1, 1, 2), "without", 0, "without", None, "without")
    assert set(done.files) == {path for path in done.out.rglob("*") if path.is_file()}
    text = (done.out / "README.md").read_text()
    assert "1 declined" in text
    assert "2 of these blocks are shorter than planned" in text


def test_text_that_a_spreadsheet_would_run() -> None:
    for text in ("=1+1", "+1", "-1", "@SUM(1)", "\t=1", " =1", "\r\n=1", "＝1"):
        assert safe(text).startswith("'")
    assert safe("a=1") == "a=1"
    assert safe("") == ""
    assert safe("a\rb\r\nc") == "a\nb\nc"
    assert cell(-3.0) == -3
    assert [cell(value) for value in (None, True, False, 1.5, "-x")] == [None, 1, 0, "1.5", "'-x"]

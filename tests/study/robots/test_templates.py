"""Studies made from templates: robots play them to the end, and their exports pass the check and feed the report."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from sqlalchemy import select

import explorelab as xl
from explorelab.choices.reading import check_choices
from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.config.start_study import DESIGNS, init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import LANGUAGES
from explorelab.study.database.store import engine_for, remembered
from explorelab.study.database.tables import answers, people
from explorelab.study.export.page_rows import written
from explorelab.study.export.write_export import export_study
from explorelab.study.robots.pilot import run_pilot
from explorelab.study.server.serve import serving
from tests.support.siblings import slow

pytestmark = pytest.mark.quick_programs

OWN = [name for name in DESIGNS if name != "paper"]
ANSWERS = select(people.c.code, answers.c.question, answers.c.answer).join(people, people.c.id == answers.c.person)
AGENTS = {"bandit": "restless-kalman", "graph": "kalman-ucb"}


@pytest.mark.parametrize("template", DESIGNS)
@pytest.mark.parametrize("languages", [("en",), ("de",), LANGUAGES], ids=["en", "de", "all"])
def test_a_template_is_a_study_in_every_language(tmp_path: Path, template: str, languages: tuple[str, ...]) -> None:
    names = init_study(tmp_path / "study", template=template, languages=languages)
    assert {path for path in (tmp_path / "study").rglob("*") if path.is_file()} == set(names)
    study = load_study(tmp_path / "study")
    assert study.languages == languages
    titles = {study.speaking(language).title for language in languages}
    assert len(titles) == len(languages)
    for language in languages:
        texts = study.speaking(language).texts
        assert not re.search(r"\bsquares?\b", texts.pages["consent"]) or template == "paper"
        assert study.speaking(language).title in texts.pages["consent"]


def test_only_the_papers_design_has_advice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="advice belongs to the template 'paper', got 'graph' with advice"):
        init_study(tmp_path / "study", template="graph", advice=True)
    with pytest.raises(InputError, match="unknown template 'bandits': did you mean 'bandit'"):
        init_study(tmp_path / "study", template="bandits")


class Piloted(NamedTuple):
    """A template that robots have played, quickly and with fewer choices, and its export."""

    template: str
    study: Study
    out: Path


@pytest.fixture(scope="module", params=OWN)
def piloted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Piloted:
    template = str(request.param)
    folder = tmp_path_factory.mktemp(template) / "study"
    init_study(folder, template=template, languages=("de",) if template == "bandit" else ("en", "fr"))
    toml = (folder / "study.toml").read_text(encoding="utf-8")
    for old, new in (
        ("deadline_ms = 5000", "deadline_ms = 60"),
        ("choices = 60", "choices = 12"),
        ("choices = 40", "choices = 12"),
    ):
        toml = toml.replace(old, new)
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    study = load_study(folder)
    engine = engine_for(study.database, folder)
    with serving(folder) as address:
        with engine.begin() as connection:
            key = remembered(connection, "pilot_key")
        told = run_pilot(address, study, people=5, seed=3, pilot_key=key, speed=4, progress=False)
    assert (told.finished, told.failures) == (5, ())
    export_study(study, engine, folder.parent / "out", pilots="only", doubted="with", progress=False)
    engine.dispose()
    return Piloted(template, study, folder.parent / "out")


def test_its_export_passes_the_check(piloted: Piloted) -> None:
    found = check_choices(piloted.out / "choices.csv")
    assert found.ok, found
    choices = xl.read_choices(piloted.out / "choices.csv")
    assert choices.n_participants == 5
    assert choices.n_rows == 5 * 2
    assert choices.means is not None
    assert choices.means_change == (piloted.template == "bandit")


def test_its_export_has_every_answer_with_its_question(piloted: Piloted) -> None:
    (file,) = (piloted.out / "data").glob("*description-answers_data.csv")
    with file.open(encoding="utf-8", newline="") as source:
        rows = list(csv.DictReader(source))
    engine = engine_for(piloted.study.database, piloted.out.parent / "study")
    with engine.connect() as connection:
        kept = [(each.code, each.question, str(written(json.loads(each.answer)))) for each in connection.execute(ANSWERS)]
    engine.dispose()
    assert Counter((row["participant"], row["question"], row["answer"]) for row in rows) == Counter(kept)
    # Everybody has answered every question of every quiz and form, and it is told in words that they have read.
    asked: dict[tuple[str, str], set[str]] = {}
    for language in piloted.study.languages:
        texts = piloted.study.speaking(language).texts
        for page in piloted.study.pages:
            for question in texts.forms[page.file].questions if page.file in texts.forms else ():
                asked.setdefault((page.name, question.name), set()).add(question.text)
    assert len(asked) >= 4
    for person in {code for code, *_ in kept}:
        told = {(row["page_name"], row["question"]): row["question_text"] for row in rows if row["participant"] == person}
        assert told.keys() == asked.keys()
        assert all(told[question] in texts for question, texts in asked.items())
    assert len({code for code, *_ in kept}) == 5


def test_conditions_are_balanced_and_in_the_export(piloted: Piloted) -> None:
    choices = xl.read_choices(piloted.out / "choices.csv")
    within = {"bandit": "world", "graph": "dynamic"}[piloted.template]
    for person in range(5):
        assert len(set(choices.conditions[within][choices.participant == person])) == 2
    people = pd.read_csv(next((piloted.out / "data").glob("*participants*")), dtype=str)
    counts = people.cell.value_counts().reindex([cell.name for cell in piloted.study.cells], fill_value=0)
    assert counts.max() - counts.min() <= 1


def test_every_column_of_every_file_is_described(piloted: Piloted) -> None:
    told = json.loads((piloted.out / "dataset_description.json").read_text(encoding="utf-8"))
    described = {each["name"] for each in told["variableMeasured"]}
    for path in piloted.out.rglob("*.csv"):
        if not path.stem.endswith("-means"):
            header = next(csv.reader(path.read_text(encoding="utf-8").splitlines()))
            assert set(header) <= described, path


@pytest.mark.parametrize("piloted", ["bandit", *slow("graph")], indirect=True)
def test_it_feeds_the_report_untouched(piloted: Piloted, tmp_path: Path) -> None:
    agents = [AGENTS[piloted.template], "random-choice"]
    xl.write_report(piloted.out / "choices.csv", tmp_path / "report.html", agents=agents, quick=True, progress=False)
    assert agents[0] in (tmp_path / "report.html").read_text(encoding="utf-8")

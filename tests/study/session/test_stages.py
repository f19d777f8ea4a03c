"""The stages of a study: whoever lists them elsewhere lists the same ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import explorelab.study
from explorelab.study.admin.answers import Totals
from explorelab.study.admin.overview import PLACES
from explorelab.study.config.texts import ENGLISH
from explorelab.study.database.tables import people
from explorelab.study.session.screens import State
from explorelab.study.session.stages import ENDED, KEPT, PLACE_OPEN, PLAYED, UNDER_WAY, Stage

STUDY = Path(explorelab.study.__file__).parent


@pytest.mark.parametrize("stage", Stage)
def test_a_stage_with_a_text_has_a_template_and_no_other(stage: Stage) -> None:
    assert (ENGLISH / f"{stage}.md").is_file() == stage.about.text


@pytest.mark.parametrize("stage", KEPT)
def test_a_stage_that_is_kept_fits_its_column(stage: Stage) -> None:
    assert len(stage) <= people.c.stage.type.length  # type: ignore[attr-defined]


def test_nobody_is_in_two_parts_of_the_study_at_once() -> None:
    assert not set(UNDER_WAY) & set(PLAYED)
    assert not set(UNDER_WAY) & set(ENDED)
    assert not set(PLACE_OPEN) & {*UNDER_WAY, *PLAYED}


def test_everybody_is_counted_somewhere() -> None:
    assert set(PLACES) <= set(Totals.model_fields)


def test_a_page_is_told_one_of_the_words() -> None:
    schema = State.model_json_schema()["$defs"]["Stage"]
    assert schema == {"type": "string", "enum": list(Stage)}


def test_no_other_file_spells_a_stage_out() -> None:
    """A stage that is renamed or added is changed in one file."""
    spelled = re.compile("|".join(rf'"{stage}"' for stage in Stage))
    found = [path.name for path in sorted(STUDY.rglob("*.py")) if spelled.search(path.read_text(encoding="utf-8"))]
    assert found == ["stages.py"]

"""The fields of a choice: what is declared is what is asked, kept, exported and described."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, inspect

from explorelab.study.database.migrating import migrate
from explorelab.study.database.store import engine_for
from explorelab.study.export import choices_file, rows
from explorelab.study.export.psychds import VARIABLES
from explorelab.study.session.choice_fields import ALL, ANALYSED, FIELDS, ChoiceField, Choosing
from tests.support.study.postgres import Cluster

fields = pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)


def columns(engine: Engine) -> dict[str, tuple[str, bool]]:
    """The columns that the migrations give a choice: type, and whether they may be empty."""
    migrate(engine)
    found = inspect(engine).get_columns("choices")
    engine.dispose()
    made = {each["name"]: (each["type"].compile(engine.dialect), bool(each["nullable"])) for each in found}
    return {name: about for name, about in made.items() if name not in ("id", "person", "changed")}


def declared(engine: Engine) -> dict[str, tuple[str, bool]]:
    """The columns that are declared."""
    kept = [field for field in FIELDS if field.column is not None]
    types = {each.name: each.column() if isinstance(each.column, type) else each.column for each in kept}
    return {field.name: (types[field.name].compile(engine.dialect), field.nullable) for field in kept}


def test_the_declared_columns_are_those_of_the_migrations(tmp_path: Path) -> None:
    engine = engine_for("sqlite:///study.db", tmp_path)
    assert columns(engine) == declared(engine)


def test_the_declared_columns_are_those_of_the_migrations_on_postgresql(server: Cluster, tmp_path: Path) -> None:
    engine = engine_for(server.new_database(), tmp_path)
    found, expected = columns(engine), declared(engine)
    # PostgreSQL has one type for Float, and says it by its own name.
    assert found == {name: (kind.replace("FLOAT", "DOUBLE PRECISION"), empty) for name, (kind, empty) in expected.items()}


@fields
def test_what_is_kept_comes_from_somewhere(field: ChoiceField) -> None:
    assert field.column is None or field.kept is not None or field.asked is not None


@fields
def test_what_is_exported_is_described_and_comes_from_somewhere(field: ChoiceField) -> None:
    assert set(field.files) <= {ALL, ANALYSED}
    if field.files:
        assert field.description.endswith(".")
        assert field.column is not None or field.cell is not None
        assert VARIABLES[field.name].description == field.description


@fields
def test_what_is_kept_is_exported(field: ChoiceField) -> None:
    # The block is a column of the block's own, and advice is exported as advice_reason.
    assert field.column is None or ALL in field.files or field.name in ("block", "advice")


@fields
def test_the_page_is_asked_for_it(field: ChoiceField) -> None:
    asked = field.asked_as or field.name
    assert (asked in Choosing.model_fields) == (field.asked is not None or asked == "epoch")  # every request has the epoch


def test_names_mean_one_thing() -> None:
    assert len({field.name for field in FIELDS}) == len(FIELDS)
    assert set(rows.CHOICES) | set(choices_file.columns("with")) <= set(VARIABLES)


def test_no_column_is_twice_in_a_file() -> None:
    for names in (rows.CHOICES, choices_file.columns("with")):
        assert len(set(names)) == len(names)

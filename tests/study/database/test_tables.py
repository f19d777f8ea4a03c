"""Types of rows are those of the tables."""

from typing import get_type_hints

from explorelab.study.database.tables import Person, people


def test_a_person_has_the_columns_of_the_table_with_their_types() -> None:
    def kind(column):
        plain = column.type.python_type
        return plain | None if column.nullable else plain

    assert get_type_hints(Person) == {column.name: kind(column) for column in people.columns}

"""For whom a page is: equal, one of several, within bounds, and not."""

from __future__ import annotations

from typing import Any

import pytest

from explorelab.study.session.pages.show_if import holds, is_wanted, suits


@pytest.mark.parametrize(
    ("wish", "value", "so"),
    [
        ("yes", "yes", True), ("yes", "no", False), ("yes", None, False), (["a", "b"], "b", True), (["a", "b"], "c", False),
        ("a", ["a", "b"], True), (["c", "b"], ["a", "b"], True), ("c", ["a", "b"], False), ("a", [], False),
        (5, 5.0, True), (5, 6, False), ({"at_least": 18}, 18, True), ({"at_least": 18}, 17.9, False),
        ({"at_most": 3}, 4, False), ({"at_least": 1, "at_most": 3}, 2, True), ({"at_least": 1}, "2", False),
        ({"not": "a"}, "b", True), ({"not": "a"}, "a", False), ({"not": ["a", "b"]}, "b", False),
        ({"not": "a"}, None, False),
        ({"at_least": 1, "not": 2}, 2, False),
    ],
)  # fmt: skip
def test_what_holds(wish: Any, value: Any, so: bool) -> None:
    assert holds(wish, value) is so


def test_conditions_are_decided_at_consent_and_answers_when_it_is_the_turn() -> None:
    show_if = {"condition.timing": "fast", "form.age": {"at_least": 18}, "form.gamer": "yes"}
    assert suits({"timing": "fast"}, show_if)
    assert not suits({"timing": "slow"}, show_if)
    assert not suits({}, show_if)
    given: dict[tuple[str, str], Any] = {("form", "age"): 20, ("form", "gamer"): "yes"}
    assert is_wanted(show_if, lambda page, question: given.get((page, question)))
    given["form", "age"] = 17
    assert not is_wanted(show_if, lambda page, question: given.get((page, question)))

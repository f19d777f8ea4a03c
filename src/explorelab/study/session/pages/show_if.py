"""Whether a page is shown to someone: by their condition and by what they answered before.

show_if.condition.timing = "fast"               # equal
show_if.demographics.gamer = ["often", "daily"]    # one of these
show_if.demographics.age.at_least = 18             # also at_most, not
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from explorelab._support.checks import Unchecked, is_number
from explorelab._support.toml.toml_file import shown
from explorelab._support.written_numbers import Json
from explorelab.study.config.fields import Table
from explorelab.study.session.pages.page_types import Answer, ShowIf

CONDITION = "condition"
"""Before the name of a factor of the design."""
BOUNDS = ("at_least", "at_most", "not")


def read_show_if(table: Table) -> dict[str, Json]:
    """What must hold, by "condition.FACTOR" or "PAGE.QUESTION"."""
    value = table.values.get("show_if", {})
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        wanted = 'must name a page and a question, show_if.PAGE.QUESTION = "answer", or show_if.condition.NAME = "value"'
        table.problem("show_if", f"{wanted}, got {shown(value)}.")
        return {}
    found = {f"{first}.{second}": wish for first, inner in value.items() for second, wish in inner.items()}
    for name, wish in found.items():
        if not _is_wish(wish):
            place = (*table.at, "show_if", *name.split(".", 1))
            wanted = "must be a value, a list of values, or bounds such as {at_least = 18}"
            table.toml.problem(place, f"{table.title} show_if.{name} {wanted}, got {shown(wish)}.")
    return found


def _is_wish(wish: Unchecked) -> bool:
    if isinstance(wish, dict):
        numbers = all(is_number(value) for key, value in wish.items() if key != "not")
        return bool(wish) and set(wish) <= set(BOUNDS) and numbers and ("not" not in wish or _is_wish(wish["not"]))
    if isinstance(wish, list):
        return bool(wish) and all(_is_value(each) for each in wish)
    return _is_value(wish)


def _is_value(value: Unchecked) -> bool:
    return isinstance(value, str) or is_number(value)


def about_condition(show_if: ShowIf) -> dict[str, Json]:
    """The part that a person's condition decides, at consent."""
    return {name.partition(".")[2]: wish for name, wish in show_if.items() if name.startswith(f"{CONDITION}.")}


def about_answers(show_if: ShowIf) -> dict[str, Json]:
    """The part that answers decide, when it is the page's turn."""
    return {name: wish for name, wish in show_if.items() if not name.startswith(f"{CONDITION}.")}


def suits(factors: Mapping[str, Answer], show_if: ShowIf) -> bool:
    """Whether a page is on the path of someone in this condition."""
    return all(holds(wish, factors.get(name)) for name, wish in about_condition(show_if).items())


def is_wanted(show_if: ShowIf, answer: Callable[[str, str], Answer]) -> bool:
    """Whether a page is shown, given what was answered to a question of a page; a question not answered suits nothing."""
    wishes = about_answers(show_if)
    return all(holds(wish, answer(*name.split(".", 1))) for name, wish in wishes.items())


def holds(wish: Json, value: Answer) -> bool:
    """Whether a value is as wished; of several options, one of them."""
    if value is None:
        return False
    if isinstance(wish, dict):
        low, high = wish.get("at_least"), wish.get("at_most")
        if (low is not None or high is not None) and isinstance(value, (str, list)):
            return False
        within = (low is None or value >= low) and (high is None or value <= high)
        return bool(within) and ("not" not in wish or not holds(wish["not"], value))
    wishes = wish if isinstance(wish, list) else [wish]
    values = value if isinstance(value, list) else [value]
    return any(one == other for one in wishes for other in values)

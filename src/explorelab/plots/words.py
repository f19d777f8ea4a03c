"""Numbers, counts and names for use in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import SupportsFloat

import numpy as np

from explorelab._support.counted import plural
from explorelab.agents.parameters import about
from explorelab.choices.table import PLAYERS, Choices
from explorelab.regret import paper_people


def number(value: SupportsFloat, digits: int = 3) -> str:
    """A number for a sentence: with that many significant digits, and thin spaces between thousands."""
    value = float(value)
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}".replace(",", "\u202f").replace("-", "\u2212")


def whole(value: SupportsFloat) -> str:
    """A number for a sentence, rounded to a whole number."""
    return f"{float(value):,.0f}".replace(",", "\u202f").replace("-", "\u2212")


def counted(n: int, one: str, many: str = "") -> str:
    """1 person, 326 people."""
    return f"{whole(n)} {plural(n, one, many)}"


def who_played(choices: Choices) -> str:
    """326 people, 1 person, 40 robots, 6 simulated people, 12 people and 3 robots."""
    pilot = choices.conditions.get("pilot")
    if choices.players != "people" or pilot is None:
        return counted(choices.n_participants, *PLAYERS[choices.players])
    is_robot = np.isin(np.char.lower(np.asarray(pilot).astype(str)), ("true", "1", "1.0"))
    robots = len(set(choices.participant[is_robot].tolist()))
    parts = {"people": choices.n_participants - robots, "robots": robots}
    return joined(counted(n, *PLAYERS[kind]) for kind, n in parts.items() if n)


def are_people(choices: Choices) -> bool:
    """Whether all of them are people, as far as the data say."""
    return who_played(choices) == counted(choices.n_participants, *PLAYERS["people"])


def with_paper_named(text: str) -> str:
    """The text with the paper named in full at its first mention."""
    if paper_people.NAME in text:
        return text
    return re.sub(r"\b[Tt]he paper's\b", f"{paper_people.NAME}'s".replace(" (2014)'s", "'s (2014)"), text, count=1)


def percent(value: SupportsFloat, digits: int = 0) -> str:
    """A share in per cent; a dash if there is none."""
    value = float(value)
    return "–" if np.isnan(value) else f"{100 * value:.{digits}f}\u202f%"


def share(n: int, of: int) -> str:
    """212 (65 %)."""
    return f"{whole(n)} ({percent(n / of)})" if of else whole(n)


def interval(low: SupportsFloat, high: SupportsFloat, digits: int = 3) -> str:
    """Two numbers with "to" between them; empty if unknown."""
    low, high = float(low), float(high)
    return "" if np.isnan(low) or np.isnan(high) else f"{plain(low, digits)} to {plain(high, digits)}"


def percents(low: SupportsFloat, high: SupportsFloat, digits: int = 0) -> str:
    """Two shares in per cent."""
    low, high = float(low), float(high)
    return "" if np.isnan(low) or np.isnan(high) else f"{100 * low:.{digits}f} to {100 * high:.{digits}f}\u202f%"


def plain(value: SupportsFloat, digits: int = 3) -> str:
    """A number with that many significant digits, whole ones in full; very large and very small ones as powers of ten."""
    value = float(value)
    if np.isnan(value):
        return "–"
    if value == round(value, 0) and abs(value) < 1e6:
        return whole(value)
    size = int(np.floor(np.log10(abs(value)))) if np.isfinite(value) else 0
    if not np.isfinite(value) or -4 < size < 6:
        return number(value, digits)
    power = str(size).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{number(value / 10.0**size, digits)} × 10{power}"


def r2(value: SupportsFloat) -> str:
    """A coefficient of determination, never rounded to one."""
    return "> 0.9999" if 0.99995 <= float(value) < 1 else fixed(value, 4)


def is_r2(value: SupportsFloat) -> str:
    """The same after a name: R² = 0.9990."""
    said = r2(value)
    return said if said[0] == ">" else f"= {said}"


def fixed(value: SupportsFloat, decimals: int = 2) -> str:
    """A number with that many decimals; a dash if there is none."""
    value = float(value)
    return "–" if np.isnan(value) else f"{value:.{decimals}f}".replace("-", "\u2212")


def probability(value: SupportsFloat) -> str:
    """A probability with three decimals, never rounded to certainty."""
    value = float(value)
    if value > 0.999:
        return "> 0.999"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def is_probability(value: SupportsFloat) -> str:
    """The same after a name: = 0.012, > 0.999."""
    said = probability(value)
    return said if said[0] in "<>" else f"= {said}"


def joined(parts: Iterable[str], last: str = "and") -> str:
    """a, b and c."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}" if parts else ""


def name_of(parameter: str) -> str:
    """A parameter's name in a sentence."""
    return about(parameter).in_words


def named(parameter: str) -> str:
    """A parameter's name with its symbol, if the paper gives it one."""
    symbol = about(parameter).symbol
    return f"{name_of(parameter)} {symbol}" if symbol else name_of(parameter)


def most_listed(parts: Sequence[str], n: int = 8) -> str:
    """The first few, and how many more there are."""
    return joined(parts) if len(parts) <= n else f"{', '.join(parts[:n])} and {whole(len(parts) - n)} more"

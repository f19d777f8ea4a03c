"""Arms: the arm of each trial, the available ones, and their number if the task does not give it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from explorelab._support.counted import plural
from explorelab.choices.checks.look import Look, Problem
from explorelab.choices.checks.values import varies_within
from explorelab.choices.columns import NO_NUMBER, as_numbers, codes_of
from explorelab.choices.table import NOWHERE, Layout
from explorelab.choices.task_file import grid_layout

MOST_INFERRED = 100_000
"""More arms than this are not inferred from the data: a typing error is likelier."""

type Available = tuple[np.ndarray, np.ndarray]


def arms(look: Look, missed: np.ndarray, forced: np.ndarray) -> tuple[np.ndarray, Layout, Available | None]:
    """The arm of each row from 0 (`NOWHERE` without one), what the arms are, and which were available."""
    by_place = look.has("x", "y")
    names = look.task.layout.arm_names if look.task.layout is not None else None
    number = _numbered(look, missed, names) if look.has("arm") else None
    layout = look.task.layout or _inferred(look, number)
    if number is not None:
        _check_range(look, "arm", number, layout.n_arms, look.task.first_arm)
        number = _within(number, layout.n_arms)
    if by_place and (number is None or look.task.layout is not None):
        placed = _arms_at(look, missed, layout, optional=number is not None)
        if number is not None and placed is not None:
            _check_agreement(look, number, placed, layout)
        number = placed if number is None else number
    elif by_place:
        look.notes.append("Columns x and y were not used: nothing says where the arms lie, and there is a column arm.")
    if number is None:
        number = np.full(len(look.rows), NOWHERE)
    return number, layout, _available(look, number, (number >= 0) & ~missed & ~forced, layout)


def _numbered(look: Look, missed: np.ndarray, names: tuple[str, ...] | None) -> np.ndarray:
    """The number of each row's arm, from 0: as written, or looked up by name."""
    if names is None:
        return _whole(look, "arm", missed, look.task.first_arm)
    codes, texts = codes_of(look.frame["arm"])
    number = np.array([names.index(text) if text in names else NOWHERE for text in texts], np.int64)[codes]
    nothing = np.array([text in NO_NUMBER and text not in names for text in texts])[codes]
    look.bad("arm", nothing & ~missed, "expected the name of an arm, got {}", "Was the trial missed? Set missed to 1 there.")
    unknown = (number == NOWHERE) & ~nothing
    like = [name for text in texts if text not in names for name in names if name.lower() == text.lower()]
    message = f"expected one of the arms {_in_words(names)}, got {{}}"
    look.bad("arm", unknown, message, f"Is it {like[0]!r}? Names must match exactly." if like else "")
    return number


def _in_words(names: tuple[str, ...], most: int = 8) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _whole(look: Look, column: str, missed: np.ndarray, first: int) -> np.ndarray:
    """Whole numbers from 0; `NOWHERE` if there is none, which is allowed only on a missed trial."""
    numbers, bad = as_numbers(look.frame[column])
    empty = np.isnan(numbers) & ~bad
    look.bad(column, empty & ~missed, "expected a number, got {}", "Was the trial missed? Set missed to 1 there.")
    with np.errstate(invalid="ignore"):
        odd = bad | (~empty & ~((numbers == np.floor(numbers)) & (np.abs(numbers) < 2**31)))
    look.bad(column, odd, "expected a whole number, got {}", _cause_of_odd(look, column, numbers, odd))
    known = ~(empty | odd)
    below = known & (numbers < first)
    cause = "Are the arms numbered from 0? Set first_arm = 0." if column == "arm" and first else ""
    look.bad(column, below, f"expected a number from {first}, got {{}}", cause)
    return np.where(known & ~below, numbers - first, NOWHERE).astype(np.int64)


def _cause_of_odd(look: Look, column: str, numbers: np.ndarray, odd: np.ndarray) -> str:
    if column == "arm" and odd.mean() > 0.5 and np.isnan(numbers[odd]).any():  # fewer are slips
        _, names = codes_of(look.frame["arm"])
        listed = ", ".join(f'"{name}"' for name in names[:4]) + (", ..." if len(names) > 4 else "")
        return f"Do arms have names? Then list them in the task file: arms = [{listed}]."
    if column != "arm" and np.isfinite(numbers[odd]).any():
        return "Are these coordinates and not squares of a grid? List them in the task file: coordinates = [[x, y], ...]."
    return ""


def _check_range(look: Look, column: str, number: np.ndarray, n: int, first: int) -> None:
    chosen = number[number >= 0]
    cause = ""
    if len(chosen) and chosen.max() == n and chosen.min() >= 1 and first == 0:
        what, setting = ("arms", "first_arm") if column == "arm" else ("squares", "first_xy")
        cause = f"Are the {what} numbered from 1? Set {setting} = 1 in the task file."
    look.bad(column, number >= n, f"expected {column} to be {first} to {n - 1 + first}, got {{}}", cause)


def _within(number: np.ndarray, n: int) -> np.ndarray:
    return np.where(number < n, number, NOWHERE)


def _inferred(look: Look, number: np.ndarray | None) -> Layout:
    """The arms inferred from the rows when nothing else describes them; a note says so."""
    if number is None:
        sides = [_largest(look, column, look.task.first_xy) for column in ("x", "y") if look.has("x", "y")]
        if len(sides) == 2 and sides[0] * sides[1] <= MOST_INFERRED:
            look.inferred.append(
                f"The task does not say what the arms are: a grid of {sides[0]} x {sides[1]} was inferred from the "
                "largest x and y."
            )
            return replace(grid_layout(*sides), noise_var=look.task.noise_var)
        n = MOST_INFERRED
    else:
        n = max(int(number.max(initial=0)), _largest_available(look)) + 1
        look.inferred.append(
            f"The task does not say how many arms there are: {n} {plural(n, 'was', 'were')} inferred from the largest arm."
        )
        if not (number == 0).any() and (number > 0).any() and look.task.first_arm == 0:
            message = "nobody chose arm 0, and nothing says how arms are numbered"
            look.warnings.append(Problem(look.called("arm"), message, cause="Are they numbered from 1? Set first_arm = 1."))
    if n > MOST_INFERRED:
        cause = "Is there a slip in the largest one? Otherwise say in a task file what the arms are."
        look.problems.append(Problem(look.called("arm"), f"expected at most {MOST_INFERRED} arms, got {n}", cause=cause))
    return Layout(min(n, MOST_INFERRED), noise_var=look.task.noise_var)


def _largest(look: Look, column: str, first: int) -> int:
    """Number of places along x or y, from the largest plausible number."""
    numbers, _ = as_numbers(look.frame[column])
    with np.errstate(invalid="ignore"):
        fine = numbers[(numbers >= first) & (numbers == np.floor(numbers)) & (numbers < MOST_INFERRED)]
    return int(fine.max(initial=first)) - first + 1


def _arms_at(look: Look, missed: np.ndarray, layout: Layout, optional: bool) -> np.ndarray | None:
    """The arm at each row's x and y; None if x and y are not about arms."""
    if layout.shape is None:
        if layout.places is not None and layout.places.shape[1] == 2:
            return _arms_among(look, missed, layout.places, optional)
        if not optional:
            cause = "Set grid = [width, height] or coordinates in the task file, or give a column arm."
            look.problems.append(Problem("x", "expected arms that lie somewhere, as there are columns x and y", cause=cause))
        return None
    missing = missed | optional
    x, y = (_whole(look, column, missing, look.task.first_xy) for column in ("x", "y"))
    for column, number, side in zip(("x", "y"), (x, y), layout.shape, strict=True):
        _check_range(look, column, number, side, look.task.first_xy)
    inside = (x >= 0) & (x < layout.shape[0]) & (y >= 0) & (y < layout.shape[1])
    return np.where(inside, x * layout.shape[1] + y, NOWHERE)


def _arms_among(look: Look, missed: np.ndarray, places: np.ndarray, optional: bool) -> np.ndarray:
    """The arm whose coordinates are those of each row."""
    (x, bad_x), (y, bad_y) = as_numbers(look.frame["x"]), as_numbers(look.frame["y"])
    for column, bad in (("x", bad_x), ("y", bad_y)):
        look.bad(column, bad, "expected a number, got {}")
    at = {(float(a), float(b)): arm for arm, (a, b) in enumerate(np.round(places, 9))}
    pairs, which = np.unique(np.round(np.stack([x, y], axis=1), 9), axis=0, return_inverse=True)
    found = np.array([at.get((float(a), float(b)), NOWHERE) for a, b in pairs])[which.ravel()]
    somewhere = ~(np.isnan(x) | np.isnan(y))
    look.bad(
        "x", somewhere & (found < 0), "expected x and y to be the place of an arm, got x = {}", "Are x and y exchanged?"
    )
    if not optional:
        empty = ~somewhere & ~missed & ~bad_x & ~bad_y
        look.bad("x", empty, "expected a number, got {}", "Was the trial missed? Set missed to 1 there.")
    return found


def _check_agreement(look: Look, number: np.ndarray, placed: np.ndarray, layout: Layout) -> None:
    rule = "On a grid, arm = x * height + y, from 0." if layout.shape is not None else ""
    apart = (number >= 0) & (placed >= 0) & (number != placed)
    look.bad("arm", apart, "expected the arm at the row's x and y, got {}", f"{rule} Remove arm, or x and y.".strip())


def _listed(text: str, names: tuple[str, ...] | None = None) -> list[str]:
    """The arms in a list separated by spaces or, if names contain spaces, by commas, semicolons or bars."""
    spaced = names is not None and any(" " in name for name in names)
    parts = re.split(r"[,;|]+" if spaced else r"[\s,;|]+", text.strip("[](){} "))
    return [part.strip() for part in parts if part.strip()]


def _largest_available(look: Look) -> int:
    """The largest arm among those that were available, from 0."""
    if not look.has("available"):
        return 0
    _, texts = codes_of(look.frame["available"])
    numbers = [int(part) for text in texts for part in _listed(text) if part.isdecimal()]
    return max(numbers, default=0) - look.task.first_arm


def _available(look: Look, arm: np.ndarray, free: np.ndarray, layout: Layout) -> Available | None:
    """For each row an index into masks over arms; None if every arm was available on every trial."""
    if not look.has("available"):
        return None
    codes, texts = codes_of(look.frame["available"])
    if texts == [""]:
        return None
    first, names = look.task.first_arm, layout.arm_names
    masks, odd = np.zeros((len(texts), layout.n_arms), bool), np.zeros(len(texts), bool)
    for i, text in enumerate(texts):
        numbers = [_number_of(part, first, names) for part in _listed(text, names)]
        odd[i] = any(not 0 <= number < layout.n_arms for number in numbers)
        masks[i, [number for number in numbers if 0 <= number < layout.n_arms]] = True
        masks[i] |= not numbers or odd[i]
    which = f"arms from {first} to {layout.n_arms - 1 + first}" if names is None else f"some of the arms {_in_words(names)}"
    between = "commas" if names is not None and any(" " in name for name in names) else "spaces"
    message = f"expected {which} with {between} between, got {{}}"
    look.bad("available", odd[codes], message)
    absent = free & ~masks[codes, np.where(free, arm, 0)]
    column = "arm" if look.has("arm") else "x"
    look.bad(column, absent, "expected one of the arms that were available, got {}", "Is this the set of the next trial?")
    return codes, masks


def _number_of(part: str, first: int, names: tuple[str, ...] | None) -> int:
    if names is not None:
        return names.index(part) if part in names else NOWHERE
    return int(part) - first if part.isdecimal() else NOWHERE


def start(look: Look, group: np.ndarray, layout: Layout) -> np.ndarray | None:
    """The arm on which the person stood before each row's block began; None if there is no start."""
    said = look.task.start
    if said is None:
        return None
    if not isinstance(said, str):
        return np.full(len(look.rows), said)
    if not look.has(said):
        message = f"expected a column {said!r}, which the task file names as start, got none"
        look.problems.append(Problem(said, message))
        return None
    if layout.arm_names is not None:
        return _named_start(look, said, group, layout.arm_names)
    numbers, bad = as_numbers(look.frame[said])
    first = look.task.first_arm
    with np.errstate(invalid="ignore"):
        fine = (numbers >= first) & (numbers < layout.n_arms + first) & (numbers == np.floor(numbers))
    odd = bad | (~np.isnan(numbers) & ~fine)
    look.bad(said, odd, f"expected an arm from {first} to {layout.n_arms - 1 + first}, or nothing, got {{}}")
    look.bad(said, varies_within(look, said, group), "expected one start within a block, got also {}")
    return np.where(fine, numbers - first, NOWHERE).astype(np.int64)


def _named_start(look: Look, column: str, group: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    codes, texts = codes_of(look.frame[column])
    number = np.array([_number_of(text, 0, names) for text in texts], np.int64)[codes]
    odd = (number == NOWHERE) & np.array([text not in NO_NUMBER for text in texts])[codes]
    look.bad(column, odd, f"expected one of the arms {_in_words(names)}, or nothing, got {{}}")
    look.bad(column, varies_within(look, column, group), "expected one start within a block, got also {}")
    return number

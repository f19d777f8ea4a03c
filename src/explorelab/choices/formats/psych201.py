"""Psych-201's JSON lines: one person per line, the whole session as text, with every choice between << and >>.

Read are transcripts of bandits: a line that ends in a number and a colon ("Game 3:") begins a block, a choice is followed by
its reward, and "instructed to press B and get 3 points" is a forced trial. Written is the same, so that what was written can
be read back: `write_psych201` also keeps the names of the arms in order, which other files leave to the text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorelab._support.door import door
from explorelab._support.files import check_writable, write_bytes
from explorelab._support.written_numbers import Json, JsonObject
from explorelab.choices.columns import as_numbers
from explorelab.choices.raw import Raw
from explorelab.choices.table import Choices, Layout
from explorelab.choices.task_file import DataTask
from explorelab.errors import InputError

NUMBER = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)")
BLOCK = re.compile(r"^\s*[A-Za-z][\w ]*?\s(\d+)\s*:\s*$")
TRIAL = re.compile(
    r"<<(?P<chosen>[^<>]+)>>|(?:instructed|forced|told) to press (?P<forced>.+?)(?= and |[.,;:!](?:\s|$)|$)", re.IGNORECASE
)
LOSS = re.compile(r"\b(?:lose|loses|lost|losing)\b", re.IGNORECASE)
MISSED = re.compile(r"(?:do not|don't|did not|didn't) (?:press|respond|answer)[^.\n]*", re.IGNORECASE)
OF_FORMAT = ("text", "experiment", "participant", "RTs", "arms")
"""Fields with a meaning; every other one that is text or a number is a condition."""
INSTRUCTIONS = (
    "You will repeatedly choose between {n} options, labelled {names}.\n"
    "Each option pays points, which vary around a mean that you do not know.\n"
    "Your goal is to earn as many points as possible.\n"
    "You play {blocks}."
)


class _Told(NamedTuple):
    """One trial as the text tells it."""

    block: int
    arm: str
    reward: float | None
    forced: bool = False
    missed: bool = False


def read_prompts(data: bytes, path: Path) -> Raw:
    """The trials in a file of transcripts."""
    people = list(_lines(data, path))
    sessions: list[list[_Told]] = []
    arms: list[list[str]] = []
    for line, person in people:
        try:
            told = list(_trials(str(person["text"])))
        except ValueError as error:
            raise InputError(f"{path}, line {line}: {error}.") from None
        if not any(not one.missed for one in told):
            raise InputError(
                f"{path}, line {line}: expected choices between << and >>, each followed by its reward, got none."
            )
        names = [str(name) for name in person.get("arms", [])] or _mentioned(str(person["text"]), told)
        arms.append(names)
        sessions.append(told)
    most = max(arms, key=len)
    if all(set(names) <= set(most) for names in arms):
        arms = [most] * len(arms)  # somebody may never have pressed one of them
    rows = [
        row
        for (line, person), told, names in zip(people, sessions, arms, strict=True)
        for row in _rows(person, told, names, path, line)
    ]
    frame = pd.DataFrame(rows, dtype=object)
    raw = Raw(frame.where(frame.notna(), None), np.arange(1, len(rows) + 1), str(path))
    n_arms = max(map(len, arms))
    alike = all(names == arms[0] for names in arms)
    numbered = arms[0] == [str(arm) for arm in range(n_arms)]
    numbering = "People's arms have different names: they are numbered in the order in which the text has them."
    layout = Layout(n_arms, arm_names=tuple(arms[0]) if alike and not numbered else None)
    raw.task = DataTask(layout, note="" if alike else numbering)
    raw.notes.append(
        "The file is in the form of Psych-201: arms, blocks and rewards were read from the text."
        + (
            ""
            if alike
            else " People's arms have different names: they are numbered in the order in which the text has them."
        )
    )
    if raw.task.layout is not None and raw.task.layout.arm_names is not None:
        raw.frame["arm"] = [None if arm is None else arms[0][arm] for arm in raw.frame["arm"]]
    return raw


def _lines(data: bytes, path: Path) -> Iterator[tuple[int, JsonObject]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: expected text in UTF-8.") from None
    found = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            person = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: cannot be read as JSON: {error}.") from None
        if not isinstance(person, dict) or not isinstance(person.get("text"), str) or "participant" not in person:
            raise InputError(f"{path}, line {number}: expected an object with text, experiment and participant.")
        found = True
        yield number, person
    if not found:
        raise InputError(f"{path}: expected one person per line, got an empty file.")


def _trials(text: str) -> Iterator[_Told]:
    """The trials of a session; what stands before the first block or trial is instructions."""
    lines = text.split("\n")
    block = 0 if any(BLOCK.match(line) for line in lines) else 1
    begun = block == 0
    for line in lines:
        found = list(TRIAL.finditer(line))
        begun |= bool(found)
        if BLOCK.match(line):
            block += 1
        elif block and begun and not found and MISSED.search(line):
            yield _Told(block, "", None, missed=True)
        elif block and found:
            ends = [*(each.start() for each in found[1:]), len(line)]
            for each, end in zip(found, ends, strict=True):
                arm = (each["chosen"] or each["forced"]).strip()
                yield _Told(block, arm, _reward(line[each.end() : end], each[0]), forced=each["chosen"] is None)


def _reward(after: str, choice: str) -> float:
    """The one number between a choice and the next."""
    numbers = NUMBER.findall(after)
    if len(numbers) != 1:
        raise ValueError(f"expected one number, the reward, after {choice!r}, got {', '.join(numbers) or 'none'}")
    value = float(numbers[0].replace(",", "").replace("\u2212", "-"))
    return -abs(value) if LOSS.search(after) else value


def _mentioned(text: str, told: list[_Told]) -> list[str]:
    """The arms that were pressed, in the order in which the text first names them."""
    names = sorted({one.arm for one in told if one.arm})
    if all(re.fullmatch(r"\d+", name) for name in names):
        return sorted(names, key=int)

    def first(name: str) -> int:
        found = re.search(rf"(?<![\w]){re.escape(name)}(?![\w])", text)
        return found.start() if found else len(text)

    return sorted(names, key=first)


def _rows(person: JsonObject, told: list[_Told], names: list[str], path: Path, line: int) -> list[JsonObject]:
    number = {name: i for i, name in enumerate(names)}
    same = {key: value for key, value in person.items() if key not in OF_FORMAT and isinstance(value, str | int | float)}
    times = person.get("RTs")
    n_chosen = sum(not (one.forced or one.missed) for one in told)
    if times is not None and (not isinstance(times, list) or len(times) != n_chosen):
        got = len(times) if isinstance(times, list) else type(times).__name__
        raise InputError(f"{path}, line {line}: expected as many RTs as choices, {n_chosen}, got {got}.")
    waiting = iter(times or [])
    at: dict[int, int] = {}
    rows: list[JsonObject] = []
    for one in told:
        at[one.block] = at.get(one.block, 0) + 1
        if one.arm and one.arm not in number:
            raise InputError(f"{path}, line {line}: expected one of the arms {', '.join(names[:8])}, got {one.arm!r}.")
        row: JsonObject = {"participant": str(person["participant"]), "block": one.block, "trial": at[one.block]}
        row |= {"arm": number.get(one.arm), "reward": one.reward, "missed": int(one.missed), "forced": int(one.forced)}
        if times is not None:
            row["reaction_time_ms"] = None if one.forced or one.missed else next(waiting)
        rows.append(same | ({"experiment": person["experiment"]} if "experiment" in person else {}) | row)
    return rows


@door
def write_psych201(
    choices: Choices, path: str | os.PathLike[str], experiment: str = "", instructions: str | None = None
) -> Path:
    """Write choices as Psych-201's JSON lines, one person per line, and return the path.

    Conditions that are the same in all blocks of a person become fields; others are left out. `read_choices` reads the file
    back: the same choices and rewards, without the places and means of the arms, which the form has no room for. A missed
    trial on which an arm was sampled all the same comes back as a forced one.

    Parameters
    ----------
    choices
        Choices to write.
    path
        File to write, ending in .jsonl.
    experiment
        Name of the experiment; by default where the choices came from.
    instructions
        Text before the first block; by default a few general sentences.
    """
    target = Path(path)
    if target.suffix != ".jsonl":
        raise InputError(f"{target}: expected a name ending in .jsonl, got {target.suffix or 'none'}.")
    if instructions is not None and ("<<" in instructions or ">>" in instructions):
        raise InputError("instructions must not contain << or >>, which mark choices.")
    check_writable(target)
    lines = [
        json.dumps(
            _person(choices, who, experiment or Path(choices.source).stem or choices.layout.name, instructions),
            ensure_ascii=False,
        )
        for who in range(choices.n_participants)
    ]
    write_bytes(target, "".join(f"{line}\n" for line in lines).encode())
    return target


def _person(choices: Choices, who: int, experiment: str, instructions: str | None) -> dict[str, Json]:
    rows = np.flatnonzero(choices.participant == who)
    names = [choices.layout.label(arm) for arm in range(choices.layout.n_arms)]
    if instructions is None:
        listed = ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) <= 12 else f"{names[0]} to {names[-1]}"
        blocks = "one game" if len(rows) == 1 else f"{len(rows)} games, each with new options"
        instructions = INSTRUCTIONS.format(n=len(names), names=listed, blocks=blocks)
    parts = [instructions.strip()]
    for number, row in enumerate(rows.tolist(), 1):
        parts.append("\n".join([f"Game {number}:", *_sentences(choices, row, names)]))
    person: dict[str, Json] = {
        "text": "\n\n".join(parts) + "\n", "experiment": experiment, "participant": choices.participants[who], "arms": names,
    }  # fmt: skip
    times = _times(choices, who)
    if times is not None:
        person["RTs"] = times
    for name, values in choices.conditions.items():
        own = values[rows]
        if name not in person and len(set(own.tolist())) == 1:
            person[name] = own[0].item() if isinstance(own[0], np.generic) else own[0]
    return person


def _sentences(choices: Choices, row: int, names: list[str]) -> Iterator[str]:
    for t in np.flatnonzero(choices.present[row]):
        name, reward = names[choices.arm[row, t]], np.format_float_positional(choices.reward[row, t], trim="-")
        if not choices.observed[row, t]:
            yield "You do not press anything in time."
        elif choices.scored[row, t]:
            yield f"You press <<{name}>> and get {reward} points."
        else:
            yield f"You are instructed to press {name} and get {reward} points."


def _times(choices: Choices, who: int) -> list[Json] | None:
    """Reaction times of all choices of a person, if there is one for each."""
    table = choices.table
    if table is None or "reaction_time_ms" not in table:
        return None
    own = table[table.participant == choices.participants[who]]
    flags = [~own[name].astype(bool) for name in ("missed", "forced") if name in own]
    chosen = own[np.logical_and.reduce(flags)] if flags else own
    chosen = chosen.assign(_block=pd.Categorical(chosen.block, choices.block[choices.participant == who]))
    times, _ = as_numbers(chosen.sort_values(["_block", "trial"], kind="stable")["reaction_time_ms"])
    n_scored = int(choices.scored[choices.participant == who].sum())
    return [float(time) for time in times] if len(times) == n_scored and np.isfinite(times).all() else None

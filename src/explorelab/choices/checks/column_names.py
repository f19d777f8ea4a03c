"""The columns of a file of choices and their common names elsewhere: used to suggest a name, never to assume one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

COLUMNS: dict[str, tuple[str, ...]] = {
    "participant": (
        *("subject", "subj", "sub", "id", "person", "pid", "ppt", "user", "worker", "player", "respondent", "sid", "ss"),
        *("subject id", "subj id", "sub id", "participant id", "part id", "ppt id", "person id", "user id", "worker id"),
        *("subject number", "subj number", "participant number", "subject nr", "subject no", "prolific pid", "prolific id"),
    ),
    "block": (
        "round",
        "session",
        "game",
        "run",
        "episode",
        "sequence",
        "block number",
        "block id",
        "game number",
        "bandit id",
    ),
    "trial": (
        *("trial number", "trial index", "trial id", "trial nr", "trial no", "trial num", "n trial", "step", "t", "turn"),
        *("click", "time", "trials", "trl"),
    ),
    "arm": (
        *("choice", "action", "option", "response", "resp", "chosen", "selected", "selection", "bandit", "machine", "deck"),
        *("key", "arm id", "arm chosen", "chosen arm", "choice id", "chosen option", "selected arm", "pick", "decision"),
    ),
    "x": (),
    "y": (),
    "reward": (
        *("outcome", "payoff", "points", "score", "r", "feedback", "payout", "win", "gain", "rew", "rewards", "outcomes"),
        *("reward value", "value", "return", "payoffs", "earnings"),
    ),
    "available": ("options", "available arms", "choices available", "choice set"),
    "missed": ("miss", "timeout", "timed out", "missing", "no response", "omission"),
    "forced": ("force", "instructed", "forced choice", "is forced", "revealed"),
    "advised": (),
    "advice_shown": (),
    "followed": (),
    "advice_reason": (),
    "reaction_time_ms": ("rt", "reaction time", "response time", "rt ms", "latency"),
}
"""Columns with a meaning (every other column is a condition), and other names of each, in lower case; a space stands for any
separator of words, or for none."""
ALSO_CALLED = {name: others for name, others in COLUMNS.items() if others}


def near(name: str, columns: Iterable[object]) -> str:
    """The column that may be this one under another name, such as subjID or Subject.ID for participant; empty if none."""
    free = {_plain(str(column)): str(column) for column in columns if column not in COLUMNS}
    exact = next((free[_plain(other)] for other in (name, *ALSO_CALLED.get(name, ())) if _plain(other) in free), "")
    return exact or next((free[close] for close in difflib.get_close_matches(_plain(name), free, n=1, cutoff=0.75)), "")


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def how_to_rename(name: str, other: str) -> str:
    """What to do about a column that the file calls differently."""
    return f'rename it to {name}, or set columns = {{ {name} = "{other}" }} in the task file'

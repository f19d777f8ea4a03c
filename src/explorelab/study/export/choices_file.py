"""choices.csv and choices.toml: the task blocks as `explorelab check`, `fit` and `report` read them."""

from __future__ import annotations

import json

from explorelab._support.written_numbers import Json
from explorelab.choices.writing import toml_of
from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.export.cells import safe
from explorelab.study.export.rows import ARM, Played
from explorelab.study.session.choice_fields import ANALYSED, exported_to
from explorelab.tasks import Task
from explorelab.tasks.noise import noise_kind

CONDITIONS = ("timing", "dynamic", "landscape", "start")

OUR_DYNAMICS = (
    "The dynamics neighbour and travel are explorelab's own: the paper mentions three and describes only the standard one."
)
TRAVEL = "Under travel, arm is the square sampled on the way; the complete table has the goal."
ROBOTS = "These choices were made by robots in a pilot, not by people."
BOTH = "Some participants are robots from a pilot: the column pilot says which."


def columns(pilots: str, advice: bool = False) -> tuple[str, ...]:
    """The columns of choices.csv; if it has both robots and people, a column distinguishes them."""
    names = ("participant", "block", *exported_to(ANALYSED, advice), *CONDITIONS, *((ARM,) if advice else ()))
    return (*names, "pilot") if pilots == "with" else names


def task_toml(study: Study, played: Played, pilots: str) -> str:
    """The text of choices.toml: the squares, what they are worth in each landscape, the noise, and what to know."""
    unknown = [name for name in played.landscapes if name not in study.landscapes]
    if unknown:
        known = ", ".join(study.landscapes)
        raise InputError(
            f"study.toml must describe every landscape that was played: expected {unknown[0]!r} among them, got {known}."
        )
    names = played.landscapes or study.task_landscapes
    tasks = [study.landscapes[name] for name in names]
    noise, doubt = noise_told(tasks)
    table: dict[str, Json] = {"name": study.title or study.name, "grid": [study.width, study.height], **noise}
    table |= {"horizon": played.n_trials or study.n_trials, "start": "start", "means_by": "landscape"}
    table["note"] = " ".join(notes(tasks, played, pilots, doubt))
    table |= {"players": "robots"} if pilots == "only" else {}
    means = [f"{task_key(safe(name))} = {json.dumps(task.means.tolist())}" for name, task in zip(names, tasks, strict=True)]
    return "\n".join([toml_of(table, []), "[task.means]", *means, ""])


def notes(tasks: list[Task], played: Played, pilots: str, doubt: str = "") -> list[str]:
    """What a reader of results must know."""
    told = [*dict.fromkeys(task.note for task in tasks)]
    told += [OUR_DYNAMICS] if set(played.dynamics) - {"standard"} else []
    told += [TRAVEL] if "travel" in played.dynamics else []
    told += [{"only": ROBOTS, "with": BOTH}.get(pilots, ""), doubt]
    return [note for note in told if note]


def noise_told(tasks: list[Task]) -> tuple[dict[str, Json], str]:
    """The reward noise if it is the same everywhere; otherwise it is left to be estimated, and a note says so."""
    kinds = {(task.noise.kind, task.noise.scale) for task in tasks}
    variances = {float(task.noise.var) for task in tasks}
    if len(variances) > 1:
        return {}, f"The variance of rewards differs between landscapes ({', '.join(f'{v:g}' for v in sorted(variances))})."
    (kind, scale), *others = sorted(kinds)
    about = noise_kind(kind)
    if about.key and not others:
        return {about.key: int(scale) if about.whole else float(scale)}, ""
    return {"noise_var": variances.pop()}, ""


def task_key(name: str) -> str:
    """A name as a key of TOML."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")

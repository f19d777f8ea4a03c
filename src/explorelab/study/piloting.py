"""A pilot from the command line: a server for it if none is named, robots, and a sentence on what they did."""

from __future__ import annotations

from pathlib import Path

from explorelab.study.pilot import Piloted, run_pilot
from explorelab.study.serve import serving
from explorelab.study.settings import load_study
from explorelab.study.store import open_store, remembered


def pilot(folder: Path, people: int, url: str, seed: int) -> str:
    """What so many robots did, in one sentence."""
    study = load_study(folder)
    store = open_store(study.database, folder)
    with store.engine.begin() as connection:
        key = remembered(connection, "pilot_key")
    store.close()
    if url:
        done = run_pilot(url, study, people=people, seed=seed, pilot_key=key)
    else:
        with serving(folder) as own:
            done = run_pilot(own, study, people=people, seed=seed, pilot_key=key)
    return "\n".join(_told(done))


def _told(done: Piloted) -> list[str]:
    """What came of it, a line each."""
    minutes = f"{done.seconds / 60:.1f} minutes" if done.seconds >= 90 else f"{done.seconds:.0f} s"
    lines = [
        f"{done.finished} of {done.people} robots finished in {minutes}: {done.choices} choices, {done.missed} missed, "
        f"{done.retries} requests sent again."
    ]
    lines += [f"stopped early: {why}" for why in done.failures]
    return [*lines, "They are marked as pilots: explorelab study export FOLDER --pilots only exports them."]

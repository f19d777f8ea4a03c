"""A pilot from the command line: a server for it if none is named, robots, and a sentence on what they did."""

from __future__ import annotations

from pathlib import Path

from explorelab._support.counted import counted
from explorelab.study.config.design import Study
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import open_store, remembered
from explorelab.study.robots.pilot import Piloted, run_pilot
from explorelab.study.server.serve import serving


def pilot(folder: Path, people: int, url: str, seed: int) -> str:
    """What so many robots did, in one sentence."""
    study, key = _key_of(folder)
    if url:
        done = run_pilot(url, study, people=people, seed=seed, pilot_key=key)
    else:
        with serving(folder) as own:
            done = run_pilot(own, study, people=people, seed=seed, pilot_key=key)
    return "\n".join(_told(done))


def links(folder: Path, url: str) -> str:
    """Links by which a browser takes part as a pilot: played by whoever opens it, or by itself."""
    _, key = _key_of(folder)
    address = (url or "http://127.0.0.1:8000").rstrip("/")
    ways = {"to play as a pilot": "/", "to let the page play itself": "/?simulate=visual"}
    return "\n".join(f"{what:<28}{address}{way}#pilot={key}" for what, way in ways.items())


def _key_of(folder: Path) -> tuple[Study, str]:
    """The study, and the key by which its pilots are known."""
    study = load_study(folder)
    store = open_store(study.database, folder)
    try:
        with store.engine.begin() as connection:
            return study, remembered(connection, "pilot_key")
    finally:
        store.close()


def _told(done: Piloted) -> list[str]:
    """What came of it, a line each."""
    minutes = f"{done.seconds / 60:.1f} minutes" if done.seconds >= 90 else f"{done.seconds:.0f} s"
    lines = [
        f"{done.finished} of {counted(done.people, 'robot')} finished in {minutes}: {counted(done.choices, 'choice')}, "
        f"{done.missed} missed, {counted(done.retries, 'request')} sent again."
    ]
    lines += [f"stopped early: {why}" for why in done.failures]
    return [*lines, "They are marked as pilots: explorelab study export FOLDER --pilots only exports them."]

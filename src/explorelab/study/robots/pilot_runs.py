"""A pilot from the command line: starts a server unless one is given, runs the robots, and sums up what they did."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from explorelab._support.counted import counted
from explorelab.errors import InputError
from explorelab.study.config.design import Study
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import open_store, remembered
from explorelab.study.robots.page_answers import PASSES
from explorelab.study.robots.pilot import FOLLOW, Piloted, run_pilot
from explorelab.study.server.serve import serving


def pilot(
    folder: Path,
    people: int,
    url: str,
    seed: int,
    follow: float | None = None,
    agents: Sequence[str] | None = None,
    languages: Sequence[str] = (),
    passes: float | None = None,
) -> str:
    """Run the robots and return a summary of what they did."""
    study, key = _key_of(folder)
    if follow is not None and study.advice is None:
        raise InputError(f"--follow is for studies with advice, but {folder / 'study.toml'} has no table [advice].")
    if passes is not None and not any(page.file in study.texts.forms for page in study.pages):
        raise InputError(f"--passes is for studies that ask questions, but {folder / 'study.toml'} has no quiz and no form.")
    following, rightly = FOLLOW if follow is None else follow, PASSES if passes is None else passes
    run = partial(
        run_pilot, study=study, people=people, seed=seed, pilot_key=key, agents=agents, follow=following,
        languages=languages, passes=rightly,
    )  # fmt: skip
    if url:
        done = run(url)
    else:
        with serving(folder, with_advice=True) as own:
            done = run(own)
    return "\n".join(_summary(done))


def links(folder: Path, url: str) -> str:
    """Links for taking part as a pilot in a browser: one to play by hand, one where the page plays by itself."""
    _, key = _key_of(folder)
    address = (url or "http://127.0.0.1:8000").rstrip("/")
    ways = {"to play as a pilot": "/", "to let the page play by itself": "/?simulate=visual"}
    return "\n".join(f"{what:<32}{address}{way}#pilot={key}" for what, way in ways.items())


def _key_of(folder: Path) -> tuple[Study, str]:
    """The study, and the key that marks its pilots."""
    study = load_study(folder)
    store = open_store(study.database, folder)
    try:
        with store.engine.begin() as connection:
            return study, remembered(connection, "pilot_key")
    finally:
        store.close()


def _summary(done: Piloted) -> list[str]:
    """How the robots fared, as lines of text."""
    minutes = f"{done.seconds / 60:.1f} minutes" if done.seconds >= 90 else f"{done.seconds:.0f} s"
    lines = [
        f"{done.finished} of {counted(done.people, 'robot')} finished in {minutes}: {counted(done.choices, 'choice')}, "
        f"{done.missed} missed, {counted(done.retries, 'request')} retried."
    ]
    lines += [f"{counted(done.screened, 'robot')} failed a quiz for good."] if done.screened else []
    lines += [f"stopped early: {why}" for why in done.failures]
    lines += [f"other language: {what}" for what in done.unread]
    return [*lines, "They are marked as pilots; to export them: explorelab study export FOLDER --pilots only"]

"""Robots take advice as people do: over the real interface, with a probability of following it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, select

from explorelab.errors import InputError
from explorelab.study.config.study_folder import load_study
from explorelab.study.database.store import engine_for, remembered
from explorelab.study.database.tables import choices
from explorelab.study.robots.pilot import run_pilot
from explorelab.study.robots.pilot_runs import pilot
from explorelab.study.server.serve import serving
from tests.support.study.server import write_study

ADVICE = 'arms = ["impersonal"]\nwithin_ms = 3000'


def test_robots_follow_always_or_never_as_they_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_study(
        folder,
        "sqlite:///study.db",
        fast_ms=400,
        slow_ms=400,
        training=(),
        n_trials=6,
        dynamics=("standard",),
        advice=ADVICE,
    )
    study = load_study(folder)
    shares = {}
    with serving(folder, with_advice=True) as url:
        engine = engine_for(study.database, folder)
        with engine.begin() as connection:
            key = remembered(connection, "pilot_key")
        before = 0
        for follow in (0.0, 1.0):
            agents = ["random-choice"]
            done = run_pilot(url, study, people=2, seed=1, pilot_key=key, agents=agents, follow=follow, progress=False)
            assert done.finished == 2
            with engine.connect() as connection:
                rows = connection.execute(select(choices).where(choices.c.id > before).order_by(choices.c.id)).all()
            before = rows[-1].id
            shown = [row for row in rows if row.advice_shown_ms is not None and not row.missed]
            assert len(shown) > 10
            shares[follow] = sum(row.goal == row.advised for row in shown) / len(shown)
        engine.dispose()
    assert shares[1.0] == 1.0
    assert shares[0.0] < 0.3  # by chance, one in a hundred


def test_following_needs_a_study_with_advice(tmp_path: Path) -> None:
    write_study(tmp_path / "study", "sqlite:///study.db")
    with pytest.raises(InputError, match=r"--follow is for studies with advice, but .*study\.toml has no table \[advice\]"):
        pilot(tmp_path / "study", 1, "", 0, follow=0.6)
    engine = create_engine(f"sqlite:///{tmp_path / 'study' / 'study.db'}")
    with engine.connect() as connection:
        assert connection.execute(select(choices)).all() == []
    engine.dispose()

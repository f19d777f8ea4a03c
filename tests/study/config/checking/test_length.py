"""How long a study takes: the clocks of its blocks, and its words at the speed at which people read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorelab.study.config.checking.length import lengths, reading_s
from explorelab.study.config.checking.pay import pay_of
from explorelab.study.config.design import Payment
from explorelab.study.config.start_study import init_study
from explorelab.study.config.study_folder import load_study
from explorelab.study.config.texts import LANGUAGES
from tests.support.study.small_study import small_study

pytestmark = pytest.mark.quick


def test_the_papers_design_takes_its_clocks_and_a_few_minutes_of_reading(tmp_path: Path) -> None:
    init_study(tmp_path / "study", languages=LANGUAGES)
    found = lengths(load_study(tmp_path / "study"))
    assert len(found) == 24 * len(LANGUAGES)
    # Three times ten choices of 1.5 s, then 90 of 1.5 s and 90 of 6 s.
    assert {one.playing_s for one in found} == {3 * 10 * 1.5 + 90 * 1.5 + 90 * 6}
    by_language = {one.language: one.reading_s for one in found}
    assert by_language["de"] > by_language["en"]
    assert all(3 * 60 < seconds < 12 * 60 for seconds in by_language.values())


def test_words_are_read_at_the_speed_of_their_language() -> None:
    text = "word " * 228
    assert reading_s(text, "en") == pytest.approx(60)
    assert reading_s(text, "en-GB") == pytest.approx(60)
    assert reading_s("Wort " * 179, "de") == pytest.approx(60)
    assert reading_s("字" * 255, "zh") == pytest.approx(60)
    assert reading_s("", "en") == 0


def test_conditions_differ_by_their_own_clocks() -> None:
    study = small_study(deadline_ms=1000, n_trials=60, n_training=0, n_task_blocks=1, training=())
    found = {one.condition: one for one in lengths(study)}
    slow, fast = (next(one for name, one in found.items() if name.startswith(timing)) for timing in ("slow", "fast"))
    assert (fast.playing_s, slow.playing_s) == (60, 240)


def test_an_hour_is_paid_by_the_longest_condition() -> None:
    study = small_study(deadline_ms=60_000, n_trials=30, n_task_blocks=1, training=(), payment=Payment("EUR", 10.0, 0, 0))
    takes = lengths(study)
    longest = max(one.minutes for one in takes)
    assert longest == pytest.approx(120, abs=2)
    assert pay_of(study, takes).per_hour == pytest.approx(10 / (longest / 60))
    assert pay_of(study, takes).least is None
    assert pay_of(replace(study, least_per_hour=12.0), takes).least == 12.0

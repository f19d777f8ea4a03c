"""What a companion says of a person's regret: where it is going, what the adviser would lose, and their weaknesses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import explorelab as xl
from explorelab.companions.assessment.one_person import assessed
from explorelab.companions.assessment.rest_of_block import LABELS
from explorelab.companions.assessment.weaknesses import WEAKNESSES
from explorelab.companions.assessment.what_suits import references
from explorelab.companions.expert import prior_for
from explorelab.companions.live import Companion, companion
from explorelab.fitting.results import on_natural_scale

pytestmark = pytest.mark.quick_programs

HILL = xl.tasks.line([0.0, 1.0, 2.0, 4.0, 8.0, 6.0, 3.0, 1.0], noise_var=1.0)
T = 16


def met(agent: str, n_points: int = 32, horizon: int = T) -> Companion:
    return companion(agent, None, HILL, horizon=horizon, n_points=n_points)


def after(mind: Companion, arms: list[int], seed: int = 0) -> Companion:
    rng = np.random.default_rng(seed)
    for arm in arms:
        mind = mind.observe(arm, HILL.means[arm] + rng.normal())
    return mind


def test_regret_to_come_of_random_choice_is_its_mean_gap_times_what_is_left() -> None:
    for n_seen in (0, 10):
        mind = after(met("random-choice"), [3] * n_seen)
        found = assessed(mind, n_futures=400, with_weaknesses=False)
        left = T - n_seen
        error = HILL.gaps.std() * np.sqrt(left / 400)
        assert found.regret_to_come == pytest.approx(left * HILL.gaps.mean(), abs=4 * error)
        assert found.regret == pytest.approx(4.0 * n_seen)
        assert found.t == n_seen


@pytest.mark.slow
def test_who_goes_on_does_so_with_what_they_have_learned() -> None:
    mind = met("stochastic-ucl", 64)
    lost, found = after(mind, [0, 7, 1, 0, 7, 1, 0, 7]), after(mind, [0, 4, 4, 4, 4, 4, 4, 4])
    assert found.assessment().regret_to_come < 0.5 * lost.assessment().regret_to_come


@pytest.mark.parametrize("n_seen", [0, 4])
def test_the_follower_does_what_the_adviser_would_alone(n_seen: int) -> None:
    runs = xl.simulate(prior_for([HILL]), HILL, T, 400, precision="double", progress=False)
    found = assessed(after(met("random-choice"), [2] * n_seen), n_futures=400, with_weaknesses=False)
    mean, error = (float(runs[name][-1]) for name in ("regret_mean", "regret_se"))
    if n_seen:  # what was seen of arm 2 saves the adviser from looking there
        assert found.regret_if_advised < mean
    else:
        assert found.regret_if_advised == pytest.approx(mean, abs=6 * error)


def test_the_form_at_the_end_is_the_label_of_the_curve() -> None:
    rng = np.random.default_rng(1)
    arms = rng.integers(8, size=T).tolist()
    mind = after(met("random-choice"), arms)
    rewards = [trial.reward for trial in mind.past.blocks[-1]]
    label = xl.fit_regret_curves(np.cumsum(HILL.best - np.array(rewards)))["label"].item()
    assert mind.phenotype == {form: float(form == label) for form in LABELS}
    assert mind.assessment().regret_to_come == 0


def test_forms_are_probabilities_that_become_certain() -> None:
    mind = met("random-choice")
    for n in (0, 5, T - 1):
        found = after(mind, [2] * n).phenotype
        assert list(found) == list(LABELS)
        assert sum(found.values()) == pytest.approx(1)
    # Losing the same on every choice, with little noise in the last one, is a straight line.
    assert found["linear"] + found["power"] > 0.9


def test_a_missed_trial_loses_what_the_best_arm_would_have_paid() -> None:
    mind = met("random-choice").observe(missed=True).observe(4, 8.0)
    assert mind.assessment().regret == pytest.approx(HILL.best)


@pytest.mark.slow
def test_the_same_companion_says_the_same_again() -> None:
    mind = after(met("stochastic-ucl"), [3, 4, 5])
    assert mind.assessment() == mind.assessment()


def test_each_block_is_assessed_by_itself() -> None:
    mind = after(met("random-choice"), [0] * 6).next_block()
    found = mind.assessment()
    assert (found.t, found.regret) == (0, 0)
    elsewhere = mind.next_block(task=replace(HILL, means=10 * HILL.means))
    assert elsewhere.assessment().regret_to_come == pytest.approx(10 * found.regret_to_come, rel=0.1)


def played_by(temperature: float, prior_var: float = 8.0, prior_mean: float = 4.0, n_blocks: int = 4) -> Companion:
    """A companion after some blocks of a simulated person."""
    agent = xl.agents.stochastic_ucl(
        prior_mean=prior_mean, prior_var=prior_var, length_scale=2.0, temperature=temperature, noise_var=1.0
    )
    people = xl.simulate_choices(xl.blank_choices(HILL, 1, n_blocks, T), agent, seed=2, progress=False)
    mind = met("stochastic-ucl", 64)
    for block in range(n_blocks):
        mind = mind.next_block() if block else mind
        for arm, reward in zip(people.arm[block].tolist(), people.reward[block].tolist(), strict=True):
            mind = mind.observe(arm, reward)
    return mind


def test_somebody_who_is_too_hot_is_told_and_somebody_who_is_not_is_not() -> None:
    hot, cool = played_by(20.0).assessment().weaknesses, played_by(0.3).assessment().weaknesses
    assert list(hot) == list(WEAKNESSES)
    assert hot["too hot"].probability > 0.9
    assert hot["too hot"].cost > 10
    assert hot["too hot"].sentence.startswith("They choose too randomly: temperature ")
    assert cool["too hot"].probability < 0.1
    # A low temperature with a prior that suits the task does no harm, so it is no weakness.
    assert cool["too cold"].probability < 0.5


def test_what_suits_a_landscape_is_its_own_spread_and_a_temperature_that_loses_little() -> None:
    suits = references((HILL,))
    assert suits["prior_var"] == pytest.approx(HILL.means.var())
    p = np.exp(-HILL.gaps / suits["temperature"])
    assert (p / p.sum()) @ HILL.gaps == pytest.approx(0.05 * HILL.gaps.mean())


def test_an_agent_without_such_parameters_has_no_such_weaknesses() -> None:
    assert after(met("win-stay-lose-shift"), [1, 2]).assessment().weaknesses == {}


@pytest.mark.slow
@pytest.mark.parametrize("t", [0, 6, 12])
def test_forms_come_true_as_often_as_predicted(t: int) -> None:
    mind, n = met("stochastic-ucl", 128), 120
    z = np.random.default_rng(3).standard_normal((n, len(mind.scene.names)))
    values = on_natural_scale(mind.scene.space, np.clip(z, mind.scene.numbers.low, mind.scene.numbers.high))
    agent = xl.agents.stochastic_ucl(prior_mean=1.0, prior_var=1.0, length_scale=1.0, temperature=1.0)
    drawn = dict(zip(mind.scene.names, values.T, strict=True))
    people = xl.simulate_choices(xl.blank_choices(HILL, n, 1, T), agent, drawn, seed=4, progress=False)
    label = xl.label_phenotypes(people, bootstrap=0)["label"].values
    predicted = []
    for arm, reward in zip(people.arm[:, :t], people.reward[:, :t], strict=True):
        one = mind
        for trial in zip(arm.tolist(), reward.tolist(), strict=True):
            one = one.observe(*trial)
        predicted.append(list(one.phenotype.values()))
    p, came_true = np.array(predicted), label[:, None] == np.array(LABELS)
    error = np.sqrt((p * (1 - p)).sum(0) + n * 0.25 / 128)
    assert (np.abs((came_true - p).sum(0)) < 3.5 * error).all()


@pytest.mark.quick
def test_without_means_there_is_no_regret() -> None:
    mind = replace(met("random-choice"), task=None)
    with pytest.raises(xl.InputError, match="regret needs the true mean rewards"):
        _ = mind.phenotype

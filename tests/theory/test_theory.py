"""The theory part: each bound against the paper, against plain loops, and at its limits."""

import math

import numpy as np
import pytest

from explorelab import theory
from explorelab.errors import InputError
from explorelab.theory import corrected, published
from explorelab.theory.remainder import LONGEST_BLOCK_HORIZON, sum_over_blocks, sum_over_times

pytestmark = pytest.mark.quick

PROFILE_B = np.array([35.0, 27, 20, 15, 13, 17, 25, 38, 50, 60])
ONE_APART = [0.0, 1.0]
ALPHAS = np.exp(np.linspace(math.log(1e-300), math.log(1 / math.sqrt(2 * math.pi)) - 1e-9, 200_001))
SCHEDULE = {"power": 2.0, "epsilon": 0.5}
PUBLISHED = {
    "deterministic": published.deterministic_visits,
    "stochastic": published.stochastic_visits,
    "block": published.block_visits,
    "graphical": published.graphical_visits,
    "transitions": published.block_transitions,
}
CORRECTED = {
    "deterministic": corrected.deterministic_visits,
    "stochastic": corrected.stochastic_visits,
    "block": corrected.block_visits,
    "graphical": corrected.graphical_visits,
    "transitions": corrected.block_transitions,
}


# plain loops, written from the text and sharing nothing with the package


def slices(n, epsilon):
    """How many times 1 must grow by 1 + epsilon to reach n; one slice at least."""
    edge, count = 1.0, 0
    while edge < n:
        edge, count = edge * (1 + epsilon), count + 1
    return max(count, 1)


def chance(t, power, epsilon, spread=1):
    return slices(spread * t, epsilon) * t ** (-3 * power * (1 - epsilon**2 / 16) / 4)


def blocks(last):
    """Start and length of each block, frame by frame, until a block would start after `last`."""
    frame, start = 1, 1
    while start <= last:
        end = 2**frame - 1
        length = min(frame, end - start + 1)
        yield frame, start, length
        start += length
        frame += start > end


def chance_in_blocks(last, power, epsilon, spread=1):
    return sum(chance(start, power, epsilon, spread) * min(length, last + 1 - start) for _, start, length in blocks(last))


def goal_visits(gap, noise_var, n_choices, latest, power, epsilon, n_between):
    enough = 4 * noise_var / gap**2 * (2 * power * math.log(latest) + math.log(2 * math.pi * math.e))
    n_frames = len(bin(n_choices)) - 2
    return enough + 1 + n_frames + 2 * chance_in_blocks(n_choices, power, epsilon, 1 + n_between)


def goal_transitions(gap, noise_var, last, power, epsilon, n_between):
    n_frames = len(bin(last)) - 2
    total, n_blocks, short, cumulative = 0.0, 0, 0.0, []
    for frame in range(1, n_frames + 1):
        n_blocks += math.ceil(2 ** (frame - 1) / frame)
        end = 2**frame - 1
        visits = goal_visits(gap, noise_var, end, end + n_between * n_blocks, power, epsilon, n_between)
        cumulative.append(min(visits, end))
        short += 1 - (2 ** (frame - 1) % frame or frame) / frame
    for frame, visits in enumerate(cumulative, start=1):
        total += visits / frame - (visits / (frame + 1) if frame < n_frames else 0)
    return total + short


# the quantile


def test_the_published_bounds_enclose_the_quantile_down_to_the_smallest_alpha():
    exact = theory.upper_quantile(ALPHAS)
    assert (theory.quantile_lower_bound(ALPHAS) < exact).all()
    assert (theory.quantile_upper_bound(ALPHAS) > exact).all()


def test_the_smallest_beta_is_enough():
    assert (theory.quantile_upper_bound(ALPHAS, theory.SMALLEST_BETA) >= theory.upper_quantile(ALPHAS)).all()


def test_a_beta_just_under_the_smallest_is_not_enough():
    without_beta = theory.quantile_upper_bound(ALPHAS) / theory.BETA
    assert ((theory.SMALLEST_BETA - 1e-7) * without_beta < theory.upper_quantile(ALPHAS)).any()


def test_the_upper_quantile_keeps_its_digits_where_one_minus_alpha_is_one():
    assert theory.upper_quantile(1e-300) == pytest.approx(37.0471, abs=1e-4)


@pytest.mark.parametrize("power", [0.5, 1.0, 4 / 3, 2.0, 3.0])
def test_appendix_g_encloses_the_quantile_of_the_schedule(power):
    times = np.unique(np.geomspace(1, 1e15, 20_000).astype(np.int64))
    exact = theory.upper_quantile(1 / (theory.CREDIBILITY_SCALE * times.astype(float) ** power))
    for nu in (1.5, 1.59):
        assert (theory.schedule_quantile_lower_bound(times, power, nu) <= exact).all()
    assert (theory.schedule_quantile_upper_bound(times, power) >= exact).all()


# published bounds


def test_published_visits_of_two_arms_one_apart_at_ten_thousand():
    # the printed log 2 + log log T would give 74.64; log(1 + 2 log T), one line earlier in the proof, gives less
    assert published.deterministic_visits(ONE_APART, 1.0, 10_000)[0] == pytest.approx(74.418, abs=5e-4)


def test_published_visits_stay_below_the_printed_last_line():
    times = np.arange(2, 5000)
    log_t, root = np.log(times), math.sqrt(2 * math.pi * math.e)
    printed = (8 * 1.02**2 + 2 / root) * log_t + 4 * 1.02**2 * (1 - math.log(2) - np.log(log_t)) + 1 + 2 / root
    ours = published.deterministic_visits(ONE_APART, 1.0, times)[:, 0]
    assert (ours < printed).all()
    assert (ours > printed - 4.1616 * np.log1p(1 / (2 * log_t)) - 1e-9).all()


def test_feedback_cooling_adds_the_sum_of_inverse_squares():
    more = published.stochastic_visits(PROFILE_B, 1.0, 50) - published.deterministic_visits(PROFILE_B, 1.0, 50)
    assert more[:9] == pytest.approx(sum(1 / t**2 for t in range(1, 200_000)), abs=1e-5)


def test_block_constants_agree_with_a_transcription_by_hand():
    # Delta = 2, sigma_s^2 = 3: 4 beta^2 sigma_s^2 / Delta^2 = 3.1212, 1/log 2 = 1.442695, 1/K = 0.2419707
    constants = published.block_constants([0.0, 2.0], 3.0)
    assert constants.gamma_1[0] == pytest.approx(6.2424 + 1.4426950 + 0.4839414, abs=1e-6)
    assert constants.gamma_2[0] == pytest.approx(3.1212 * 0.3068528 + 2 + 1.9357658 + 0.3354427, abs=1e-6)
    by_hand = 8.1690364 * 0.6931472 * 2.3665129 - (-3.1212 * 0.3665129 - 5.2289577) * 2.6449341
    assert constants.gamma_3[0] == pytest.approx(by_hand, abs=1e-5)


def test_block_visits_are_the_last_but_one_line_of_the_proof():
    last, weight = 3000, 4 * 1.02**2 * 3 / 4
    enough = weight * (1 + 2 * math.log(last) - math.log(1 + 2 * math.log(last))) + 1
    n_frames = 1 + math.log2(last)
    line = enough + n_frames + (8 + 2 * math.log(2) * n_frames) / math.sqrt(2 * math.pi * math.e)
    assert published.block_visits([0.0, 2.0], 3.0, last)[0] == pytest.approx(line, rel=1e-12)


def test_block_visits_cover_the_exact_sum_over_blocks():
    last, weight = 3000, 4 * 1.02**2 * 3 / 4
    enough = weight * (1 + 2 * math.log(last) - math.log(1 + 2 * math.log(last))) + 1
    chances = sum(frame / start for frame, start, _ in blocks(last)) / math.sqrt(2 * math.pi * math.e)
    assert published.block_visits([0.0, 2.0], 3.0, last)[0] > enough + last.bit_length() + 2 * chances


def test_published_transitions_follow_from_the_sum_by_frames():
    last = 3000
    frames = range(1, last.bit_length())
    visits = [published.block_visits([0.0, 2.0], 3.0, 2**k)[0] for k in range(1, last.bit_length() + 1)]
    by_frames = visits[-1] / len(visits) + sum(visits[k - 1] / k**2 for k in frames)
    assert by_frames < published.block_transitions([0.0, 2.0], 3.0, last)[0] < 1.5 * by_frames


@pytest.mark.parametrize(("last", "regret", "ratio"), [(127, 3739, 10.9), (1023, 24083, 2.2), (16383, 24083, 2.9)])
def test_block_regret_bound_against_the_simulated_regret_on_the_grid(last, regret, ratio):
    grid = np.repeat(PROFILE_B, 10)
    bound = theory.regret_of_visits(grid, published.block_visits(grid, 1.0, last))
    assert bound / regret == pytest.approx(ratio, abs=0.05)


def test_block_regret_bound_against_the_simulated_regret_on_the_profile():
    bound = theory.regret_of_visits(PROFILE_B, published.block_visits(PROFILE_B, 1.0, 16383))
    assert bound / 926 == pytest.approx(7.5, abs=0.05)


def test_graphical_regret_bound_against_the_simulated_regret_on_the_line():
    bound = theory.regret_of_visits(PROFILE_B, published.graphical_visits(PROFILE_B, 6.25, 16383))
    assert bound / 951 == pytest.approx(109, abs=0.5)


def test_transition_cost_is_the_third_statement_with_costs_into_each_arm():
    means = [1.0, 5.0, 2.0]
    costs = np.array([[0.0, 1, 2], [3, 0, 4], [50, 6, 0]])  # not symmetric: costs out of an arm would give another sum
    into = {0: 50.0, 1: 6.0, 2: 4.0}
    moves = published.block_transitions(means, 1.0, 100)
    expected = sum((into[i] + into[1]) * moves[i] for i in (0, 2)) + into[1]
    assert theory.cost_of_transitions(costs, moves) == pytest.approx(expected)


# corrected bounds


@pytest.mark.parametrize(
    # the reading notes have 922 for the last one; their own formula gives 987.66
    ("power", "epsilon", "visits"),
    [(2.0, 1.0, 179.412), (1.5, 0.5, 241.781), (1.34, 0.1, 987.664)],
)
def test_corrected_visits_of_two_arms_one_apart_at_ten_thousand(power, epsilon, visits):
    bound = corrected.deterministic_visits(ONE_APART, 1.0, 10_000, power=power, epsilon=epsilon)
    assert bound[0] == pytest.approx(visits, abs=5e-4)


@pytest.mark.parametrize(("power", "epsilon"), [(2.0, 1.0), (2.0, 0.3), (1.5, 0.5), (6.0, 2.0), (1.34, 0.1)])
def test_the_sum_over_times_is_that_of_a_plain_loop(power, epsilon):
    horizons = np.arange(1, 200)
    plain = np.cumsum([chance(t, power, epsilon) for t in range(1, 200)])
    assert sum_over_times(horizons, power, epsilon) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize(("power", "epsilon", "n_between"), [(2.0, 1.0, 0), (1.5, 0.3, 0), (2.0, 0.5, 3)])
def test_the_sum_over_blocks_is_that_of_a_plain_loop(power, epsilon, n_between):
    horizons = np.arange(1, 200)
    plain = [chance_in_blocks(last, power, epsilon, 1 + n_between) for last in range(1, 200)]
    assert sum_over_blocks(horizons, power, epsilon, n_between) == pytest.approx(plain, rel=1e-12)


def test_a_slice_edge_that_is_met_exactly_is_not_counted_twice():
    # log 2^29 / log 2 comes out above 29, and its ceiling as 30
    last = 2**29
    step = sum_over_times(last, 2.0, 1.0) - sum_over_times(last - 1, 2.0, 1.0)
    assert step == pytest.approx(29 * float(last) ** (-1.5 * 15 / 16), rel=0.01, abs=0)


@pytest.mark.parametrize("last", [1, 2, 7, 37, 200])
def test_corrected_block_visits_are_those_of_a_plain_loop(last):
    plain = goal_visits(2.0, 3.0, last, last, n_between=0, **SCHEDULE)
    assert corrected.block_visits([0.0, 2.0], 3.0, last, **SCHEDULE)[0] == pytest.approx(plain)


@pytest.mark.parametrize("last", [1, 2, 7, 37, 200])
def test_corrected_transitions_are_those_of_a_plain_loop(last):
    plain = goal_transitions(2.0, 3.0, last, n_between=0, **SCHEDULE)
    assert corrected.block_transitions([0.0, 2.0], 3.0, last, **SCHEDULE) == pytest.approx([plain, plain + 1])


@pytest.mark.parametrize("n_between", [0, 1, 2])
def test_corrected_graphical_visits_are_those_of_a_plain_loop(n_between):
    means, last = [0.0, 2.0, 5.0, 1.0], 150
    plain = {gap: goal_transitions(gap, 3.0, last, n_between=n_between, **SCHEDULE) for gap in (5.0, 3.0, 4.0)}
    walks = 2 * sum(plain.values()) + 1
    expected = [goal_visits(gap, 3.0, last, last, n_between=n_between, **SCHEDULE) + walks for gap in plain]
    ours = corrected.graphical_visits(means, 3.0, last, n_between=n_between, **SCHEDULE)
    assert ours[[0, 1, 3]] == pytest.approx(expected)


def test_the_worst_graph_is_assumed_when_none_is_given():
    by_default = corrected.graphical_visits(PROFILE_B, 1.0, 500, **SCHEDULE)
    worst = corrected.graphical_visits(PROFILE_B, 1.0, 500, n_between=8, **SCHEDULE)
    np.testing.assert_array_equal(by_default, worst)


def test_short_blocks_break_the_published_count_of_transitions_and_not_the_corrected_one():
    rng = np.random.default_rng(7)
    layout = list(blocks(2**9 - 1))
    short = sum(1 - length / frame for frame, _, length in layout)
    broken = 0
    for _ in range(300):
        chosen = rng.random(len(layout)) < rng.random()
        n_blocks = chosen.sum()
        full = sum(length / frame for (frame, _, length), is_ours in zip(layout, chosen, strict=True) if is_ours)
        broken += n_blocks > full + 1e-9
        assert n_blocks <= full + short + 1e-9
    assert broken > 0


def test_the_chosen_epsilon_is_within_a_percent_of_the_best_on_a_dense_grid():
    for power in (1.34, 1.5, 2.0, 4.0):
        largest = 4 * math.sqrt(1 - 4 / (3 * power))
        dense = [float(sum_over_times(10_000, power, eps)) for eps in np.linspace(0.01, 0.999, 500) * largest]
        chosen = float(sum_over_times(10_000, power, theory.best_epsilon(power, 10_000)))
        assert chosen <= 1.01 * min(dense)


def test_without_an_epsilon_the_best_one_is_used():
    best = theory.best_epsilon(1.5, 10_000)
    by_default = corrected.deterministic_visits(ONE_APART, 1.0, 10_000, power=1.5)
    assert by_default[0] == corrected.deterministic_visits(ONE_APART, 1.0, 10_000, power=1.5, epsilon=best)[0]
    assert by_default[0] < 241


def test_corrected_bounds_exceed_the_published_leading_term():
    times = np.array([10, 1000, 10**7])
    leading = 8 * 2.0 * np.log(times)
    for bound in (corrected.deterministic_visits, corrected.block_visits):
        assert (bound(ONE_APART, 1.0, times, **SCHEDULE)[:, 0] > leading).all()


# all bounds


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_bounds_grow_with_the_horizon(name):
    bounds = PUBLISHED[name](PROFILE_B, 6.25, np.arange(2, 3000))[:, :9]
    assert (np.diff(bounds, axis=0) > 0).all()


@pytest.mark.parametrize("name", CORRECTED)
def test_corrected_bounds_never_fall_with_the_horizon(name):
    bounds = CORRECTED[name](PROFILE_B, 6.25, np.arange(1, 3000), **SCHEDULE)[:, :9]
    assert (np.diff(bounds, axis=0) >= 0).all()
    assert (bounds[-1] > bounds[0]).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_array_of_horizons_gives_what_each_gives_alone(name):
    times = np.array([[2, 3], [100, 4096]])
    together = CORRECTED[name](PROFILE_B, 1.0, times, **SCHEDULE)
    assert together.shape == (2, 2, 10)
    alone = CORRECTED[name](PROFILE_B, 1.0, 100, **SCHEDULE)
    np.testing.assert_allclose(together[1, 0], alone, rtol=1e-12)


def test_lai_robbins_is_two_noise_variances_over_the_squared_gap_per_log_t():
    visits = theory.lai_robbins_visits([1.0, 4.0, 2.0], 9.0, [1, 100])
    expected = [[0, np.nan, 0], [2 * math.log(100), np.nan, 4.5 * math.log(100)]]
    np.testing.assert_allclose(visits, expected)


def test_lai_robbins_regret_sums_over_arms_below_the_best_only():
    assert theory.lai_robbins_regret([1.0, 4.0, 4.0, 2.0], 9.0, 100) == pytest.approx((6 + 9) * math.log(100))


@pytest.mark.parametrize(
    ("prior_mean", "prior_var", "quality"),
    [(30.0, 100.0, 3.0), (30.0, np.inf, 0.0), (30.0, 0.0, np.inf), (PROFILE_B, 0.0, 0.0), (60.0, 1e-2, 470.0)],
)
def test_prior_quality(prior_mean, prior_var, quality):
    assert theory.prior_quality(PROFILE_B, prior_mean, prior_var) == pytest.approx(quality)


# errors


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: theory.upper_quantile(0.0), "alpha must lie strictly between 0 and 1, got 0.0"),
        (lambda: theory.quantile_lower_bound(0.5), r"between 0 and 1/sqrt\(2 pi\), got 0.5"),
        (lambda: theory.quantile_upper_bound(0.1, beta=1.0035), "beta must be at least 1.003533, got 1.0035"),
        (lambda: theory.schedule_quantile_lower_bound(3, 1.0, nu=1.7), "nu must be above 0 and at most 1.59"),
        (lambda: theory.schedule_quantile_upper_bound(3, -1.0), "power must be a positive number, got -1.0"),
        (lambda: theory.gaps([1.0, np.nan]), "means must not contain NaN, got one at index \\[1\\]"),
        (lambda: theory.gaps([[1.0]]), r"means must be a vector .* got shape \(1, 1\)"),
        (lambda: theory.gaps(["a", "b"]), "means must be a number or an array of numbers"),
        (lambda: published.block_visits(ONE_APART, -1.0, 5), "noise_var must be above 0, got -1"),
        (lambda: published.block_visits(ONE_APART, 1.0, 5, beta=1.0), "beta must be at least 1.003533, got 1.0"),
        (lambda: published.block_visits(ONE_APART, 1.0, 0), "times must be whole numbers, 1 or more, got 0"),
        (lambda: published.block_visits(ONE_APART, 1.0, 2.5), "whole numbers, 1 or more, got 2.5"),
        (lambda: published.block_transitions(ONE_APART, 1.0, 1), r"2 or more \(log log T enters\), got 1"),
        (
            lambda: corrected.block_visits(ONE_APART, 1.0, 5, power=1.5, epsilon=2.0),
            "= 1.777778 for epsilon = 2, got 1.5",
        ),
        (lambda: corrected.block_visits(ONE_APART, 1.0, 5, power=2.0, epsilon=4.0), "below 4, got 4.0"),
        (lambda: corrected.block_visits(ONE_APART, 1.0, 5, power=1.0), "power must be above 4/3"),
        (lambda: theory.best_epsilon(4 / 3 + 1e-12, 10), "above 4/3 by a hundred-millionth"),
        (lambda: corrected.block_visits(ONE_APART, 1.0, LONGEST_BLOCK_HORIZON + 1, power=2.0), "at most 100,000,000"),
        (lambda: corrected.graphical_visits(PROFILE_B, 1.0, 5, power=2.0, n_between=9), "0 to 8 for 10 arms, got 9"),
        (lambda: theory.cost_of_transitions([[0.0]], [1.0, 2.0]), r"2 by 2, .* got shape \(1, 1\)"),
        (lambda: theory.cost_of_transitions([[0, -1], [1, 0]], [1.0, 2.0]), "costs must not be negative, got -1"),
        (lambda: theory.cost_of_transitions([[3, 1], [1, 0]], [1.0, 2.0]), "got 3.0 on the diagonal"),
        (lambda: theory.prior_quality(ONE_APART, 0.0, -1.0), "prior_var must not be negative .* got -1"),
        (lambda: theory.prior_quality(ONE_APART, [0.0, 1, 2], 1.0), r"prior_mean must be one number .* \(3,\)"),
        (lambda: theory.all_bounds("blok", ONE_APART, 1.0, 5), "unknown algorithm 'blok': did you mean 'block'"),
        (lambda: theory.all_bounds("block", ONE_APART, 1.0, [[5]]), r"one horizon or a list of them, got shape \(1, 1\)"),
        (lambda: theory.all_bounds("block", ONE_APART, 1.0, 5, power=1.5, epsilon=2.0), "= 1.777778 for epsilon = 2"),
    ],
)
def test_an_error_says_what_was_expected_and_what_came(call, says):
    with pytest.raises(InputError, match=says):
        call()


# the table


def test_the_table_holds_the_numbers_of_the_functions():
    costs = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    table = theory.all_bounds("block", PROFILE_B, 2.0, [900, 16383], costs=costs)
    assert table.published_visits.dims == ("time", "arm")
    np.testing.assert_array_equal(table.published_visits, published.block_visits(PROFILE_B, 2.0, [900, 16383]))
    moves = published.block_transitions(PROFILE_B, 2.0, [900, 16383])
    np.testing.assert_array_equal(table.published_transitions, moves)
    np.testing.assert_array_equal(table.published_cost, theory.cost_of_transitions(costs, moves))
    np.testing.assert_array_equal(table.lai_robbins_regret, theory.lai_robbins_regret(PROFILE_B, 2.0, [900, 16383]))


@pytest.mark.parametrize("algorithm", ["deterministic", "stochastic", "block", "graphical"])
@pytest.mark.parametrize("power", [1.0, 1.2, 2.0])
def test_every_variable_says_when_it_is_valid_and_why_numbers_are_missing(algorithm, power):
    table = theory.all_bounds(algorithm, PROFILE_B, 2.0, [1, 90], power=power)
    assert len(table.data_vars) == 10
    for name, variable in table.data_vars.items():
        assert variable.attrs["long_name"], name
        assert variable.attrs["valid_when"].endswith("."), name
        below_best = variable.isel(arm=slice(9)) if "arm" in variable.dims else variable
        assert bool(below_best.isnull().any()) == ("does_not_apply" in variable.attrs), name


@pytest.mark.parametrize(
    ("algorithm", "options", "variable", "says"),
    [
        ("deterministic", {"power": 2.0}, "published_visits", "only for a = 1; here a = 2"),
        ("deterministic", {}, "corrected_regret", "needs a > 4/3; here a = 1"),
        ("deterministic", {}, "published_transitions", "no bound on the transitions of deterministic UCL"),
        ("block", {"graph": True}, "published_visits", "here a graph restricts moves"),
        ("block", {"scale": 2.5}, "published_cost", "only for K = sqrt(2 pi e) = 4.1327; here K = 2.5"),
        ("block", {}, "published_cost", "No transition costs were given."),
    ],
)
def test_the_table_says_why_a_bound_does_not_apply(algorithm, options, variable, says):
    table = theory.all_bounds(algorithm, PROFILE_B, 2.0, [90], **options)
    assert says in table[variable].attrs["does_not_apply"]
    assert table[variable].isnull().all()


def test_a_horizon_of_one_is_left_out_of_the_published_transitions_only():
    table = theory.all_bounds("block", PROFILE_B, 2.0, [1, 2])
    assert table.published_transitions.isnull().all("arm").values.tolist() == [True, False]
    assert "T >= 2" in table.published_transitions.attrs["does_not_apply"]
    assert "does_not_apply" not in table.published_visits.attrs


def test_tied_best_arms_void_the_cost_and_keep_the_transitions_into_lesser_arms():
    means = [1.0, 3.0, 3.0]
    table = theory.all_bounds("block", means, 2.0, [90], costs=1 - np.eye(3))
    assert table.published_transitions.isnull().values.tolist() == [[False, True, True]]
    assert table.published_cost.isnull().all()
    for variable in (table.published_transitions, table.published_cost):
        assert "2 arms tie for the best" in variable.attrs["does_not_apply"]


def test_tied_best_arms_void_the_graphical_regret():
    table = theory.all_bounds("graphical", [1.0, 3.0, 3.0], 2.0, [90], graph=True)
    assert table.published_regret.isnull().all()
    assert "2 arms tie for the best" in table.published_regret.attrs["does_not_apply"]


def test_regret_is_nothing_where_all_arms_are_best():
    table = theory.all_bounds("deterministic", [3.0, 3.0], 2.0, [90])
    assert table.published_regret.item() == 0
    assert table.corrected_regret.isnull().all()


def test_the_table_can_be_stored_as_plain_text_and_numbers():
    table = theory.all_bounds("stochastic", PROFILE_B, 2.0, [5, 90], power=2.0)
    for variable in (table, *table.data_vars.values()):
        assert all(isinstance(value, str | float | int) for value in variable.attrs.values())

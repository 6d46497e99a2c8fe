"""Repeats, intervals over tasks, and two agents compared."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.intervals import (
    bootstrap_interval,
    compare,
    mean_of_tasks,
    task_interval,
    wilson_interval,
)
from evaluators.metrics.repeats import measure_repeats, pass_at_k, pass_hat_k

counts = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))
)


@given(counts)
def test_both_figures_are_shares_of_all_draws(count: tuple[int, int, int]) -> None:
    passed, trials, k = count
    draws = list(itertools.combinations([True] * passed + [False] * (trials - passed), k))
    assert pass_at_k(passed, trials, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(passed, trials, k) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize(("passed", "trials", "k"), [(1, 2, 3), (3, 2, 1), (1, 2, 0), (-1, 2, 1)])
def test_impossible_draws_are_rejected(passed: int, trials: int, k: int) -> None:
    for figure in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="must"):
            figure(passed, trials, k)


def test_tasks_with_too_few_trials_are_excluded() -> None:
    repeats = measure_repeats([(1, 2), (1, 1), (0, 0)], 2)
    assert (repeats.at, repeats.hat, repeats.tasks) == (1.0, 0.0, 1)
    assert measure_repeats([(1, 1)], 2).to_dict() == {
        "k": 2, "pass@k": None, "pass@k_95": None, "pass^k": None, "pass^k_95": None, "tasks": 0,
    }  # fmt: skip
    with pytest.raises(ValueError, match="must"):
        measure_repeats([], 0)


def test_whole_tasks_are_drawn() -> None:
    """Two tasks, one always passed and one never: a quarter of the draws has either one twice."""
    few, many = ({"a": [1.0] * n, "b": [0.0] * n} for n in (1, 500))
    assert bootstrap_interval(few) == bootstrap_interval(many) == (0.0, 1.0)
    assert bootstrap_interval(few, confidence=0.4) == (0.5, 0.5)


def test_tasks_with_more_trials_weigh_no_more() -> None:
    by_task = {"a": [1.0] * 3, "b": [0.0]}
    assert bootstrap_interval(by_task, confidence=0.4) == (0.5, 0.5)
    assert mean_of_tasks(by_task.values()) == 0.5
    assert mean_of_tasks([[], []]) is None


def test_single_task_has_no_interval() -> None:
    assert bootstrap_interval({"a": [1.0, 0.0], "b": []}) is None
    assert bootstrap_interval({}) is None


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_agrees_with_published_values(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_holds_the_share_and_stays_in_range(count: tuple[int, int]) -> None:
    successes, trials = count
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    mirrored = wilson_interval(trials - successes, trials)
    assert mirrored == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (2, 1), (-1, 3)])
def test_impossible_counts_have_no_interval(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="must be"):
        wilson_interval(successes, trials)


task_values = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=5), min_size=1, max_size=12
)


@given(task_values)
def test_interval_over_tasks_holds_the_mean_and_stays_in_range(
    by_task: list[list[float]],
) -> None:
    mean, interval = mean_of_tasks(by_task), task_interval(by_task)
    assert mean is not None
    assert interval is not None
    assert 0 <= interval[0] <= mean + 1e-12
    assert mean - 1e-12 <= interval[1] <= 1
    assert interval[1] > interval[0]


@given(st.lists(st.booleans(), min_size=2, max_size=20), st.integers(1, 50))
def test_identical_repeats_add_no_certainty(passed: list[bool], repeats: int) -> None:
    once = task_interval([[float(value)] for value in passed])
    often = task_interval([[float(value)] * repeats for value in passed])
    assert often == pytest.approx(once)


@pytest.mark.parametrize(
    ("by_task", "observations"),
    [
        ([[1.0], [0.0], [1.0]], 2),  # variance of the mean 1/9: 2/9 over 1/9
        ([[1.0] * 5, [0.0] * 5, [1.0] * 5], 2),
        ([[1.0, 0.0], [1.0, 0.0]], 4),  # tasks agree: every trial counts
        ([[1.0] * 5, [1.0] * 5], 2),  # no spread at 1: every task counts
        ([[1.0, 0.0, 0.0]], 1),
    ],
)
def test_effective_number_of_observations(by_task: list[list[float]], observations: float) -> None:
    mean = mean_of_tasks(by_task)
    assert mean is not None
    expected = wilson_interval(mean * observations, observations)
    assert task_interval(by_task) == pytest.approx(expected)


def test_interval_needs_values_from_0_to_1() -> None:
    assert task_interval([]) is None
    assert task_interval([[]]) is None
    with pytest.raises(ValueError, match="from 0 to 1"):
        task_interval([[2.0]])


@pytest.mark.parametrize(("tasks", "repeats"), [(5, 1), (5, 8), (24, 3), (24, 8)])
@pytest.mark.parametrize("shape", [(0.3, 0.3), (2.0, 2.0), (0.2, 1.8)])
def test_interval_over_tasks_covers_where_one_over_trials_does_not(
    tasks: int, repeats: int, shape: tuple[float, float]
) -> None:
    chance = np.random.default_rng(7)
    truth = shape[0] / sum(shape)
    hits = naive = 0
    for _ in range(400):
        difficulty = chance.beta(*shape, tasks)
        passed = chance.binomial(repeats, difficulty)
        by_task = [[1.0] * int(n) + [0.0] * (repeats - int(n)) for n in passed]
        interval = task_interval(by_task)
        assert interval is not None
        hits += interval[0] <= truth <= interval[1]
        low, high = wilson_interval(int(passed.sum()), tasks * repeats)
        naive += low <= truth <= high
    assert hits >= 0.88 * 400
    if repeats == 8:
        assert naive < 0.86 * 400


def test_pass_at_1_has_the_interval_of_the_success_rate() -> None:
    repeats = measure_repeats([(1, 3), (3, 3), (0, 3)], 1)
    by_task = [[1.0, 0.0, 0.0], [1.0] * 3, [0.0] * 3]
    assert repeats.at == pytest.approx(mean_of_tasks(by_task))
    assert repeats.at_interval == pytest.approx(task_interval(by_task))
    assert repeats.hat_interval == pytest.approx(repeats.at_interval)
    later = measure_repeats([(1, 3), (3, 3), (0, 3)], 3)
    assert later.to_dict()["pass^k_95"] == list(later.hat_interval or ())
    assert later.at_interval != later.hat_interval


def test_bootstrap_covers_the_truth_about_as_often_as_it_claims() -> None:
    chance = random.Random(3)  # noqa: S311 - no secret
    hits = 0
    for _ in range(200):
        by_task = {str(n): [float(chance.random() < 0.4)] * 2 for n in range(40)}
        interval = bootstrap_interval(by_task, resamples=400)
        assert interval is not None
        hits += interval[0] <= 0.4 <= interval[1]
    assert 175 <= hits <= 200


def test_agents_are_compared_on_their_common_tasks() -> None:
    first = {"a": [0.0, 1.0], "b": [0.0], "c": [1.0], "d": []}
    second = {"a": [1.0], "b": [1.0, 1.0], "c": [1.0], "d": [1.0], "e": [1.0]}
    comparison = compare(first, second)
    assert (comparison.tasks, comparison.better, comparison.worse) == (3, 2, 0)
    assert comparison.difference == pytest.approx(0.5)
    assert comparison.p_value == 0.5  # signs of two tasks: + + and - - are as far from 0
    back = compare(second, first)
    assert back.difference == pytest.approx(-0.5)
    assert back.p_value == comparison.p_value


def test_agents_without_common_tasks_cannot_be_compared() -> None:
    assert compare({"a": [1.0]}, {"b": [1.0]}).to_dict() == {
        "tasks": 0, "difference": None, "difference_95": None, "p": None, "better": 0, "worse": 0,
        "seed": 20261121,
    }  # fmt: skip


def test_equal_agents_do_not_differ() -> None:
    same = {str(n): [float(n % 2)] for n in range(9)}
    comparison = compare(same, same)
    assert (comparison.difference, comparison.interval, comparison.p_value) == (
        0.0,
        (0.0, 0.0),
        1.0,
    )


def test_estimate_for_many_tasks_agrees_with_the_count_for_few() -> None:
    zero = {str(n): [0.0] for n in range(17)}
    few = {name: [float(int(name) < 5)] for name in zero}
    exact = compare(zero, few).p_value
    assert exact == 2 / 2**5
    wide = {name: [1.0 if int(name) < 12 else -1.0] for name in zero}
    estimated = compare(zero, wide).p_value
    # Binomial: at most 5 or at least 12 heads of 17.
    assert estimated == pytest.approx(0.1435, abs=0.005)

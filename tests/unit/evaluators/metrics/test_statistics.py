"""Repeats, bootstrap intervals, and two agents compared."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.metrics.intervals import bootstrap_interval, compare
from evaluators.metrics.repeats import measure_repeats, pass_at_k, pass_hat_k

counts = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))
)


@given(counts)
def test_both_figures_are_the_shares_of_all_draws(count: tuple[int, int, int]) -> None:
    passed, trials, k = count
    draws = list(itertools.combinations([True] * passed + [False] * (trials - passed), k))
    assert pass_at_k(passed, trials, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(passed, trials, k) == pytest.approx(sum(map(all, draws)) / len(draws))


@pytest.mark.parametrize(("passed", "trials", "k"), [(1, 2, 3), (3, 2, 1), (1, 2, 0), (-1, 2, 1)])
def test_impossible_draws_are_refused(passed: int, trials: int, k: int) -> None:
    for figure in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="cannot be"):
            figure(passed, trials, k)


def test_tasks_with_too_few_trials_are_left_out() -> None:
    found = measure_repeats([(1, 2), (1, 1), (0, 0)], 2)
    assert (found.at, found.hat, found.tasks) == (1.0, 0.0, 1)
    assert measure_repeats([(1, 1)], 2).to_dict() == {
        "k": 2, "pass@k": None, "pass^k": None, "tasks": 0,
    }  # fmt: skip
    with pytest.raises(ValueError, match="cannot be"):
        measure_repeats([], 0)


def test_whole_tasks_are_drawn() -> None:
    """Two tasks, one always passed and one never: a quarter of the draws has either one twice."""
    few, many = ({"a": [1.0] * n, "b": [0.0] * n} for n in (1, 500))
    assert bootstrap_interval(few) == bootstrap_interval(many) == (0.0, 1.0)
    assert bootstrap_interval(few, confidence=0.4) == (0.5, 0.5)


def test_tasks_of_more_trials_weigh_more_as_they_do_in_the_mean() -> None:
    assert bootstrap_interval({"a": [1.0] * 3, "b": [0.0]}, confidence=0.4) == (0.75, 0.75)


def test_one_task_says_nothing_about_others() -> None:
    assert bootstrap_interval({"a": [1.0, 0.0], "b": []}) is None
    assert bootstrap_interval({}) is None


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    chance = random.Random(3)  # noqa: S311 - no secret
    hits = 0
    for _ in range(200):
        by_task = {str(n): [float(chance.random() < 0.4)] * 2 for n in range(40)}
        interval = bootstrap_interval(by_task, resamples=400)
        assert interval is not None
        hits += interval[0] <= 0.4 <= interval[1]
    assert 175 <= hits <= 200


def test_agents_are_compared_on_the_tasks_that_both_have_done() -> None:
    first = {"a": [0.0, 1.0], "b": [0.0], "c": [1.0], "d": []}
    second = {"a": [1.0], "b": [1.0, 1.0], "c": [1.0], "d": [1.0], "e": [1.0]}
    found = compare(first, second)
    assert (found.tasks, found.better, found.worse) == (3, 2, 0)
    assert found.difference == pytest.approx(0.5)
    assert found.p_value == 0.5  # signs of two tasks: + + and - - are as far from 0
    back = compare(second, first)
    assert back.difference == pytest.approx(-0.5)
    assert back.p_value == found.p_value


def test_agents_that_share_nothing_cannot_be_compared() -> None:
    assert compare({"a": [1.0]}, {"b": [1.0]}).to_dict() == {
        "tasks": 0, "difference": None, "difference_95": None, "p": None, "better": 0, "worse": 0,
    }  # fmt: skip


def test_equal_agents_do_not_differ() -> None:
    same = {str(n): [float(n % 2)] for n in range(9)}
    found = compare(same, same)
    assert (found.difference, found.interval, found.p_value) == (0.0, (0.0, 0.0), 1.0)


def test_the_estimate_for_many_tasks_agrees_with_the_count_for_few() -> None:
    zero = {str(n): [0.0] for n in range(17)}
    few = {name: [float(int(name) < 5)] for name in zero}
    exact = compare(zero, few).p_value
    assert exact == 2 / 2**5
    wide = {name: [1.0 if int(name) < 12 else -1.0] for name in zero}
    estimated = compare(zero, wide).p_value
    # Binomial: at most 5 or at least 12 heads of 17.
    assert estimated == pytest.approx(0.1435, abs=0.005)

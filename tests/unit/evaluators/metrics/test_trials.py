from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.graph.outcome import Verdict
from evaluators.metrics import TrialScore, measure, wilson_interval


def score(
    met: int, nodes: int = 4, *, actions: int = 0, tokens: int = 0, verdict: Verdict | None = None
) -> TrialScore:
    judged = verdict or (Verdict.PASS if met == nodes else Verdict.FAIL)
    return TrialScore(judged, met, nodes, actions, tokens)


def test_follows_the_formulas_of_the_paper() -> None:
    trial = score(3, 4, actions=6, tokens=1500)
    assert trial.completion_ratio == 0.75
    assert trial.execution_efficiency == 0.75 / 6
    assert trial.cost_efficiency == 0.75 / 1500


def test_leaves_efficiency_undefined_without_actions_or_tokens() -> None:
    assert score(0).execution_efficiency is None
    assert score(4).cost_efficiency is None


def test_means_run_over_trials_where_the_metric_is_defined() -> None:
    metrics = measure([score(4, actions=2), score(2, actions=5, tokens=100), score(0)])
    assert metrics.success_rate == pytest.approx(1 / 3)
    assert metrics.completion_ratio == pytest.approx(0.5)
    assert metrics.execution_efficiency == pytest.approx((0.5 + 0.1) / 2)
    assert metrics.cost_efficiency == pytest.approx(0.005)


def test_inconclusive_trials_enter_no_metric_and_are_counted() -> None:
    lost = score(1, actions=3, tokens=9, verdict=Verdict.INCONCLUSIVE)
    alone = measure([score(4, actions=2)])
    both = measure([score(4, actions=2), lost, lost])
    assert both.inconclusive == 2
    assert {**both.to_dict(), "inconclusive": 0} == alone.to_dict()


@pytest.mark.parametrize("lost", [0, 2])
def test_metrics_of_no_conclusive_trial_are_none(lost: int) -> None:
    metrics = measure([score(1, verdict=Verdict.INCONCLUSIVE)] * lost)
    assert metrics.to_dict() == {
        "SR": None, "SR_95": None, "CR": None, "EE": None, "CE": None,
        "trials": 0, "inconclusive": lost,
    }  # fmt: skip


def test_an_undone_graph_can_have_all_but_one_node_and_still_fail() -> None:
    metrics = measure([score(3, 4)])
    assert (metrics.success_rate, metrics.completion_ratio) == (0.0, 0.75)


@pytest.mark.parametrize(
    ("met", "nodes", "actions"), [(5, 4, 0), (-1, 4, 0), (0, 0, 0), (1, 4, -1)]
)
def test_impossible_counts_are_refused(met: int, nodes: int, actions: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        TrialScore(Verdict.FAIL, met, nodes, actions)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_agrees_with_published_values(
    successes: int, trials: int, low: float, high: float
) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_stays_in_range(counts: tuple[int, int]) -> None:
    successes, trials = counts
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    mirrored = wilson_interval(trials - successes, trials)
    assert mirrored == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (2, 1), (-1, 3)])
def test_intervals_of_impossible_counts_are_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        wilson_interval(successes, trials)

"""CRAB's four metrics and the bounds of SR."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.graph.outcome import Verdict
from evaluators.metrics import TrialScore, measure
from evaluators.metrics.intervals import compare, task_interval


def score(
    met: int,
    nodes: int = 4,
    *,
    task: str = "a",
    actions: int = 0,
    tokens: int | None = 0,
    verdict: Verdict | None = None,
) -> TrialScore:
    judged = verdict or (Verdict.PASS if met == nodes else Verdict.FAIL)
    return TrialScore(task, judged, met, nodes, actions, tokens)


scores = st.lists(
    st.builds(
        score,
        st.integers(0, 4),
        task=st.sampled_from("abcd"),
        actions=st.integers(0, 9),
        tokens=st.none() | st.integers(0, 99),
        verdict=st.sampled_from(Verdict),
    ),
    max_size=30,
)


def test_follows_the_published_formulas() -> None:
    trial = score(3, 4, actions=6, tokens=1500)
    assert trial.completion_ratio == 0.75
    assert trial.execution_efficiency == 0.75 / 6
    assert trial.cost_efficiency == 0.75 / 1500


def test_efficiency_is_undefined_without_cost_and_0_without_credit() -> None:
    assert score(4).execution_efficiency is None
    assert score(4).cost_efficiency is None
    assert score(0).execution_efficiency == 0
    assert score(0).cost_efficiency == 0


def test_token_count_beyond_floats_gives_zero_efficiency() -> None:
    assert score(4, tokens=10**400).cost_efficiency == 0


@pytest.mark.parametrize("actions", [0, 1])
def test_failure_without_actions_scores_no_less_than_one_with_actions(actions: int) -> None:
    passed = score(4, actions=4)
    failed = [score(0, task=f"t{number}", actions=actions) for number in range(9)]
    assert measure([passed, *failed]).execution_efficiency == pytest.approx(0.025)


@given(scores)
def test_actions_of_a_failing_agent_do_not_change_efficiency(
    trials: list[TrialScore],
) -> None:
    idle = [score(0, task="idle")]
    busy = [score(0, task="idle", actions=7)]
    assert (
        measure([*trials, *idle]).execution_efficiency
        == measure([*trials, *busy]).execution_efficiency
    )


def test_cost_efficiency_is_none_without_a_model_and_counts_failures() -> None:
    assert measure([score(4), score(0, task="b")]).cost_efficiency is None
    metrics = measure([score(4, tokens=100), score(0, task="b")])
    assert metrics.cost_efficiency == pytest.approx(0.005)


@pytest.mark.parametrize("met", [0, 2, 4])
def test_cost_efficiency_is_none_where_usage_is_unknown(met: int) -> None:
    unknown = score(met, tokens=None, task="b")
    assert unknown.cost_efficiency is None
    assert measure([unknown]).cost_efficiency is None
    metrics = measure([score(4, tokens=100), unknown])
    assert metrics.cost_efficiency == pytest.approx(1 / 100)
    assert (metrics.tasks, metrics.trials) == (2, 2)


def test_means_cover_trials_where_the_metric_is_defined() -> None:
    metrics = measure([score(4, actions=2), score(2, task="b", actions=5), score(4, task="c")])
    assert metrics.success_rate == pytest.approx(2 / 3)
    assert metrics.completion_ratio == pytest.approx(2.5 / 3)
    assert metrics.execution_efficiency == pytest.approx((0.5 + 0.1) / 2)


def test_each_task_weighs_the_same_regardless_of_its_trials() -> None:
    metrics = measure([*[score(4, actions=1)] * 9, score(0, task="b", actions=1)])
    assert metrics.success_rate == pytest.approx(0.5)
    assert metrics.completion_ratio == pytest.approx(0.5)
    assert metrics.execution_efficiency == pytest.approx(0.5)
    assert (metrics.tasks, metrics.trials) == (2, 10)


@pytest.mark.slow
@given(scores, scores)
def test_rates_weigh_trials_as_the_comparison_does(
    first: list[TrialScore], second: list[TrialScore]
) -> None:
    def passes(trials: list[TrialScore]) -> dict[str, list[float]]:
        by_task: dict[str, list[float]] = {}
        for trial in trials:
            if trial.is_conclusive:
                by_task.setdefault(trial.task, []).append(float(trial.verdict is Verdict.PASS))
        return by_task

    before, after = passes(first), passes(second)
    shared = set(before) & set(after)
    rates = [
        measure([trial for trial in trials if trial.task in shared]).success_rate
        for trials in (first, second)
    ]
    difference = compare(before, after).difference
    if difference is None:
        assert not shared
    else:
        assert rates[0] is not None
        assert rates[1] is not None
        assert difference == pytest.approx(rates[1] - rates[0])


def test_inconclusive_trials_enter_the_bounds_only() -> None:
    lost = score(1, actions=3, tokens=9, verdict=Verdict.INCONCLUSIVE)
    passed, failed = score(4, actions=2), score(0, task="b", actions=2)
    alone = measure([passed, failed])
    both = measure([passed, lost, failed, lost])
    assert both.inconclusive == 2
    assert alone.success_bounds == (0.5, 0.5)
    assert both.success_bounds == pytest.approx((1 / 6, 0.5))
    ignored = ("inconclusive", "SR_bounds")
    assert {k: v for k, v in both.to_dict().items() if k not in ignored} == {
        k: v for k, v in alone.to_dict().items() if k not in ignored
    }


@given(scores)
def test_bounds_and_interval_hold_the_success_rate(trials: list[TrialScore]) -> None:
    metrics = measure(trials)
    if metrics.success_bounds is None:
        assert not trials
        return
    low, high = metrics.success_bounds
    as_failed, as_passed = (
        measure(
            [
                score(trial.nodes_met, task=trial.task, verdict=verdict)
                if not trial.is_conclusive
                else trial
                for trial in trials
            ]
        ).success_rate
        for verdict in (Verdict.FAIL, Verdict.PASS)
    )
    assert (low, high) == pytest.approx((as_failed, as_passed))
    if metrics.success_rate is not None:
        assert metrics.success_interval is not None
        assert low - 1e-9 <= metrics.success_rate <= high + 1e-9
        assert metrics.success_interval[0] <= metrics.success_rate + 1e-9
        assert metrics.success_rate <= metrics.success_interval[1] + 1e-9


@pytest.mark.parametrize(("lost", "bounds"), [(0, None), (2, [0.0, 1.0])])
def test_metrics_without_conclusive_trials_are_none(lost: int, bounds: list[float] | None) -> None:
    metrics = measure([score(1, verdict=Verdict.INCONCLUSIVE)] * lost)
    assert metrics.to_dict() == {
        "SR": None, "SR_95": None, "SR_bounds": bounds, "CR": None, "EE": None, "CE": None,
        "tasks": 0, "trials": 0, "inconclusive": lost,
    }  # fmt: skip


def test_interval_is_the_one_over_tasks() -> None:
    trials = [score(4), score(0), score(4, task="b"), score(4, task="c")]
    metrics = measure(trials)
    assert metrics.success_interval == task_interval([[1.0, 0.0], [1.0], [1.0]])
    assert metrics.to_dict()["SR_95"] == list(metrics.success_interval or ())


def test_undone_graph_can_have_all_but_one_node_and_still_fail() -> None:
    metrics = measure([score(3, 4)])
    assert (metrics.success_rate, metrics.completion_ratio) == (0.0, 0.75)


@pytest.mark.parametrize(
    ("met", "nodes", "actions"), [(5, 4, 0), (-1, 4, 0), (0, 0, 0), (1, 4, -1)]
)
def test_impossible_counts_are_rejected(met: int, nodes: int, actions: int) -> None:
    with pytest.raises(ValueError, match="must"):
        TrialScore("a", Verdict.FAIL, met, nodes, actions)

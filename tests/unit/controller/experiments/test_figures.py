from __future__ import annotations

import pytest

from controller.episode.result import MemberShare, Reason, TrialResult
from controller.experiments.figures import Outcome, by_platform, figures_of
from controller.models.usage import Usage
from evaluators.graph.outcome import Verdict
from evaluators.model.platforms import platform_of

PASS, FAIL, INCONCLUSIVE = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def outcome(
    task: str,
    verdict: Verdict,
    reason: Reason,
    met: int = 0,
    *,
    steps: int = 4,
    tokens: int = 100,
    code: str = "",
) -> Outcome:
    share = MemberShare(usage=Usage(tokens, 0), steps=steps)
    result = TrialResult(task, 0, verdict, reason, met, 2, steps, 1.0, {"agent": share})
    return Outcome(result, code)


TRIALS = [
    outcome("a", PASS, Reason.SUCCESS, 2),
    outcome("a", FAIL, Reason.FALSE_COMPLETION, 1),
    outcome("b", FAIL, Reason.STEP_LIMIT),
    outcome("c", FAIL, Reason.INVALID_ACTION, code="unusable_reply"),
    outcome("d", FAIL, Reason.INVALID_ACTION, code="off_screen"),
    outcome("e", FAIL, Reason.TIME_LIMIT),
    outcome("f", FAIL, Reason.REPETITION_LIMIT),
    outcome("g", FAIL, Reason.MODEL_REFUSAL),
    outcome("h", PASS, Reason.STEP_LIMIT, 2),
    outcome("i", INCONCLUSIVE, Reason.MODEL_UNAVAILABLE),
]
TASKS = 8
"""Conclusive ones; each counts once, so that the two trials of `a` count half."""


def test_shares_and_success_add_up_to_one() -> None:
    figures = figures_of(TRIALS)
    rate = figures.metrics.success_rate
    assert rate == pytest.approx(1.5 / TASKS)
    assert figures.endings == pytest.approx(
        {
            "false_completion": 0.5 / TASKS,
            "step_limit": 1 / TASKS,
            "invalid_action": 1 / TASKS,
            "parse_error": 1 / TASKS,
            "time_limit": 1 / TASKS,
            "repetition_limit": 1 / TASKS,
            "other": 1 / TASKS,
        }
    )
    assert rate is not None
    assert rate + sum(figures.endings.values()) == pytest.approx(1)
    assert figures.metrics.inconclusive == 1


def test_crab_counts_unreadable_replies_as_invalid_and_agentstudio_apart() -> None:
    row = figures_of(TRIALS).to_dict()
    assert row["crab"] == pytest.approx({"FC": 0.5 / TASKS, "RSL": 1 / TASKS, "IA": 2 / TASKS})
    assert row["agentstudio"] == pytest.approx(
        {
            "false_finish": 0.5 / TASKS,
            "parse_error": 1 / TASKS,
            "step_limit": 1 / TASKS,
            "time_limit": 1 / TASKS,
            "repetition_limit": 1 / TASKS,
        }
    )
    assert row["active_finish"] == pytest.approx(1 / TASKS)


def test_efficiencies_are_those_of_results() -> None:
    metrics = figures_of(TRIALS[:2]).metrics
    assert metrics.completion_ratio == pytest.approx(0.75)
    assert metrics.execution_efficiency == pytest.approx(0.75 / 4)
    assert metrics.cost_efficiency == pytest.approx(0.75 / 100)


def test_nothing_conclusive_has_no_figures() -> None:
    for trials in ([], [TRIALS[-1]]):
        row = figures_of(trials).to_dict()
        names = ("SR", "endings", "crab", "agentstudio", "active_finish")
        assert [row[name] for name in names] == [None] * 5


def test_trials_by_platform() -> None:
    groups = by_platform(TRIALS[:3], {"a": "phone"})
    assert {name: len(rows) for name, rows in groups.items()} == {"phone": 2, "other": 1}
    kinds = [{"desktop"}, {"phone"}, {"desktop", "phone"}, {"desktop", "world"}, {"world"}]
    assert [*map(platform_of, kinds)] == ["desktop", "phone", "cross", "desktop", "other"]

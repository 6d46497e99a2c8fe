from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.episode.result import TRIAL_RESULT, Reason, TrialResult
from controller.specification.agent import Member, ModelSpec
from controller.specification.run import BudgetSpec
from controller.store.runs import Store
from controller.store.spending import RunBudget, Spending, open_budget, read_budget, read_spending
from evaluators.graph.outcome import Verdict
from foundation.clock import FakeClock
from foundation.errors import StoreError
from tests.unit.controller.comparison.test_comparison import SPEC
from tests.unit.controller.jobs import next_job

if TYPE_CHECKING:
    from pathlib import Path


def test_lost_attempt_is_counted_by_its_log(tmp_path: Path) -> None:
    agent = ModelSpec(
        model="m", endpoint="http://host/v1", usd_per_mtok_prompt=10, usd_per_mtok_completion=30
    )
    budget = BudgetSpec(tokens=4000)
    spec = SPEC.model_copy(update={"agents": (Member(agent=agent),), "budget": budget})
    folder, clock = Store(tmp_path).create(spec), FakeClock()
    with folder.begin_attempt(next_job(folder, "a"), clock) as log:
        log.append("start")
        clock.advance(3.0)
        log.append("step", usage={"prompt": 1000, "completion": 100})
        clock.advance(4.0)
        log.append("refused", usage={"prompt": 2000, "completion": 0})
    spent = read_spending(folder)
    assert (spent.tokens, spent.seconds) == (3100, 7.0)
    assert spent.usd == pytest.approx(0.033)
    assert open_budget(folder) == RunBudget(budget, spent)
    result = TrialResult("a", 0, Verdict.FAIL, Reason.AGENT_ERROR, 0, 1, 1, 5.0)
    with folder.begin_attempt(next_job(folder, "a"), clock) as log:
        log.append("end", result=TRIAL_RESULT.dump_python(result, mode="json"), graph=None)
    assert read_spending(folder).seconds == 12.0


def test_spent_limits_are_named() -> None:
    budget = RunBudget(BudgetSpec(tokens=100, usd=2.5, seconds=60), Spending(99, 2.0, 59.0))
    assert budget.excess() == ""
    assert budget.excess(Spending(1, 0.5)) == "100 of 100 tokens, 2.5 of 2.5 USD"
    assert RunBudget(BudgetSpec(), Spending(10**9, 1e9, 1e9)).excess() == ""


def test_damaged_budget_is_an_error(tmp_path: Path) -> None:
    folder = Store(tmp_path).create(SPEC)
    (folder.path / "budget.json").write_text("{")
    with pytest.raises(StoreError, match="damaged"):
        read_budget(folder)

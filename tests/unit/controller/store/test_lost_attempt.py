from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.episode.result import Ending, Reason
from controller.specification.job import TrialJob
from controller.store.lost_attempt import last_graph, result_of_lost
from evaluators.graph.outcome import Verdict
from tests.unit.controller.lab import killed
from tests.unit.controller.store.test_runs import make_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.controller.lab import Lab

JOB = TrialJob(spec="d" * 64, task="two-apps", repeat=0, attempt=1, seed=0)


def test_progress_of_a_dead_process_is_that_of_its_log(lab: Lab) -> None:
    run = killed(lab)
    events = run.events("two-apps", 0)
    ending = Ending(Reason.AGENT_ERROR, "It died.")
    result = result_of_lost(events, JOB, ending, run.spec, events[0]["t"] + 9.0)
    assert (result.steps, result.nodes_met, result.nodes) == (2, 1, 2)
    assert (result.verdict, result.seconds, result.started) == (Verdict.FAIL, 9.0, True)
    assert [machine.role for machine in result.machines] == ["phone"]
    assert last_graph(events) == events[-1]["graph"]


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        (Reason.AGENT_ERROR, Verdict.FAIL),
        (Reason.ENVIRONMENT_ERROR, Verdict.INCONCLUSIVE),
        (Reason.CANCELLED, Verdict.INCONCLUSIVE),
    ],
)
def test_an_attempt_without_a_log_has_only_its_ending(
    tmp_path: Path, reason: Reason, verdict: Verdict
) -> None:
    result = result_of_lost([], JOB, Ending(reason), make_run(tmp_path).spec, 5.0)
    assert (result.verdict, result.steps, result.seconds) == (verdict, 0, 0.0)
    assert (result.started, result.machines) == (False, ())

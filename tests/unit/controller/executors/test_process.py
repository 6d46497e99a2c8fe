from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.episode.result import Reason
from controller.executors.messages import (
    AgentActs,
    FolderAddress,
    Forked,
    RunAccess,
    Stepped,
    TrialOrder,
)
from controller.executors.process import ProcessExecutor, ending_of_dead
from controller.scheduling.events import StepDone
from controller.scheduling.execution import execute_run
from controller.scheduling.scheduler import Scheduler
from controller.specification.agent import CustomSpec, Member, NoopSpec, OracleSpec, PythonSpec
from evaluators.graph.outcome import Verdict
from foundation.clock import wait_until
from foundation.errors import RequirementError, UsageError
from foundation.process import start
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.controller.executors.shop import WAITING, Shop, class_in

if TYPE_CHECKING:
    from controller.episode.result import TrialResult
    from controller.scheduling.events import TrialEvent
    from controller.specification.agent import AgentSpec
    from controller.store.runs import RunFolder

OWN = PythonSpec(reference="own.py:Agent", folder="/", digest="d" * 64)
DYING = """
import os, signal

class Agent:
    def __init__(self, context):
        self.dies = "Contacts" in context.instruction

    def act(self, observation):
        if observation.step == 1 and self.dies:
            {how}
        if observation.step == 1:
            return {{"do": "complete"}}
        return {{"do": "wait", "with": {{"seconds": 0.1}}}}
"""
NOISY = """
import os, sys

class Agent:
    def act(self, observation):
        os.write(1, b"no report\\n")
        print("neither")
        return {"do": "complete", "with": {}} if not os.read(0, 1) else None
"""
LEAVING = """
import os, subprocess

class Agent:
    def act(self, observation):
        child = os.fork()
        if not child:
            import time
            time.sleep(600)
            os._exit(0)
        os.abort()
"""


@pytest.fixture
def shop(tiny: Path, tmp_path: Path) -> Shop:
    return Shop("process", tiny, tmp_path / "state")


def stub(run: RunFolder, folder: Path, *lines: str, **options: object) -> ProcessExecutor:
    """Return an executor whose processes only print lines."""
    script = folder / "stub.py"
    code = "\n".join(f"print({line!r}, flush=True)" for line in lines)
    script.write_text(f"import os, sys\nsys.stdin.readline()\n{code}\nos._exit(3)\n")
    access = RunAccess(sink=FolderAddress(path=run.path), fleet="fake")
    command = (sys.executable, str(script))
    return ProcessExecutor(access, command, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "why"), [("os.abort()", "SIGABRT"), ("os._exit(0)", "exit code 0")]
)
def test_a_crash_of_native_code_costs_one_trial(
    shop: Shop, tmp_path: Path, how: str, why: str
) -> None:
    run = shop.begin(class_in(tmp_path, DYING.format(how=how)), "two-apps", "answer", retries=1)
    crashed, other = shop.go(run)
    assert (crashed.task, crashed.verdict, crashed.reason) == (
        "two-apps",
        Verdict.FAIL,
        Reason.AGENT_ERROR,
    )
    assert why in crashed.detail
    assert (crashed.steps, crashed.nodes_met, crashed.nodes, crashed.started) == (1, 0, 2, True)
    assert len(run.attempts("two-apps", 0)) == 1
    assert (other.task, other.reason) == ("answer", Reason.FALSE_COMPLETION)
    assert run.is_complete()


@pytest.mark.slow
def test_a_killed_process_is_not_the_agents_fault(shop: Shop, tmp_path: Path) -> None:
    code = DYING.format(how="os.kill(os.getpid(), signal.SIGKILL)")
    run = shop.begin(class_in(tmp_path, code), "two-apps", retries=1)
    (result,) = shop.go(run)
    assert (result.reason, result.verdict) == (Reason.ENVIRONMENT_ERROR, Verdict.INCONCLUSIVE)
    assert len(run.attempts("two-apps", 0)) == 2


@pytest.mark.slow
def test_programs_that_a_crashed_agent_leaves_behind_are_ended(shop: Shop, tmp_path: Path) -> None:
    """They hold the pipe of the reports; without their end, the run would wait for ten minutes."""
    run = shop.begin(class_in(tmp_path, LEAVING), "answer")
    (result,) = shop.go(run)
    assert result.reason is Reason.AGENT_ERROR


@pytest.mark.slow
def test_output_and_input_of_an_agent_cannot_disturb_the_messages(
    shop: Shop, tmp_path: Path
) -> None:
    run = shop.begin(class_in(tmp_path, NOISY), "answer")
    (result,) = shop.go(run)
    assert result.reason is Reason.FALSE_COMPLETION


@pytest.mark.slow
def test_a_process_whose_starter_has_died_cancels_its_trial(shop: Shop, tmp_path: Path) -> None:
    run = shop.begin(class_in(tmp_path, WAITING), "answer")
    job = Scheduler(run).next()
    assert job is not None
    access = RunAccess(sink=FolderAddress(path=run.path), fleet="fake")
    process = start(
        [sys.executable, "-m", "controller.job_process"],
        env={"MESOCOSM_STATE_DIR": str(shop.settings.state_dir)},
        stdin=-1,
    )
    assert process.stdin is not None
    process.stdin.write(TrialOrder(job=job, access=access).model_dump_json().encode() + b"\n")
    process.stdin.flush()
    wait_until(lambda: "step" in kinds(run), timeout_s=60.0, every_s=0.05)
    process.stdin.close()
    assert process.wait(60) == 0
    (result,) = run.results()
    assert (result.reason, result.detail) == (
        Reason.CANCELLED,
        "The process that started this trial has ended.",
    )
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def kinds(run: RunFolder) -> list[str]:
    return [event["type"] for event in run.events("answer", 0)]


def test_an_object_of_the_program_stays_local(shop: Shop) -> None:
    run = shop.begin(OracleSpec(), "answer")
    own = run.spec.model_copy(update={"agents": (Member(agent=CustomSpec(name="mine")),)})
    access = RunAccess(sink=FolderAddress(path=run.path), fleet="fake")
    run.spec = own
    with pytest.raises(UsageError, match=r"'mine' is an object of this program.*own"):
        execute_run(run, ProcessExecutor(access, ["false"]))
    assert run.attempts("answer", 0) == []


def test_reports_are_passed_on_and_a_death_is_concluded(shop: Shop, tmp_path: Path) -> None:
    run = shop.begin(NoopSpec(), "answer")
    filled: list[ResourceSpec] = []
    dead: list[TrialResult] = []
    executor = stub(
        run,
        tmp_path,
        Forked.of(ResourceSpec(DESKTOP)).model_dump_json(),
        AgentActs().model_dump_json(),
        Stepped(steps=7).model_dump_json(),
        refill=filled.append,
        measure=dead.append,
    )
    events: list[TrialEvent] = []
    (result,) = execute_run(run, executor, on_event=events.append)
    # An attempt that did not start is repeated once for free.
    assert filled == [ResourceSpec(DESKTOP)] * 2
    assert [event.steps for event in events if isinstance(event, StepDone)] == [7, 7]
    assert (result.reason, result.detail) == (
        Reason.ENVIRONMENT_ERROR,
        "The trial's process ended with exit code 3.",
    )
    assert dead[-1:] == [result]
    assert run.results() == [result]


def test_refusals_are_raised_as_the_error_that_they_were(shop: Shop, tmp_path: Path) -> None:
    run = shop.begin(NoopSpec(), "answer")
    line = {
        "kind": "refused",
        "code": "requirement",
        "brief": "No engine.",
        "resolution": "Start it.",
    }
    with pytest.raises(RequirementError) as caught:
        execute_run(run, stub(run, tmp_path, json.dumps(line)))
    assert (caught.value.brief, caught.value.resolution) == ("No engine.", "Start it.")
    assert run.attempts("answer", 0) == []


@pytest.mark.parametrize(
    ("code", "agent", "has_acted", "cancelled", "reason"),
    [
        (-signal.SIGABRT, OWN, True, "", Reason.AGENT_ERROR),
        (0, OWN, True, "", Reason.AGENT_ERROR),
        (-signal.SIGABRT, OWN, False, "", Reason.ENVIRONMENT_ERROR),
        (-signal.SIGABRT, NoopSpec(), True, "", Reason.ENVIRONMENT_ERROR),
        (-signal.SIGKILL, OWN, True, "", Reason.ENVIRONMENT_ERROR),
        (-signal.SIGKILL, OWN, True, "Enough.", Reason.CANCELLED),
    ],
)
def test_a_death_is_attributed(
    code: int, agent: AgentSpec, has_acted: bool, cancelled: str, reason: Reason
) -> None:
    ending = ending_of_dead(code, agent, has_acted=has_acted, cancelled=cancelled)
    assert ending.reason is reason


def test_at_least_one_trial_at_a_time() -> None:
    access = RunAccess(sink=FolderAddress(path=Path("/")), fleet="fake")
    with pytest.raises(ValueError, match="at least 1, got 0"):
        ProcessExecutor(access, ["true"], 0)

"""The table of verdicts and faults of docs/results.md, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.actions.space import Action
from controller.episode.result import Reason
from controller.protocol import Turn
from evaluators.graph.outcome import Verdict
from foundation.errors import (
    AgentError,
    GuestCallError,
    LinkTimeoutError,
    ModelRefusalError,
    ModelUnavailableError,
)
from provisioning.protocols import EndCause
from provisioning.resource import DESKTOP, ResourceSpec
from tests.unit.controller.bench import DARK, Bench, Scripted, make_task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.protocol import Agent, AgentContext
    from evaluators.model.task import Task
    from foundation.cancel import CancelToken
    from provisioning.fake import FakeDesktop, FakePhone
    from provisioning.lease import Fleet, Lease
    from provisioning.protocols import Json

OPEN = Action("open_app", "desktop", {"name": "Terminal"})
WRONG = Action("fly", "desktop")
POWER_OFF = Action("type_text", "desktop", {"text": "poweroff\n"})
DARK_NODE = {"id": "dark", "on": "desktop", "check": "gsetting_equals", "with": DARK}
TERMINAL = {"on": "desktop", "check": "window_open", "with": {"app": "Gnome-terminal"}}


def type_line(line: str) -> Action:
    return Action("type_text", "desktop", {"text": f"{line}\n"})


def desktop_of(bench: Bench) -> FakeDesktop | FakePhone:
    """Create the desktop before a trial leases it, so that faults can be injected."""
    with bench.fleet.acquire({"desktop": ResourceSpec(DESKTOP)}):
        return bench.fakes.machines[DESKTOP, 0]


@pytest.mark.parametrize(
    "error", [AgentError("lost"), RuntimeError("bug"), LinkTimeoutError("its own"), SystemExit(1)]
)
def test_raising_agent_fails(bench: Bench, dark_task: Task, error: Exception | SystemExit) -> None:
    result = bench.run(dark_task, Scripted(OPEN, error))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)
    assert result.steps == 1
    assert str(error) in result.detail


def test_agent_that_cannot_be_created_fails(bench: Bench, dark_task: Task) -> None:
    def make(context: AgentContext, /) -> Agent:
        raise RuntimeError("no weights")

    result = bench.run(dark_task, make)
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.AGENT_ERROR)


def test_unusable_replies_fail(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(*[Turn((), fault="gibberish")] * 3))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.INVALID_ACTION)


def test_refusing_model_fails(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(OPEN, ModelRefusalError("I will not.")))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MODEL_REFUSAL)


def test_unreachable_model_is_inconclusive_and_retried(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(OPEN, ModelUnavailableError("503")))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.MODEL_UNAVAILABLE)
    assert result.reason.is_retried


@pytest.mark.parametrize("last", [Action("complete"), Action("click", "desktop", {"x": 9, "y": 9})])
def test_agent_that_powers_its_desktop_off_fails(
    bench: Bench, dark_task: Task, last: Action
) -> None:
    result = bench.run(dark_task, Scripted(OPEN, POWER_OFF, last))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)
    assert "The guest shut down." in result.detail
    assert not result.reason.is_retried


def test_credit_before_the_end_of_the_machine_is_kept(bench: Bench) -> None:
    graph = [{"id": "opened", "mode": "once", **TERMINAL}]
    task = make_task(graph=[*graph, DARK_NODE])
    result = bench.run(task, Scripted(OPEN, POWER_OFF))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)
    assert (result.nodes_met, result.nodes) == (1, 2)


def test_state_that_can_no_longer_be_verified_is_unmet(bench: Bench) -> None:
    note = {"id": "note", "on": "desktop", "check": "file_exists", "with": {"path": "~/note"}}
    task = make_task(graph=[note, DARK_NODE])
    result = bench.run(task, Scripted(OPEN, type_line("touch note"), POWER_OFF))
    assert bench.events[4]["met"] == ["note"]
    assert (result.verdict, result.nodes_met) == (Verdict.FAIL, 0)


@pytest.mark.parametrize("last", [Action("complete"), Action("click", "desktop", {"x": 9, "y": 9})])
def test_machine_killed_from_outside_is_inconclusive(
    bench: Bench, dark_task: Task, last: Action
) -> None:
    machine = desktop_of(bench)

    def kill() -> None:
        machine.end(EndCause.OUTSIDE, "QEMU was killed.")

    result = bench.run(dark_task, Scripted(OPEN, kill, last))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)
    assert result.reason.is_retried


def test_machine_ending_while_the_agent_thinks_is_no_agent_error(
    bench: Bench, dark_task: Task
) -> None:
    machine = desktop_of(bench)

    def kill_and_raise() -> None:
        machine.end(EndCause.OUTSIDE, "QEMU was killed.")
        raise ModelUnavailableError("503")

    result = bench.run(dark_task, Scripted(kill_and_raise))
    assert result.verdict is Verdict.INCONCLUSIVE


@pytest.mark.slow
def test_guest_restart_ends_the_trial_at_the_next_step(bench: Bench, dark_task: Task) -> None:
    machine = desktop_of(bench)
    result = bench.run(dark_task, Scripted(OPEN, machine.restart_itself, OPEN, OPEN, OPEN))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)
    assert "restarted itself" in result.detail
    assert result.steps == 2


def obstruct(machine: FakeDesktop | FakePhone, hindrance: str) -> Callable[[], None]:
    def act() -> None:
        machine.state.hindrance = hindrance
        machine.faults.add("call.evaluate", GuestCallError("Input/output error"))

    return act


def test_evaluator_obstructed_by_the_agent_leaves_its_node_unmet(
    bench: Bench, dark_task: Task
) -> None:
    act = obstruct(desktop_of(bench), "a mount of the user's on /home/user/Documents")
    result = bench.run(dark_task, Scripted(OPEN, act))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)
    assert "/home/user/Documents" in result.detail


def test_evaluator_raises_although_its_machine_answers(bench: Bench, dark_task: Task) -> None:
    result = bench.run(dark_task, Scripted(OPEN, obstruct(desktop_of(bench), "")))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.EVALUATOR_ERROR)
    assert not result.reason.is_retried
    counted = [labels for name, _, labels in bench.measures if name == "evaluator_errors_total"]
    assert counted == [{"suite": "tiny", "evaluator": "gsetting_equals"}]


def answer(machine: FakeDesktop | FakePhone, reason: str, code: str) -> Callable[[], None]:
    """Make the probe answer every evaluator with a reason and its code from now on."""

    def act() -> None:
        usual = machine.answer

        def reply(op: str, params: dict[str, Json], timeout_s: float) -> Json:
            if op != "evaluate":
                return usual(op, params, timeout_s)
            return [{"node": "dark", "met": None, "reason": reason, "code": code}]

        setattr(machine, "answer", reply)  # noqa: B010 - a method, for mypy

    return act


def test_evaluator_kept_from_answering_leaves_its_node_unmet(bench: Bench, dark_task: Task) -> None:
    reason = "gsetting_equals took longer than 15 s"
    late = answer(desktop_of(bench), reason, "too_slow")
    result = bench.run(dark_task, Scripted(OPEN, late))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)
    assert f"dark cannot be judged: {reason}" in result.detail


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("raised", Reason.EVALUATOR_ERROR),
        ("argument", Reason.TASK_ERROR),
        ("server", Reason.ENVIRONMENT_ERROR),
    ],
)
def test_faults_outside_the_agent_stay_inconclusive(
    bench: Bench, dark_task: Task, code: str, ending: Reason
) -> None:
    result = bench.run(dark_task, Scripted(OPEN, answer(desktop_of(bench), "any message", code)))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, ending)
    counted = [name for name, _, _ in bench.measures if name == "evaluator_errors_total"]
    assert len(counted) == (ending is Reason.EVALUATOR_ERROR)


def test_slow_machine_excuses_late_answers(bench: Bench, dark_task: Task) -> None:
    machine = desktop_of(bench)
    machine.faults.add("run", LinkTimeoutError("no reply"))
    late = answer(machine, "gsetting_equals took longer than 15 s", "too_slow")
    result = bench.run(dark_task, Scripted(OPEN, late))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.EVALUATOR_ERROR)


def test_machine_that_cannot_run_programs_is_not_slow(bench: Bench, dark_task: Task) -> None:
    """As when the agent has used up its memory: an answer at once is not a slow host's."""
    machine = desktop_of(bench)
    machine.faults.add("run", GuestCallError("cannot start /bin/true: Cannot allocate memory"))
    reason = "the evaluators' process could not be started: [Errno 12] x"
    late = answer(machine, reason, "no_process")
    result = bench.run(dark_task, Scripted(OPEN, late))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.MACHINE_ENDED_BY_AGENT)


def test_evaluator_of_an_unresponsive_machine(bench: Bench, dark_task: Task) -> None:
    machine = desktop_of(bench)

    def silence() -> None:
        for op in ("evaluate", "ping"):
            machine.faults.add(f"call.{op}", LinkTimeoutError("no reply"))

    result = bench.run(dark_task, Scripted(OPEN, silence))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.ENVIRONMENT_ERROR)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (GuestCallError("raised"), Reason.EVALUATOR_ERROR),
        (LinkTimeoutError("no reply"), Reason.ENVIRONMENT_ERROR),
    ],
)
def test_undecided_at_the_start(
    bench: Bench, dark_task: Task, error: Exception, reason: Reason
) -> None:
    desktop_of(bench).faults.add("call.evaluate", error)
    result = bench.play(dark_task)
    assert (result.verdict, result.reason, result.steps) == (Verdict.INCONCLUSIVE, reason, 0)
    assert "undecided" in result.detail


def test_evaluator_that_finds_a_starting_program_is_asked_again(
    bench: Bench, dark_task: Task
) -> None:
    desktop = desktop_of(bench)
    answer = desktop.answer
    refused: list[str] = []

    def refuse_once(op: str, params: dict[str, Json], timeout_s: float) -> Json:
        if op == "evaluate" and not refused:
            refused.append(op)
            raise GuestCallError("still starting")
        return answer(op, params, timeout_s)

    desktop.answer = refuse_once  # type: ignore[method-assign]
    assert bench.play(dark_task).verdict is Verdict.PASS
    assert refused


def test_setup_waits_for_a_condition(bench: Bench) -> None:
    exists = {"on": "desktop", "check": "file_exists", "with": {"path": "~/made"}}
    put = {"on": "desktop", "do": "put_file", "with": {"path": "~/made"}}
    waits = {"wait_for": exists, "seconds": 4.0}
    assert bench.play(make_task(setup=[put, waits])).verdict is Verdict.PASS
    result = bench.play(make_task(setup=[waits]))
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.TASK_ERROR)
    assert "step 1, wait for file_exists on desktop: it was not met within 4 s" in result.detail


def test_node_met_at_the_start_is_a_task_error(bench: Bench) -> None:
    task = make_task(setup=[{"on": "desktop", "do": "set_gsetting", "with": DARK}])
    result = bench.play(task)
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.TASK_ERROR)
    assert "met before the agent acts" in result.detail


@pytest.mark.parametrize(
    ("do", "args"),
    [("start_app", {"name": "Nothing"}), ("put_file", {"path": "no/absolute/path"})],
)
def test_failing_setup_is_a_task_error(bench: Bench, do: str, args: dict[str, str]) -> None:
    task = make_task(setup=[{"on": "desktop", "do": do, "with": args}])
    result = bench.play(task)
    assert (result.verdict, result.reason) == (Verdict.INCONCLUSIVE, Reason.TASK_ERROR)
    assert result.detail.startswith("setup: ")


def test_machine_failure_during_setup_is_no_task_error(bench: Bench) -> None:
    desktop_of(bench).faults.add("call.open_app", LinkTimeoutError("no reply"))
    task = make_task(setup=[{"on": "desktop", "do": "start_app", "with": {"name": "Terminal"}}])
    assert bench.play(task).reason is Reason.ENVIRONMENT_ERROR


def test_broken_invariant_fails_although_all_else_is_met(bench: Bench) -> None:
    keep = {"id": "kept", "on": "desktop", "check": "file_exists", "with": {"path": "~/kept"}}
    setup = [{"on": "desktop", "do": "put_file", "with": {"path": "~/kept"}}]
    task = make_task(setup=setup, graph=[{**keep, "mode": "keep"}, DARK_NODE])
    assert bench.play(task).verdict is Verdict.PASS
    dark = type_line("gsettings set org.gnome.desktop.interface color-scheme prefer-dark")
    result = bench.run(task, Scripted(OPEN, type_line("rm kept"), dark))
    assert (result.verdict, result.reason) == (Verdict.FAIL, Reason.FALSE_COMPLETION)


class Hurried:
    """Leases machines for five seconds, regardless of the request."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def acquire(
        self,
        resources: Mapping[str, ResourceSpec],
        ttl_s: float = 0.0,
        *,
        cancel: CancelToken | None = None,
    ) -> Lease:
        return self._fleet.acquire(resources, 5.0)

    def announce(self, specs: Sequence[ResourceSpec]) -> None:
        self._fleet.announce(specs)


def test_expired_lease_is_reported_in_the_result(bench: Bench, dark_task: Task) -> None:
    bench.fleet = Hurried(bench.fleet)

    def take_long() -> None:
        bench.clock.advance(6)

    complete = Action("complete")
    for moves, reason in (
        ((take_long, complete), Reason.ENVIRONMENT_ERROR),
        ((take_long, AgentError("I give up.")), Reason.AGENT_ERROR),
        ((complete,), Reason.FALSE_COMPLETION),
    ):
        result = bench.run(dark_task, Scripted(*moves))
        assert result.reason is reason
        is_reported = result.detail.startswith("The lease lease-")
        assert is_reported == (reason is Reason.ENVIRONMENT_ERROR)

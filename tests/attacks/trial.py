"""A trial in an arena, judged like every trial: the real graph, runners, diagnosis, and judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from controller.actions.session import SessionState
from controller.actions.vocabulary import vocabulary
from controller.episode.judging import Judgement, judge
from controller.episode.result import Ending, Reason
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.state import NodeState
from evaluators.model.task import Task
from evaluators.runners import machine_runner, phone_runner, session_runner
from evaluators.strict import SESSION
from foundation.clock import SYSTEM_CLOCK
from provisioning.resource import DESKTOP, PHONE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.episode.live import LiveTrial
    from evaluators.graph.outcome import Call, WaveRunner
    from provisioning.protocols import Commands, Machine

_START_TIMEOUT_S = 60.0
"""Timeout of the check at the start, when only a busy host can delay evaluators."""


class AttackTrial:
    """The part of a `LiveTrial` that its judge needs.

    Args:
        runner: of the evaluators.
        calls: evaluators, one per node.
        on: role that they inspect.
        machines: by role; those that the judge may query.
        wave_timeout_s: timeout of one round trip.
        also_required: evaluators that every node requires in addition.

    Attributes:
        task: has a node for each call.
        machines: by role.
        diagnosable: the same.
        graph: current state of the nodes.
    """

    def __init__(
        self,
        runner: WaveRunner,
        calls: tuple[Call, ...],
        *,
        on: str,
        machines: Mapping[str, Machine],
        wave_timeout_s: float = _START_TIMEOUT_S,
        also_required: tuple[Call, ...] = (),
    ) -> None:
        self._calls = {f"n{number}": call for number, call in enumerate(calls)}
        self.task = _task_of(self._calls, on, also_required)
        self.machines = self.diagnosable = machines
        self._runners = {on: runner}
        self._timeout_s = wave_timeout_s
        self.graph = self._fresh(wave_timeout_s)

    def begin(self) -> None:
        """Check that no node is met or undecided before the agent acts."""
        report = self._fresh(_START_TIMEOUT_S).check_start()
        assert report.is_clean, report.detail

    def step(self) -> list[str]:
        """Evaluate all nodes once; return the evaluators that became met."""
        return [self._describe(name) for name in self.graph.step()]

    def finished(self) -> tuple[GraphEvaluator, tuple[str, ...]]:
        """Return a finished copy of the graph, as `LiveTrial` does."""
        copy = GraphEvaluator.from_dict(
            self.task.graph, self._runners, self.graph.to_dict(), wave_timeout_s=self._timeout_s
        )
        return copy, copy.finish()

    def judge(self) -> Judgement:
        """Judge it as a trial that reached its step limit."""
        return judge(Ending(Reason.STEP_LIMIT, ""), cast("LiveTrial", self))

    def met(self) -> list[str]:
        """Return the evaluators that are met."""
        states = {name: self.graph.state_of(name) for name in self._calls}
        return [self._describe(name) for name, state in states.items() if state is NodeState.MET]

    def _describe(self, name: str) -> str:
        call = self._calls[name]
        return f"{call.node}: {call.check} {dict(call.args)}"

    def _fresh(self, timeout_s: float) -> GraphEvaluator:
        return GraphEvaluator(self.task.graph, self._runners, wave_timeout_s=timeout_s)


def desktop_trial(
    machine: Machine,
    calls: tuple[Call, ...],
    *,
    wave_timeout_s: float,
    also_required: tuple[Call, ...] = (),
) -> AttackTrial:
    """Create a trial on a desktop."""
    return AttackTrial(
        machine_runner(machine, vocabulary()),
        calls,
        on=DESKTOP,
        machines={DESKTOP: machine},
        wave_timeout_s=wave_timeout_s,
        also_required=also_required,
    )


def cross_trial(
    machine: Machine,
    calls: tuple[Call, ...],
    *,
    wave_timeout_s: float,
    also_required: tuple[Call, ...] = (),
) -> AttackTrial:
    """Create a trial whose evaluators compare contents of a desktop; no answer was submitted."""
    machines = {DESKTOP: machine}
    runner = session_runner(SessionState(SYSTEM_CLOCK), vocabulary().evaluators[SESSION], machines)
    return AttackTrial(
        runner,
        calls,
        on=SESSION,
        machines=machines,
        wave_timeout_s=wave_timeout_s,
        also_required=also_required,
    )


def session_trial(state: SessionState, calls: tuple[Call, ...]) -> AttackTrial:
    """Create a trial of what an agent submitted."""
    runner = session_runner(state, vocabulary().evaluators[SESSION])
    return AttackTrial(runner, calls, on=SESSION, machines={})


def phone_trial(phone: Commands, calls: tuple[Call, ...]) -> AttackTrial:
    """Create a trial on a phone."""
    runner = phone_runner(phone, vocabulary().evaluators[PHONE])
    return AttackTrial(runner, calls, on=PHONE, machines={})


def _task_of(calls: Mapping[str, Call], on: str, also_required: tuple[Call, ...]) -> Task:
    further = [{"on": on, "check": call.check, "with": dict(call.args)} for call in also_required]
    nodes = [
        {"id": name, "on": on, "check": call.check, "with": dict(call.args), "and": further}
        for name, call in calls.items()
    ]
    return Task.model_validate(
        {
            "id": "attacked",
            "instruction": "Do the task.",
            "roles": {"phone": "phone"} if on == "phone" else {"desktop": "desktop"},
            "graph": nodes,
            "oracle": [{"do": "complete"}],
        }
    )

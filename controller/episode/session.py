"""Run one trial: lease, set up, let the agent act, judge, give the machines back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from appliance.base.errors import MesocosmError
from controller.actions.session import SessionState
from controller.actions.space import ActionSpace
from controller.agents.protocol import Seat, Usage
from controller.episode.egress import Outlets
from controller.episode.limits import EndTrial
from controller.episode.loop import Loop, LoopParts
from controller.episode.preparation import prepare
from controller.episode.recording import recording
from controller.episode.result import TRIAL_RESULT, MachineRecord, Reason, TrialResult
from evaluators.catalogue import builtin_evaluators
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.feedback import explain
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.episode.context import Stage
    from controller.store.event_log import TrialLog
    from evaluators.model.task import Task
    from provisioning.fleet.protocol import Environment

_LEASE_SLACK_S = 1800.0
"""Longer than setup, the last step and the last evaluation take together on a slow host."""


class Trial:
    """One attempt of one agent at one task; use it once.

    Args:
        task: what is to be done.
        repeat: number of the attempt, from 0.
        stage: what it shares with the other trials of its run.
        log: where every step is written through.
        seed: for agents that act by chance.
        on_step: called after each step with the number of steps so far.

    Attributes:
        is_interrupted: Ctrl-C was pressed while it ran.
    """

    def __init__(
        self,
        task: Task,
        repeat: int,
        *,
        stage: Stage,
        log: TrialLog,
        seed: int = 0,
        on_step: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._task = task
        self._repeat = repeat
        self._stage = stage
        self._log = log
        self._seed = seed
        self._on_step = on_step
        self._start_s = stage.clock.monotonic_s()
        self._machines: tuple[MachineRecord, ...] = ()
        self._loop: Loop | None = None
        self._result: TrialResult | None = None
        self._phase = "lease"
        self._outlets = Outlets(task)
        self.is_interrupted = False

    def run(self) -> TrialResult:
        """Run it to its end, whatever happens; the last line of the log is the result.

        Ctrl-C gives a result with reason ``cancelled``.

        Raises:
            StoreError: the log cannot be written.
        """
        self._log.append("start", task=self._task.id, repeat=self._repeat, agent=self._stage.agent)
        try:
            deadline_s = self._task.limits.seconds + _LEASE_SLACK_S
            with self._stage.fleet.lease(self._task.roles, deadline_s=deadline_s) as environment:
                machines, stage = environment.machines, self._stage
                self._note_lease(environment)
                self._phase = "setup"
                with (
                    self._outlets.opened(machines),
                    recording(machines, self._log, stage.video_hz, stage.clock),
                ):
                    result = self._live(environment)
        except KeyboardInterrupt:
            self.is_interrupted = True
            result = self._result or self._close(EndTrial(Reason.CANCELLED, "Interrupted."))
        except Exception as exc:  # noqa: BLE001 - the trial's boundary: never FAIL for this
            result = self._result or self._close(self._end_of(exc))
            if self._phase == "return":
                self._log.append("return_error", error=_words(exc))
        return result

    def _live(self, environment: Environment) -> TrialResult:
        prepare(self._task, environment.machines)
        self._phase = "start"
        self._loop, seat = self._make_loop(environment)
        try:
            _require_clean_start(self._loop.graph)
            self._phase = "loop"
            self._loop.run(self._stage.make_agent(seat))
            raise AssertionError("a loop ends by EndTrial")
        except EndTrial as end:
            result = self._close(end)
            self._phase = "return"
            return result

    def _note_lease(self, environment: Environment) -> None:
        self._machines = tuple(
            MachineRecord(role=role, **asdict(machine.info))
            for role, machine in environment.machines.items()
        )
        self._log.append(
            "lease",
            machines=[asdict(record) for record in self._machines],
            resets={role: asdict(report) for role, report in environment.resets.items()},
        )

    def _make_loop(self, environment: Environment) -> tuple[Loop, Seat]:
        state = SessionState(self._stage.clock)
        machines = environment.machines
        runners = self._stage.make_runners(environment, state)
        space = ActionSpace(machines, state)
        seat = Seat(self._task, space, machines, runners, self._stage.clock, self._seed)
        parts = LoopParts(seat, self._stage, state, self._log, self._on_step)
        return Loop(parts, GraphEvaluator(self._task.graph, runners)), seat

    def _end_of(self, exc: Exception) -> EndTrial:
        """Say what an unforeseen exception ends a trial for."""
        if self._loop is not None and self._loop.is_asking and not isinstance(exc, MesocosmError):
            reason = Reason.AGENT_ERROR
        else:
            reason = Reason.ENVIRONMENT_ERROR
        return EndTrial(reason, f"{self._phase}: {_words(exc)}", is_conclusive=False)

    def _close(self, end: EndTrial) -> TrialResult:
        """Judge, write the last line, and take the measures."""
        undone, verdict, reason = self._judge(end)
        loop = self._loop
        usage = Usage() if loop is None else loop.usage
        result = TrialResult(
            task=self._task.id,
            repeat=self._repeat,
            verdict=verdict,
            reason=reason,
            nodes_met=0 if loop is None else len(loop.graph.met),
            nodes=len(self._task.credit_nodes),
            steps=0 if loop is None else loop.steps,
            seconds=round(self._stage.clock.monotonic_s() - self._start_s, 3),
            usage=usage,
            detail=end.detail,
            machines=self._machines,
            unmet=() if loop is None else explain(loop.graph, self._task, builtin_evaluators()),
        )
        graph = None if loop is None else loop.graph.to_dict()
        dumped = TRIAL_RESULT.dump_python(result, mode="json")
        asked = self._outlets.attempts()
        egress = {"egress": asked} if asked else {}
        self._log.append("end", result=dumped, graph=graph, undone=list(undone), **egress)
        self._result = result
        self._measure(result)
        return result

    def _judge(self, end: EndTrial) -> tuple[tuple[str, ...], Verdict, Reason]:
        infrastructural = {Reason.ENVIRONMENT_ERROR, Reason.CANCELLED}
        if self._loop is None or end.reason in infrastructural:
            return (), Verdict.INCONCLUSIVE, end.reason
        undone = self._loop.graph.finish()
        verdict = self._loop.graph.verdict()
        if verdict is Verdict.PASS:
            return undone, verdict, Reason.SUCCESS
        if not end.is_conclusive:
            return undone, Verdict.INCONCLUSIVE, end.reason
        if verdict is Verdict.INCONCLUSIVE and end.reason is Reason.FALSE_COMPLETION:
            return undone, verdict, Reason.ENVIRONMENT_ERROR
        return undone, verdict, end.reason

    def _measure(self, result: TrialResult) -> None:
        stage = self._stage
        stage.record("trial_seconds", result.seconds, suite=stage.suite)
        stage.record("verdicts_total", suite=stage.suite, verdict=result.verdict)
        stage.record("trials_ended_total", reason=result.reason)
        for direction, tokens in result.usage.to_dict().items():
            if tokens:
                stage.record("tokens_total", tokens, agent=stage.agent, direction=direction)


def _require_clean_start(graph: GraphEvaluator) -> None:
    """End the trial unless the graph is as a task requires before the agent acts."""
    report = graph.check_start()
    if not report.is_clean:
        raise EndTrial(Reason.ENVIRONMENT_ERROR, report.detail, is_conclusive=False)


def _words(exc: Exception) -> str:
    return str(exc) if isinstance(exc, MesocosmError) else f"{type(exc).__name__}: {exc}"

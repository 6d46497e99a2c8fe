"""The part of an episode that exists while machines are leased: act, settle, observe, evaluate."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from controller.actions.executor import ActionExecutor
from controller.actions.session import SessionState
from controller.actions.space import ActionSpace
from controller.episode.disagreements import ScreenWatch
from controller.episode.limits import Budget
from controller.episode.result import Ending, Reason
from controller.episode.side_effects import StateWatch
from controller.episode.step import Evaluation
from controller.episode.stopwatch import Stopwatch
from controller.observation.observer import Observation, Observer
from controller.observation.settle import changed_ratio, settle_machine
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.feedback import explain, progress_lines
from evaluators.graph.outcome import Verdict
from foundation.cancel import CancelToken
from foundation.errors import ActionError, LinkClosedError
from foundation.host_load import Patience
from provisioning.protocols import EndWatching

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.actions.space import Action
    from controller.episode.context import EventSink, RunContext
    from controller.observation.observer import Frame
    from controller.observation.settle import Settled
    from controller.protocol import Turn
    from evaluators.graph.start import StartReport
    from evaluators.model.task import Task
    from foundation.clock import Clock
    from provisioning.lease import Environment

    Details = dict[str, object]


_LOG = logging.getLogger(__name__)

_START_S = 60.0
_START_EVERY_S = 0.5
_STILL_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class TurnReport:
    """The outcome of one turn.

    Attributes:
        newly_met: nodes met by the turn, in order.
        feedback: why an action was rejected; empty if none was.
        ending: why the trial is over; None if it continues.
    """

    newly_met: tuple[str, ...] = ()
    feedback: str = ""
    ending: Ending | None = None


class LiveTrial:
    """One task on leased machines, from its setup on.

    Args:
        task: the task.
        environment: its machines.
        context: the context that it shares with other trials.
        log: records every step.
        clock: measures, and waits until the trial is cancelled.
        cancel: once it is cancelled, no further action is executed.
        session: what the agent submitted, for a trial that is judged again.

    Attributes:
        budget: usage of the task's limits.
        graph: state of the task's graph.
        machines: machines by role.
        runners: runners of the task's evaluators, by role.
        session: what the agent submitted.
        space: the available actions.
        task: the task.
        watch: compares the machines' state with that before the agent acted.
        screens: compares windows and screenshots with those before the agent acted.
    """

    def __init__(
        self,
        task: Task,
        environment: Environment,
        context: RunContext,
        log: EventSink,
        clock: Clock,
        *,
        cancel: CancelToken | None = None,
        session: SessionState | None = None,
    ) -> None:
        self.task = task
        self._context = context
        self._log = log
        self._clock = clock
        self._cancel = CancelToken() if cancel is None else cancel
        self.session = session or SessionState(clock)
        self.machines = environment.machines
        self.runners = context.make_runners(environment, self.session, context.vocabulary)
        self.space = ActionSpace(task.kinds, context.vocabulary.actions or {})
        self._executor = ActionExecutor(self.space, self.machines, self.session)
        self._observer = Observer(self.machines)
        self._member = ""
        self.watch = StateWatch(self.machines, clock)
        self.screens = ScreenWatch(self.machines, clock)
        self.graph = GraphEvaluator(task.graph, self.runners)
        self.budget = Budget(task.limits, clock)

    def check_start(self) -> StartReport:
        """Judge the graph before the agent acts, once the machines are at rest.

        An evaluator that cannot decide is asked again, as a program may still be starting: until
        the machines were still twice, or a minute has passed, which a busy host stretches.

        Raises:
            LinkError: a machine does not return its screen.
        """
        patience = Patience(_START_S, self._clock)
        still_rounds = 0
        while True:
            still_rounds += all(self._settle(role).is_still for role in self.machines)
            report = self.graph.check_start()
            is_decided = all(problem.met is not None for problem in report.problems)
            if is_decided or still_rounds >= _STILL_ROUNDS or patience.is_over:
                return report
            _LOG.info("asked again, as a program may be starting: %s", report.detail)
            self._clock.sleep(_START_EVERY_S)

    def begin(self) -> Observation:
        """Take the first observation; limits count from here on.

        Raises:
            LinkError: a machine failed.
            StoreError: the log cannot be written.
        """
        shots = self._observer.take_screenshots(
            {role: self._settled(role) for role in self.machines}
        )
        self._log.append("observation", step=0, screens=self._log.keep(shots))
        self.watch.begin()
        self.screens.begin()
        self.budget = Budget(self.task.limits, self._clock)
        return self.observe("")

    def observe(self, feedback: str) -> Observation:
        """Return the current observation for the agent.

        Args:
            feedback: feedback on its last turn.

        Raises:
            LinkError: a machine does not return its tree.
            StoreError: the log cannot be written.
        """
        machines = self.machines if self._context.spec.observation.trees else {}
        trees = {role: machine.tree.elements() for role, machine in machines.items()}
        if trees:
            self._log.append("trees", n=self.budget.steps, trees=self._log.keep_trees(trees))
        shots = dict(self._observer.shots)
        return Observation(self.budget.steps, shots, feedback, trees, self._progress())

    def _progress(self) -> tuple[str, ...]:
        context = self._context
        evaluators = context.vocabulary.evaluators
        return progress_lines(self.graph, self.task, evaluators, context.spec.observation.feedback)

    def last_seen(self) -> Observation:
        """Return the last screenshots without querying any machine."""
        return Observation(self.budget.steps, dict(self._observer.shots))

    def take(self, turn: Turn, agent_s: float, member: str) -> TurnReport:
        """Execute a turn.

        Args:
            turn: a member's turn.
            agent_s: time charged to the member for it.
            member: its name.

        Raises:
            LinkError: a machine failed.
            CancelledError: the trial was cancelled.
            StoreError: the log cannot be written.
        """
        self._member = member
        details: Details = {
            "note": turn.note,
            "usage": asdict(turn.usage),
            "agent_s": round(agent_s, 4),
        }
        self._context.record("step_seconds", agent_s, phase="agent")
        met: list[str] = []
        for action in map(self.space.understand, turn.actions):
            self._cancel.check()
            watch = Stopwatch(self._clock)
            try:
                self._executor.execute(action)
            except ActionError as exc:
                return self._refuse(action, str(exc), details, tuple(met))
            met += self._finish_step(action, watch, details)
            details = {}
            if ending := self._ending():
                return TurnReport(tuple(met), ending=ending)
            self._check_ends()
        fault = turn.fault or ("" if turn.actions else "You chose no action.")
        return self._refuse(None, fault, details, tuple(met)) if fault else TurnReport(tuple(met))

    def consult(self, turn: Turn, agent_s: float, member: str, about: Details) -> TurnReport:
        """Log a turn that acts on no machine; count it if it is no valid turn.

        Args:
            turn: a member's turn; its actions are not executed.
            agent_s: time charged to the member for it.
            member: its name.
            about: what the turn was for, as fields of the log's line.

        Raises:
            StoreError: the log cannot be written.
        """
        self._member = member
        self._context.record("step_seconds", agent_s, phase="agent")
        details: Details = {
            "note": turn.note,
            "usage": asdict(turn.usage),
            "agent_s": round(agent_s, 4),
            **about,
        }
        if turn.fault:
            return self._refuse(None, turn.fault, details, ())
        self._log.append("consulted", n=self.budget.steps, member=member, **details)
        return TurnReport(())

    def finished(self) -> tuple[GraphEvaluator, tuple[str, ...]]:
        """Return a finished copy of the graph, and the undone or broken nodes."""
        copy = GraphEvaluator.from_dict(self.task.graph, self.runners, self.graph.to_dict())
        return copy, copy.finish()

    def evaluate(self) -> Evaluation:
        """Judge the trial as if it ended now, without changing the graph."""
        copy, _ = self.finished()
        unmet = explain(copy, self.task, self._context.vocabulary.evaluators)
        return Evaluation(copy.verdict(), copy.met, len(self.task.credit_nodes), unmet)

    def _refuse(
        self, action: Action | None, message: str, details: Details, met: tuple[str, ...]
    ) -> TurnReport:
        """Count a rejected action, and log it with the current step and screenshots."""
        self._log.append(
            "refused",
            n=self.budget.steps,
            member=self._member,
            **_marked(action),
            **self.space.log_fields(action),
            screens={role: shot.digest for role, shot in self._observer.shots.items()},
            why=message,
            **details,
        )
        return TurnReport(met, message, self.budget.count_refusal(self._member, message))

    def _finish_step(
        self, action: Action, watch: Stopwatch, details: Mapping[str, object]
    ) -> tuple[str, ...]:
        seconds = {"act": watch.lap()}
        before = {role: shot.frame for role, shot in self._observer.shots.items()}
        settled = {} if action.on is None else {action.on: self._settled(action.on)}
        seconds["settle"] = watch.lap()
        shots = self._observer.take_screenshots(settled)
        screens = self._log.keep(shots)
        seconds["observe"] = watch.lap()
        ratio = self._context.rule.still_ratio
        changed = any(
            changed_ratio(before[role], shot.frame) > ratio for role, shot in shots.items()
        )
        self.budget.count_action(self._member, action, has_changed=changed)
        met = self.graph.step()
        self.budget.credit(self._member, met)
        seconds["evaluate"] = watch.lap()
        self._log.append(
            "step",
            n=self.budget.steps,
            member=self._member,
            **_marked(action),
            **self.space.log_fields(action),
            screens=screens,
            met=list(met),
            graph=self.graph.to_dict(),
            seconds={phase: round(value, 4) for phase, value in seconds.items()},
            **details,
        )
        self._measure(seconds)
        return met

    def _ending(self) -> Ending | None:
        if self._is_passed():
            return Ending(Reason.SUCCESS)
        if self.session.completed:
            return Ending(Reason.FALSE_COMPLETION)
        if self.session.infeasible is not None:
            return Ending(Reason.DECLARED_INFEASIBLE, self.session.infeasible)
        return self.budget.exhausted_limit()

    def _check_ends(self) -> None:
        """Verify that no machine was reported as ended; a restarted one may answer again.

        Raises:
            LinkClosedError: a machine was reported as ended.
        """
        for machine in self.machines.values():
            power = machine.power
            end = power.reported_end() if isinstance(power, EndWatching) else None
            if end is not None:
                raise LinkClosedError(f"{machine.info.machine_id}: {end.detail}")

    def _is_passed(self) -> bool:
        """Return whether all nodes are met; hold nodes are rechecked on a copy of the graph."""
        if not self.graph.is_complete:
            return False
        copy, _ = self.finished()
        if copy.verdict() is not Verdict.PASS:
            return False
        self.graph = copy
        return True

    def _settled(self, role: str) -> Frame:
        return self._settle(role).frame

    def _settle(self, role: str) -> Settled:
        return settle_machine(self.machines[role], self._context.rule, self._clock)

    def _measure(self, seconds: Mapping[str, float]) -> None:
        context = self._context
        for phase, value in seconds.items():
            context.record("step_seconds", value, phase=phase)
        agent = context.spec.members[self._member].agent
        context.record("steps_total", 1.0, suite=context.spec.suite, agent=agent)


def _marked(action: Action | None) -> dict[str, object]:
    """Return what the log says of arguments that the agent wrote differently."""
    return {"understood": list(action.notes)} if action is not None and action.notes else {}

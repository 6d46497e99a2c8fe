"""The part of an episode that exists while machines are leased: act, settle, observe, evaluate."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

from controller.actions.executor import ActionExecutor
from controller.actions.session import SessionState
from controller.actions.space import ActionSpace
from controller.actions.vocabulary import offered_actions
from controller.episode.confirmation import Confirmer
from controller.episode.disagreements import ScreenWatch
from controller.episode.limits import Budget
from controller.episode.pressing import KeyPresser
from controller.episode.result import Ending, Reason
from controller.episode.side_effects import StateWatch
from controller.episode.step import Evaluation
from controller.episode.stopwatch import Stopwatch
from controller.observation.composer import Composer
from controller.observation.observer import Observation, Observer
from controller.observation.settle import changed_ratio, observe_now, settle_machine
from controller.observation.suite_functions import SuiteFunctions
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.feedback import explain, progress_lines
from evaluators.graph.outcome import Verdict
from foundation.cancel import CancelToken
from foundation.errors import ActionError, InvalidActionError, LinkClosedError
from foundation.host_load import Patience
from provisioning.protocols import EndWatching, ObstructionReporting

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.actions.space import Action
    from controller.episode.context import EventSink, RunContext
    from controller.episode.result import PressedKeys
    from controller.observation.marks import Mark
    from controller.observation.observer import Frame
    from controller.observation.results import ActionResult
    from controller.observation.settle import Settled
    from controller.protocol import Turn
    from controller.tool_servers.connection import ToolConnections
    from evaluators.graph.start import StartReport
    from evaluators.model.task import Task
    from evaluators.rendering.views.any import ViewedDocument
    from foundation.clock import Clock
    from provisioning.lease import Environment
    from provisioning.protocols import Machine, Resource

    Details = dict[str, object]
    Points = Sequence[Sequence[int]]


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
        resources: all resources by role.
        renew: extends the lease of the machines.
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
        self.renew: Callable[[], None] = lambda: None
        self._cancel = CancelToken() if cancel is None else cancel
        self.session = session or SessionState(clock)
        self.machines = environment.machines
        self.resources = environment.resources
        self.runners = context.make_runners(
            environment, self.session, context.vocabulary, self._keep_view
        )
        self._kept_views: dict[tuple[str, str], str] = {}
        spec, seen = context.spec.actions, context.spec.observation
        tools, naming = offered_actions(spec.action_set, context.vocabulary.actions or {})
        self.space = ActionSpace(
            task.kinds,
            tools,
            has_marks=seen.marks is not None or bool(seen.visual_prompt),
            groups=spec.groups | ({"code"} if task.code else set()),
            naming=naming,
        )
        self._servers = task.tools if spec.has_tools else {}
        self._connections: ToolConnections | None = None
        self._confirmer: Confirmer | None = None
        self._executor = ActionExecutor(self.space, self.machines, self.session)
        self._observer = Observer(self.machines)
        self._composer = Composer(
            self.machines,
            context.spec.observation,
            clock,
            SuiteFunctions.of(context.vocabulary),
        )
        self._member = ""
        self._marks: Mapping[str, Sequence[Mark]] = {}
        self._results: list[ActionResult] = []
        self.watch = StateWatch(environment.resources, clock)
        self.screens = ScreenWatch(self.machines, clock)
        self.graph = GraphEvaluator(task.graph, self.runners)
        self.budget = Budget(task.limits, clock)

    @property
    def diagnosable(self) -> dict[str, Machine | Resource]:
        """Resources that can say what ended them or blocks evaluators, by role."""
        return {
            role: resource
            for role, resource in self.resources.items()
            if role in self.machines or isinstance(resource, ObstructionReporting)
        }

    @property
    def tools_offered(self) -> int:
        """Number of tools that the agent is offered beside the screen."""
        return sum(len(self.space.tools.get(name, ())) for name in self._servers)

    def open_tools(self) -> None:
        """Start the tool servers that the task offers, if the run offers tools to agents.

        Raises:
            SpecError: a server does not start.
            RequirementError: the package for tool servers is missing.
        """
        if not self._servers:
            return
        from controller.tool_servers.connection import ToolConnections  # noqa: PLC0415 - an extra

        self._connections = ToolConnections(self.machines)
        self.space.add(self._connections.open(self._servers))

    def close(self) -> None:
        """End connections to tool servers; may be called more than once."""
        if self._connections is not None:
            self._connections.close()
            self._connections = None

    def _keep_view(self, role: str, path: str, viewed: ViewedDocument) -> None:
        """Record the view of a document that an evaluator asked for, if it changed."""
        digest = self._log.keep_view(viewed)
        if self._kept_views.get((role, path)) != digest:
            self._kept_views[role, path] = digest
            self._log.append("view", n=self.budget.steps, role=role, path=path, view=digest)

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
        if self._context.spec.actions.confirm:
            self._confirmer = Confirmer(self._log.folder, self._clock, self.renew)
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
            LinkClosedError: a machine is gone.
            RequirementError: what finds marks is not installed.
            StoreError: the log cannot be written.
        """
        shots = dict(self._observer.shots)
        seen = self._composer.compose(
            Observation(
                self.budget.steps,
                shots,
                feedback,
                progress=self._progress(),
                results=tuple(self._results),
            )
        )
        self._marks = seen.marks
        if seen.trees:
            self._log.append(
                "trees",
                n=self.budget.steps,
                trees=self._log.keep_trees(seen.trees),
                **({"faults": dict(seen.tree_faults)} if seen.tree_faults else {}),
            )
        if seen.marks:
            self._log_marks(seen)
        return seen

    def _log_marks(self, seen: Observation) -> None:
        """Log the marks that an agent sees, and how long each source took."""
        marks = {role: [mark.to_json() for mark in row] for role, row in seen.marks.items()}
        seconds = {
            role: {source: round(value, 4) for source, value in row.items()}
            for role, row in self._composer.seconds.items()
        }
        self._log.append("marks", n=self.budget.steps, marks=marks, seconds=seconds)

    def _progress(self) -> tuple[str, ...]:
        context = self._context
        evaluators = context.vocabulary.evaluators
        return progress_lines(self.graph, self.task, evaluators, context.spec.observation.feedback)

    def last_seen(self) -> Observation:
        """Return the last screenshots without querying any machine."""
        return Observation(self.budget.steps, dict(self._observer.shots))

    def take(self, turn: Turn, agent_s: float, member: str) -> TurnReport:
        """Execute a turn, which ends the trial if it was the last that the limits allow.

        Args:
            turn: a member's turn.
            agent_s: time charged to the member for it.
            member: its name.

        Raises:
            LinkError: a machine failed.
            CancelledError: the trial was cancelled.
            StoreError: the log cannot be written.
        """
        report = self._take(turn, agent_s, member)
        if report.ending is None and (ending := self.budget.last_turn()) is not None:
            return replace(report, ending=ending)
        return report

    def _take(self, turn: Turn, agent_s: float, member: str) -> TurnReport:
        self._member = member
        details: Details = {
            "note": turn.note,
            "usage": asdict(turn.usage),
            "agent_s": round(agent_s, 4),
        }
        self._context.record("step_seconds", agent_s, phase="agent")
        met: list[str] = []
        self._results = []
        for index, given in enumerate(map(self.space.understand, turn.actions)):
            self._cancel.check()
            watch, action = Stopwatch(self._clock), given
            try:
                action = self.space.resolve(given, self._marks.get(given.on or "", ()))
                self._confirm(action)
                points = cast("Points", self.space.log_fields(action).get("points") or ())
                self._composer.begin_step(self._acted_on(action), self._observer.shots, points)
                result = self._executor.execute(action)
            except ActionError as exc:
                return self._refuse(action, exc, details, tuple(met))
            if result is not None:
                self._results.append(replace(result, index=index))
                details |= self._shown(result)
            met += self._finish_step(action, watch, details)
            details = {}
            if ending := self._ending():
                return TurnReport(tuple(met), ending=ending)
            self._check_ends()
        if turn.fault:
            error = InvalidActionError(turn.fault)
            return self._refuse(None, error, details, tuple(met), "unusable_reply")
        if not turn.actions:
            error = InvalidActionError("You chose no action.")
            return self._refuse(None, error, details, tuple(met), "no_action")
        return TurnReport(tuple(met))

    def _confirm(self, action: Action) -> None:
        """Wait for a person's approval if the run wants it; the time is charged to nobody.

        Raises:
            RefusedByPersonError: the person declined.
            CancelledError: the trial was cancelled.
        """
        if self._confirmer is None:
            return
        start_s = self._clock.monotonic_s()
        screens = {role: shot.digest for role, shot in self._observer.shots.items()}
        fields = self.space.log_fields(action)
        try:
            self._confirmer.require_approval(dict(fields), screens)
        finally:
            self.budget.exclude(self._clock.monotonic_s() - start_s)

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
            return self._refuse(None, InvalidActionError(turn.fault), details, (), "unusable_reply")
        self._log.append("consulted", n=self.budget.steps, member=member, **details)
        return TurnReport(())

    def press_for_agent(self, reason: Reason) -> tuple[PressedKeys, ...]:
        """Press the keys that the task wants pressed before it is judged, and return them.

        Args:
            reason: why the trial ended; some rule it out.
        """
        presser = KeyPresser(self.task.press_before_judging, self.machines, self._settle)
        return presser.press(reason)

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
        self,
        action: Action | None,
        error: ActionError,
        details: Details,
        met: tuple[str, ...],
        code: str = "",
    ) -> TurnReport:
        """Count a rejected action, and log it with the current step and screenshots."""
        code, message = code or error.code, str(error)
        self._log.append(
            "refused",
            n=self.budget.steps,
            member=self._member,
            **_marked(action),
            **self.space.log_fields(action),
            screens={role: shot.digest for role, shot in self._observer.shots.items()},
            why=message,
            code=code,
            **details,
        )
        ending = self.budget.count_refusal(self._member, code, message)
        return TurnReport(met, message, ending)

    def _finish_step(
        self, action: Action, watch: Stopwatch, details: Mapping[str, object]
    ) -> tuple[str, ...]:
        seconds = {"act": watch.lap()}
        before = {role: shot.frame for role, shot in self._observer.shots.items()}
        role = self._acted_on(action)
        settled = {} if role is None else {role: self._after_action(role)}
        seconds["settle"] = watch.lap()
        shots = self._observer.take_screenshots(settled)
        screens = self._log.keep(shots)
        seconds["observe"] = watch.lap()
        ratio = self._context.rule.still_ratio
        changed = any(
            changed_ratio(before[role], shot.frame) > ratio for role, shot in shots.items()
        )
        self.budget.count_action(self._member, action, has_changed=changed)
        if server := self._servers.get(action.on or ""):
            self.budget.count_tool(self._member, is_distractor=server.distractor)
        met = self.graph.step()
        self.budget.count_progress(self._completed())
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

    def _acted_on(self, action: Action) -> str | None:
        """Return the machine that an action was executed on, or whose tool server it called."""
        server = self._servers.get(action.on or "")
        return action.on if server is None else server.on

    def _completed(self) -> int:
        """Return the number of completed subtasks, or of met nodes if the task has no subtasks."""
        met = frozenset(self.graph.met)
        if not self.task.parts:
            return len(met)
        return sum(met.issuperset(part.nodes) for part in self.task.parts)

    def _shown(self, result: ActionResult) -> Details:
        """Return what the log says of an action's result."""
        row: dict[str, object] = {"text": result.text}
        if result.png:
            row["picture"] = self._log.keep_picture(result.png)
        return {"returned": row}

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
        watch = partial(self._composer.watch, role)
        return settle_machine(self.machines[role], self._context.rule, self._clock, watch=watch)

    def _after_action(self, role: str) -> Frame:
        """Return a machine's screen after an action: settled, unless the run is in real time."""
        if self._context.spec.observation.settle == "none":
            watch = partial(self._composer.watch, role)
            return observe_now(self.machines[role], watch=watch).frame
        return self._settled(role)

    def _measure(self, seconds: Mapping[str, float]) -> None:
        context = self._context
        for phase, value in seconds.items():
            context.record("step_seconds", value, phase=phase)
        agent = context.spec.members[self._member].agent
        context.record("steps_total", 1.0, suite=context.spec.suite, agent=agent)


def _marked(action: Action | None) -> dict[str, object]:
    """Return what the log says of arguments that the agent wrote differently."""
    return {"understood": list(action.notes)} if action is not None and action.notes else {}

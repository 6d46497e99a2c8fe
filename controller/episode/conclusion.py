"""Record the end of a trial: its result, the last line of its log, its metrics."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from controller.episode.disagreements import visits_unseen
from controller.episode.judging import Judgement, judge
from controller.episode.result import TRIAL_RESULT, Reason, TrialResult
from controller.episode.side_effects import side_effects
from evaluators.graph.feedback import explain
from evaluators.graph.outcome import Cause, Verdict
from evaluators.graph.state import GraphRecord, NodeState
from foundation.masking import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pydantic import JsonValue

    from controller.episode.changes import SideEffects
    from controller.episode.context import EventSink, RunContext
    from controller.episode.disagreements import Disagreement
    from controller.episode.egress import EgressSession
    from controller.episode.live import LiveTrial
    from controller.episode.result import Ending, MachineRecord, MemberShare
    from evaluators.catalogue import Tools
    from evaluators.graph.feedback import Feedback
    from evaluators.model.task import Task
    from evaluators.parameters.binding import BoundTask


_NOT_QUERIED = frozenset({Reason.CANCELLED, Reason.ENVIRONMENT_ERROR})
"""Reasons after which machines are no longer queried."""


@dataclass(slots=True)
class Conclusion:
    """Collects and writes the result of one trial.

    Attributes:
        task: the task, as defined in its suite.
        repeat: number of the repetition, from 0.
        start_s: start time on the monotonic clock.
        machines: the machines that it runs on.
        egress: the network access of its machines.
        parameters: values of the task's parameters, once they are known.
        bound: the task with these values bound.
        has_started: whether the agent got its first observation.
        acting: name of the member whose turn it is; empty if it is nobody's.
    """

    task: Task
    repeat: int
    start_s: float
    machines: tuple[MachineRecord, ...] = field(default=())
    egress: EgressSession | None = None
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    bound: Task = field(init=False)
    has_started: bool = False
    acting: str = ""

    def __post_init__(self) -> None:
        """Use the unbound task until its values are known."""
        self.bound = self.task

    def bind(self, bound: BoundTask) -> None:
        """Set the task with bound parameters."""
        self.bound, self.parameters = bound.task, bound.values

    def write(
        self, ending: Ending, live: LiveTrial | None, context: RunContext, log: EventSink
    ) -> TrialResult:
        """Judge the trial, append the last line of its log and record its metrics.

        Args:
            ending: why the trial is over.
            live: the live trial; None if it never had its machines.
            context: the context that it shares with other trials.
            log: receives the line.

        Raises:
            StoreError: the log cannot be written.
        """
        pressed = live.press_for_agent(ending.reason) if live and self.has_started else ()
        judgement = judge(ending, live) if live else Judgement(Verdict.INCONCLUSIVE, ending)
        requests = {} if self.egress is None else self.egress.attempts()
        differences = self._disagreements(judgement, live, requests)
        effects = self._side_effects(judgement, live, context)
        result = replace(
            self._result(judgement, live, context, effects),
            disagreements=differences,
            pressed=pressed,
        )
        log.append(
            "end",
            result=TRIAL_RESULT.dump_python(result, mode="json"),
            graph=None if live is None else live.graph.to_dict(),
            undone=list(judgement.undone),
            state_seconds=0.0 if live is None else round(live.watch.seconds, 4),
            **({"egress": requests} if requests else {}),
        )
        measure_result(result, context)
        if live is not None:
            _measure_evaluators(live, context)
        return result

    def _disagreements(
        self,
        judgement: Judgement,
        live: LiveTrial | None,
        requests: Mapping[str, Sequence[Mapping[str, object]]],
    ) -> tuple[Disagreement, ...]:
        """Return contradictions between guests and appliance; ended machines are not queried."""
        if live is None or judgement.ending.reason in _NOT_QUERIED:
            return ()
        return (*live.screens.disagreements(), *visits_unseen(self.bound, live.graph.met, requests))

    def _side_effects(
        self, judgement: Judgement, live: LiveTrial | None, context: RunContext
    ) -> SideEffects | None:
        """Return the side effects of the trial; None if its machines cannot be queried."""
        is_over = judgement.ending.reason in _NOT_QUERIED
        changes = None if live is None or is_over else live.watch.changes()
        if changes is None:
            return None
        images = {machine.role: machine.image_digest for machine in self.machines}
        if context.spec.is_noop and context.baselines is not None:
            context.baselines.keep(self.task, images, changes)
        known = context.baselines
        baseline = None if known is None else known.find(self.task, images)
        return side_effects(changes, self.bound, baseline)

    def _result(
        self,
        judgement: Judgement,
        live: LiveTrial | None,
        context: RunContext,
        effects: SideEffects | None,
    ) -> TrialResult:
        evaluators = context.vocabulary.evaluators
        return TrialResult(
            task=self.task.id,
            repeat=self.repeat,
            verdict=judgement.verdict,
            reason=judgement.ending.reason,
            nodes_met=0 if live is None else len(live.graph.met),
            nodes=len(self.task.credit_nodes),
            steps=0 if live is None else live.budget.steps,
            seconds=round(context.clock.monotonic_s() - self.start_s, 3),
            members={} if live is None else _rounded(live.budget.members),
            detail=hide_secrets(judgement.ending.detail),
            machines=self.machines,
            unmet=_unmet(live, self.bound, evaluators),
            side_effects=effects,
            parameters=dict(self.parameters),
            weighted=_weighted(self.bound, () if live is None else live.graph.met),
            started=self.has_started,
            ended_by=self.acting,
            tools_offered=0 if live is None else live.tools_offered,
        )


def _rounded(members: Mapping[str, MemberShare]) -> dict[str, MemberShare]:
    """Return the members' shares with times in milliseconds' precision."""
    return {
        name: replace(share, agent_seconds=round(share.agent_seconds, 3))
        for name, share in members.items()
    }


def _unmet(live: LiveTrial | None, task: Task, evaluators: Tools) -> tuple[Feedback, ...]:
    if live is None:
        return ()
    rows = explain(live.graph, task, evaluators, shows_checks=True)
    return tuple(replace(row, checks=tuple(map(hide_secrets, row.checks))) for row in rows)


def _weighted(task: Task, met: Collection[str]) -> float | None:
    weights = {node.id: node.weight for node in task.credit_nodes}
    if all(weight == 1 for weight in weights.values()):
        return None
    return sum(weights[name] for name in weights if name in met) / sum(weights.values())


def measure_result(result: TrialResult, context: RunContext) -> None:
    """Record the metrics of a result."""
    context.record("trial_seconds", result.seconds, suite=context.spec.suite)
    context.record("verdicts_total", suite=context.spec.suite, verdict=result.verdict)
    context.record("trials_ended_total", reason=result.reason)
    for name, share in result.members.items():
        labels = asdict(context.spec.members[name])
        usage = share.usage
        directions = {"prompt": usage.input_tokens, "completion": usage.output_tokens}
        for direction, tokens in directions.items():
            if tokens:
                context.record("tokens_total", tokens, direction=direction, **labels)
        if usage.usd:
            context.record("money_usd_total", usage.usd, **labels)


def _measure_evaluators(live: LiveTrial, context: RunContext) -> None:
    """Count the checks of each node whose evaluators were inconclusive."""
    if not live.graph.inconclusive:
        return
    records = GraphRecord.model_validate(live.graph.to_dict()).nodes
    for node in live.task.graph:
        record = records[node.id]
        # A missing cause means the evaluator.
        is_evaluators = record.cause in {None, Cause.EVALUATOR}
        if record.state is NodeState.INCONCLUSIVE and is_evaluators:
            for name in sorted({check.check for check in node.checks}):
                context.record("evaluator_errors_total", suite=context.spec.suite, evaluator=name)

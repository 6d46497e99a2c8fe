"""Judge a kept end state by the task of a corrected suite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from controller.actions.session import SessionState
from controller.episode.context import NoLog, RunContext
from controller.episode.end_state import machine_folders
from controller.episode.judging import judge
from controller.episode.live import LiveTrial
from controller.episode.result import Ending, Reason
from controller.regrade.credit import credited_nodes, restored_state, with_credit
from evaluators.graph.evaluator import GraphEvaluator
from evaluators.graph.feedback import explain
from evaluators.graph.outcome import Verdict
from evaluators.graph.state import GraphRecord
from evaluators.parameters.binding import bind_task
from foundation.errors import SpecError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from controller.episode.end_state import EndState
    from controller.episode.result import TrialResult
    from controller.store.runs import Attempt
    from evaluators.catalogue import Vocabulary
    from evaluators.graph.feedback import Feedback
    from evaluators.graph.outcome import WaveRunner
    from evaluators.model.task import Task
    from evaluators.rendering.keeping import OnRoleView
    from foundation.clock import Clock
    from provisioning.end_state import EndStateFleet
    from provisioning.lease import Environment, Fleet

_ENDED_BY_FORMER = (
    "The original graph ended the trial here; with the corrected one, the agent could continue."
)


@dataclass(frozen=True, slots=True)
class Grade:
    """The judgement of an end state.

    Attributes:
        verdict: the final verdict.
        ending: reason of the verdict.
        met: ids of the nodes with credit.
        credited: ids among `met` whose credit comes from the log.
        unmet: why the other nodes are not met.
    """

    verdict: Verdict
    ending: Ending
    met: tuple[str, ...]
    credited: tuple[str, ...]
    unmet: tuple[Feedback, ...]


@dataclass(frozen=True, slots=True)
class Grader:
    """Judges kept end states.

    Attributes:
        fleet: starts kept machines.
        vocabulary: evaluators of the corrected suite.
        clock: measures.
    """

    fleet: Fleet
    keeping: EndStateFleet
    vocabulary: Vocabulary
    clock: Clock

    def grade(self, attempt: Path, state: EndState, task: Task, logged: GraphRecord) -> Grade:
        """Start the kept machines of a trial, judge their state, and stop them.

        Args:
            attempt: folder of the attempt.
            state: what was kept in addition to the machines.
            task: task of the corrected suite, with bound parameters.
            logged: the last state of the graph in the log.

        Raises:
            UsageError: the corrected task uses other machines.
            MesocosmError: a machine cannot be started.
        """
        if dict(task.roles) != dict(state.task.roles):
            raise UsageError(
                f"The machines of {task.id} have changed, so the trial cannot be judged again.",
                resolution="Keep a task's roles unchanged when correcting its graph.",
            )
        with self.keeping.start_kept(machine_folders(attempt, state)) as lease:
            return self._judge(lease.environment, state, task, logged)

    def _judge(
        self, environment: Environment, state: EndState, task: Task, logged: GraphRecord
    ) -> Grade:
        credited = credited_nodes(task.graph, logged)
        live = self._live(environment, state, task, credited)
        live.graph = GraphEvaluator.from_dict(
            task.graph, live.runners, restored_state(task.graph, logged)
        )
        live.graph.hindered.update(state.hindered)
        ended = Ending(state.reason, state.detail)
        judgement = judge(ended, live)
        ending = judgement.ending
        if judgement.verdict is Verdict.FAIL and ending.reason is Reason.SUCCESS:
            ending = Ending(Reason.FALSE_COMPLETION, _ENDED_BY_FORMER)
        met = live.graph.met
        return Grade(
            judgement.verdict,
            ending,
            met,
            tuple(name for name in credited if name in met),
            explain(live.graph, task, self.vocabulary.evaluators, shows_checks=True),
        )

    def _live(
        self, environment: Environment, state: EndState, task: Task, credited: tuple[str, ...]
    ) -> LiveTrial:
        context = RunContext(self.fleet, vocabulary=self.vocabulary, clock=self.clock)
        make = context.make_runners

        def make_runners(
            environment: Environment,
            session: SessionState,
            vocabulary: Vocabulary,
            on_view: OnRoleView | None,
        ) -> Mapping[str, WaveRunner]:
            return with_credit(make(environment, session, vocabulary, on_view), credited)

        session = SessionState(self.clock, state.answer, state.completed, state.infeasible)
        context = replace(context, make_runners=make_runners)
        return LiveTrial(task, environment, context, NoLog(), self.clock, session=session)


def bind_again(task: Task, seed: int, former: TrialResult) -> Task:
    """Bind the parameters of a corrected task to the values of the trial.

    Raises:
        UsageError: the corrected task draws other values, or is invalid with them.
    """
    try:
        bound = bind_task(task, seed)
    except (SpecError, TypeError, ValueError) as exc:
        raise UsageError(
            f"The parameters of {task.id} cannot be bound.",
            str(exc),
            "Keep a task's parameters unchanged when correcting its graph.",
        ) from exc
    if dict(bound.values) != former.parameters:
        raise UsageError(
            f"The parameter values of {task.id} differ from those its machines were prepared with.",
            details=f"Original {former.parameters}, now {dict(bound.values)}.",
            resolution="Keep a task's parameters unchanged when correcting its graph.",
        )
    return bound.task


def logged_graph(attempt: Attempt) -> GraphRecord:
    """Return the last state of the graph in an attempt's log.

    Raises:
        StoreError: the log contains none, or it is damaged.
    """
    states = [event["graph"] for event in attempt.events if isinstance(event.get("graph"), dict)]
    if not states:
        raise StoreError(f"{attempt.path} contains no graph state.")
    try:
        return GraphRecord.model_validate(states[-1])
    except ValidationError as exc:
        raise StoreError(f"{attempt.path} contains an invalid graph state.", str(exc)) from exc

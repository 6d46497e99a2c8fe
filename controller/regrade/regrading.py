"""Judge the kept trials of a run again, in sequence, and keep both verdicts."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.episode.end_state import read_end_state
from controller.planning import code_version, specify_task
from controller.regrade.grading import Grader, bind_again, logged_graph
from controller.specification.run import SuiteSpec, TaskSpec
from controller.store.regrade_record import Regrade, keep_regrade
from evaluators.source_digest import SourceDigester
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, UnsupportedError, UsageError
from provisioning.end_state import EndStateFleet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.episode.end_state import EndState
    from controller.episode.result import TrialResult
    from controller.regrade.grading import Grade
    from controller.store.runs import Attempt, RunFolder
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.clock import Clock
    from provisioning.lease import Fleet

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Regraded:
    """The result of judging a trial again.

    Attributes:
        task: id of the task.
        repeat: number of the repetition, from 0.
        regrade: the record; None if the trial was not judged.
        why: why it was not judged.
        is_failure: whether an error occurred; otherwise there was nothing to judge.
    """

    task: str
    repeat: int
    regrade: Regrade | None = None
    why: str = ""
    is_failure: bool = False


class Regrading:
    """Judges the trials of one run by a corrected version of their suite.

    Args:
        folder: the run's folder.
        suite: the corrected suite.
        fleet: starts kept machines.
        clock: provides the records' timestamps.

    Raises:
        UnsupportedError: the fleet cannot start kept machines.
    """

    def __init__(
        self, folder: RunFolder, suite: Suite, fleet: Fleet, *, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        if not isinstance(fleet, EndStateFleet):
            raise UnsupportedError("These machines cannot be started from an end state.")
        self._folder = folder
        self._suite = suite
        self._clock = clock
        self._grader = Grader(fleet, fleet, suite.vocabulary, clock)
        self._digester = SourceDigester()

    def run(
        self,
        tasks: Sequence[str] = (),
        *,
        on_trial: Callable[[Regraded], None] = lambda _: None,
    ) -> list[Regraded]:
        """Judge the kept trials in the planned order; results of the others explain the reason.

        Args:
            tasks: task ids; all by default.
            on_trial: called after each trial.

        Raises:
            UsageError: no end state of these tasks is kept.
            StoreError: the run is in use, or a record cannot be written.
        """
        trials = [trial for trial in self._folder.spec.planned if not tasks or trial[0] in tasks]
        self._require_kept(trials)
        rows = []
        with self._folder.working():
            for task, repeat in trials:
                rows.append(self._regrade(task, repeat))
                on_trial(rows[-1])
        return rows

    def _require_kept(self, trials: Sequence[tuple[str, int]]) -> None:
        for trial in trials:
            attempts = self._folder.attempts(*trial)
            if attempts and read_end_state(attempts[-1].folder) is not None:
                return
        raise UsageError(
            f"No end state of {self._folder.spec.run} is kept.",
            resolution="Start a run with --keep-end-state failed or --keep-end-state all.",
        )

    def _regrade(self, task: str, repeat: int) -> Regraded:
        attempts = self._folder.attempts(task, repeat)
        result = attempts[-1].result if attempts else None
        if result is None:
            return Regraded(task, repeat, why="it has not ended")
        attempt = attempts[-1]
        try:
            state = read_end_state(attempt.folder)
            if state is None:
                return Regraded(task, repeat, why=why_not_kept(attempt))
            return Regraded(task, repeat, self._judge(attempt, result, state))
        except MesocosmError as exc:
            _LOG.info("cannot judge %s.%d again", task, repeat, exc_info=exc)
            return Regraded(task, repeat, why=str(exc), is_failure=True)

    def _judge(self, attempt: Attempt, former: TrialResult, state: EndState) -> Regrade:
        start_s = self._clock.monotonic_s()
        task = self._suite.task(former.task)
        bound = bind_again(task, state.seed, former)
        grade = self._grader.grade(attempt.folder, state, bound, logged_graph(attempt))
        seconds = round(self._clock.monotonic_s() - start_s, 3)
        record = self._record(task, attempt, former, grade).model_copy(update={"seconds": seconds})
        return keep_regrade(attempt.folder, record)

    def _record(self, task: Task, attempt: Attempt, former: TrialResult, grade: Grade) -> Regrade:
        suite = self._suite
        now = specify_task(task, suite.vocabulary, self._digester)
        specs = [spec for spec in self._folder.spec.tasks if spec.id == task.id]
        then = specs[0] if specs else TaskSpec(id=task.id)
        return Regrade(
            attempt=attempt.number,
            at_s=self._clock.now_s(),
            code=code_version(),
            suite=SuiteSpec(name=suite.name, version=suite.version, digest=suite.digest),
            task=now,
            differences=then.differences(now),
            former=(former.verdict, former.reason),
            verdict=grade.verdict,
            reason=grade.ending.reason,
            detail=grade.ending.detail,
            nodes_met=len(grade.met),
            nodes=len(task.credit_nodes),
            credited=grade.credited,
            unmet=grade.unmet,
            seconds=0.0,
        )


def why_not_kept(attempt: Attempt) -> str:
    """Return why an attempt has no end state, according to its log."""
    for event in attempt.events:
        if event["type"] == "end_state":
            return str(event["why"] or "its end state was removed")
    return "its end state was not kept"

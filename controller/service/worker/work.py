"""Execution of one queued run: open or create its folder, run remaining trials, count verdicts."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from controller.agents.registry import make_run_driver
from controller.episode.result import Reason
from controller.executor_choice import choice_of, is_elsewhere, make_executor
from controller.executors.local import LocalExecutor, LocalTrials
from controller.image_requirements import require_shipped_images, require_suite_images
from controller.planning import needs_of, suite_for, tasks_of, views_documents
from controller.preflight import require_ready
from controller.requests import model_choice, open_tasks, require_present, specify_request
from controller.scheduling.events import BudgetSpent, TrialEnded
from controller.scheduling.execution import execute_run
from controller.service.state.queued_run import Counts, State
from controller.store.runs import Store
from controller.store.spending import change_budget
from controller.wiring import open_fleet, open_trials
from evaluators.graph.outcome import Verdict
from evaluators.rendering.image import require_renderer
from foundation.cancel import CancelToken
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from controller.episode.result import TrialResult
    from controller.scheduling.events import TrialEvent
    from controller.scheduling.executor import Executor
    from controller.service.state.queued_run import QueuedRun
    from controller.specification.run import RunSpec
    from controller.store.runs import RunFolder
    from evaluators.loading.suite import Suite
    from foundation.clock import Clock
    from foundation.settings import Settings
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)


Preflight = Callable[[set["ResourceSpec"]], None]
"""Raises a `MesocosmError` if what tasks need is not available."""

MakeExecutor = Callable[[LocalTrials, int], "Executor"]
"""Creates an executor for a run's trials and the number of concurrent ones."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended.

    Attributes:
        state: state of the queued run.
        error: reason, if the run is not complete.
    """

    state: State
    error: MesocosmError | None = None


class Work:
    """The execution of one queued run.

    Args:
        queued: the run.
        settings: locate runs and machines.
        clock: timestamps a new run.
        note: called with the run's counts whenever a trial ends.
        preflight: checks that the kinds of machines are available.
        executor: creates the executor of a run that is not isolated.

    Attributes:
        queued: the run.
        cancel: cancels its running trials.
        drain: when set, running trials finish and no others start.
    """

    def __init__(
        self,
        queued: QueuedRun,
        settings: Settings,
        clock: Clock,
        *,
        note: Callable[[Counts], None],
        preflight: Preflight,
        executor: MakeExecutor = LocalExecutor,
    ) -> None:
        self.queued = queued
        self.cancel = CancelToken()
        self.drain = threading.Event()
        self._settings = settings
        self._clock = clock
        self._note = note
        self._preflight = preflight
        self._executor = executor
        self._verdicts: dict[tuple[str, int], Verdict] = {}
        self._numbers: Counter[Verdict] = Counter()
        self._planned = 0
        self._outcome: RunOutcome | None = None

    def run(self) -> RunOutcome | None:
        """Run all remaining trials; return how the run ended, or None if trials remain.

        Raises:
            MesocosmError: the run cannot be created or continued, or a log cannot be written.
            KeyboardInterrupt: the process is interrupted.
        """
        request, store = self.queued.request, Store(self._settings.runs_dir)
        if self._settings.place == "container":
            require_present(request, self._settings)
        existing = store.open(self.queued.run) if store.has(self.queued.run) else None
        spec, suite = self._specify(existing)
        driver = make_run_driver(spec, model_choice(request))
        self._check(spec, suite)
        folder = existing or store.create(spec, is_begun=True)
        change_budget(folder, request.budget)
        self._planned = len(folder.spec.planned)
        for result in folder.results():
            self._count(result)
        self._note(self._counts())
        log_line = lambda line: _log.info("%s: %s", self.queued.run, line)  # noqa: E731
        fleet = open_fleet(request.fleet, self._settings, log_line)
        trials = open_trials(spec, suite, driver, fleet, self._settings)
        execute_run(
            folder,
            self._make_executor(trials, folder),
            cancel=self.cancel,
            drain=self.drain,
            on_event=self._on_event,
        )
        return RunOutcome(State.FINISHED) if folder.is_complete() else self._outcome

    def _make_executor(self, trials: LocalTrials, folder: RunFolder) -> Executor:
        request = self.queued.request
        model = model_choice(request)
        is_far = is_elsewhere(request, self._settings)
        # A folder of this host is none of another one, which reads the suite by its name.
        choice = choice_of(request, self._settings, model, suite="" if is_far else request.suite)
        return make_executor(choice, trials, folder, self._settings, local=self._executor)

    def _specify(self, existing: RunFolder | None) -> tuple[RunSpec, Suite]:
        """Return the specification of the run, and its suite; both unchanged if it has begun.

        Raises:
            MesocosmError: the run cannot begin, or continue as it was specified.
        """
        request = self.queued.request
        if existing is None:
            return specify_request(request, self._settings, clock=self._clock, run=self.queued.run)
        suite, _ = open_tasks(request)
        return existing.spec, suite_for(existing.spec, suite)

    def _check(self, spec: RunSpec, suite: Suite) -> None:
        """Check before the start that the run can proceed.

        Raises:
            MesocosmError: the run cannot proceed.
        """
        request = self.queued.request
        is_here = request.fleet == "real" and not is_elsewhere(request, self._settings)
        machines = partial(self._check_machines, spec, suite) if is_here else None
        if request.preflight:
            require_ready(spec, model_choice(request), self._settings, machines)
        elif machines is not None:
            machines()

    def _check_machines(self, spec: RunSpec, suite: Suite) -> None:
        needs = needs_of(spec, suite)
        require_shipped_images(suite, needs, self._settings)
        self._preflight(needs)
        require_suite_images(suite, needs, self._settings)
        if views_documents(tasks_of(spec, suite), suite.vocabulary):
            require_renderer(self._settings)

    def _on_event(self, event: TrialEvent) -> None:
        if isinstance(event, BudgetSpent):
            self._outcome = RunOutcome(State.BUDGET_SPENT, _spent(event))
        if isinstance(event, TrialEnded):
            self._count(event.result)
            self._note(self._counts())

    def _count(self, result: TrialResult) -> None:
        """Count a trial by its last verdict, in constant time."""
        trial = (result.task, result.repeat)
        if (earlier := self._verdicts.pop(trial, None)) is not None:
            self._numbers[earlier] -= 1
        if result.reason is not Reason.CANCELLED:
            self._verdicts[trial] = result.verdict
            self._numbers[result.verdict] += 1

    def _counts(self) -> Counts:
        numbers = self._numbers
        return Counts(
            self._planned,
            numbers[Verdict.PASS],
            numbers[Verdict.FAIL],
            numbers[Verdict.INCONCLUSIVE],
        )


def _spent(event: BudgetSpent) -> MesocosmError:
    return MesocosmError(
        "The run's budget is spent.",
        details=f"{event.excess}; {event.left} trials were not started.",
        resolution=f"Increase it: mesocosm queue resume {event.run} --budget-tokens N",
    )

"""One queued run: open or make its folder, run what is left of it, keep count."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from appliance.base.cancel import CancelToken
from controller.agents.registry import make_driver
from controller.episode.result import Reason
from controller.executors.local import LocalExecutor
from controller.executors.protocol import Job, TrialEnded
from controller.planning import resume_plan, specify_run
from controller.service.requests import agent_options, make_plan
from controller.service.state.queued_run import Counts
from controller.store.runs import Store
from controller.wiring import make_context, open_fleet, open_suite
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from appliance.base.clock import Clock
    from appliance.base.settings import Settings
    from controller.episode.result import TrialResult
    from controller.episode.trial import Driver
    from controller.executors.protocol import TrialEvent
    from controller.planning import Plan
    from controller.service.state.queued_run import QueuedRun
    from controller.store.agent_spec import AgentSpec
    from controller.store.runs import RunFolder
    from evaluators.model.suite import Suite
    from provisioning.protocols import Kind

_log = logging.getLogger(__name__)


Preflight = Callable[[set["Kind"]], None]
"""Raises a `MesocosmError` where machines of some kinds could not be had."""


class Work:
    """The execution of one queued run.

    Args:
        queued: the run.
        settings: where runs and machines are.
        clock: stamps a new run.
        note: receives how far the run is, whenever a trial ended.
        preflight: refuses kinds of machines that could not be had now.

    Attributes:
        queued: the run.
        cancel: ends its running trials.
        drain: lets them finish and begins no others.
    """

    def __init__(
        self,
        queued: QueuedRun,
        settings: Settings,
        clock: Clock,
        *,
        note: Callable[[Counts], None],
        preflight: Preflight,
    ) -> None:
        self.queued = queued
        self.cancel = CancelToken()
        self.drain = threading.Event()
        self._settings = settings
        self._clock = clock
        self._note = note
        self._preflight = preflight
        self._verdicts: dict[tuple[str, int], Verdict] = {}
        self._planned = 0

    def run(self) -> bool:
        """Run all trials that are left; return whether the run is complete.

        Raises:
            MesocosmError: it cannot be made or continued, or a log cannot be written.
            KeyboardInterrupt: the process is interrupted.
        """
        suite = open_suite(self.queued.request.suite)
        if self.queued.request.fleet == "real":
            self._preflight(_kinds(suite, self.queued.request.tasks))
        plan, folder = self._open(suite)
        self._planned = len(folder.spec.planned)
        for result in folder.results():
            self._count(result)
        self._note(self._counts())
        say = lambda line: _log.info("%s: %s", self.queued.run, line)  # noqa: E731
        fleet = open_fleet(self.queued.request.fleet, self._settings, say)
        context = make_context(plan, fleet, baselines_dir=self._settings.baselines_dir)
        executor = LocalExecutor(self.queued.request.parallel)
        executor.run(
            Job(plan.suite, context, plan.driver),
            folder,
            cancel=self.cancel,
            drain=self.drain,
            on_event=self._on_event,
        )
        return folder.is_complete()

    def _open(self, suite: Suite) -> tuple[Plan, RunFolder]:
        """Return the run's plan and folder; a run that was begun before is continued."""
        store = Store(self._settings.runs_dir)
        request = self.queued.request
        if store.has(self.queued.run):
            folder = store.open(self.queued.run)
            return resume_plan(folder.spec, suite, self._make_driver), folder
        plan = make_plan(request, self._settings)
        spec = specify_run(plan, clock=self._clock, run=self.queued.run)
        return plan, store.create(spec, is_begun=True)

    def _make_driver(self, spec: AgentSpec) -> Driver:
        return make_driver(spec, agent_options(self.queued.request))

    def _on_event(self, event: TrialEvent) -> None:
        if isinstance(event, TrialEnded):
            self._count(event.result)
            self._note(self._counts())

    def _count(self, result: TrialResult) -> None:
        if result.reason is Reason.CANCELLED:
            self._verdicts.pop((result.task, result.repeat), None)
        else:
            self._verdicts[result.task, result.repeat] = result.verdict

    def _counts(self) -> Counts:
        verdicts = list(self._verdicts.values())
        return Counts(
            self._planned,
            verdicts.count(Verdict.PASS),
            verdicts.count(Verdict.FAIL),
            verdicts.count(Verdict.INCONCLUSIVE),
        )


def _kinds(suite: Suite, names: tuple[str, ...]) -> set[Kind]:
    """Return the kinds of machines that tasks need; all tasks by default."""
    tasks = [suite.task(name) for name in names] if names else suite.tasks
    return {kind for task in tasks for kind in task.roles.values()}

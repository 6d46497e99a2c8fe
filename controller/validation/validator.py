"""Run the trials that a validation needs, except those whose attempts are known."""

from __future__ import annotations

import contextlib
import logging
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from controller.episode.result import Reason
from controller.executors.local import LocalTrials
from controller.executors.placing import Part, place_each
from controller.planning import code_version, specify_run, specify_task
from controller.scheduling.events import TrialEnded, ignore_event
from controller.scheduling.scheduler import Scheduler
from controller.specification.agent import CustomSpec
from controller.specification.run import trial_seed
from controller.store.proofs import ProofStore, TaskProof, task_key
from controller.store.runs import PROOFS, Store
from controller.validation.evidence import ENOUGH, Attempt, Validation, attempt_from, in_order
from controller.validation.keys import attempt_key
from controller.validation.rounds import Round, plan_rounds
from controller.wiring import make_context
from evaluators.parameters.drawing import draw
from evaluators.source_digest import SourceDigester
from foundation.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from controller.episode.context import Record
    from controller.scheduling.events import TrialEvent
    from controller.specification.run import FleetName
    from controller.store.proofs import Level
    from evaluators.loading.suite import Suite
    from evaluators.model.task import Task
    from foundation.clock import Clock
    from provisioning.lease import Fleet

_log = logging.getLogger(__name__)

RETRIES = 1
"""Further attempts at a trial whose machine failed, which shows nothing about the task."""
_SEEDS = range(8)
"""Seeds for which the values of parameters are compared."""


def _ignore_attempt(attempt: Attempt) -> None:
    """Discard an attempt."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the rounds of a validation share while they run.

    Attributes:
        held: holds their runs.
        cancel: ends all of them.
        reporting: held by the only thread that reports an event.
    """

    held: contextlib.ExitStack
    cancel: CancelToken = field(default_factory=CancelToken)
    reporting: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Validator:
    """Runs the trials that a validation needs.

    Attributes:
        suite: the suite to validate.
        fleet: leases the machines.
        runs_dir: folder for the logs, one run for each round.
        clock: measures and waits.
        take: records metrics.
        on_event: receives events, except the ends of attempts.
        on_attempt: receives each attempt when it has ended, except cancelled ones.
        parallel: number of simultaneous trials.
        level: what is tried.
        images: recipes of the images of the tasks, by key of what they need; empty in memory.
        fleet_name: ``fake`` for machines in memory.
        reuse: whether attempts at what has not changed since are taken from earlier validations.
    """

    suite: Suite
    fleet: Fleet
    runs_dir: Path
    clock: Clock
    take: Record
    on_event: Callable[[TrialEvent], None] = ignore_event
    on_attempt: Callable[[Attempt], None] = _ignore_attempt
    parallel: int = 1
    level: Level = "full"
    images: Mapping[str, str] = field(default_factory=dict)
    fleet_name: FleetName = ""
    reuse: bool = False
    _keys: dict[str, str] = field(default_factory=dict)

    @property
    def proofs(self) -> ProofStore:
        """The proofs of this appliance."""
        return ProofStore(self.runs_dir.parent / PROOFS)

    def plan(self, tasks: tuple[str, ...] = (), *, repeats: int = 1) -> list[Round]:
        """Return the rounds that validate tasks, all by default.

        Args:
            tasks: ids.
            repeats: repetitions of each task's own reference solutions.

        Raises:
            UnknownNameError: the suite has no such task.
        """
        chosen = [self.suite.task(name) for name in tasks] or list(self.suite.tasks)
        return plan_rounds(self.suite, chosen, self.level, repeats=repeats)

    def known(self, rounds: Sequence[Round]) -> list[list[Attempt]]:
        """Return the attempts of earlier validations that need no repetition, by round."""
        if not self.reuse:
            return [[] for _ in rounds]
        return [
            [attempt for name in planned.names for attempt in self._kept(planned, name)]
            for planned in rounds
        ]

    def run(self, rounds: Sequence[Round]) -> list[Validation]:
        """Run the rounds of `plan`, and keep what they show.

        Raises:
            KeyboardInterrupt: Ctrl-C; the logs contain the trials so far, and they are kept.
            StoreError: an attempt cannot be kept.
        """
        tried = self.known(rounds)
        with contextlib.ExitStack() as held:
            shared = _Shared(held)
            place_each(self._parts(rounds, tried, shared), self.parallel, shared.cancel)
        rows = self.partial_validations([attempt for ended in tried for attempt in ended])
        for row in rows:
            self._conclude(row, rounds)
        return rows

    def partial_validations(self, attempts: Sequence[Attempt]) -> list[Validation]:
        """Return the validations that attempts show, even if the validation was interrupted."""
        by_task: dict[str, list[Attempt]] = {}
        for attempt in attempts:
            by_task.setdefault(attempt.result.task, []).append(attempt)
        is_full = self.level == "full"
        return [
            Validation(
                task.id,
                in_order(by_task[task.id]),
                _predecessors(task),
                needed=ENOUGH if is_full else 0,
                constant=_constant(task) if is_full else (),
            )
            for task in self.suite.tasks
            if task.id in by_task
        ]

    def key_of(self, task: Task) -> str:
        """Return the key of a task's proof."""
        if task.id not in self._keys:
            spec = specify_task(task, self.suite.vocabulary, SourceDigester())
            self._keys[task.id] = task_key(spec, self.fleet_name)
        return self._keys[task.id]

    def _parts(
        self, rounds: Sequence[Round], tried: list[list[Attempt]], shared: _Shared
    ) -> Iterator[Part]:
        """Yield the parts to run, without further attempts at tasks that proved to be wrong."""
        for planned, ended in zip(rounds, tried, strict=True):
            so_far = self.partial_validations(
                [attempt for attempts in tried for attempt in attempts]
            )
            done = {row.task for row in so_far if row.is_wrong}
            done |= {attempt.result.task for attempt in ended}
            names = {task: name for task, name in planned.names.items() if task not in done}
            if names:
                yield self._part(replace(planned, names=names), ended, shared)

    def _part(self, work: Round, ended: list[Attempt], shared: _Shared) -> Part:
        """Return the part of a round to execute; its attempts are appended to `ended`."""
        altered = replace(self.suite, tasks=tuple(map(work.altered, self.suite.tasks)))
        # Trials of an agent called noop are recorded as the baseline of changes without any action.
        spec = specify_run(
            altered,
            CustomSpec(name=work.kind.value.replace(" ", "-")),
            tasks=tuple(work.names),
            repeats=work.repeats,
            retries=RETRIES,
            seed=work.seed,
            fleet=self.fleet_name,
            clock=self.clock,
        )
        folder = Store(self.runs_dir).create(spec)
        context = make_context(
            spec,
            altered,
            self.fleet,
            clock=self.clock,
            take=self.take,
            baselines_dir=self.runs_dir.parent / "baselines",
        )
        mine: list[Attempt] = []

        def watch(event: TrialEvent) -> None:
            if not isinstance(event, TrialEnded) or event.result.reason is Reason.CANCELLED:
                self.on_event(event)
                return
            attempt = _attempt(work, folder.spec.run, event)
            ended.append(attempt)
            mine.append(attempt)
            self._keep(work, [row for row in mine if row.result.task == event.result.task])
            self.on_attempt(attempt)

        def watch_in_turn(event: TrialEvent) -> None:
            with shared.reporting:
                watch(event)

        shared.held.enter_context(folder.working())
        scheduler = Scheduler(folder, cancel=shared.cancel, on_event=watch_in_turn)
        return Part(scheduler, LocalTrials(altered, context, work.driver).run_job)

    def _key(self, work: Round, task: Task) -> tuple[str, str]:
        return self.key_of(task), attempt_key(work, task, self.suite, self.images)

    def _keep(self, work: Round, attempts: Sequence[Attempt]) -> None:
        """Keep the attempts of a round at one task, once all are there."""
        if len(attempts) < work.repeats or not all(row.is_conclusive for row in attempts):
            return
        task = self.suite.task(attempts[0].result.task)
        self.proofs.keep(*self._key(work, task), [row.to_record() for row in attempts])

    def _kept(self, work: Round, name: str) -> list[Attempt]:
        rows = self.proofs.attempts(*self._key(work, self.suite.task(name)))
        try:
            return [attempt_from(row) for row in rows or ()]
        except (KeyError, TypeError, ValueError) as exc:
            _log.warning("trying %s again, as its attempts cannot be read: %s", name, exc)
            return []

    def _conclude(self, row: Validation, rounds: Sequence[Round]) -> None:
        """Keep what a validation shows about a task, unless an attempt is missing."""
        planned = sum(work.repeats for work in rounds if row.task in work.names)
        is_whole = planned == len(row.attempts) and all(a.is_conclusive for a in row.attempts)
        if not is_whole and not row.faults:
            return
        task = self.suite.task(row.task)
        needs = {spec.key for spec in task.roles.values()}
        proof = TaskProof(
            task=row.task,
            level=self.level,
            faults=row.faults,
            notes=row.notes,
            attempts=len(row.attempts),
            solution_s=row.solution_s,
            images={key: digest for key, digest in self.images.items() if key in needs},
            proved_s=self.clock.now_s(),
            code=str(code_version()),
        )
        key = self.key_of(task)
        former = self.proofs.proof(key)
        # Solutions and no action alone do not undo what was shown with everything.
        if former and not row.faults and _says_more(former, proof):
            return
        self.proofs.conclude(key, proof)


def _attempt(work: Round, run: str, event: TrialEnded) -> Attempt:
    name = event.result.task
    credit = (work.credits or {}).get(name, [])
    return Attempt(
        work.kind,
        work.names[name],
        run,
        event.result,
        tuple(sorted(work.early.get(name, ()))),
        tuple(credit),
    )


def _says_more(former: TaskProof, proof: TaskProof) -> bool:
    is_more = (former.level, proof.level) == ("full", "quick")
    return is_more and former.images == proof.images


def _predecessors(task: Task) -> dict[str, tuple[str, ...]]:
    return {node.id: tuple(node.after) for node in task.graph if node.after}


def _constant(task: Task) -> tuple[str, ...]:
    """Return the parameters of a task that have one value for all seeds."""
    if not task.parameters:
        return ()
    drawn = [draw(task.parameters, trial_seed(seed, task.id, 0)) for seed in _SEEDS]
    return tuple(
        name for name in task.parameters if all(row[name] == drawn[0][name] for row in drawn)
    )

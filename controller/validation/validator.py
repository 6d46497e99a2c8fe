"""Run the trials that a validation needs."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.agents.random_agent import RandomAgent
from controller.episode.result import Reason
from controller.executors.local import LocalTrials
from controller.executors.placing import Part, place_each
from controller.planning import specify_run
from controller.scheduling.events import TrialEnded, ignore_event
from controller.scheduling.scheduler import Scheduler
from controller.specification.agent import CustomSpec
from controller.store.runs import Store
from controller.validation.cheats import (
    CHEATS,
    CheatDriver,
    GiveUpDriver,
    GuessDriver,
    TouchDriver,
    asks_for_answer,
)
from controller.validation.evidence import Attempt, Kind, Validation
from controller.validation.order import OrderDriver
from controller.wiring import make_context
from evaluators.parameters.binding import bind_task
from foundation.cancel import CancelToken
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from controller.episode.context import Record
    from controller.episode.trial import Driver
    from controller.scheduling.events import TrialEvent
    from evaluators.loading.suite import Suite
    from evaluators.model.oracle import OracleStep
    from evaluators.model.task import Cheat, Task
    from foundation.clock import Clock
    from provisioning.lease import Fleet

FOREIGN = 3
"""Number of other tasks' reference solutions that each task must fail with."""

RETRIES = 1
"""Further attempts at a trial whose machine failed, which shows nothing about the task."""

_PATIENCE_S = 3.0


@dataclass(frozen=True, slots=True)
class Round:
    """One run of a validation: the same kind of attempt at several tasks.

    Attributes:
        kind: kind of the attempts.
        driver: carries out the attempts.
        names: names of the attempts by task; tasks not in it are not tried.
        repeats: attempts per task.
        early: nodes that a reference solution met before their turn, by task; the driver adds them.
    """

    kind: Kind
    driver: Driver
    names: dict[str, str] = field(default_factory=dict)
    repeats: int = 1
    early: Mapping[str, set[str]] = field(default_factory=dict)

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.names) * self.repeats


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
    """

    suite: Suite
    fleet: Fleet
    runs_dir: Path
    clock: Clock
    take: Record
    on_event: Callable[[TrialEvent], None] = ignore_event
    on_attempt: Callable[[Attempt], None] = _ignore_attempt
    parallel: int = 1

    def plan(self, tasks: tuple[str, ...] = (), *, repeats: int = 1) -> list[Round]:
        """Return the rounds that validate tasks, all by default.

        Args:
            tasks: ids.
            repeats: repetitions of each task's own reference solutions.

        Raises:
            UnknownNameError: the suite has no such task.
        """
        chosen = [self.suite.task(name) for name in tasks] or list(self.suite.tasks)
        rounds = [
            *_played(Kind.ORACLE, chosen, _solutions, repeats),
            Round(Kind.NOOP, AgentDriver(NoopAgent), _all(chosen)),
            *_played(Kind.MUST_FAIL, chosen, _attempts_that_fail),
            *self._foreign(chosen),
            *_cheats(chosen),
            Round(Kind.RANDOM, AgentDriver(RandomAgent), _all(chosen)),
            Round(Kind.TOUCH, TouchDriver(), _all(chosen)),
        ]
        return [planned for planned in rounds if planned.names]

    def run(self, rounds: Sequence[Round]) -> list[Validation]:
        """Run the rounds of `plan`.

        Raises:
            KeyboardInterrupt: Ctrl-C; the logs contain the trials so far.
        """
        tried: list[list[Attempt]] = [[] for _ in rounds]
        with contextlib.ExitStack() as held:
            shared = _Shared(held)
            place_each(self._parts(rounds, tried, shared), self.parallel, shared.cancel)
        return self.partial_validations([attempt for ended in tried for attempt in ended])

    def _parts(
        self, rounds: Sequence[Round], tried: list[list[Attempt]], shared: _Shared
    ) -> Iterator[Part]:
        """Yield the parts to run, without further attempts at tasks that proved to be wrong."""
        for planned, ended in zip(rounds, tried, strict=True):
            so_far = self.partial_validations(
                [attempt for attempts in tried for attempt in attempts]
            )
            wrong = {row.task for row in so_far if row.is_wrong}
            names = {task: name for task, name in planned.names.items() if task not in wrong}
            if names:
                yield self._part(replace(planned, names=names), ended, shared)

    def partial_validations(self, attempts: Sequence[Attempt]) -> list[Validation]:
        """Return the validations that attempts show, even if the validation was interrupted."""
        by_task: dict[str, list[Attempt]] = {}
        for attempt in attempts:
            by_task.setdefault(attempt.result.task, []).append(attempt)
        return [
            Validation(task.id, tuple(by_task[task.id]), _predecessors(task))
            for task in self.suite.tasks
            if task.id in by_task
        ]

    def _foreign(self, tasks: Sequence[Task]) -> Iterator[Round]:
        for offset in range(1, min(FOREIGN, len(self.suite.tasks) - 1) + 1):
            others = {task.id: self._neighbour(task, offset) for task in tasks}
            names = {task: other.id for task, other in others.items()}
            yield Round(Kind.FOREIGN, OracleDriver(_steps_with_short_waits(others)), names)

    def _neighbour(self, task: Task, offset: int) -> Task:
        tasks = self.suite.tasks
        number = next(number for number, candidate in enumerate(tasks) if candidate.id == task.id)
        return tasks[(number + offset) % len(tasks)]

    def _part(self, work: Round, ended: list[Attempt], shared: _Shared) -> Part:
        """Return the part of a round to execute; its attempts are appended to `ended`."""
        # Trials of an agent called noop are recorded as the baseline of changes without any action.
        spec = specify_run(
            self.suite,
            CustomSpec(name=work.kind.value.replace(" ", "-")),
            tasks=tuple(work.names),
            repeats=work.repeats,
            retries=RETRIES,
            clock=self.clock,
        )
        folder = Store(self.runs_dir).create(spec)
        context = make_context(
            spec,
            self.suite,
            self.fleet,
            clock=self.clock,
            take=self.take,
            baselines_dir=self.runs_dir.parent / "baselines",
        )

        def watch(event: TrialEvent) -> None:
            if not isinstance(event, TrialEnded) or event.result.reason is Reason.CANCELLED:
                self.on_event(event)
                return
            name = work.names[event.result.task]
            early = tuple(sorted(work.early.get(event.result.task, ())))
            attempt = Attempt(work.kind, name, folder.spec.run, event.result, early)
            ended.append(attempt)
            self.on_attempt(attempt)

        def watch_in_turn(event: TrialEvent) -> None:
            with shared.reporting:
                watch(event)

        shared.held.enter_context(folder.working())
        scheduler = Scheduler(folder, cancel=shared.cancel, on_event=watch_in_turn)
        return Part(scheduler, LocalTrials(self.suite, context, work.driver).run_job)


def _predecessors(task: Task) -> dict[str, tuple[str, ...]]:
    return {node.id: tuple(node.after) for node in task.graph if node.after}


def _all(tasks: Sequence[Task]) -> dict[str, str]:
    return {task.id: "" for task in tasks}


def _solutions(task: Task) -> dict[str, tuple[OracleStep, ...]]:
    return task.solutions


def _attempts_that_fail(task: Task) -> dict[str, tuple[OracleStep, ...]]:
    return task.must_fail


def _played(
    kind: Kind,
    tasks: Sequence[Task],
    solutions_of: Callable[[Task], dict[str, tuple[OracleStep, ...]]],
    repeats: int = 1,
) -> Iterator[Round]:
    """Yield a round for the first solution of each task, one for the second, and so on."""
    most = max((len(solutions_of(task)) for task in tasks), default=0)
    for number in range(most):

        def steps_of(task: Task, seed: int, number: int = number) -> Sequence[OracleStep]:
            del seed
            return list(solutions_of(task).values())[number]

        names = {
            task.id: list(solutions_of(task))[number]
            for task in tasks
            if number < len(solutions_of(task))
        }
        early: dict[str, set[str]] = {}
        is_oracle = kind is Kind.ORACLE
        driver = OrderDriver(steps_of, early) if is_oracle else OracleDriver(steps_of)
        yield Round(kind, driver, names, repeats, early)


def _cheats(tasks: Sequence[Task]) -> Iterator[Round]:
    """Yield a round for each cheat, with the tasks that it could pass and that do not allow it."""
    for name, commands in CHEATS.items():
        concerned = [task for task in tasks if _has_desktop(task) and commands(task)]
        yield _cheat(name, CheatDriver(commands), concerned)
    yield _cheat("guess-answers", GuessDriver(), [task for task in tasks if asks_for_answer(task)])
    yield _cheat("give-up", GiveUpDriver(), [task for task in tasks if not task.infeasible])


def _cheat(name: Cheat, driver: Driver, tasks: Sequence[Task]) -> Round:
    names = {task.id: name for task in tasks if name not in task.legitimate}
    return Round(Kind.CHEAT, driver, dict(names))


def _has_desktop(task: Task) -> bool:
    return DESKTOP in task.kinds.values()


def _steps_with_short_waits(others: dict[str, Task]) -> Callable[[Task, int], Sequence[OracleStep]]:
    """Return a function that returns another task's solution, with shortened waits.

    What a foreign solution waits for rarely occurs.
    """

    def steps_of(task: Task, seed: int) -> Sequence[OracleStep]:
        other = bind_task(others[task.id], seed).task
        return [
            step.model_copy(update={"seconds": min(step.seconds, _PATIENCE_S)})
            for step in next(iter(other.solutions.values()))
        ]

    return steps_of

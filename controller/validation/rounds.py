"""Plan the rounds of a validation: one kind of attempt at several tasks each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from controller.agents.driver import AgentDriver
from controller.agents.noop import NoopAgent
from controller.agents.oracle import OracleDriver
from controller.agents.random_agent import RandomAgent
from controller.validation.cheats import (
    CHEATS,
    CheatDriver,
    GiveUpDriver,
    GuessDriver,
    TouchDriver,
    asks_for_answer,
)
from controller.validation.evidence import Kind
from controller.validation.order import OrderDriver
from evaluators.parameters.binding import bind_task
from provisioning.resource import DESKTOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from controller.episode.trial import Driver
    from controller.store.proofs import Level
    from evaluators.loading.suite import Suite
    from evaluators.model.oracle import OracleStep
    from evaluators.model.task import Cheat, Task

    StepsBySolution = Callable[[Task], dict[str, tuple[OracleStep, ...]]]

FOREIGN = 3
"""Number of other tasks' reference solutions that each task must fail with."""
OTHER_SEED = 1
"""The seed of the attempts with other values."""

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
        credits: credit after each step of a reference solution, by task; the driver adds it.
        plays: what it plays: a solution of the task, one that must fail, that of another task, a cheat,
            or nothing that the suite has.
        seed: seed of the run.
    """

    kind: Kind
    driver: Driver
    names: dict[str, str] = field(default_factory=dict)
    repeats: int = 1
    early: Mapping[str, set[str]] = field(default_factory=dict)
    credits: Mapping[str, list[int]] | None = None
    plays: Literal["solution", "must fail", "other", "cheat", ""] = ""
    seed: int = 0

    @property
    def trials(self) -> int:
        """Number of trials."""
        return len(self.names) * self.repeats

    @property
    def has_credits(self) -> bool:
        """Whether credit after each step is asked for."""
        return self.credits is not None

    def altered(self, task: Task) -> Task:
        """Return a task as the round runs it."""
        if self.kind is not Kind.SETUP_TWICE:
            return task
        return task.model_copy(update={"setup": (*task.setup, *task.setup)})


def plan_rounds(
    suite: Suite, tasks: Sequence[Task], level: Level, *, repeats: int = 1
) -> list[Round]:
    """Return the rounds that validate tasks, those first that later ones build on.

    Args:
        suite: their suite.
        tasks: the tasks.
        level: what is tried.
        repeats: repetitions of each task's own reference solutions.
    """
    is_full = level == "full"
    # Changes without any action must be known before those of a solution are compared with them.
    rounds = [
        Round(Kind.NOOP, AgentDriver(NoopAgent), _all(tasks)),
        *_solutions(tasks, repeats, with_credit=is_full),
    ]
    if is_full:
        rounds += [
            *_again(tasks),
            *_failing(tasks),
            *_foreign(suite, tasks),
            *_cheats(tasks),
            Round(Kind.RANDOM, AgentDriver(RandomAgent), _all(tasks)),
            Round(Kind.TOUCH, TouchDriver(), _all(tasks)),
        ]
    return [planned for planned in rounds if planned.names]


def _all(tasks: Sequence[Task]) -> dict[str, str]:
    return {task.id: "" for task in tasks}


def _solutions(tasks: Sequence[Task], repeats: int, *, with_credit: bool) -> Iterator[Round]:
    """Yield a round for the first solution of each task, one for the second, and so on."""
    for steps_of, names in _numbered(tasks, lambda task: task.solutions):
        early: dict[str, set[str]] = {}
        credit: dict[str, list[int]] | None = {} if with_credit else None
        driver = OrderDriver(steps_of, early, credit)
        yield Round(Kind.ORACLE, driver, names, repeats, early, credit, "solution")


def _again(tasks: Sequence[Task]) -> Iterator[Round]:
    """Yield rounds of each task's first solution, in another exam: other values, or the setup twice."""

    def first(task: Task, seed: int) -> Sequence[OracleStep]:
        del seed
        return next(iter(task.solutions.values()))

    names = {task.id: next(iter(task.solutions)) for task in tasks}
    random = {task.id: names[task.id] for task in tasks if task.parameters}
    prepared = {task.id: names[task.id] for task in tasks if task.setup}
    driver = OracleDriver(first)
    yield Round(Kind.SEED, driver, random, plays="solution", seed=OTHER_SEED)
    yield Round(Kind.SETUP_TWICE, driver, prepared, plays="solution")


def _failing(tasks: Sequence[Task]) -> Iterator[Round]:
    for steps_of, names in _numbered(tasks, lambda task: task.must_fail):
        yield Round(Kind.MUST_FAIL, OracleDriver(steps_of), names, plays="must fail")


def _numbered(
    tasks: Sequence[Task], solutions_of: StepsBySolution
) -> Iterator[tuple[Callable[[Task, int], Sequence[OracleStep]], dict[str, str]]]:
    """Yield what plays the first solution of each task that has one, the second, and so on."""
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
        yield steps_of, names


def _foreign(suite: Suite, tasks: Sequence[Task]) -> Iterator[Round]:
    known = suite.tasks
    places = {task.id: number for number, task in enumerate(known)}
    for offset in range(1, min(FOREIGN, len(known) - 1) + 1):
        others = {task.id: known[(places[task.id] + offset) % len(known)] for task in tasks}
        names = {task: other.id for task, other in others.items()}
        driver = OracleDriver(_steps_with_short_waits(others))
        yield Round(Kind.FOREIGN, driver, names, plays="other")


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


def _cheats(tasks: Sequence[Task]) -> Iterator[Round]:
    """Yield a round for each cheat, with the tasks that it could pass and that do not allow it."""
    for name, commands in CHEATS.items():
        concerned = [task for task in tasks if DESKTOP in task.kinds.values() and commands(task)]
        yield _cheat(name, CheatDriver(commands), concerned)
    yield _cheat("guess-answers", GuessDriver(), [task for task in tasks if asks_for_answer(task)])
    yield _cheat("give-up", GiveUpDriver(), [task for task in tasks if not task.infeasible])


def _cheat(name: Cheat, driver: Driver, tasks: Sequence[Task]) -> Round:
    names: dict[str, str] = {task.id: name for task in tasks if name not in task.legitimate}
    return Round(Kind.CHEAT, driver, names, plays="cheat")

"""Track the cost of a run's attempts, and whether its budget allows another one."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from controller.models.usage import NO_USAGE
from controller.specification.run import BudgetSpec
from controller.store.lost_attempt import logged_usages
from foundation.errors import StoreError
from foundation.files import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

    from controller.episode.result import TrialResult
    from controller.specification.run import RunSpec
    from controller.store.runs import Attempt, RunFolder
    from provisioning.protocols import Json

BUDGET_SPENT = "budget_spent"
"""State of a run that stopped before its last trial because its budget was spent."""

_RAISED = "budget.json"


@dataclass(frozen=True, slots=True)
class Spending:
    """Total cost of attempts, including those that failed or were lost.

    Attributes:
        tokens: tokens of models, in both directions.
        usd: their price, US dollars.
        seconds: total wall time of the attempts, including lease and setup.
    """

    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.tokens + other.tokens, self.usd + other.usd, self.seconds + other.seconds
        )

    @classmethod
    def of(cls, result: TrialResult) -> Spending:
        """Return the cost of an attempt that ended."""
        return cls(result.usage.total, result.usage.usd, result.seconds)

    def to_dict(self) -> dict[str, Json]:
        """Return the cost as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunBudget:
    """The budget of a run, and its cost before it is started or resumed.

    Attributes:
        limits: limits for all attempts together.
        spent: cost of the attempts so far.
    """

    limits: BudgetSpec = field(default_factory=BudgetSpec)
    spent: Spending = field(default_factory=Spending)

    def excess(self, more: Spending | None = None) -> str:
        """Return a human-readable list of exhausted limits; empty if none is.

        Args:
            more: cost in addition to `spent`.
        """
        spent = self.spent + (more or Spending())
        rows = (
            ("tokens", spent.tokens, self.limits.tokens),
            ("USD", spent.usd, self.limits.usd),
            ("seconds", spent.seconds, self.limits.seconds),
        )
        used_up = [
            f"{used:.6g} of {limit:g} {unit}"
            for unit, used, limit in rows
            if limit is not None and used >= limit
        ]
        return ", ".join(used_up)


def read_budget(folder: RunFolder) -> BudgetSpec:
    """Return the current budget of a run: the original one, or as changed since.

    Raises:
        StoreError: the file of a changed budget is damaged.
    """
    path = folder.path / _RAISED
    try:
        return BudgetSpec.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return folder.spec.budget
    except ValidationError as exc:
        raise StoreError(f"{path} is damaged.", details=str(exc)) from exc


def change_budget(folder: RunFolder, budget: BudgetSpec) -> None:
    """Change the budget of a run; its specification stays unchanged."""
    if budget != read_budget(folder):
        write_atomic(folder.path / _RAISED, budget.model_dump_json() + "\n")


def open_budget(folder: RunFolder) -> RunBudget:
    """Return the budget of a run with the cost of its attempts so far.

    Raises:
        StoreError: a log is damaged.
    """
    limits = read_budget(folder)
    return RunBudget(limits, read_spending(folder) if limits.is_set else Spending())


def read_spending(folder: RunFolder) -> Spending:
    """Return the cost of all attempts of a run.

    Raises:
        StoreError: a log is damaged.
    """
    trials = (folder.attempts(*trial) for trial in folder.spec.planned)
    return spending_of((attempt for trial in trials for attempt in trial), folder.spec)


def spending_of(attempts: Iterable[Attempt], spec: RunSpec) -> Spending:
    """Return the cost of attempts; that of lost attempts is taken from their logs.

    Raises:
        StoreError: a log is damaged.
    """
    spent = Spending()
    for attempt in attempts:
        result = attempt.result
        spent += _lost(attempt, spec) if result is None else Spending.of(result)
    return spent


def _lost(attempt: Attempt, spec: RunSpec) -> Spending:
    """Return the cost of a lost attempt according to its log, at the prices of its members."""
    events = attempt.events
    usage = sum(logged_usages(events, spec).values(), NO_USAGE)
    seconds = events[-1]["t"] - events[0]["t"] if events else 0.0
    return Spending(usage.total, usage.usd, max(0.0, seconds))

"""The figures of an experiment: rates, reasons of ending and platforms of each row.

Sources: CRAB, arXiv 2407.01511, section 5 (SR, CR, EE, CE; false completion, step limit and invalid
action as shares of all tasks); AgentStudio, arXiv 2403.17918, section 3.3 (five failure modes; share
of tasks that the agent itself marks as finished).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from controller.episode.result import Reason
from evaluators.graph.outcome import Verdict
from evaluators.metrics.intervals import mean_of_tasks
from evaluators.metrics.trials import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from controller.episode.result import TrialResult
    from controller.store.runs import RunFolder
    from evaluators.metrics.trials import Metrics
    from evaluators.model.platforms import Platform
    from provisioning.protocols import Json

Ending = Literal[
    "false_completion",
    "step_limit",
    "invalid_action",
    "parse_error",
    "time_limit",
    "repetition_limit",
    "other",
]
ENDINGS: tuple[Ending, ...] = (
    "false_completion",
    "step_limit",
    "invalid_action",
    "parse_error",
    "time_limit",
    "repetition_limit",
    "other",
)
"""How trials without success end. With SR, they add up to 1."""

_ENDINGS: Mapping[Reason, Ending] = {
    Reason.FALSE_COMPLETION: "false_completion",
    Reason.STEP_LIMIT: "step_limit",
    Reason.INVALID_ACTION: "invalid_action",
    Reason.TIME_LIMIT: "time_limit",
    Reason.REPETITION_LIMIT: "repetition_limit",
}
_UNREADABLE = frozenset({"unusable_reply", "no_action"})
"""Codes of refusals of replies that could not be read as calls of actions."""
_FINISHED = frozenset({Reason.SUCCESS, Reason.FALSE_COMPLETION, Reason.DECLARED_INFEASIBLE})
"""Reasons of trials that no limit and no fault ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished trial.

    Attributes:
        result: its result.
        last_refusal: code of the last refused action or reply; empty if none was refused.
    """

    result: TrialResult
    last_refusal: str = ""

    @property
    def is_conclusive(self) -> bool:
        """Whether it counts in the figures."""
        return self.result.verdict is not Verdict.INCONCLUSIVE

    @property
    def ending(self) -> Ending | None:
        """How it ended; None if it passed."""
        if self.result.verdict is Verdict.PASS:
            return None
        ending = _ENDINGS.get(self.result.reason, "other")
        is_unread = ending == "invalid_action" and self.last_refusal in _UNREADABLE
        return "parse_error" if is_unread else ending

    @property
    def is_finished(self) -> bool:
        """Whether no limit and no fault ended it: the agent did, or success."""
        return self.result.reason in _FINISHED


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of some trials of one row.

    Attributes:
        metrics: SR, CR, EE, CE.
        endings: share of the conclusive trials that ended in each way, 0 to 1; each task counts once.
        active_finish: share of the conclusive trials that no limit and no fault ended; None without any.
    """

    metrics: Metrics
    endings: Mapping[Ending, float] = field(default_factory=dict)
    active_finish: float | None = None

    @property
    def invalid_action(self) -> float | None:
        """CRAB's invalid action: replies that could not be read included."""
        if not self.endings:
            return None
        return self.endings["invalid_action"] + self.endings["parse_error"]

    def to_dict(self) -> dict[str, Json]:
        """Return the figures as JSON."""
        return {
            **self.metrics.to_dict(),
            "endings": dict(self.endings.items()) or None,
            "crab": self._shares(
                FC=("false_completion",),
                RSL=("step_limit",),
                IA=("invalid_action", "parse_error"),
            ),
            "agentstudio": self._shares(
                false_finish=("false_completion",),
                parse_error=("parse_error",),
                step_limit=("step_limit",),
                time_limit=("time_limit",),
                repetition_limit=("repetition_limit",),
            ),
            "active_finish": self.active_finish,
        }

    def _shares(self, **parts: tuple[Ending, ...]) -> Json:
        if not self.endings:
            return None
        return {name: sum(self.endings[end] for end in ends) for name, ends in parts.items()}


def figures_of(outcomes: Sequence[Outcome]) -> Figures:
    """Return the figures of trials, which may be none."""
    metrics = measure([outcome.result.score for outcome in outcomes])
    conclusive = [outcome for outcome in outcomes if outcome.is_conclusive]
    if not conclusive:
        return Figures(metrics)
    endings = {name: _share(conclusive, partial(_ended, name)) for name in ENDINGS}
    return Figures(metrics, endings, _share(conclusive, lambda outcome: outcome.is_finished))


def _ended(name: Ending, outcome: Outcome) -> bool:
    return outcome.ending == name


def read_outcomes(folder: RunFolder) -> list[Outcome]:
    """Return the finished trials of a run, in the planned order.

    Raises:
        StoreError: a log is damaged.
    """
    outcomes = []
    for task, repeat in folder.spec.planned:
        attempts = folder.attempts(task, repeat)
        result = attempts[-1].result if attempts else None
        if result is not None:
            codes = [row.get("code", "") for row in attempts[-1].events if row["type"] == "refused"]
            outcomes.append(Outcome(result, codes[-1] if codes else ""))
    return outcomes


def by_platform(
    outcomes: Iterable[Outcome], platforms: Mapping[str, Platform]
) -> dict[Platform, list[Outcome]]:
    """Return trials by the platform of their tasks."""
    groups: dict[Platform, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(platforms.get(outcome.result.task, "other"), []).append(outcome)
    return groups


def _share(outcomes: Iterable[Outcome], holds: Callable[[Outcome], bool]) -> float:
    """Return the mean over tasks of the share of each task's trials for which something holds."""
    by_task: dict[str, list[float]] = {}
    for outcome in outcomes:
        by_task.setdefault(outcome.result.task, []).append(float(holds(outcome)))
    return mean_of_tasks(by_task.values()) or 0.0

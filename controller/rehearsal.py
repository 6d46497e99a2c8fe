"""Rehearse a run: the same tasks, observation and limits, played by reference solutions.

Everything that a real run does happens, except that no model is asked: leases, setups, settled
screens, marks and trees, evaluation, logs and recordings. It shows before an expensive run that each
task can be passed here, what each takes, and what the agent would see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.specification.request import RunRequest
from evaluators.graph.outcome import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.episode.result import TrialResult
    from controller.store.report import Report
    from provisioning.protocols import Json

_KEPT = (
    *("suite", "tasks", "tags", "platforms", "subset", "limits", "seed", "solution", "observation"),
    *("trees", "feedback", "recording_hz", "parallel", "isolate", "fleet", "keep_end_state"),
)
"""What a rehearsal shares with the run; agents, models, and what only they need are left out."""


def rehearsal_of(request: RunRequest) -> RunRequest:
    """Return the request of a rehearsal: one trial of each task, by its reference solution."""
    kept = {name: getattr(request, name) for name in _KEPT}
    return RunRequest(**kept, agent="oracle")


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a rehearsal shows.

    Attributes:
        report: the report of its run.
    """

    report: Report

    @property
    def failed(self) -> list[TrialResult]:
        """The trials that did not pass."""
        return [trial for trial in self.report.trials if trial.verdict is not Verdict.PASS]

    @property
    def is_passed(self) -> bool:
        """Whether every task was tried and passed."""
        return not self.failed and not self.report.unfinished

    def to_dict(self) -> dict[str, Json]:
        """Return the conclusions as JSON."""
        return {
            "passed": self.is_passed,
            "tasks": len(self.report.spec.tasks),
            "failed": [trial.task for trial in self.failed],
            "unfinished": [row.task for row in self.report.unfinished],
            "steps": sum(trial.steps for trial in self.report.trials),
            "seconds": round(sum(trial.seconds for trial in self.report.trials), 1),
            "model_tokens": sum(trial.usage.total for trial in self.report.trials),
        }

    def lines(self) -> Sequence[str]:
        """Return the conclusions as text."""
        trials = self.report.trials
        steps = sum(trial.steps for trial in trials)
        seconds = sum(trial.seconds for trial in trials)
        lines = [
            (
                f"rehearsal: {len(trials) - len(self.failed)} of {len(self.report.spec.tasks)} tasks "
                f"passed by their solutions, in {steps} steps and {seconds:.0f} s of trials; no model "
                "was asked"
            )
        ]
        lines += [f"  {trial.task}: {trial.verdict} ({trial.reason})" for trial in self.failed]
        return lines

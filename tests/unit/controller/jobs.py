"""Jobs for tests that write attempts without executing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.specification.job import TrialJob

if TYPE_CHECKING:
    from controller.store.runs import RunFolder


def next_job(folder: RunFolder, task: str, repeat: int = 0) -> TrialJob:
    """Return the next attempt at a trial."""
    attempt = len(folder.attempts(task, repeat)) + 1
    return TrialJob(spec=folder.spec.digest, task=task, repeat=repeat, attempt=attempt, seed=0)

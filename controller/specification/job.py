"""A job: one attempt at one trial, as plain data that any process can execute."""

from __future__ import annotations

from pydantic import Field

from controller.specification.agent import Record


class TrialJob(Record):
    """One attempt at one trial of a run.

    Attributes:
        spec: digest of the run's specification; a process that executes the job verifies it.
        task: id of the task.
        repeat: number of the repetition, from 0.
        attempt: number of the attempt, from 1.
        seed: seed of everything random in the trial.
    """

    spec: str
    task: str
    repeat: int = Field(ge=0)
    attempt: int = Field(ge=1)
    seed: int = Field(ge=0)

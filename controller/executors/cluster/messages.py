"""What a trial's task on another host reports, in addition to the reports of its process."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from controller.executors.messages import (
    AgentActs,
    Ended,
    Forked,
    Refused,
    Stepped,
    TrialOrder,
)
from controller.specification.agent import Record


class Placed(Record):
    """Report: a host executes the job.

    Attributes:
        host: name of the host.
        appliance: identifies its state folder.
    """

    kind: Literal["placed"] = "placed"
    host: str
    appliance: str


class Declined(Record):
    """Report: the host does not execute the job, and has not begun it.

    Attributes:
        reason: one sentence.
        is_lasting: whether asking again soon is useless.
    """

    kind: Literal["declined"] = "declined"
    reason: str
    is_lasting: bool = False


class Died(Record):
    """Report: the job's process ended without a result.

    Attributes:
        exit_code: negative for a signal.
        has_acted: whether its agent was created.
    """

    kind: Literal["died"] = "died"
    exit_code: int
    has_acted: bool


TaskReport = Annotated[
    Placed | Declined | Died | AgentActs | Stepped | Forked | Ended | Refused,
    Field(discriminator="kind"),
]
"""What a trial's task reports."""

TASK_REPORT: TypeAdapter[TaskReport] = TypeAdapter(TaskReport)
"""Reads reports."""


class ClusterOrder(Record):
    """The order to execute one job on one host.

    Attributes:
        order: the job, and how to get at its run.
        host: name of the host.
    """

    order: TrialOrder
    host: str

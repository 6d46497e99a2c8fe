"""What a process that executes one job is told, and what it reports; each message is one line."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 - read by pydantic
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, TypeAdapter

from controller.episode.result import TrialResult  # noqa: TC001 - read by pydantic
from controller.specification.agent import Record
from controller.specification.job import TrialJob  # noqa: TC001 - read by pydantic
from controller.specification.model_choice import ModelChoice
from provisioning.resource import ResourceSpec


class FolderAddress(Record):
    """A sink that is a folder of this host.

    Attributes:
        path: absolute path of the run's folder.
    """

    kind: Literal["folder"] = "folder"
    path: Path

    @property
    def run(self) -> str:
        """Id of the run."""
        return self.path.name


class ServiceAddress(Record):
    """A sink that is the service of another host, or of this one.

    Attributes:
        url: address of the service, such as ``https://bench.example.org:9465``.
        run: id of the run.
        key: key of the run; see `controller.store.recording_key`.
        writer: name of the one process that may record the attempt.
    """

    kind: Literal["service"] = "service"
    url: str
    run: str
    key: str
    writer: str


SinkAddress = Annotated[FolderAddress | ServiceAddress, Field(discriminator="kind")]
"""Where a run's trials are recorded."""


class RunAccess(Record):
    """How another process gets at a run.

    Attributes:
        sink: records the run's trials, and has its specification.
        suite: name or folder of the suite; by default that of the specification.
        fleet: name of the fleet that the process opens: ``real`` or ``fake``.
        model: the user's choice of the model.
        is_verbose: whether every host command is logged to standard error.
        is_bound: whether the process ends at once, without a result, when the one that started it
            has ended; by default it then records that the job was cancelled.
    """

    sink: SinkAddress
    suite: str = ""
    fleet: str
    model: ModelChoice = ModelChoice()
    is_verbose: bool = False
    is_bound: bool = False


class TrialOrder(Record):
    """The order to execute one job, the first line that a process receives.

    Attributes:
        job: the job.
        access: how to get at its run.
    """

    job: TrialJob
    access: RunAccess


class Cancellation(Record):
    """The order to end the job as cancelled; the end of the input has the same effect.

    Attributes:
        reason: one sentence, kept in the result.
    """

    reason: str


class AgentActs(Record):
    """Report: machines are ready, and the agent is created and acts from here on."""

    kind: Literal["agent_acts"] = "agent_acts"


class Stepped(Record):
    """Report: a turn was executed.

    Attributes:
        steps: number of executed actions.
    """

    kind: Literal["stepped"] = "stepped"
    steps: int


class Forked(Record):
    """A standby fork was leased: whoever keeps the warm pool may start another one.

    Attributes:
        resource: kind, image and parameters of the fork; see `provisioning.resource.ResourceSpec`.
    """

    kind: Literal["forked"] = "forked"
    resource: tuple[str, str, dict[str, JsonValue]]

    @classmethod
    def of(cls, spec: ResourceSpec) -> Self:
        """Return the report about a fork with these requirements."""
        return cls(resource=(spec.kind, spec.image, dict(spec.parameters)))

    @property
    def spec(self) -> ResourceSpec:
        """The requirements of the fork."""
        return ResourceSpec(*self.resource)


class Ended(Record):
    """Report: the sink has recorded the result.

    Attributes:
        result: the result.
    """

    kind: Literal["ended"] = "ended"
    result: TrialResult


class Refused(Record):
    """Report: the job could not be executed; no result was recorded.

    Attributes:
        code: code of the error.
        brief: what happened.
        details: what is known about the cause.
        resolution: what can be done.
    """

    kind: Literal["refused"] = "refused"
    code: str
    brief: str
    details: str = ""
    resolution: str = ""


Report = Annotated[AgentActs | Stepped | Forked | Ended | Refused, Field(discriminator="kind")]
"""What a process that executes a job reports."""

REPORT: TypeAdapter[Report] = TypeAdapter(Report)
"""Reads reports."""


def write_line(fd: int, message: Record) -> None:
    """Write a message to a pipe.

    Raises:
        OSError: the other end is closed.
    """
    data = message.model_dump_json().encode() + b"\n"
    while data:
        data = data[os.write(fd, data) :]

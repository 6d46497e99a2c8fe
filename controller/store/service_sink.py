"""A `controller.scheduling.sink.TrialSink` that is the service of another host."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from controller.episode.result import TRIAL_RESULT
from controller.specification.run import RunSpec
from controller.store.event_format import EventFormat

if TYPE_CHECKING:
    from types import TracebackType

    from controller.episode.result import Ending, TrialResult
    from controller.specification.job import TrialJob
    from controller.store.recorder import Recorder
    from foundation.clock import Clock


def attempt_path(job: TrialJob) -> str:
    """Return the path of an attempt below that of its run."""
    return f"/trials/{job.task}/{job.repeat}/attempts/{job.attempt}"


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """A `controller.scheduling.sink.PastAttempt`, as the service has it."""

    number: int
    result: TrialResult | None


class ServiceSink:
    """Records the trials of one run with a service, line by line.

    Args:
        recorder: sends the requests.
        writer: name of the one process that may record the attempts begun here.
    """

    def __init__(self, recorder: Recorder, writer: str) -> None:
        self._recorder = recorder
        self._writer = writer

    @cached_property
    def spec(self) -> RunSpec:
        """The run's specification.

        Raises:
            StoreError: the service does not answer.
        """
        return RunSpec.model_validate(self._recorder.get(""))

    def attempts(self, task: str, repeat: int) -> list[RecordedAttempt]:
        """Return all attempts at a trial so far, oldest first."""
        rows = self._recorder.get(f"/trials/{task}/{repeat}/attempts")["attempts"]
        return [
            RecordedAttempt(
                row["number"],
                None if row["result"] is None else TRIAL_RESULT.validate_python(row["result"]),
            )
            for row in rows
        ]

    def begin_attempt(self, job: TrialJob, clock: Clock) -> ServiceLog:
        """Open the log of a new attempt.

        Raises:
            StoreError: the attempt was begun before, or the service does not answer.
        """
        return ServiceLog(self._recorder, self._writer, job, clock)

    def conclude_attempt(self, job: TrialJob, ending: Ending, clock: Clock) -> TrialResult:
        """Record the end of an attempt whose process died, at the time of the service.

        Raises:
            StoreError: the attempt has a result already, or the service does not answer.
        """
        del clock
        body = {"job": job.model_dump(), "reason": ending.reason, "detail": ending.detail}
        reply = self._recorder.post("/conclusions", body)
        return TRIAL_RESULT.validate_python(reply["result"])


class ServiceLog(EventFormat):
    """The log of one attempt, recorded by a service; a context manager.

    Recordings are written to a temporary folder, and sent at the end.

    Args:
        recorder: sends the requests.
        writer: name of the process.
        job: the attempt.
        clock: provides the lines' timestamps.

    Raises:
        StoreError: the attempt was begun before, or the service does not answer.
    """

    def __init__(self, recorder: Recorder, writer: str, job: TrialJob, clock: Clock) -> None:
        self._recorder = recorder
        self._path = attempt_path(job)
        self._writer = writer
        self._lines = 0
        self._sent: set[str] = set()
        recorder.post(self._path, writer=writer)
        self._folder = tempfile.TemporaryDirectory(prefix="mesocosm-trial-")
        super().__init__(clock, job.attempt, Path(self._folder.name))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Send the recordings, and close the log.

        Raises:
            StoreError: they cannot be sent.
        """
        with self._folder:
            if error is None:
                for path in sorted(Path(self._folder.name).glob("screen-*.mp4")):
                    target = f"{self._path}/files/{path.name}"
                    self._recorder.put_file(target, path.read_bytes(), writer=self._writer)

    def _store_line(self, line: bytes) -> None:
        body: dict[str, Any] = {"first": self._lines, "lines": [line.decode().rstrip("\n")]}
        self._recorder.post(f"{self._path}/lines", body, writer=self._writer)
        self._lines += 1

    def _store_blob(self, name: str, content: bytes) -> None:
        if name not in self._sent:
            target = f"{self._path}/blobs/{name}"
            self._recorder.put_file(target, content, writer=self._writer)
            self._sent.add(name)

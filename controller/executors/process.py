"""Execute each job in a process of its own, so that a crash costs only that trial."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, Self

from controller.episode.result import Ending, Reason
from controller.executors.messages import (
    REPORT,
    AgentActs,
    Cancellation,
    Ended,
    Forked,
    Refused,
    Stepped,
    TrialOrder,
    write_line,
)
from controller.executors.placing import place_all
from controller.specification.agent import CustomSpec, PythonSpec
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import UsageError, error_of_code
from foundation.process import start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from controller.episode.result import TrialResult
    from controller.executors.messages import RunAccess
    from controller.scheduling.scheduler import Scheduler
    from controller.scheduling.sink import TrialSink
    from controller.specification.agent import AgentSpec, Record
    from controller.specification.job import TrialJob
    from foundation.cancel import CancelToken
    from foundation.clock import Clock
    from provisioning.resource import ResourceSpec

_log = logging.getLogger(__name__)

_KILLED = frozenset({signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
"""Signals by which somebody else ends a process, such as the kernel when memory is short."""


class ProcessExecutor:
    """A `controller.scheduling.executor.Executor` that executes each job in a new process.

    The process gets the job as JSON, reads the run's specification from the sink, opens suite, agent
    and fleet itself, and leases its machines there. If it dies without a result, the attempt is
    concluded for it: as the agent's failure if the agent's code ran in it, otherwise as a fault of
    the environment, which is retried.

    Args:
        access: how the processes get at the run.
        command: program and arguments of such a process; see `controller.job_process`.
        parallel: number of simultaneous trials; see `controller.executors.local.LocalExecutor`.
        environment: further environment variables of the processes.
        refill: called with the kind of each standby fork that a process leased, as a process that
            lives for one trial only cannot prepare the next one.
        measure: called with the result of each attempt whose process died.
        clock: provides timestamps.

    Raises:
        ValueError: `parallel` is below 1.
    """

    def __init__(
        self,
        access: RunAccess,
        command: Sequence[str],
        parallel: int = 1,
        *,
        environment: Mapping[str, str] | None = None,
        refill: Callable[[ResourceSpec], object] = lambda _: None,
        measure: Callable[[TrialResult], None] = lambda _: None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, got {parallel}")
        self._access = access
        self._command = tuple(command)
        self._parallel = parallel
        self._environment = dict(environment or {})
        self._refill = refill
        self._measure = measure
        self._clock = clock

    def run(self, scheduler: Scheduler) -> None:
        """Execute all jobs of a scheduler; see `controller.scheduling.executor.Executor`.

        Raises:
            UsageError: the run's agent cannot be created in another process.
        """
        for member in scheduler.sink.spec.agents:
            require_nameable(member.agent)
        place_all(scheduler, self._run_job, self._parallel)

    def _run_job(
        self,
        job: TrialJob,
        sink: TrialSink,
        *,
        cancel: CancelToken,
        on_step: Callable[[int], None],
    ) -> TrialResult:
        order = TrialOrder(job=job, access=self._access)
        with JobProcess(self._command, self._environment) as process:
            process.send(order)
            withdraw = cancel.on_cancel(lambda: process.cancel(cancel.reason))
            try:
                result = process.follow(on_step, self._refill)
            finally:
                withdraw()
        if result is not None:
            return result
        ending = ending_of_dead(
            process.exit_code,
            sink.spec.agents[0].agent,
            has_acted=process.has_acted,
            cancelled=cancel.reason if cancel.is_cancelled else "",
        )
        _log.warning("the process of attempt %d died: %s", job.attempt, ending.detail)
        result = sink.conclude_attempt(job, ending, self._clock)
        self._measure(result)
        return result


class JobProcess:
    """The process of one job, as seen by the process that started it; a context manager.

    On exit, it has ended, and so have the programs that it left in its process group.

    Args:
        command: program and arguments.
        environment: further environment variables.

    Attributes:
        has_acted: whether its agent was created.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        # In its own session, it does not get the Ctrl-C of the terminal, which is passed on once.
        self._process = start(command, env=environment, stdin=subprocess.PIPE, passes_errors=True)
        _log.debug("started process %d for a job", self._process.pid)
        self._lock = threading.Lock()
        self._waiter = threading.Thread(target=self._wait, name=f"job-{self._process.pid}")
        self._waiter.start()
        self.has_acted = False

    @property
    def exit_code(self) -> int:
        """Exit code, negative for a signal; waits until the process has ended."""
        return self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._kill()
        self._waiter.join()
        with self._lock:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def send(self, message: Record) -> None:
        """Send a message; it is dropped if the process has ended."""
        stdin = self._process.stdin
        with self._lock, contextlib.suppress(BrokenPipeError):
            if stdin is not None and not stdin.closed:
                write_line(stdin.fileno(), message)

    def end(self) -> None:
        """End the process, and the programs in its group, at once and without a result."""
        self._kill()

    def cancel(self, reason: str) -> None:
        """End the job as cancelled; the process still records and reports its result."""
        self.send(Cancellation(reason=reason))

    def follow(
        self, on_step: Callable[[int], None], refill: Callable[[ResourceSpec], object]
    ) -> TrialResult | None:
        """Read the reports of the process until it has ended; Ctrl-C cancels the job.

        Returns:
            The result; None if the process died without one.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed a second time.
            MesocosmError: the job could not be executed.
        """
        try:
            return self._follow(on_step, refill)
        except KeyboardInterrupt:
            self.cancel("Interrupted.")
            return self._follow(on_step, refill)

    def _follow(
        self, on_step: Callable[[int], None], refill: Callable[[ResourceSpec], object]
    ) -> TrialResult | None:
        assert self._process.stdout is not None  # noqa: S101 - it is piped
        result: TrialResult | None = None
        refused: Refused | None = None
        for line in iter(self._process.stdout.readline, b""):
            if not line.endswith(b"\n"):
                break  # it died while it wrote
            match REPORT.validate_json(line):
                case AgentActs():
                    self.has_acted = True
                case Stepped(steps=steps):
                    on_step(steps)
                case Forked() as forked:
                    refill(forked.spec)
                case Ended() as ended:
                    result = ended.result
                case Refused() as report:
                    refused = report
        self._waiter.join()
        if refused is not None:
            raise error_of_code(refused.code, refused.brief, refused.details, refused.resolution)
        return result

    def _wait(self) -> None:
        """Wait for the end of the process, and end the programs that it left behind.

        Those could keep the pipe of its reports open.
        """
        self._process.wait()
        self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def require_nameable(agent: AgentSpec) -> None:
    """Verify that another process can create an agent from its specification.

    Raises:
        UsageError: it is an object of this process.
    """
    if isinstance(agent, CustomSpec):
        raise UsageError(
            f"The agent {agent.name!r} is an object of this program and cannot be created in a "
            "process of its own.",
            resolution="Name its class, as in --agent file.py:Class, or run its trials without "
            "isolation.",
        )


def ending_of_dead(exit_code: int, agent: AgentSpec, *, has_acted: bool, cancelled: str) -> Ending:
    """Return why an attempt ended whose process died without a result.

    Args:
        exit_code: of the process; negative for a signal.
        agent: the run's agent.
        has_acted: whether the agent had been created.
        cancelled: why the attempt was cancelled; empty if it was not.
    """
    if exit_code < 0:
        how = f"The trial's process was ended by {signal.Signals(-exit_code).name}"
    else:
        how = f"The trial's process ended with exit code {exit_code}"
    if cancelled:
        return Ending(Reason.CANCELLED, cancelled)
    is_killed = exit_code < 0 and signal.Signals(-exit_code) in _KILLED
    if has_acted and isinstance(agent, PythonSpec) and not is_killed:
        return Ending(Reason.AGENT_ERROR, f"{how} while the agent's code ran in it.")
    return Ending(Reason.ENVIRONMENT_ERROR, f"{how}.")

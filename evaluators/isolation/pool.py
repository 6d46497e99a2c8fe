"""Run evaluators of sessions in child processes, which are killed at a deadline."""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from evaluators.isolation.codec import MAX_MESSAGE_BYTES, decode, encode
from evaluators.isolation.messages import ANSWER_CPU_S, COSTLY, PARTS, Job, Reply, Request, Result
from evaluators.suite_code.importer import modules_beside
from foundation import process
from foundation.errors import CostlyAnswerError, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluators.schema import Tool
    from evaluators.session.view import CrossView
    from provisioning.protocols import Json

_ROOT = Path(__file__).resolve().parents[2]
_MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from evaluators.isolation import child; child.main()"
_START_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 5.0
_TAIL_CHARS = 400
_COSTLY_CODES = {-COSTLY, 128 + COSTLY}
"""Exit codes of the process itself, and of a shell that waits for it."""


class ChildDiedError(EvaluationError):
    """The process of an evaluator exited before the evaluator returned."""

    code = "evaluator_process_died"


class EvaluatorProcess:
    """One child process, which runs one evaluator at a time.

    Raises:
        EvaluationError: the process does not start.
    """

    def __init__(self) -> None:
        argv = [sys.executable, "-I", "-c", _MAIN, str(_ROOT)]
        env = {"OPENBLAS_NUM_THREADS": "1"}
        self._process = process.start(argv, env=env, stdin=subprocess.PIPE)
        self._writing = Connection(_detached(self._process.stdin), readable=False)
        self._reading = Connection(_detached(self._process.stdout), writable=False)
        self._exchange(None, None, _START_TIMEOUT_S, "The evaluator process")

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def run(self, job: Job, view: CrossView) -> Result:
        """Run an evaluator; kill the process if it exceeds its time limit.

        Args:
            job: the evaluator, its arguments and its time limit.
            view: the session, which executes the evaluator's requests.

        Raises:
            EvaluationError: the evaluator exceeded its time limit.
            CostlyAnswerError: evaluating the submitted answer takes too long.
            ChildDiedError: the process exited, or sent no result.
        """
        result = self._exchange(job, view, job.timeout_s, job.name)
        if not isinstance(result, Result):
            raise ChildDiedError(f"{job.name}: its process sent no result.", details=self.close())
        return result

    def _exchange(
        self, job: Job | None, view: CrossView | None, timeout_s: float, name: str
    ) -> Any:  # noqa: ANN401
        """Send a job and execute requests; return the first message that is not a request."""
        deadline_s = time.monotonic() + timeout_s
        sent = None if job is None else encode(job)
        try:
            while True:
                if sent is not None:
                    self._writing.send_bytes(sent)
                if not self._reading.poll(max(0.0, deadline_s - time.monotonic())):
                    break
                message = decode(self._reading.recv_bytes(MAX_MESSAGE_BYTES))
                if not isinstance(message, Request):
                    return message
                sent = _reply(message, view)
        except (EOFError, OSError) as exc:
            raise self._death(name) from exc
        except BaseException:
            self.close()
            raise
        self.close()
        raise EvaluationError(f"{name} did not end within {timeout_s:.3g} s and was killed.")

    def _death(self, name: str) -> EvaluationError:
        """Return an error that explains why the process exited early."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_TIMEOUT_S)
        printed = self.close()
        if self._process.returncode in _COSTLY_CODES:
            limit = f"{ANSWER_CPU_S:g} s of CPU time"
            return CostlyAnswerError(
                f"{name} used more than {limit} to evaluate the submitted answer."
            )
        return ChildDiedError(f"{name}: its process died.", details=printed)

    def close(self) -> str:
        """Kill the process and return the last part of its startup output."""
        process.kill_group(self._process)
        printed = b""
        if self._process.stderr is not None and not self._process.stderr.closed:
            with self._process.stderr as stream:
                printed = stream.read()
        self._writing.close()
        self._reading.close()
        return printed.decode(errors="replace")[-_TAIL_CHARS:]


class EvaluatorProcesses:
    """Pool of child processes, started on demand and reused; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[EvaluatorProcess] = []

    def call(
        self, tool: Tool, view: CrossView, args: Mapping[str, Json], timeout_s: float
    ) -> object:
        """Run an evaluator in a child process.

        Args:
            tool: the evaluator, which must be importable by its module and name.
            view: its subject.
            args: its arguments.
            timeout_s: time after which the process is killed.

        Raises:
            MesocosmError: the evaluator raised it.
            CostlyAnswerError: evaluating the submitted answer takes too long.
            EvaluationError: the evaluator raised another exception, or exceeded its time limit.
        """
        function = tool.mark.function
        module = function.__module__
        job = Job(
            module, function.__name__, dict(args), view.answer, timeout_s, modules_beside(module)
        )
        return _value_of(self._run(job, view), job.name)

    def close(self) -> None:
        """Kill all idle processes."""
        while (idle := self._take()) is not None:
            idle.close()

    def _run(self, job: Job, view: CrossView) -> Result:
        running = self._take() or EvaluatorProcess()
        result = running.run(job, view)
        with self._lock:
            self._idle.append(running)
        return result

    def _take(self) -> EvaluatorProcess | None:
        """Return an idle, running process, if any."""
        with self._lock:
            while self._idle:
                taken = self._idle.pop()
                if taken.is_alive:
                    return taken
                taken.close()
        return None


def _detached(stream: IO[bytes] | None) -> int:
    """Close a stream and return a duplicate of its file descriptor."""
    if stream is None:
        raise EvaluationError("The evaluator process has no pipe.")
    with stream:
        return os.dup(stream.fileno())


def _reply(request: Request, view: CrossView | None) -> bytes:
    """Return the reply to a request, encoded."""
    try:
        return encode(Reply(_answer(request, view)))
    except Exception as exc:  # noqa: BLE001 - raised again in the evaluator
        return encode(Reply(error=exc))


def _answer(request: Request, view: CrossView | None) -> object:
    subject: Any = view
    if request.part:
        name, *args = request.part
        if name not in PARTS:
            raise EvaluationError(f"A view has no part {name!r}.")
        subject = getattr(view, name)(*args)
    if request.method.startswith("_"):
        raise EvaluationError(f"{request.method!r} is private.")
    return getattr(subject, request.method)(*request.args, **request.kwargs)


def _value_of(result: Result, name: str) -> object:
    if result.error is not None:
        raise result.error
    if result.reason:
        raise EvaluationError(f"{name} raised {result.reason}")
    return result.value


shared_processes = EvaluatorProcesses()
"""The child processes of this process."""
atexit.register(shared_processes.close)

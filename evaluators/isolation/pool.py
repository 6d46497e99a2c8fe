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

from appliance.base import process
from appliance.base.errors import CostlyAnswerError, EvaluationError
from evaluators.isolation.codec import MAX_MESSAGE_BYTES, decode, encode
from evaluators.isolation.messages import ANSWER_CPU_S, COSTLY, PARTS, Job, Reply, Request, Result
from evaluators.suite_code.importer import modules_beside

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
"""Of the process itself, and of the shell that waits for it."""


class ChildDiedError(EvaluationError):
    """The process of an evaluator ended before the evaluator did."""

    code = "evaluator_process_died"


class EvaluatorProcess:
    """One child process, which runs one evaluator at a time.

    Raises:
        EvaluationError: it does not start.
    """

    def __init__(self) -> None:
        argv = [sys.executable, "-I", "-c", _MAIN, str(_ROOT)]
        env = {"OPENBLAS_NUM_THREADS": "1"}
        self._process = process.start(argv, env=env, stdin=subprocess.PIPE)
        self._writing = Connection(_detached(self._process.stdin), readable=False)
        self._reading = Connection(_detached(self._process.stdout), writable=False)
        self._exchange(None, None, _START_TIMEOUT_S, "The process of evaluators")

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def run(self, job: Job, view: CrossView) -> Result:
        """Run an evaluator; kill the process when it does not end in time.

        Args:
            job: the evaluator, its arguments and its time.
            view: answers the evaluator's requests.

        Raises:
            EvaluationError: it did not end in time.
            CostlyAnswerError: the submitted answer makes it take very long.
            ChildDiedError: the process ended, or sent no result.
        """
        result = self._exchange(job, view, job.timeout_s, job.name)
        if not isinstance(result, Result):
            raise ChildDiedError(f"{job.name}: its process sent no result.", details=self.close())
        return result

    def _exchange(
        self, job: Job | None, view: CrossView | None, timeout_s: float, name: str
    ) -> Any:  # noqa: ANN401
        """Send a job and answer requests; return the first message that is none."""
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
        raise EvaluationError(f"{name} did not end within {timeout_s:.3g} s and was ended.")

    def _death(self, name: str) -> EvaluationError:
        """Return why the process ended before its evaluator did."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_TIMEOUT_S)
        printed = self.close()
        if self._process.returncode in _COSTLY_CODES:
            limit = f"{ANSWER_CPU_S:g} s of CPU time"
            return CostlyAnswerError(f"{name} took more than {limit} over the submitted answer.")
        return ChildDiedError(f"{name}: its process died.", details=printed)

    def close(self) -> str:
        """Kill the process; return the end of what it printed while it started."""
        process.kill_group(self._process)
        printed = b""
        if self._process.stderr is not None and not self._process.stderr.closed:
            with self._process.stderr as stream:
                printed = stream.read()
        self._writing.close()
        self._reading.close()
        return printed.decode(errors="replace")[-_TAIL_CHARS:]


class EvaluatorProcesses:
    """Idle child processes, started when they are needed and used again. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[EvaluatorProcess] = []

    def call(
        self, tool: Tool, view: CrossView, args: Mapping[str, Json], timeout_s: float
    ) -> object:
        """Run an evaluator in a child process.

        Args:
            tool: the evaluator, which can be imported by its module and name.
            view: its subject.
            args: its arguments.
            timeout_s: the process is killed after this.

        Raises:
            MesocosmError: the evaluator raised it.
            CostlyAnswerError: the submitted answer makes it take very long.
            EvaluationError: the evaluator raised something else, or did not end in time.
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
        """Return an idle process that is alive, if any."""
        with self._lock:
            while self._idle:
                taken = self._idle.pop()
                if taken.is_alive:
                    return taken
                taken.close()
        return None


def _detached(stream: IO[bytes] | None) -> int:
    """Return a descriptor of a stream's file that outlives the stream, which is closed."""
    if stream is None:
        raise EvaluationError("The process of evaluators has no pipe.")
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

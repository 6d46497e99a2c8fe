"""Child process that runs evaluators of sessions, one after the other, until its input ends.

Started by `evaluators.isolation.pool`. The agent's answer is evaluated here, so that an evaluator
that hangs can be killed. The parent reads machines, on request. An evaluator that has not queried a
machine is stopped with `COSTLY` once it has used `ANSWER_CPU_S` of CPU time, independent of the
speed of the host.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from evaluators.isolation.codec import MAX_MESSAGE_BYTES, decode, encode
from evaluators.isolation.messages import ANSWER_CPU_S, COSTLY, READY, Job, Request, Result
from evaluators.schema import describe
from evaluators.session import answers, cross, declarations  # noqa: F401 - before the time of a job begins
from evaluators.suite_code.importer import add_modules
from foundation.errors import MesocosmError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluators.isolation.messages import Reply

MEMORY_BYTES = 2 << 30
_GRACE_S = 5


class _Part:
    """Proxy of a machine, phone or world of the session; its methods run in the parent."""

    def __init__(self, ask: Callable[[Request], Any], *part: str) -> None:
        self._ask = ask
        self._part = part

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._ask(Request(self._part, name, args, kwargs))


class _View(_Part):
    """Proxy of the session: a `CrossView` whose machines are read by the parent."""

    def __init__(self, answer: str | None, ask: Callable[[Request], Any]) -> None:
        super().__init__(ask)
        self.answer = answer

    def machine(self, role: str) -> _Part:
        return _Part(self._ask, "machine", role)

    def phone(self, role: str) -> _Part:
        return _Part(self._ask, "phone", role)

    def world(self, role: str) -> _Part:
        return _Part(self._ask, "world", role)


def main() -> None:
    """Run jobs from standard input until it ends."""
    reading = Connection(os.dup(0), writable=False)
    writing = Connection(os.dup(1), readable=False)
    _silence()
    signal.signal(COSTLY, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    writing.send_bytes(encode(READY))

    def ask(request: Request) -> Any:  # noqa: ANN401
        signal.setitimer(signal.ITIMER_PROF, 0)
        writing.send_bytes(encode(request))
        reply: Reply = decode(reading.recv_bytes(MAX_MESSAGE_BYTES))
        if reply.error is not None:
            raise reply.error
        return reply.value

    while True:
        try:
            job = decode(reading.recv_bytes(MAX_MESSAGE_BYTES))
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, job.timeout_s + _GRACE_S)
        result = _run(job, ask)
        signal.setitimer(signal.ITIMER_REAL, 0)
        writing.send_bytes(encode(result))


def _silence() -> None:
    """Redirect the output of evaluators, so that it does not mix with messages."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _run(job: Job, ask: Callable[[Request], Any]) -> Result:
    try:
        add_modules(job.sources)
        function = getattr(importlib.import_module(job.module), job.name)
        args = describe(function).check(job.args)
        signal.setitimer(signal.ITIMER_PROF, ANSWER_CPU_S if job.answer is not None else 0)
        met = function(_View(job.answer, ask), **args)
    except MesocosmError as exc:
        return Result(error=exc, reason=f"{type(exc).__name__}: {exc}")
    except Exception as exc:  # noqa: BLE001 - an evaluator's fault must not end the process
        return Result(reason=f"{type(exc).__name__}: {exc}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Result(met if isinstance(met, bool) else repr(met))

"""Run requests in parallel, each within its deadline, and answer each exactly once.

A few are answered by the thread that reads requests: starting another takes longer than they do.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, Dict

from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.framing import FramingError, LineSplitter, decode, encode
from provisioning.probe.serving.params import Params

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from provisioning.probe.serving.channel import Channel

MAX_RUNNING = 16
"""Maximum number of parallel requests; further ones are refused as ``busy``."""

MAX_ABANDONED = 64
"""Maximum number of hung requests past their deadline; with more, all requests are refused."""

KEPT_THREADS = 4
"""Maximum number of idle threads."""

DEFAULT_TIMEOUT_S = 60.0
INLINE = frozenset({"ping"})
URGENT = frozenset({"wake"})
"""Operations that the reading thread answers, with precedence over other programs of the guest."""

_PRECEDENCE = -20

Message = Dict[str, Any]


class Request:
    """One request in progress.

    Args:
        request_id: number assigned by the host.
        op: name of the operation.
        params: arguments of the operation.
        timeout_s: time until the deadline.
    """

    def __init__(self, request_id: int, op: str, params: dict[str, Any], timeout_s: float) -> None:
        self.request_id = request_id
        self.op = op
        self.params = Params(params, timeout_s)
        self.deadline_s = time.monotonic() + timeout_s
        self._lock = threading.Lock()
        self._is_answered = False

    def claim(self) -> bool:
        """Return whether the caller must answer; True only once."""
        with self._lock:
            was_answered, self._is_answered = self._is_answered, True
        return not was_answered


class Server:
    """Serve a channel until it ends.

    Args:
        channel: channel to the host.
        ops: operations by name.
        version: digest of this probe, sent in its greeting.
    """

    def __init__(
        self, channel: Channel, ops: Mapping[str, Callable[[Params], Any]], version: str
    ) -> None:
        self._channel = channel
        self._ops = ops
        self._version = version
        self._running: dict[int, Request] = {}
        self._abandoned: set[int] = set()
        self._changed = threading.Condition()
        self._threads = _Threads()

    def greet(self) -> None:
        """Send the greeting; called at the start and whenever a host (re)connects."""
        self._send({"hello": {"version": self._version, "pid": os.getpid()}})

    def serve(self) -> None:
        """Read requests until the channel ends."""
        threading.Thread(target=self._watch_deadlines, name="deadlines", daemon=True).start()
        splitter = LineSplitter()
        while True:
            data = self._channel.read()
            if not data:
                return
            for line in splitter.feed(data):
                if line.is_oversize:
                    self._refuse(None, ProbeError("oversize", "the request exceeds the size limit"))
                else:
                    self._take(line.data)

    def _take(self, data: bytes) -> None:
        try:
            request = _read_request(decode(data))
        except FramingError as exc:
            self._refuse(None, ProbeError("bad_request", str(exc)))
            return
        handler = self._ops.get(request.op)
        if handler is None:
            self._refuse(request, ProbeError("unknown_op", f"unknown operation {request.op!r}"))
        elif request.op in INLINE:
            self._answer(request, handler)
        elif request.op in URGENT:
            with _precedence():
                self._answer(request, handler)
        elif self._admit(request):
            self._threads.run(lambda: self._run(request, handler))

    def _admit(self, request: Request) -> bool:
        with self._changed:
            running, abandoned = len(self._running), len(self._abandoned)
            if running < MAX_RUNNING and abandoned < MAX_ABANDONED:
                self._running[id(request)] = request
                self._changed.notify()
                return True
        message = f"{running} requests are running and {abandoned} hang past their deadline"
        self._refuse(request, ProbeError("busy", message))
        return False

    def _run(self, request: Request, handler: Callable[[Params], Any]) -> None:
        try:
            self._answer(request, handler)
        finally:
            with self._changed:
                self._running.pop(id(request), None)
                self._abandoned.discard(id(request))

    def _answer(self, request: Request, handler: Callable[[Params], Any]) -> None:
        try:
            result = handler(request.params)
        except ProbeError as exc:
            self._refuse(request, exc)
        except Exception as exc:  # noqa: BLE001 - the boundary: the host must get an answer
            message = "".join(traceback.format_exception_only(type(exc), exc)).strip()
            self._refuse(request, ProbeError("failed", message))
        else:
            self._reply(request, {"id": request.request_id, "ok": True, "result": result})

    def _refuse(self, request: Request | None, error: ProbeError) -> None:
        body = {"type": error.kind, "message": error.message[:4000]}
        if request is None:
            self._send({"id": -1, "ok": False, "error": body})
        else:
            self._reply(request, {"id": request.request_id, "ok": False, "error": body})

    def _reply(self, request: Request, message: Message) -> None:
        if request.claim():
            self._send(message)

    def _send(self, message: Message) -> None:
        try:
            line = encode(message)
        except FramingError as exc:
            body = {"type": "oversize", "message": f"the reply cannot be sent: {exc}"}
            line = encode({"id": message.get("id", -1), "ok": False, "error": body})
        self._channel.write(line)

    def _watch_deadlines(self) -> None:
        while True:
            with self._changed:
                now_s = time.monotonic()
                due = [request for request in self._running.values() if request.deadline_s <= now_s]
                for request in due:
                    self._abandoned.add(id(request))
                    del self._running[id(request)]
                if not due:
                    ends = [request.deadline_s for request in self._running.values()]
                    self._changed.wait(min(ends) - now_s if ends else None)
            for request in due:
                message = f"{request.op} did not end within {request.params.timeout_s:g} s"
                self._refuse(request, ProbeError("timeout", message))


@contextlib.contextmanager
def _precedence() -> Iterator[None]:
    """Let the calling thread run before all others of the guest, as far as its user may."""
    thread = threading.get_native_id()
    before = os.getpriority(os.PRIO_PROCESS, thread)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, _PRECEDENCE)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, before)


class _Threads:
    """Thread pool for requests; some idle threads are kept, because starting one is slow."""

    def __init__(self) -> None:
        self._works: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()

    def run(self, work: Callable[[], None]) -> None:
        """Start an operation without waiting for it."""
        with self._lock:
            is_one_free = self._waiting > 0
            if is_one_free:
                self._waiting -= 1
        if is_one_free:
            self._works.put(work)
        else:
            threading.Thread(target=self._work_loop, args=(work,), daemon=True).start()

    def _work_loop(self, work: Callable[[], None]) -> None:
        while True:
            work()
            with self._lock:
                if self._waiting >= KEPT_THREADS:
                    return
                self._waiting += 1
            work = self._works.get()


def _read_request(message: Message) -> Request:
    request_id, op = message.get("id"), message.get("op")
    params, timeout_s = message.get("params", {}), message.get("timeout_s", DEFAULT_TIMEOUT_S)
    if isinstance(request_id, bool) or not isinstance(request_id, int) or not isinstance(op, str):
        raise FramingError("a request requires id (int) and op (str)")
    if not isinstance(params, dict) or not isinstance(timeout_s, (int, float)) or timeout_s <= 0:
        raise FramingError("params must be an object and timeout_s above 0")
    return Request(request_id, op, params, float(timeout_s))

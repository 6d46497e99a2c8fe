"""Manage helper processes that are expensive to start and that may hang."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Dict

from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.framing import FramingError, LineSplitter, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_WORKER_LINE_BYTES = 64 << 20
_READ_BYTES = 1 << 20
_MAX_WORDS = 2000

Message = Dict[str, Any]


class Spec:
    """Start parameters of a worker.

    Args:
        argv: program and arguments.
        env: complete environment.
        key: a worker started with another key is replaced, for example after a new login.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], key: object = None) -> None:
        self.argv = list(argv)
        self.env = dict(env)
        self.key = key


class Worker:
    """A process that is started at the first call, kept, and replaced if it dies or hangs.

    Args:
        describe: returns the start parameters; called before every call.
        patience_s: time beyond a call's deadline until the process is killed.
    """

    def __init__(self, describe: Callable[[], Spec], *, patience_s: float = 0.0) -> None:
        self._describe = describe
        self._patience_s = patience_s
        self._running: _Running | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The process ID while it is running."""
        running = self._running
        return running.pid if running is not None and running.is_alive else None

    def call(self, op: str, params: Mapping[str, Any], timeout_s: float) -> Any:  # noqa: ANN401
        """Send a request to the worker and wait for the answer.

        Raises:
            ProbeError: the worker's own, ``timeout`` (the worker was killed) or ``worker_died``.
        """
        return self.ask(op, params, timeout_s)()

    def ask(self, op: str, params: Mapping[str, Any], timeout_s: float) -> Callable[[], Any]:
        """Send a request, and return a function that waits for the answer and raises like `call`.

        Raises:
            ProbeError: the worker cannot be started.
        """
        running = self._get()
        slot = running.send(op, params, timeout_s)
        deadline_s = time.monotonic() + timeout_s + self._patience_s

        def answer() -> Any:  # noqa: ANN401 - JSON
            if not slot.done.wait(max(0.0, deadline_s - time.monotonic())):
                running.kill()
                raise ProbeError("timeout", f"{op} did not end within {timeout_s:g} s")
            return slot.take()

        return answer

    def stop(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            if self._running is not None:
                self._running.kill()
                self._running = None

    def _get(self) -> _Running:
        spec = self._describe()
        with self._lock:
            running = self._running
            if running is not None and (not running.is_alive or running.key != spec.key):
                running.kill()
                running = None
            if running is None:
                running = self._running = _Running(spec)
            return running


class _Slot:
    """A placeholder for one reply."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self._message: Message = {}

    def put(self, message: Message) -> None:
        self._message = message
        self.done.set()

    def take(self) -> Any:  # noqa: ANN401 - JSON
        if self._message.get("ok") is True:
            return self._message.get("result")
        error = self._message.get("error")
        error = error if isinstance(error, dict) else {}
        raise ProbeError(str(error.get("type", "failed")), str(error.get("message", "no message")))


class _Running:
    """One started worker process."""

    def __init__(self, spec: Spec) -> None:
        self.key = spec.key
        self._ids = itertools.count(1)
        self._slots: dict[int, _Slot] = {}
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            spec.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=spec.env,
            cwd="/",
            start_new_session=True,
        )
        self.pid = self._process.pid
        self.is_alive = True
        self._words = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        threading.Thread(target=self._read, name=f"worker-{self.pid}", daemon=True).start()

    def send(self, op: str, params: Mapping[str, Any], timeout_s: float) -> _Slot:
        slot = _Slot()
        assert self._process.stdin is not None  # noqa: S101 - it is piped
        with self._lock:
            request_id = next(self._ids)
            self._slots[request_id] = slot
            message = {"id": request_id, "op": op, "params": params, "timeout_s": timeout_s}
            try:
                self._process.stdin.write(encode(message, MAX_WORKER_LINE_BYTES))
                self._process.stdin.flush()
            except (OSError, ValueError):
                self._slots.pop(request_id, None)
                slot.put(self._death())
            if not self.is_alive:
                slot.put(self._death())
        return slot

    def kill(self) -> None:
        self.is_alive = False
        if self._process.poll() is None:
            self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is piped
        splitter = LineSplitter(MAX_WORKER_LINE_BYTES)
        try:
            while data := os.read(self._process.stdout.fileno(), _READ_BYTES):
                for line in splitter.feed(data):
                    self._take(decode(line.data))
        except (OSError, FramingError):
            pass
        self.kill()
        self._process.wait()
        self._listener.join(1.0)
        with self._lock:
            slots = list(self._slots.values())
            self._slots.clear()
        for slot in slots:
            slot.put(self._death())

    def _take(self, message: Message) -> None:
        request_id = message.get("id")
        with self._lock:
            slot = self._slots.pop(request_id, None) if isinstance(request_id, int) else None
        if slot is not None:
            slot.put(message)

    def _listen(self) -> None:
        """Keep the end of its standard error, and forward it to the probe's log."""
        assert self._process.stderr is not None  # noqa: S101 - it is piped
        while data := os.read(self._process.stderr.fileno(), _READ_BYTES):
            self._words = (self._words + data)[-_MAX_WORDS:]
            with contextlib.suppress(OSError):
                os.write(2, data)

    def _death(self) -> Message:
        message = f"the helper process died: {self._words.decode('utf-8', 'replace')}"
        return {"ok": False, "error": {"type": "worker_died", "message": message.strip(": ")}}

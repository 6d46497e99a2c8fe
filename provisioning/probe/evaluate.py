"""Helper process that keeps evaluators in memory and runs each wave of them in a fork.

It has one thread, which makes forking safe, and is started separately from the probe, so that a
wave costs a fork instead of a Python start. Waves run in parallel; a wave that crashes or misses
its deadline is killed and loses only its own unanswered nodes. Within a wave each evaluator has its
own deadline, so that a slow one does not block the others. A wave's process has limits on memory,
processor time, open files and written bytes; it dumps no core.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import selectors
import signal
import sys
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NoReturn

from provisioning.probe import reasons
from provisioning.probe.display import xserver
from provisioning.probe.errors import ProbeError
from provisioning.probe.guest import Guest
from provisioning.probe.importer import CodeBundle
from provisioning.probe.reasons import undecided
from provisioning.probe.serving import worker
from provisioning.probe.serving.framing import Line, LineSplitter, decode, encode
from provisioning.probe.serving.params import Params
from provisioning.probe.serving.workers import MAX_WORKER_LINE_BYTES
from provisioning.probe.system.session import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from provisioning.probe.reasons import Outcome, Reason

MAX_BUNDLES = 4
MEMORY_BYTES = 1 << 30
"""Address space limit of a wave's process, and of each program that it runs."""

MAX_FILES = 1024
MAX_WRITTEN_BYTES = 128 << 20
CALL_SHARE = 0.5
"""Maximum share of a wave's time that one evaluator may take."""

MARK = "__mesocosm_mark__"


def main(user: str) -> None:
    """Serve until the probe exits."""
    in_fd, out_fd = worker.claim_streams()
    _protect_from_oom_killer()
    with contextlib.suppress(ImportError):
        xserver.load()
    Judge(Sessions(user), in_fd, out_fd).run()


class Judge:
    """Server of the requests ``bundle``, ``evaluate`` and ``warm``; it answers them in any order.

    Args:
        sessions: provides the user whose desktop is evaluated.
        in_fd: descriptor for requests.
        out_fd: descriptor for replies.
    """

    def __init__(self, sessions: Sessions, in_fd: int, out_fd: int) -> None:
        self._sessions = sessions
        self._in_fd = in_fd
        self._out_fd = out_fd
        self._bundles: OrderedDict[str, CodeBundle] = OrderedDict()
        self._waves: dict[int, _Wave] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(in_fd, selectors.EVENT_READ)

    def run(self) -> None:
        """Serve until the requests end, then kill running waves."""
        splitter = LineSplitter(MAX_WORKER_LINE_BYTES)
        while True:
            for key, _ in self._selector.select(self._wait_s()):
                if key.fd != self._in_fd:
                    self._receive(self._waves[key.fd])
                    continue
                data = os.read(self._in_fd, 1 << 16)
                if not data:
                    for wave in list(self._waves.values()):
                        wave.kill()
                    return
                for line in splitter.feed(data):
                    self._take(line)
            now_s = time.monotonic()
            for wave in [entry for entry in self._waves.values() if entry.deadline_s <= now_s]:
                self._end(wave, is_late=True)

    def _wait_s(self) -> float | None:
        ends = [wave.deadline_s for wave in self._waves.values()]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _take(self, line: Line) -> None:
        request = decode(line.data)
        request_id = int(request["id"])
        params = Params(request["params"], float(request["timeout_s"]))
        try:
            if request["op"] == "evaluate":
                self._start(request_id, params)
                return
            result = self._load(params) if request["op"] == "bundle" else {}
        except Exception as exc:  # noqa: BLE001 - the boundary: the probe must get an answer
            self._write(worker.failure(request_id, exc))
        else:
            self._write({"id": request_id, "ok": True, "result": result})

    def _load(self, params: Params) -> dict[str, bool]:
        digest, modules = params.text("digest"), params.mapping("modules")
        if digest in self._bundles:
            return {"loaded": False}
        self._bundles[digest] = CodeBundle(modules)
        while len(self._bundles) > MAX_BUNDLES:
            self._bundles.popitem(last=False)
        return {"loaded": True}

    def _start(self, request_id: int, params: Params) -> None:
        bundle = self._bundles.get(params.text("bundle"))
        if bundle is None:
            raise ProbeError("unknown_bundle", f"no bundle {params.text('bundle')!r} is loaded")
        calls = _read_calls(params)
        timeout_s = params.number("timeout_s", params.timeout_s)
        try:
            bundle.prepare(_modules_of(bundle, calls))
        except (SyntaxError, ValueError) as exc:
            raise ProbeError("failed", f"the bundle does not compile: {exc}") from exc
        if "session" in params.values:
            self._sessions.adopt(params.values["session"])
        read_fd, write_fd = os.pipe()
        try:
            pid = os.fork()
        except OSError as exc:  # no memory or process is left
            os.close(read_fd)
            os.close(write_fd)
            reason = f"the evaluators' process could not be started: {exc}"
            result = [undecided(call, reasons.NO_PROCESS, reason) for call in calls]
            self._write({"id": request_id, "ok": True, "result": result})
            return
        if pid == 0:
            os.close(read_fd)
            self._be_child(bundle, calls, write_fd, timeout_s)
        os.close(write_fd)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        wave = _Wave(request_id, pid, read_fd, calls, timeout_s)
        self._waves[read_fd] = wave
        self._selector.register(read_fd, selectors.EVENT_READ)

    def _be_child(
        self, bundle: CodeBundle, calls: list[dict[str, Any]], write_fd: int, timeout_s: float
    ) -> NoReturn:
        try:
            os.setpgid(0, 0)
            for fd in (self._in_fd, self._out_fd, *self._waves):
                os.close(fd)
            _bound(timeout_s)
            guest = Guest(self._sessions)
            for outcome in run_calls(bundle, calls, guest, call_timeout_s=timeout_s * CALL_SHARE):
                worker.write_all(write_fd, encode(outcome))
        except BaseException as exc:  # noqa: BLE001 - the child must not return into the parent
            sys.stderr.write(f"evaluating failed: {exc!r}\n")
            os._exit(1)
        os._exit(0)

    def _receive(self, wave: _Wave) -> None:
        data = os.read(wave.fd, 1 << 16)
        wave.outcomes.extend(decode(line.data) for line in wave.splitter.feed(data))
        if not data:
            self._end(wave, is_late=False)

    def _end(self, wave: _Wave, *, is_late: bool) -> None:
        self._selector.unregister(wave.fd)
        del self._waves[wave.fd]
        os.close(wave.fd)
        reason = wave.end(is_late=is_late)
        rest = [undecided(call, *reason) for call in wave.calls[len(wave.outcomes) :]]
        self._write({"id": wave.request_id, "ok": True, "result": wave.outcomes + rest})

    def _write(self, message: dict[str, Any]) -> None:
        worker.write_all(self._out_fd, encode(message, MAX_WORKER_LINE_BYTES))


class _Wave:
    """A list of calls that a child executes."""

    def __init__(
        self, request_id: int, pid: int, fd: int, calls: list[dict[str, Any]], timeout_s: float
    ) -> None:
        self.request_id = request_id
        self.pid = pid
        self.fd = fd
        self.calls = calls
        self.timeout_s = timeout_s
        self.deadline_s = time.monotonic() + timeout_s
        self.splitter = LineSplitter()
        self.outcomes: list[Outcome] = []

    def kill(self) -> int:
        """Kill the child and everything it started; return its exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return os.waitpid(self.pid, 0)[1]

    def end(self, *, is_late: bool) -> Reason:
        """Reap the child; return the reason for its unanswered calls."""
        running = self.calls[len(self.outcomes)]["name"] if self.is_short else ""
        if is_late:
            self.kill()
            message = f"the wave missed its deadline of {self.timeout_s:g} s in {running}"
            return reasons.LATE_WAVE, message
        status = os.waitpid(self.pid, 0)[1]
        end = f"ended with exit code {os.WEXITSTATUS(status)}"
        if os.WIFSIGNALED(status):
            end = f"died of signal {os.WTERMSIG(status)}"
        return reasons.PROCESS_ENDED, f"the evaluators' process {end} in {running}"

    @property
    def is_short(self) -> bool:
        return len(self.outcomes) < len(self.calls)


class _TooSlowError(BaseException):
    """An evaluator's time is up; its own `except Exception` cannot catch this."""


def run_calls(
    bundle: CodeBundle, calls: list[dict[str, Any]], guest: Guest, *, call_timeout_s: float
) -> Any:  # noqa: ANN401
    """Import the needed modules of the bundle and run the calls in order, yielding each outcome."""
    evaluators = _find_evaluators(bundle.install(_modules_of(bundle, calls)))
    signal.signal(signal.SIGALRM, _stop_call)
    for call in calls:
        try:
            # Repeatedly: the first one may be lost in a finaliser, which swallows exceptions.
            signal.setitimer(signal.ITIMER_REAL, call_timeout_s, 1.0)
            try:
                outcome = _judge(call, evaluators.get(call["name"]), guest)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except _TooSlowError:
            message = f"{call['name']} took longer than {call_timeout_s:g} s"
            outcome = undecided(call, reasons.TOO_SLOW, message)
        yield outcome


def _stop_call(*_: object) -> NoReturn:
    raise _TooSlowError


def _bound(timeout_s: float) -> None:
    """Set permanent limits for this process and its children."""
    cpu_s = math.ceil(timeout_s) + 1
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, MAX_WRITTEN_BYTES),
        (resource.RLIMIT_NOFILE, MAX_FILES),
    ):
        hard = resource.getrlimit(what)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (bound, bound))


def _protect_from_oom_killer() -> None:
    """Make the kernel kill the agent's processes first if memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("-900")


def _judge(call: dict[str, Any], function: Callable[..., Any] | None, guest: Guest) -> Outcome:
    name = call["name"]
    if function is None:
        return undecided(call, reasons.UNKNOWN, f"there is no evaluator {name!r} in the bundle")
    try:
        met = function(guest, **call["args"])
    except MemoryError:
        message = f"{name} needs more memory than evaluators may use"
        return undecided(call, reasons.TOO_LARGE, message)
    except Exception as exc:  # noqa: BLE001 - evaluators raise to report that they cannot decide
        message = f"{name} raised {type(exc).__name__}: {exc}"
        return undecided(call, reasons.code_of(exc), message)
    if not isinstance(met, bool):
        return undecided(call, reasons.NOT_BOOL, f"{name} gave {type(met).__name__}, not bool")
    return {"node": call["node"], "met": met, "reason": ""}


def _modules_of(bundle: CodeBundle, calls: list[dict[str, Any]]) -> list[str]:
    return bundle.modules_of(call["name"] for call in calls)


def _find_evaluators(modules: list[ModuleType]) -> dict[str, Callable[..., Any]]:
    evaluators: dict[str, Callable[..., Any]] = {}
    for module in modules:
        for value in vars(module).values():
            mark = getattr(value, MARK, None)
            if mark is not None and mark.kind == "evaluator":
                evaluators[mark.name] = value
    return evaluators


def _read_calls(params: Params) -> list[dict[str, Any]]:
    calls = params.values.get("calls")
    if not isinstance(calls, list) or not all(_is_call(call) for call in calls):
        raise ProbeError("bad_params", "calls must be a list of {node, name, args}")
    return calls


def _is_call(call: object) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("node"), str)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("args"), dict)
    )

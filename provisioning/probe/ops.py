"""All operations of the probe, by name."""

from __future__ import annotations

import base64
import itertools
import os
import sys
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any

from provisioning.probe.display.raw import RawDisplay
from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.framing import MAX_LINE_BYTES
from provisioning.probe.serving.params import Params, to_base64
from provisioning.probe.serving.version import version
from provisioning.probe.serving.workers import Spec, Worker
from provisioning.probe.system import activity, apps, digest, files, machine, proc
from provisioning.probe.system.identity import Identity, read_environment
from provisioning.probe.system.run import run_program
from provisioning.probe.system.session import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LARGEST_INLINE_CHARS = MAX_LINE_BYTES - 4096
_KEPT_LARGE_REPLIES = 4
_MOST_FOUND = 30
_EVALUATOR_PATIENCE_S = 3.0
# The agent's code is interrupted at its own deadline, which comes before that of the request.
_CODE_PATIENCE_S = 5.0
_TREE_WAIT_SHARE = 0.6
"""Share of a request's time that it waits for another one about trees."""
# For windows and clipboards; clipboard owners that take longer count as silent.
_DISPLAY_TIMEOUT_S = 3.0
# Processes that identify a GNOME session, which is ready only once its panel is.
_GNOME = frozenset({"gnome-session-b", "gnome-flashback", "gnome-panel"})


class Ops:
    """The probe's operations and the helper processes that they need.

    Args:
        user: login name of the session's user.
        command: command that starts this probe's program again; worker options are added to it.
    """

    def __init__(self, user: str, command: Sequence[str]) -> None:
        self._sessions = Sessions(user)
        self._command = [*command, "--user", user]
        self._display = Worker(lambda: self._session_worker("display"))
        self._tree = Worker(lambda: self._session_worker("tree"))
        self._tree_lock = threading.Lock()
        self._evaluator = Worker(
            lambda: self._root_worker("evaluator"), patience_s=_EVALUATOR_PATIENCE_S
        )
        self._streams = Worker(lambda: self._root_worker("streams"))
        self._code = Worker(lambda: self._session_worker("code"), patience_s=_CODE_PATIENCE_S)
        self._reply_numbers = itertools.count()
        self._boot_id = machine.boot_id()
        self._raw: RawDisplay | None = None
        self._raw_lock = threading.Lock()
        self._raw_requests: list[bytes] = []

    def table(self) -> dict[str, Callable[[Params], Any]]:
        """Return the operations by name."""
        return {
            "ping": self.ping,
            "exec": self.execute,
            "launch": self.launch,
            "open_app": self.open_app,
            "search_apps": self.search_apps,
            "put": files.put,
            "get": files.get,
            "stat": files.stat,
            "screenshot": self.screenshot,
            "input": self._on_display("input"),
            "code_begin": self._on_code("code_begin"),
            "code_continue": self._on_code("code_continue"),
            "shell": self._on_code("shell"),
            "pipe_start": self._on_code("pipe_start"),
            "pipe_send": self._on_code("pipe_send"),
            "pipe_receive": self._on_code("pipe_receive"),
            "prepare_keys": self._on_display("prepare_keys"),
            "finish_keys": self._on_display("finish_keys"),
            "windows": self._on_display("windows"),
            "tree": self._on_tree("tree"),
            "recent_tree": self._on_tree("recent_tree"),
            "find": self._on_tree("find"),
            "documents": self._on_tree("documents"),
            "activity": activity.read,
            "processes": self.processes,
            "session": self.session,
            "digest": self.digest,
            "fingerprint": self.fingerprint,
            "open_streams": self.open_streams,
            "set_clock": machine.set_clock,
            "reseed": machine.reseed,
            "bundle": self.bundle,
            "evaluate": self.evaluate,
            "trim": machine.trim,
            "wake": self.wake,
            "warm": self.warm,
        }

    def stop(self) -> None:
        """End the helper processes."""
        for worker in (self._display, self._tree, self._evaluator, self._streams, self._code):
            worker.stop()

    def ping(self, _params: Params) -> dict[str, Any]:
        """Return the probe's identification and the guest's time."""
        return {
            "pid": os.getpid(),
            "version": version(),
            "clock_s": time.time(),
            "boot_id": self._boot_id,
        }

    def execute(self, params: Params) -> dict[str, Any]:
        """Run a program and wait for it, as the probe's user or as ``user``."""
        identity, env = self._identity_of(params)
        done = run_program(
            params.texts("argv"),
            identity=identity,
            env={**env, **params.mapping("env")},
            timeout_s=params.number("timeout_s", params.timeout_s),
            stdin=params.data("stdin_b64") if params.has("stdin_b64") else b"",
            cwd=params.text("cwd", "/"),
        )
        return {
            "exit_code": done.exit_code,
            "stdout_b64": to_base64(done.stdout),
            "stderr_b64": to_base64(done.stderr),
            "truncated": done.is_truncated,
        }

    def launch(self, params: Params) -> None:
        """Start a program in the session and leave it running."""
        apps.launch(self._sessions.require(), params.texts("argv"), params.timeout_s)

    def open_app(self, params: Params) -> dict[str, str]:
        """Start an application by its displayed name."""
        return apps.open_app(self._sessions.require(), params.text("name"), params.timeout_s)

    def search_apps(self, params: Params) -> list[str]:
        """Return the names of applications whose names have all words of ``words``."""
        home = self._sessions.require().identity.home
        return apps.search([*apps.list_apps(home)], params.text("words"), _MOST_FOUND)

    def screenshot(self, params: Params) -> dict[str, Any]:
        """Take a screenshot; one too large for a line is stored in a file for `get`."""
        shot = self._display.call("screenshot", {}, params.timeout_s)
        if len(shot["png_b64"]) > _LARGEST_INLINE_CHARS:
            shot["path"] = self._store_large_reply(base64.b64decode(shot.pop("png_b64")))
        return dict(shot)

    def processes(self, _params: Params) -> list[dict[str, Any]]:
        """List the user-space processes."""
        return [
            {
                "pid": process.pid,
                "user": proc.user_name(process.uid),
                "comm": process.comm,
                "argv": list(process.argv),
            }
            for process in proc.list_processes()
        ]

    def session(self, params: Params) -> dict[str, Any]:
        """Return whether the desktop is ready: window manager and, under GNOME, the panel."""
        session = self._sessions.find()
        if session is None:
            return {"ready": False, "display": "", "reason": "no process has a display"}
        report: dict[str, Any] = {"display": session.display, "user": session.identity.name}
        try:
            report.update(self._display.call("shown", {}, params.timeout_s))
        except ProbeError as exc:
            return {**report, "ready": False, "reason": str(exc)}
        comms = {process.comm for process in proc.list_processes(session.identity.uid)}
        report["desktop"] = report["desktop"] or "gnome-flashback" in comms
        missing = [] if report["window_manager"] else ["window_manager"]
        if comms & _GNOME:
            missing += [part for part in ("panel", "desktop") if not report[part]]
        reason = f"not ready yet: {', '.join(missing)}" if missing else ""
        return {**report, "ready": not missing, "reason": reason}

    def digest(self, params: Params) -> dict[str, Any]:
        """Return the state that is used to verify resets.

        The display's helper reads the display in parallel. If that fails, ``unseen`` contains the
        reason.
        """
        shown: dict[str, Any] = {"windows": [], "selections": {}, "unseen": "no answer"}
        look = self._look(min(_DISPLAY_TIMEOUT_S, params.timeout_s))
        workers = (self._display, self._tree, self._evaluator, self._streams, self._code)
        own = {os.getpid(), *(worker.pid for worker in workers if worker.pid is not None)}
        if (
            self._code.pid is not None
        ):  # kernel and shell are the appliance's, their programs are not
            own |= proc.children_of(self._code.pid)
        state = digest.take(self._sessions.identity, own)
        try:
            shown.update(look(), unseen="")
        except ProbeError as exc:
            shown["unseen"] = str(exc)
        return {"format": digest.FORMAT, **state, **shown}

    def _look(self, timeout_s: float) -> Callable[[], Any]:
        """Start reading the display and return a function that waits for the result."""
        try:
            return self._display.ask("saved", {}, timeout_s)
        except ProbeError as exc:
            trouble = exc

        def refuse() -> None:
            raise trouble

        return refuse

    def fingerprint(self, params: Params) -> str:
        """Return a digest of the state's data, and prepare `wake` for returning the same.

        Empty if the state can only be compared by its `digest`.
        """
        with self._raw_lock:
            self._drop_raw()
            try:
                encoded = self._display.call("raw_requests", {}, params.timeout_s)
                if not encoded:
                    return ""
                self._raw_requests = [base64.b64decode(data) for data in encoded]
                self._raw = RawDisplay(self._sessions.require(), timeout_s=_DISPLAY_TIMEOUT_S)
                state = self._fingerprint()
                # The requests are those of the windows and clipboards that there are.
                if self._display.call("raw_requests", {}, params.timeout_s) == encoded:
                    return state
            except (OSError, ProbeError) as exc:
                sys.stderr.write(f"the display cannot be read as bytes: {exc}\n")
            self._drop_raw()
            return ""

    def _fingerprint(self, meanwhile: Callable[[], None] = lambda: None) -> str:
        """Return the state's fingerprint; empty if none was prepared, or the display is gone.

        Args:
            meanwhile: called while the X server works on the requests.
        """
        raw, count = self._raw, len(self._raw_requests)
        if raw is None:
            meanwhile()
            return ""
        try:
            raw.send(b"".join(self._raw_requests))
            meanwhile()
            return digest.fingerprint(self._sessions.identity, lambda: raw.receive(count))
        except BaseException as exc:
            # Replies that nobody reads would be taken for those to the next requests.
            self._drop_raw()
            if isinstance(exc, OSError):
                return ""
            raise

    def _drop_raw(self) -> None:
        if self._raw is not None:
            self._raw.close()
        self._raw = None

    def wake(self, params: Params) -> dict[str, Any]:
        """Do everything that a machine needs after restoring a snapshot, in one round trip.

        Reseed the random pool with ``seed_b64``, set the clock to ``unix_s``, and apply a fork's
        ``identity``; the reply contains the ``fingerprint`` of the state and, unless it is the
        expected ``fingerprint``, the ``digest``. The clock is set last, because every program that
        watches it then has work to do.
        """
        start_s = time.monotonic()
        with self._raw_lock:
            state = self._fingerprint(meanwhile=lambda: machine.reseed(params))
        reply: dict[str, Any] = {"fingerprint": state}
        if not state or state != params.text("fingerprint", ""):
            reply["digest"] = self.digest(params)
        if params.has("identity"):
            machine.become(Params(params.mapping("identity"), params.timeout_s))
        machine.set_clock(params, since_s=start_s)
        return reply

    def open_streams(self, params: Params) -> None:
        """Begin a session of streams on another port, instead of the current one; see `streams`."""
        self._streams.call("open", params.values, params.timeout_s)

    def bundle(self, params: Params) -> Any:  # noqa: ANN401 - JSON
        """Load the sources of evaluators into memory."""
        return self._evaluator.call("bundle", params.values, params.timeout_s)

    def evaluate(self, params: Params) -> Any:  # noqa: ANN401 - JSON
        """Run one wave of evaluators."""
        wave_s = params.number("timeout_s", max(0.1, params.timeout_s - 1.0))
        current_session = self._sessions.find()
        session = None if current_session is None else list(current_session[1:])
        wave = {**params.values, "timeout_s": wave_s, "session": session}
        return self._evaluator.call("evaluate", wave, wave_s)

    def warm(self, params: Params) -> dict[str, str]:
        """Start all helper processes, so that a snapshot contains them; return the failures."""
        machine.prepare_identity()
        helpers = {
            "display": (self._display, "shown"),
            "tree": (self._tree, "tree"),
            "evaluator": (self._evaluator, "warm"),
            "streams": (self._streams, "warm"),
        }
        # Start all before waiting for the first.
        answers, trouble = {}, {}
        for name, (worker, op) in helpers.items():
            try:
                answers[name] = worker.ask(op, {"max_nodes": 50}, params.timeout_s)
            except ProbeError as exc:
                trouble[name] = str(exc)
        for name, answer in answers.items():
            try:
                answer()
            except ProbeError as exc:
                trouble[name] = str(exc)
        return trouble

    def _on_display(self, op: str) -> Callable[[Params], Any]:
        return lambda params: self._display.call(op, params.values, params.timeout_s)

    def _on_code(self, op: str) -> Callable[[Params], Any]:
        return lambda params: self._code.call(op, params.values, params.timeout_s)

    def _on_tree(self, op: str) -> Callable[[Params], Any]:
        """Return an operation on trees; one is carried out at a time, the next ones wait.

        Otherwise a request that waits for another would be taken for a helper that hangs.
        """

        def call(params: Params) -> Any:  # noqa: ANN401 - JSON
            end_s = time.monotonic() + params.timeout_s
            if not self._tree_lock.acquire(timeout=_TREE_WAIT_SHARE * params.timeout_s):
                raise ProbeError("busy", "another accessibility tree is being read")
            try:
                return self._tree.call(op, params.values, end_s - time.monotonic())
            finally:
                self._tree_lock.release()

        return call

    def _identity_of(self, params: Params) -> tuple[Identity, dict[str, str]]:
        own = Identity.own()
        name = params.text("user", own.name)
        if name == self._sessions.identity.name:
            env = {**read_environment(), **self._sessions.clean_environment()}
            return self._sessions.identity, env
        try:
            identity = Identity.of(name)
        except KeyError as exc:
            raise ProbeError("bad_params", f"there is no user {name!r}") from exc
        return identity, identity.environment()

    def _store_large_reply(self, data: bytes) -> str:
        folder = os.path.join(tempfile.gettempdir(), f"mesocosm-probe-{os.getpid()}")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, f"{next(self._reply_numbers) % _KEPT_LARGE_REPLIES}")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        return path

    def _session_worker(self, name: str) -> Spec:
        session = self._sessions.require()
        env = session.clean_environment()
        key = (session.leader_pid, session.leader_ticks)
        return Spec([*self._command, "--worker", name], env, key)

    def _root_worker(self, name: str) -> Spec:
        env = Identity.own().environment()
        return Spec([*self._command, "--worker", name], env)


def own_command() -> list[str]:
    """Return the command that starts this program in another process."""
    return [sys.executable, "-I", os.path.abspath(sys.argv[0])]

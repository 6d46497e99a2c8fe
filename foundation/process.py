"""Run programs on the host; the only module that may start them."""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import shutil
import signal
import subprocess
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from foundation.errors import ToolFailedError, ToolMissingError, ToolTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_log = logging.getLogger(__name__)

_TAIL_CHARS = 4000
_KILLED_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")
_AND_ALL_ITS_CHILDREN = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
_INIT = ("sh", "-c", '"$@"; exit "$?"', "init")
"""Process 1 of the namespace, which ignores signals that it has no handler for: it waits for its
child, the program, which does receive them, and reaps the program's orphans."""
_bound_to_thread: ContextVar[bool] = ContextVar("bound_to_thread", default=False)
_bound: set[subprocess.Popen[bytes]] = set()
"""Programs that end together with this process."""
_bound_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of a program; a non-zero exit code is a result, not an exception.

    Attributes:
        argv: program and arguments.
        exit_code: 0 to 255, or the negative signal number.
        stdout: raw bytes.
        stderr: raw bytes.
    """

    argv: tuple[str, ...]
    exit_code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """Standard output as text, with undecodable bytes replaced and outer white space removed."""
        return self.stdout.decode(errors="replace").strip()

    def require(self, resolution: str = "") -> CommandResult:
        """Return self if the exit code is 0.

        Raises:
            ToolFailedError: otherwise, with the tail of the program's output.
        """
        if self.exit_code == 0:
            return self
        output = (self.stderr or self.stdout).decode(errors="replace").strip()
        raise ToolFailedError(
            f"{self.argv[0]} ended with exit code {self.exit_code}.",
            details=f"$ {shlex.join(self.argv)}\n{output[-_TAIL_CHARS:]}",
            resolution=resolution,
        )


def find_tool(name: str) -> str | None:
    """Return the absolute path of a program, also from /usr/sbin and /sbin, or None."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin")


def run(
    argv: Sequence[str],
    *,
    timeout_s: float = 60.0,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> CommandResult:
    """Run a program and wait until it ends.

    Args:
        argv: program and arguments, not interpreted by a shell.
        timeout_s: after this the program's whole process group is killed.
        stdin: its standard input; empty by default.
        env: added to this process' environment.
        cwd: its working directory.

    Raises:
        ToolMissingError: there is no such program.
        ToolTimeoutError: it did not end in time.
    """
    with start(
        argv, env=env, cwd=cwd, stdin=subprocess.PIPE if stdin is not None else None
    ) as proc:
        try:
            out, err = proc.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired as exc:
            kill_group(proc)
            raise ToolTimeoutError(
                f"{argv[0]} did not end within {timeout_s:g} s and was killed.",
                details=f"$ {shlex.join(argv)}",
            ) from exc
        except BaseException:
            kill_group(proc)
            raise
    _log_end(argv, proc)
    return CommandResult(tuple(argv), proc.returncode, out, err)


def stream(
    argv: Sequence[str],
    *,
    on_line: Callable[[str], None],
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> CommandResult:
    """Run a program and pass on each line of its merged output immediately.

    Args:
        argv: program and arguments, not interpreted by a shell.
        on_line: called with each line, without its line end.
        timeout_s: after this the program's whole process group is killed.
        env: added to this process' environment.
        cwd: its working directory.

    Raises:
        ToolMissingError: there is no such program.
        ToolTimeoutError: it did not end in time.
    """
    import threading  # noqa: PLC0415

    kept: list[bytes] = []
    timed_out = threading.Event()
    with start(argv, env=env, cwd=cwd, merge=True) as proc:

        def expire() -> None:
            timed_out.set()
            kill_group(proc)

        timer = threading.Timer(timeout_s, expire)
        timer.start()
        try:
            assert proc.stdout is not None  # noqa: S101
            for raw in proc.stdout:
                kept.append(raw)
                on_line(raw.decode(errors="replace").rstrip("\r\n"))
        except BaseException:
            kill_group(proc)
            raise
        finally:
            timer.cancel()
    if timed_out.is_set():
        raise ToolTimeoutError(
            f"{argv[0]} did not end within {timeout_s:g} s and was killed.",
            details=f"$ {shlex.join(argv)}",
        )
    _log_end(argv, proc)
    return CommandResult(tuple(argv), proc.returncode, b"".join(kept), b"")


@contextlib.contextmanager
def bound_to_thread() -> Iterator[None]:
    """Make programs that this thread starts in a block end when the thread ends, even by SIGKILL.

    The kernel kills them. As root, each program runs in its own process namespace, so that all its
    children end with it, even those in other sessions, and in its own mount namespace, so that its
    mounts are removed. Otherwise only the program itself is killed. In a namespace, the exit code
    of a program that a signal ended is 128 plus the signal number.

    Source: setpriv(1), unshare(1), pid_namespaces(7), PR_SET_PDEATHSIG(2const).
    """
    token = _bound_to_thread.set(True)
    try:
        yield
    finally:
        _bound_to_thread.reset(token)


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: int | None = None,
    merge: bool = False,
    passes_errors: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program in its own process group, with its output piped.

    Args:
        argv: program and arguments.
        env: further environment variables.
        cwd: working directory.
        stdin: as for `subprocess.Popen`; nothing by default.
        merge: pipe standard error together with standard output.
        passes_errors: let standard error be that of this process.

    Raises:
        ToolMissingError: there is no such program.
    """
    _log.debug("$ %s", shlex.join(argv))
    path = find_tool(argv[0]) if "/" not in argv[0] else argv[0]
    is_bound = _bound_to_thread.get()
    before = _prefix() if path and is_bound and os.path.exists(path) else ()  # noqa: PTH110
    try:
        proc = subprocess.Popen(
            [*before, path or argv[0], *argv[1:]],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=_stderr(merge=merge, passes_errors=passes_errors),
            env={**os.environ, **env} if env else None,
            cwd=cwd,
            start_new_session=True,
        )
    except FileNotFoundError as exc:
        raise ToolMissingError(
            f"The program {argv[0]!r} is not installed.",
            details=f"$ {shlex.join(argv)}",
            resolution="Run `make up` to install missing programs, or check with `mesocosm doctor`.",
        ) from exc
    if is_bound:
        with _bound_lock:
            _bound.difference_update([other for other in _bound if other.returncode is not None])
            _bound.add(proc)
    return proc


def _stderr(*, merge: bool, passes_errors: bool) -> int | None:
    if passes_errors:
        return None
    return subprocess.STDOUT if merge else subprocess.PIPE


def kill_bound_programs() -> None:
    """Kill all running programs, of all threads, that end with us; their starters reap them."""
    with _bound_lock:
        running = [proc for proc in _bound if proc.returncode is None]
    for proc in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(proc.pid, signal.SIGKILL)


def start_detached(argv: Sequence[str], *, log: Path) -> subprocess.Popen[bytes]:
    """Start a program that outlives this one, in its own session.

    Args:
        argv: program and arguments.
        log: file that its output is appended to; created with its folder, readable only by its user.

    Raises:
        ToolMissingError: there is no such program.
    """
    _log.debug("$ %s >>%s", shlex.join(argv), log)
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    log.touch(mode=0o600)
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except FileNotFoundError as exc:
        raise ToolMissingError(f"The program {argv[0]!r} is not installed.") from exc
    # Reaps it if it ends before this process.
    threading.Thread(target=process.wait, name=f"reap-{process.pid}", daemon=True).start()
    return process


def _log_end(argv: Sequence[str], proc: subprocess.Popen[bytes]) -> None:
    _log.debug("%s (pid %d) ended with exit code %d", argv[0], proc.pid, proc.returncode)


def kill_group(proc: subprocess.Popen[bytes]) -> None:
    """Kill a started program and all its children, then reap it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(proc.pid, signal.SIGKILL)
    proc.wait()


@cache
def _prefix() -> tuple[str, ...]:
    """Return the command prefix of a program that ends with us, if this host supports it."""
    tools = [find_tool(argv[0]) for argv in (_KILLED_WITH_PARENT, _AND_ALL_ITS_CHILDREN)]
    if tools[0] is None:
        return ()
    dies = (tools[0], *_KILLED_WITH_PARENT[1:])
    if tools[1] is None:
        return dies
    all_die = (*dies, tools[1], *_AND_ALL_ITS_CHILDREN[1:], *_INIT)
    tried = subprocess.run([*all_die, "true"], capture_output=True, check=False)
    return all_die if tried.returncode == 0 else dies

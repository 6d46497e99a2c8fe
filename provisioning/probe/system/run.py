"""Run a program and wait for it, within limits of time and output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from typing import IO, TYPE_CHECKING, NamedTuple

from provisioning.probe.errors import ProbeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.probe.system.identity import Identity

MAX_OUTPUT_BYTES = 1 << 20
"""Maximum kept of standard output and of standard error; the rest is read and dropped."""

MAX_BACKGROUND = 64
"""Pipes of background programs to read; beyond that, a writer ends at its first write."""

BACKGROUND_READER = "background-reader"
"""Name of the threads that read what background programs write."""

# Slow enough that an endless writer blocks on the pipe instead of taking processor time from us.
_READ_ON_EVERY_S = 0.2
_GRACE_S = 0.2
_TICK_S = 0.05


class Completed(NamedTuple):
    """Result of a program.

    Attributes:
        exit_code: 0 to 255, or the negated signal number.
        stdout: raw bytes, at most 1 MiB.
        stderr: raw bytes, at most 1 MiB.
        is_truncated: whether more was written than kept.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    is_truncated: bool


def run_program(
    argv: Sequence[str],
    *,
    identity: Identity,
    env: Mapping[str, str],
    timeout_s: float,
    stdin: bytes = b"",
    cwd: str | None = None,
) -> Completed:
    """Run a program without a shell.

    A background child with the same standard output does not delay the call; what it writes later
    is read and dropped.

    Raises:
        ProbeError: ``not_found`` or ``failed`` if it cannot be started, ``timeout`` if it did not
            end in time; its whole process group is killed then.
    """
    deadline_s = time.monotonic() + timeout_s
    process = start_program(argv, identity=identity, env=env, cwd=cwd, stdin=bool(stdin))
    pump = _Pump(process, stdin)
    try:
        is_ended = pump.run(deadline_s)
    finally:
        if process.poll() is None:
            kill_group(process)
        pump.close()
    if not is_ended:
        tail = (pump.kept[1] or pump.kept[0])[-500:].decode("utf-8", "replace")
        raise ProbeError("timeout", f"{argv[0]} did not end within {timeout_s:g} s; {tail}")
    out, err = pump.kept
    return Completed(process.returncode, bytes(out), bytes(err), pump.is_truncated)


def start_program(
    argv: Sequence[str],
    *,
    identity: Identity,
    env: Mapping[str, str],
    cwd: str | None = None,
    stdin: bool = False,
    output: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start a program in its own session.

    Args:
        argv: program and arguments.
        identity: user to run it as.
        env: environment.
        cwd: working directory.
        stdin: whether it gets a pipe as standard input; else it reads nothing.
        output: target of standard output and standard error, as for `subprocess.Popen`.

    Raises:
        ProbeError: ``not_found`` or ``failed``.
    """
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            **identity.popen_arguments(),
        )
    except FileNotFoundError as exc:
        raise ProbeError("not_found", f"cannot start {argv[0]}: {exc}") from exc
    except (OSError, ValueError) as exc:
        raise ProbeError("failed", f"cannot start {argv[0]}: {exc}") from exc


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with its whole process group and reap it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Pump:
    """Transfer of bytes between a program's pipes and memory."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes) -> None:
        self.kept = (bytearray(), bytearray())
        self.is_truncated = False
        self._process = process
        self._unsent = memoryview(stdin)
        self._selector = selectors.DefaultSelector()
        for index, pipe in enumerate((process.stdout, process.stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, index)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE)

    def run(self, deadline_s: float) -> bool:
        """Transfer until the program and its output have ended; return False if time ran out."""
        ended_s = None
        while True:
            now_s = time.monotonic()
            if ended_s is None and self._process.poll() is not None:
                ended_s = now_s
            if ended_s is not None and (not self._selector.get_map() or now_s > ended_s + _GRACE_S):
                return True
            if ended_s is None and now_s >= deadline_s:
                return False
            if self._selector.get_map():
                self._step(min(_TICK_S, max(0.0, deadline_s - now_s)))
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(max(0.0, deadline_s - now_s))

    def close(self) -> None:
        """Close all pipes, except that pipes with a possible writer continue to be read."""
        written = {key.fd for key in self._selector.get_map().values()}
        self._selector.close()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is None or pipe.closed:
                continue
            is_output = pipe is not self._process.stdin
            if is_output and pipe.fileno() in written and _background.acquire(blocking=False):
                reader = threading.Thread(
                    target=_read_on, args=(pipe,), name=BACKGROUND_READER, daemon=True
                )
                reader.start()
                continue
            with contextlib.suppress(OSError):
                pipe.close()

    def _step(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            if key.events & selectors.EVENT_WRITE:
                self._feed(key.fd)
            else:
                self._drain(key.fd, self.kept[key.data])

    def _feed(self, fd: int) -> None:
        try:
            self._unsent = self._unsent[os.write(fd, self._unsent[: 1 << 16]) :]
        except BlockingIOError:
            return
        except OSError:
            self._unsent = memoryview(b"")
        if not self._unsent:
            self._selector.unregister(fd)
            if self._process.stdin is not None:
                with contextlib.suppress(OSError):
                    self._process.stdin.close()

    def _drain(self, fd: int, kept: bytearray) -> None:
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._selector.unregister(fd)
        room = MAX_OUTPUT_BYTES - len(kept)
        kept += data[:room]
        self.is_truncated = self.is_truncated or len(data) > room


_background = threading.BoundedSemaphore(MAX_BACKGROUND)


def _read_on(pipe: IO[bytes]) -> None:
    """Discard a pipe's data until it has no writer left."""
    try:
        with contextlib.suppress(OSError), pipe:
            os.set_blocking(pipe.fileno(), True)
            while os.read(pipe.fileno(), 1 << 16):
                time.sleep(_READ_ON_EVERY_S)
    finally:
        _background.release()

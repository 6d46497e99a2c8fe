"""Agents that are commands of the user: one process per trial, JSON lines on standard streams."""

from __future__ import annotations

import contextlib
import fcntl
import shlex
import signal
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from controller.agents.custom.messages import (
    MAX_LINE_BYTES,
    PROTOCOL_VERSION,
    observation_message,
    read_line,
    start_message,
    too_long,
    write_line,
)
from controller.agents.custom.turns import as_turn
from controller.registered.source import digest_files
from controller.specification.agent import CommandSpec
from foundation.errors import AgentError, RequirementError, UsageError
from foundation.masking import mask
from foundation.process import bound_to_thread, find_tool, kill_group, start

if TYPE_CHECKING:
    from controller.observation.observer import Observation
    from controller.protocol import AgentContext, MakeAgent, Turn

_KEPT_CHARS = 100_000
_TAIL_CHARS = 4000
_END_S = 2.0
_START_S = 10.0
_POLL_S = 0.02
_INT_BYTES = 4
_FIRST_LINE = {
    "type": "start",
    "protocol": PROTOCOL_VERSION,
    "instruction": "",
    "seed": 0,
    "actions": [],
}


def specify_command(command: str, folder: Path | None = None) -> CommandSpec:
    """Return the specification of a command.

    Args:
        command: program and arguments in shell quoting, although no shell is used.
        folder: its working directory; the current one by default.

    Raises:
        UsageError: the command is empty or wrongly quoted, or its program does not exist.
        SpecError: a file that it names cannot be read.
    """
    folder = folder or Path.cwd()
    digest = _digest(_split(command, folder), folder)
    return CommandSpec(command=command, folder=str(folder), digest=digest)


def make_command_agent(spec: CommandSpec) -> MakeAgent:
    """Return a factory that starts the process of a trial.

    Raises:
        UsageError: the command's program does not exist, or a file that it names has changed.
    """
    argv = _argv_of(spec)
    return lambda context: CommandAgent(context, argv, Path(spec.folder))


def require_starting(spec: CommandSpec) -> str:
    """Start a command, wait until it reads its first line, and stop it; return a summary.

    Raises:
        UsageError: the program does not exist, or a file that the command names has changed.
        RequirementError: the command ended before it read anything.
    """
    argv = _argv_of(spec)
    with bound_to_thread():
        process = start(argv, cwd=Path(spec.folder), stdin=subprocess.PIPE, merge=True)
    try:
        if _has_read(process, write_line(_FIRST_LINE)):
            return f"{argv[0]} starts and reads its input"
        if process.poll() is None:
            return f"{argv[0]} starts but has read no input within {_START_S:g} s"
        raise RequirementError(
            f"The agent's command {_how_it_ended(process.returncode)} immediately.",
            details=mask(_stream(process.stdout).read()[-_TAIL_CHARS:].decode(errors="replace")),
            resolution="Let it wait for JSON lines on its standard input; see docs/agents.md.",
        )
    finally:
        kill_group(process)
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                _stream(stream).close()


def _has_read(process: subprocess.Popen[bytes], line: bytes) -> bool:  # noqa: TID251 - as a type
    """Return whether a process read a line from its standard input before it ended or timed out.

    Source: ioctl_tty(2), FIONREAD; pipe(7): the number of unread bytes, at either end.
    """
    stream = _stream(process.stdin)
    try:
        stream.write(line)
        stream.flush()
    except OSError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
        return False
    for _ in range(round(_START_S / _POLL_S)):
        unread = fcntl.ioctl(stream.fileno(), termios.FIONREAD, bytes(_INT_BYTES))
        if int.from_bytes(unread, sys.byteorder) == 0:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
            break
    return False


def _argv_of(spec: CommandSpec) -> list[str]:
    """Return program and arguments of a command whose files are unchanged.

    Raises:
        UsageError: the program does not exist, or a file that the command names has changed.
    """
    folder = Path(spec.folder)
    argv = _split(spec.command, folder)
    if _digest(argv, folder) != spec.digest:
        raise UsageError(
            f"The files of the agent {spec.command!r} have changed since the run started.",
            resolution="Start a new run, or restore its files.",
        )
    return argv


class CommandAgent:
    """Sends observations to a process and receives its turns.

    Args:
        context: context of the trial.
        argv: program and arguments.
        folder: working directory.

    Raises:
        ToolMissingError: there is no such program.
    """

    def __init__(self, context: AgentContext, argv: list[str], folder: Path) -> None:
        self._context = context
        with bound_to_thread():
            self._process = start(argv, cwd=folder, stdin=subprocess.PIPE)
        self._errors = _ErrorStream(self._process.stderr)
        self._has_begun = False

    def act(self, observation: Observation) -> Turn:
        """Send the observation and return the process's turn.

        Raises:
            AgentError: the process ended, or sent an invalid turn.
        """
        try:
            if not self._has_begun:
                self._send(start_message(self._context))
                self._has_begun = True
            self._send(observation_message(observation))
        except OSError:
            raise self._ended() from None
        try:
            return self._receive()
        finally:
            if text := self._errors.take():
                self._context.diary.write("stderr", text=mask(text))

    def close(self) -> None:
        """Notify the process that the trial is over, and kill it if it does not exit."""
        with contextlib.suppress(OSError):
            self._send({"type": "end"})
        with contextlib.suppress(OSError):
            _stream(self._process.stdin).close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        kill_group(self._process)
        _stream(self._process.stdout).close()
        self._errors.join()

    def _send(self, message: dict[str, Any]) -> None:
        stream = _stream(self._process.stdin)
        stream.write(write_line(message))
        stream.flush()

    def _receive(self) -> Turn:
        while True:
            line = _stream(self._process.stdout).readline(MAX_LINE_BYTES)
            if not line.endswith(b"\n"):
                raise self._ended() if len(line) < MAX_LINE_BYTES else too_long()
            match read_line(line):
                case {"type": "log", **data}:
                    self._context.diary.write("log", **{str(key): data[key] for key in data})
                case message:
                    return as_turn(message)

    def _ended(self) -> AgentError:
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return AgentError("The agent's command closed its standard output.", self._tail())
        return AgentError(f"The agent's command {_how_it_ended(code)}.", self._tail())

    def _tail(self) -> str:
        self._errors.join()
        return mask(self._errors.tail())


class _ErrorStream:
    """Reads a process's standard error in a thread, so that the process never blocks.

    Args:
        stream: the stream, which is read to its end.
    """

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._stream = _stream(stream)
        self._lock = threading.Lock()
        self._new = ""
        self._last = ""
        self._thread = threading.Thread(target=self._read, name="agent-stderr", daemon=True)
        self._thread.start()

    def take(self) -> str:
        """Return the output since the last call, truncated to its end."""
        with self._lock:
            text, self._new = self._new, ""
        return text

    def tail(self) -> str:
        """Return the end of the entire output."""
        with self._lock:
            return self._last.strip()

    def join(self) -> None:
        """Wait until the process has closed the stream, with a timeout."""
        self._thread.join(_END_S)

    def _read(self) -> None:
        with self._stream as stream:
            for line in stream:
                text = line.decode(errors="replace")
                with self._lock:
                    self._new = (self._new + text)[-_KEPT_CHARS:]
                    self._last = (self._last + text)[-_TAIL_CHARS:]


def _how_it_ended(code: int) -> str:
    """Describe how a program ended; a shell reports a signal as an exit code above 128."""
    number = -code if code < 0 else code - 128
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"ended with exit code {code}"


def _split(command: str, folder: Path) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as exc:
        raise UsageError(
            f"The command {command!r} has invalid quoting.",
            details=str(exc),
            resolution="Quote it as for a shell.",
        ) from exc
    if not argv:
        raise UsageError(
            "The agent's command is empty.", resolution="Pass a program and its arguments."
        )
    program = folder / argv[0] if "/" in argv[0] else find_tool(argv[0])
    if program is None or not Path(program).is_file():
        raise UsageError(
            f"There is no program {argv[0]!r}.",
            details=f"$ {command}",
            resolution=f"Install it, or write its path relative to {folder}.",
        )
    return [str(program), *argv[1:]]


def _digest(argv: list[str], folder: Path) -> str:
    """Return the digest of the files in the folder that a command names."""
    root = folder.resolve()
    named = {path for text in argv if (path := folder / text).is_file()}
    return digest_files(sorted(path for path in named if path.resolve().is_relative_to(root)), root)


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 - all three are pipes
    return stream

"""Run one command, or an interactive shell, for a stream."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from images.phone.device.shell.command_line import split_plain
from images.phone.device.shell.environment import SHELL, ShellEnvironment
from images.phone.device.shell.inputs import Feeder, PipeInput
from images.phone.device.shell.terminal import Terminal
from images.phone.device.shell.wakeup import Wakeup
from images.phone.device.streams.shell_protocol import (
    CLOSE_STDIN,
    EXIT,
    STDERR,
    STDIN,
    STDOUT,
    PacketReader,
    encode,
)
from images.phone.device.streams.stream import Stream, StreamClosedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

_CHUNK_BYTES = 64 << 10
_INPUT_GRACE_S = 2.0
_DRAIN_POLL_MS = 5
_EXIT_POLL_S = 0.1

_Output = tuple[int, bytes]


@dataclass(frozen=True)
class ShellRequest:
    """A host's request to run a command.

    Attributes:
        command: command line; empty starts an interactive shell.
        has_packets: whether shell protocol v2 is used.
        has_terminal: whether the command gets a terminal.
        terminal: type of the terminal.
    """

    command: str
    has_packets: bool
    has_terminal: bool
    terminal: str = "dumb"

    @classmethod
    def of_shell(cls, options: list[str], command: str) -> ShellRequest:
        """Parse the options of a ``shell`` service, such as ``v2``, ``raw`` and ``TERM=xterm``."""
        terminal = next((word[5:] for word in options if word.startswith("TERM=")), "dumb")
        has_terminal = "pty" in options or (not command and "raw" not in options)
        return cls(command, "v2" in options, has_terminal, terminal[:40])


def run_session(request: ShellRequest, stream: Stream, environment: ShellEnvironment) -> None:
    """Run a command with its input and output on the stream, and wait for it.

    If the stream ends first, everything that the command started is ended too.

    Raises:
        StreamClosedError: the host disconnected.
    """
    argv = split_plain(request.command)
    is_plain = argv and argv[0] in environment.commands and not request.has_terminal
    if argv and is_plain and not environment.commands.is_live(argv):
        # Skip /bin/sh and the command's executable, which would run the same code.
        skip = partial(_skip, stream, request)
        result = environment.commands.run(argv, environment.config.root, skip)
        _put(stream, request, STDOUT, result.stdout)
        _put(stream, request, STDERR, result.stderr)
        code = result.exit_code
    elif request.has_terminal:
        code = _run_in_terminal(request, stream, environment)
    else:
        code = _run_with_pipes(request, stream, environment)
    if request.has_packets:
        stream.write(encode(EXIT, bytes([code & 0xFF])))


def _skip(stream: Stream, request: ShellRequest, count: int) -> None:
    """Discard `count` bytes from the host, so that it proceeds to read the reply."""
    reader = PacketReader()
    while count > 0 and (data := stream.read()):
        if request.has_packets:
            packets = list(reader.feed(data))
            count -= sum(len(packet.data) for packet in packets if packet.kind == STDIN)
            if any(packet.kind == CLOSE_STDIN for packet in packets):
                return
        else:
            count -= len(data)


def _put(stream: Stream, request: ShellRequest, kind: int, data: bytes) -> None:
    if data:
        stream.write(encode(kind, data) if request.has_packets else data)


def _run_with_pipes(request: ShellRequest, stream: Stream, environment: ShellEnvironment) -> int:
    argv = [SHELL, "-c", request.command] if request.command else [SHELL]
    session = environment.processes.start(
        argv,
        env=environment.variables(),
        cwd=environment.config.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if request.has_packets else subprocess.STDOUT,
    )
    with _ended(stream) as ended, _Pipes(session.child) as pipes:
        feeder = Feeder(stream, pipes.input, has_packets=request.has_packets)
        feeder.start()
        with contextlib.suppress(StreamClosedError):
            while (output := pipes.read(ended)) is not None:
                _put(stream, request, *output)
        _wait_for_exit(session.child, ended)
        if stream.is_closed:
            pipes.drain(feeder)
            environment.processes.end(session)
        return environment.processes.wait(session)


def _run_in_terminal(request: ShellRequest, stream: Stream, environment: ShellEnvironment) -> int:
    with _ended(stream) as ended, Terminal() as terminal:
        # Opening a terminal makes it the controlling terminal of a session without one.
        opener = 'exec "$@" <"$0" >"$0" 2>&1'
        inner = [SHELL, "-c", request.command] if request.command else [SHELL, "-i"]
        session = environment.processes.start(
            [SHELL, "-c", opener, terminal.path, *inner],
            env=environment.variables(request.terminal),
            cwd=environment.config.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        Feeder(stream, terminal, has_packets=request.has_packets).start()
        with contextlib.suppress(StreamClosedError, OSError):
            while data := terminal.read(_CHUNK_BYTES, session.child, ended):
                _put(stream, request, STDOUT, data)
        environment.processes.hang_up(session)
        if stream.is_closed:
            environment.processes.end(session)
        return environment.processes.wait(session)


def _wait_for_exit(child: subprocess.Popen[bytes], ended: Wakeup) -> None:
    """Wait until a command that has closed its output has ended, or the stream has ended."""
    while not ended.is_set:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_EXIT_POLL_S)
            return


@contextlib.contextmanager
def _ended(stream: Stream) -> Iterator[Wakeup]:
    """Provide an event that is set when the stream ends."""
    wakeup = Wakeup()
    stream.call_at_end(wakeup.set)
    try:
        yield wakeup
    finally:
        wakeup.close()


class _Pipes:
    """The standard streams of a process without a terminal; a context manager that closes them."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None  # noqa: S101 - started with pipes
        self.input = PipeInput(child.stdin)
        kinds = ((STDOUT, child.stdout), (STDERR, child.stderr))
        self._outputs = {pipe.fileno(): (kind, pipe) for kind, pipe in kinds if pipe is not None}

    def __enter__(self) -> _Pipes:  # noqa: PYI034 - Self is of 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.input.close()
        for _, pipe in self._outputs.values():
            pipe.close()

    def read(self, ended: Wakeup | None = None, timeout_ms: int | None = None) -> _Output | None:
        """Wait for output.

        Args:
            ended: set when the stream has ended.
            timeout_ms: maximum time to wait; None for no limit.

        Returns:
            The kind of output and its bytes, which are empty on timeout; None once there is no more
            output or the stream has ended.
        """
        poll = select.poll()
        for fd in (*self._outputs, *([] if ended is None else [ended.fileno()])):
            poll.register(fd, select.POLLIN)
        while self._outputs and not (ended is not None and ended.is_set):
            ready = [fd for fd, _ in poll.poll(timeout_ms) if fd in self._outputs]
            for fd in ready:
                kind, pipe = self._outputs[fd]
                if data := os.read(fd, _CHUNK_BYTES):
                    return kind, data
                poll.unregister(fd)
                del self._outputs[fd]
                pipe.close()
            if not ready and timeout_ms is not None:
                return STDOUT, b""
        return None

    def drain(self, feeder: Feeder) -> None:
        """Allow a command whose host is gone 2 s to process the input it received."""
        deadline_s = time.monotonic() + _INPUT_GRACE_S
        while (feeder.is_running or feeder.has_input) and time.monotonic() < deadline_s:
            if self.read(timeout_ms=_DRAIN_POLL_MS) is None:
                return

"""Run one command, or an interactive shell, for a stream."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from images.phone.device.adb.shell_protocol import (
    CLOSE_STDIN,
    EXIT,
    STDERR,
    STDIN,
    STDOUT,
    WINDOW_SIZE,
    PacketReader,
    encode,
)
from images.phone.device.adb.stream import Stream, StreamClosedError
from images.phone.device.shell.environment import SHELL, ShellEnvironment
from images.phone.device.shell.terminal import Terminal
from images.phone.device.shell.words import split_plain

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK_BYTES = 64 << 10
_END_GRACE_S = 2.0


@dataclass(frozen=True)
class ShellRequest:
    """What a host asks for.

    Attributes:
        command: the line; an empty one starts an interactive shell.
        has_packets: the second shell protocol is spoken.
        has_terminal: the command gets a terminal.
        terminal: its type.
    """

    command: str
    has_packets: bool
    has_terminal: bool
    terminal: str = "dumb"

    @classmethod
    def of_shell(cls, options: list[str], command: str) -> ShellRequest:
        """Read the options of a ``shell`` service, such as ``v2``, ``raw`` and ``TERM=xterm``."""
        terminal = next((word[5:] for word in options if word.startswith("TERM=")), "dumb")
        has_terminal = "pty" in options or (not command and "raw" not in options)
        return cls(command, "v2" in options, has_terminal, terminal[:40])


class _Source(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


class _Input(Protocol):
    """Where bytes of the host go."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def resize(self, words: bytes) -> None: ...


class _PipeInput:
    """The standard input of a process without a terminal."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view and self._child.stdin and not self._child.stdin.closed:
            view = view[self._child.stdin.write(view) :]

    def close(self) -> None:
        if self._child.stdin:
            self._child.stdin.close()

    def resize(self, words: bytes) -> None:
        """Do nothing: there is no window."""


def run_session(request: ShellRequest, stream: Stream, environment: ShellEnvironment) -> None:
    """Run what was asked for, with its input and output on the stream, to its end.

    Raises:
        StreamClosedError: the host went away.
    """
    words = split_plain(request.command)
    is_plain = words and words[0] in environment.commands and not request.has_terminal
    if words and is_plain and not environment.commands.is_live(words):
        # Without a detour over /bin/sh and the command's executable: the same code answers.
        skip = partial(_skip, stream, request)
        result = environment.commands.run(words, environment.config.root, skip)
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
    """Read so much of what the host sends and drop it, so that it goes on to read the answer."""
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
    child = environment.processes.start(
        argv,
        env=environment.variables(),
        cwd=environment.config.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if request.has_packets else subprocess.STDOUT,
    )
    _start(_feed, request, stream, _PipeInput(child))
    pumps: list[threading.Thread] = []
    if child.stderr is not None:
        pumps.append(_start(_pump, child.stderr, stream, request, STDERR))
    if child.stdout is not None:
        _pump(child.stdout, stream, request, STDOUT)
    for pump in pumps:
        pump.join()
    if stream.is_closed:
        _let_end(child, environment)
    code = environment.processes.wait(child)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    return code


def _let_end(child: subprocess.Popen[bytes], environment: ShellEnvironment) -> None:
    """Let a command whose host went away work off its input, then end it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_END_GRACE_S)
        return
    environment.processes.kill_group(child)


def _run_in_terminal(request: ShellRequest, stream: Stream, environment: ShellEnvironment) -> int:
    with Terminal() as terminal:
        # Opening a terminal makes it the controlling one of a session that has none.
        opener = 'exec "$@" <"$0" >"$0" 2>&1'
        inner = [SHELL, "-c", request.command] if request.command else [SHELL, "-i"]
        child = environment.processes.start(
            [SHELL, "-c", opener, terminal.path, *inner],
            env=environment.variables(request.terminal),
            cwd=environment.config.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _start(_feed, request, stream, terminal)
        terminal.watch(child, lambda: stream.is_closed)
        _pump(terminal, stream, request, STDOUT)
        environment.processes.kill_group(child, signal.SIGHUP)
        if stream.is_closed:
            _let_end(child, environment)
        return environment.processes.wait(child)


def _start(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, name=work.__name__, daemon=True)
    thread.start()
    return thread


def _pump(source: _Source, stream: Stream, request: ShellRequest, kind: int) -> None:
    """Send what a process writes until it writes no more, or nobody listens."""
    with contextlib.suppress(StreamClosedError, OSError, ValueError):
        while data := source.read(_CHUNK_BYTES):
            _put(stream, request, kind, data)


def _feed(request: ShellRequest, stream: Stream, sink: _Input) -> None:
    """Hand what the host sends to a process until the stream ends."""
    reader = PacketReader()
    with contextlib.suppress(OSError, ValueError):
        while data := stream.read():
            if not request.has_packets:
                sink.write(data)
                continue
            for packet in reader.feed(data):
                if packet.kind == STDIN:
                    sink.write(packet.data)
                elif packet.kind == CLOSE_STDIN:
                    sink.close()
                elif packet.kind == WINDOW_SIZE:
                    sink.resize(packet.data)
    with contextlib.suppress(OSError, ValueError):
        sink.close()

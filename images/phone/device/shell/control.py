"""Connect the executables of the phone's shell to the daemon over a Unix socket."""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from images.phone.device.streams.shell_protocol import EXIT, STDERR, STDOUT, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from images.phone.device.commands.base import Result
    from images.phone.device.commands.catalog import Commands

_MAX_REQUEST_BYTES = 1 << 20
_TIMEOUT_S = 10.0

_CLIENT = '''#!{python} -IS
"""Ask the phone's daemon to carry this command out; made by images.phone.device.shell.control."""
import _signal
import _socket
import os
import sys

name = os.path.basename(sys.argv[0])
request = b"\\0".join(os.fsencode(word) for word in (os.getcwd(), name, *sys.argv[1:]))
sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)


def end(*_):
    try:
        sock.shutdown(_socket.SHUT_WR)
    except OSError:
        pass


# A command that goes on until it is stopped, such as screenrecord, brings its work to an end.
for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
    _signal.signal(number, end)
try:
    sock.connect({socket!r})
except OSError as error:
    sys.exit(f"{{name}}: the phone does not answer: {{error}}")
data = len(request).to_bytes(4, "little") + request
while data:
    data = data[sock.send(data):]
reply = b""
try:
    while True:
        while len(reply) < 5 or len(reply) < 5 + int.from_bytes(reply[1:5], "little"):
            chunk = sock.recv(1 << 20)
            if not chunk:
                sys.exit(f"{{name}}: the phone ended in the middle")
            reply += chunk
        kind, length = reply[0], int.from_bytes(reply[1:5], "little")
        if kind == 3:
            os._exit(reply[5])
        view = memoryview(reply)[5:5 + length]
        while view:
            view = view[os.write(kind, view):]
        reply = reply[5 + length:]
except BrokenPipeError:
    os._exit(141)
'''


def install(names: Iterable[str], folder: Path, socket_path: Path) -> None:
    """Write the executables of Android's commands.

    Args:
        names: names of the commands.
        folder: output folder.
        socket_path: path of the daemon's socket.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = _CLIENT.format(python=sys.executable, socket=str(socket_path))
    for name in names:
        path = folder / name
        path.write_text(text)
        path.chmod(0o755)


class ControlServer:
    """Serve commands that arrive over the Unix socket.

    Args:
        path: path of the socket.
        commands: Android's commands.
    """

    def __init__(self, path: Path, commands: Commands) -> None:
        self._path = path
        self._commands = commands
        path.unlink(missing_ok=True)
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.bind(str(path))
        path.chmod(0o600)
        self._sock.listen(64)

    def start(self) -> None:
        """Start accepting connections."""
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def stop(self) -> None:
        """Stop accepting connections."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()
        self._path.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._sock.accept()
            except OSError:
                return
            threading.Thread(
                target=self._serve, args=(sock,), name="control-conn", daemon=True
            ).start()

    def _serve(self, sock: socket.socket) -> None:
        with sock, contextlib.suppress(OSError, EOFError, UnicodeError):
            sock.settimeout(_TIMEOUT_S)
            (length,) = struct.unpack("<I", _take(sock, 4))
            if length > _MAX_REQUEST_BYTES:
                return
            cwd, *argv = _take(sock, length).decode(errors="surrogateescape").split("\0")
            if self._commands.is_live(argv):
                result = self._run_live(sock, argv, Path(cwd))
            else:
                result = self._commands.run(argv, Path(cwd))
            reply = [
                encode(kind, data)
                for kind, data in ((STDOUT, result.stdout), (STDERR, result.stderr))
                if data
            ]
            sock.sendall(b"".join([*reply, encode(EXIT, bytes([result.exit_code & 0xFF]))]))

    def _run_live(self, sock: socket.socket, argv: list[str], cwd: Path) -> Result:
        """Run a command that streams output, until it is done or its caller ends it."""
        sock.settimeout(None)
        ended = threading.Event()

        def watch() -> None:
            with contextlib.suppress(OSError):
                while sock.recv(4096):
                    pass
            ended.set()

        threading.Thread(target=watch, name="control-watch", daemon=True).start()
        return self._commands.run_live(
            argv, cwd, ended, lambda data: sock.sendall(encode(STDOUT, data))
        )


def _take(sock: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        chunk = sock.recv(min(length - len(data), 1 << 16))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)

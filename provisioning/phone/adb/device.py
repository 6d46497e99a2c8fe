"""A phone over ADB: commands and files, with deadlines."""

from __future__ import annotations

import contextlib
import shlex
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkProtocolError,
    LinkTimeoutError,
    PhoneUnauthorizedError,
    UnsupportedError,
)
from foundation.process import CommandResult, run
from provisioning.links.adb import EXIT, STDERR, STDOUT, AdbShellTransport, PacketReader
from provisioning.protocols import FileStat

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping, Sequence

    from foundation.clock import Clock
    from provisioning.phone.adb.server import AdbServer

SHELL_USER = "shell"
"""User that commands over ADB run as."""
MAX_OUTPUT_BYTES = 64 << 20
_READ_BYTES = 1 << 20
_SYNC_CHUNK_BYTES = 64 << 10
_FILE_TIMEOUT_S = 30.0
_FILE_BYTES_PER_S = 1 << 20
_RECONNECT_TIMEOUT_S = 10.0
_WAIT_EVERY_S = 0.05
_TRY_S = 3.0


class AdbDevice:
    """A phone behind an adb server; thread-safe, as each call opens its own stream.

    Args:
        server: adb server of the phone; reconnects to it when necessary.
        serial: ``HOST:PORT``.
        clock: clock used for deadlines.
    """

    def __init__(self, server: AdbServer, serial: str, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._server = server
        self._clock = clock
        self.serial = serial

    def adb(self, *arguments: str, timeout_s: float = 30.0) -> CommandResult:
        """Run the adb program for this phone, with its adb server.

        Raises:
            ToolMissingError: adb is not installed.
        """
        options = ["-L", self._server.endpoint.spec, "-s", self.serial]
        return run(["adb", *options, *arguments], timeout_s=timeout_s)

    def shell(self, command: str, timeout_s: float = 10.0) -> CommandResult:
        """Run a command line in the phone's shell; a non-zero exit code is a result.

        Raises:
            LinkTimeoutError: the command did not end in time; the phone ends it.
            LinkClosedError: the phone closed the connection.
        """
        parts: dict[int, list[bytes]] = {STDOUT: [], STDERR: [], EXIT: []}
        reader = PacketReader()
        with self._stream(f"shell,v2,raw:{command}", timeout_s, what=command) as stream:
            for data in stream:
                for kind, part in reader.feed(data):
                    parts.setdefault(kind, []).append(part)
        if not parts[EXIT]:
            raise LinkClosedError(
                f"The phone {self.serial} ended {command[:60]!r} without an exit code."
            )
        return CommandResult(
            (command,), parts[EXIT][0][0], b"".join(parts[STDOUT]), b"".join(parts[STDERR])
        )

    def run(
        self,
        argv: Sequence[str],
        *,
        user: str | None = None,
        timeout_s: float = 10.0,
        input: bytes = b"",  # noqa: A002 - as the protocol calls it
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> CommandResult:
        """Run a command in the shell, with each argument quoted; see `provisioning.protocols.Commands`.

        Raises:
            UnsupportedError: another user than the shell's, or input, is requested.
            LinkTimeoutError: the command did not end in time; the phone ends it.
            LinkClosedError: the phone closed the connection.
        """
        if user not in {None, SHELL_USER} or input:
            raise UnsupportedError(
                f"The phone {self.serial} can run commands only as {SHELL_USER} and without input.",
                details=f"Requested: {shlex.join(argv)} as {user or SHELL_USER}.",
            )
        command = shlex.join(argv)
        settings = "".join(
            f"export {key}={shlex.quote(value)}; " for key, value in (env or {}).items()
        )
        folder = f"cd {shlex.quote(cwd)} && " if cwd else ""
        result = self.shell(f"{settings}{folder}{command}", timeout_s)
        return replace(result, argv=tuple(argv))

    def read(self, command: str, timeout_s: float = 10.0) -> bytes:
        """Run a command line and return its raw output, as ``adb exec-out`` does.

        Raises:
            LinkTimeoutError: the command did not end in time.
            LinkClosedError: the phone closed the connection.
        """
        with self._stream(f"exec:{command}", timeout_s, what=command) as stream:
            return b"".join(stream)

    def read_service(self, service: str, timeout_s: float = 10.0) -> bytes:
        """Open a service by its name, such as ``framebuffer:``, and return all data that it sends.

        Raises:
            GuestCallError: the phone has no such service.
            LinkTimeoutError: the service did not end in time.
            LinkClosedError: the phone closed the connection.
        """
        with self._stream(service, timeout_s, what=service) as stream:
            return b"".join(stream)

    def wait(self, timeout_s: float) -> None:
        """Wait until the phone accepts commands and Android has booted; reconnects if necessary.

        A connection that has become stale never answers, so each try is short, and the next one uses
        a new connection.

        Raises:
            PhoneUnauthorizedError: the phone refuses the key.
            PhoneOfflineError: the phone does not answer over ADB.
            LinkTimeoutError: the phone answers over ADB, but Android did not boot in time.
        """
        deadline_s = self._clock.monotonic_s() + timeout_s
        answer = ""
        while (left_s := deadline_s - self._clock.monotonic_s()) > 0:
            self._server.connect(self.serial, timeout_s=left_s)
            try:
                try_s = min(_TRY_S, max(0.1, left_s))
                answer = self.shell("getprop sys.boot_completed", try_s).text
                if answer == "1":
                    return
            except PhoneUnauthorizedError:
                raise
            except LinkTimeoutError as exc:
                answer = exc.brief
                self.disconnect()
            except LinkClosedError as exc:
                answer = exc.brief
            self._clock.sleep(min(_WAIT_EVERY_S, left_s))
        raise LinkTimeoutError(
            f"The phone {self.serial} did not start within {timeout_s:g} s.", details=answer
        )

    def disconnect(self) -> None:
        """Drop the server's connection to the phone; the next command makes a new one."""
        self._server.disconnect(self.serial)

    def open_program(self, command: str, *, timeout_s: float = 10.0) -> AdbShellTransport:
        """Start a program whose standard streams carry a link.

        Raises:
            LinkError: the program could not be started.
        """
        sock = self._open(f"shell,v2,raw:{command}", timeout_s)
        sock.settimeout(None)
        return AdbShellTransport(sock)

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file atomically, creating its parent folders.

        Raises:
            GuestCallError: the phone could not write the file.
            LinkError: the phone closed the connection or did not answer in time.
        """
        with self._sync(len(data)) as sync:
            sync.request(b"SEND", f"{path},{0o100000 | mode}")
            for start in range(0, len(data), _SYNC_CHUNK_BYTES):
                chunk = data[start : start + _SYNC_CHUNK_BYTES]
                sync.send(struct.pack("<4sI", b"DATA", len(chunk)) + chunk)
            sync.send(struct.pack("<4sI", b"DONE", int(self._clock.now_s())))
            sync.expect(b"OKAY", path)

    def get(self, path: str) -> bytes:
        """Read a file.

        Raises:
            GuestCallError: the file does not exist, or cannot be read.
            LinkError: the phone closed the connection or did not answer in time.
        """
        parts: list[bytes] = []
        with self._sync() as sync:
            sync.request(b"RECV", path)
            while (length := sync.expect_data(path)) is not None:
                parts.append(sync.take(length))
        return b"".join(parts)

    def stat(self, path: str) -> FileStat | None:
        """Return the metadata of a file, following links; None if it does not exist.

        Raises:
            LinkError: the phone closed the connection or did not answer in time.
        """
        with self._sync() as sync:
            sync.request(b"STA2", path)
            row = struct.unpack("<4sIQQIIIIQqqq", sync.take(72))
        if row[0] != b"STA2":
            raise LinkProtocolError(
                f"The phone {self.serial} did not answer a request about a file."
            )
        if row[1] != 0:
            return None
        return FileStat(size_bytes=row[8], mode=row[4], mtime_s=float(row[10]))

    def remove(self, path: str) -> None:
        """Remove a file; does nothing if it does not exist."""
        self.shell(f"rm -f {shlex.quote(path)}")

    def _open(self, service: str, timeout_s: float) -> socket.socket:
        """Open a service; if the server lost the phone, reconnect and retry once.

        If the phone refuses the key or the service, there is no retry.
        """
        deadline_s = self._clock.monotonic_s() + timeout_s
        try:
            return self._server.open(self.serial, service, timeout_s=timeout_s)
        except PhoneUnauthorizedError:
            raise
        except LinkClosedError:
            left_s = max(0.1, deadline_s - self._clock.monotonic_s())
            self._server.connect(self.serial, timeout_s=min(left_s, _RECONNECT_TIMEOUT_S))
        left_s = max(0.1, deadline_s - self._clock.monotonic_s())
        return self._server.open(self.serial, service, timeout_s=left_s)

    @contextlib.contextmanager
    def _stream(self, service: str, timeout_s: float, *, what: str) -> Iterator[Iterator[bytes]]:
        deadline_s = self._clock.monotonic_s() + timeout_s
        sock = self._open(service, timeout_s)
        try:
            yield self._chunks(sock, deadline_s)
        except TimeoutError as exc:
            raise LinkTimeoutError(
                f"The phone {self.serial} did not end {what[:60]!r} within {timeout_s:g} s."
            ) from exc
        except OSError as exc:
            raise LinkClosedError(
                f"The connection to the phone {self.serial} broke.", details=str(exc)
            ) from exc
        finally:
            sock.close()

    def _chunks(self, sock: socket.socket, deadline_s: float) -> Iterator[bytes]:
        total = 0
        while True:
            left_s = deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                raise TimeoutError
            sock.settimeout(left_s)
            data = sock.recv(_READ_BYTES)
            if not data:
                return
            total += len(data)
            if total > MAX_OUTPUT_BYTES:
                raise LinkProtocolError(
                    f"The output of the phone {self.serial} exceeds {MAX_OUTPUT_BYTES} bytes."
                )
            yield data

    @contextlib.contextmanager
    def _sync(self, size_bytes: int = 0) -> Iterator[_Sync]:
        timeout_s = _FILE_TIMEOUT_S + size_bytes / _FILE_BYTES_PER_S
        deadline_s = self._clock.monotonic_s() + timeout_s
        sock = self._open("sync:", timeout_s)
        try:
            yield _Sync(sock, deadline_s, self._clock)
        except TimeoutError as exc:
            raise LinkTimeoutError(
                f"The phone {self.serial} did not transfer a file in time."
            ) from exc
        except OSError as exc:
            raise LinkClosedError(
                f"The connection to the phone {self.serial} broke.", details=str(exc)
            ) from exc
        finally:
            sock.close()


class _Sync:
    """A stream of the file service, with a deadline that is extended by received data.

    Source: AOSP ``file_sync_protocol.h``.
    """

    def __init__(self, sock: socket.socket, deadline_s: float, clock: Clock) -> None:
        self._sock = sock
        self._deadline_s = deadline_s
        self._clock = clock

    def request(self, name: bytes, text: str) -> None:
        raw = text.encode()
        self.send(struct.pack("<4sI", name, len(raw)) + raw)

    def send(self, data: bytes) -> None:
        self._bound()
        self._sock.sendall(data)

    def take(self, length: int) -> bytes:
        buffer = bytearray()
        while len(buffer) < length:
            self._bound()
            data = self._sock.recv(length - len(buffer))
            if not data:
                raise ConnectionResetError("the phone closed the stream")
            buffer += data
            self._deadline_s += len(data) / _FILE_BYTES_PER_S
        return bytes(buffer)

    def _bound(self) -> None:
        """Set the timeout of the next wait to the deadline."""
        left_s = self._deadline_s - self._clock.monotonic_s()
        if left_s <= 0:
            raise TimeoutError
        self._sock.settimeout(left_s)

    def expect(self, name: bytes, path: str) -> None:
        """Read a reply without content."""
        response, number = struct.unpack("<4sI", self.take(8))
        self._check(response, number, name, path)

    def expect_data(self, path: str) -> int | None:
        """Return the length of the next chunk of a file; None at its end."""
        response, number = struct.unpack("<4sI", self.take(8))
        if response == b"DONE":
            return None
        self._check(response, number, b"DATA", path)
        if number > _SYNC_CHUNK_BYTES:
            raise LinkProtocolError(f"The phone sent a chunk of {number} bytes, which is too long.")
        return int(number)

    def _check(self, response: bytes, number: int, wanted: bytes, path: str) -> None:
        if response == b"FAIL":
            message = self.take(min(number, _SYNC_CHUNK_BYTES)).decode(errors="replace")
            raise GuestCallError(f"The phone refused the file {path}.", details=message)
        if response != wanted:
            raise LinkProtocolError(f"The phone answered {response!r} instead of {wanted!r}.")

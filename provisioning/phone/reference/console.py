"""A client of a phone's console, which Android's emulator and the reference phone have.

Requests are lines; replies end in ``OK`` or start with ``KO:``.

Source: AOSP ``external/qemu/android/console.c``.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Self

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkProtocolError,
    LinkTimeoutError,
)

if TYPE_CHECKING:
    from types import TracebackType

    from foundation.clock import Clock

_MAX_ANSWER_BYTES = 1 << 20


class ConsoleClient:
    """A session with a console; a context manager.

    Args:
        address: host and port.
        token: token for ``auth``.
        timeout_s: time limit for connecting and authentication, each.
        clock: clock used for deadlines.

    Raises:
        LinkClosedError: no server listens, or the token is wrong.
        LinkTimeoutError: the console did not answer in time.
    """

    def __init__(
        self,
        address: tuple[str, int],
        token: str,
        *,
        timeout_s: float = 5.0,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._buffer = b""
        self._name = f"{address[0]}:{address[1]}"
        try:
            self._sock = socket.create_connection(address, timeout=timeout_s)
        except TimeoutError as exc:
            raise LinkTimeoutError(f"The console {self._name} does not answer.") from exc
        except OSError as exc:
            raise LinkClosedError(
                f"No server listens on the console port {self._name}.", details=str(exc)
            ) from exc
        try:
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._answer("the banner", timeout_s)
            self.run(f"auth {token}", timeout_s=timeout_s)
        except GuestCallError as exc:
            self.close()
            raise LinkClosedError(
                f"The console {self._name} refused the token.", details=exc.details
            ) from exc
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, line: str, *, timeout_s: float) -> list[str]:
        """Run one command and return the lines of its reply, without the ``OK``.

        Raises:
            GuestCallError: the reply was ``KO``; carries its message.
            LinkTimeoutError: no reply in time; the session can no longer be used.
            LinkClosedError: the phone closed the connection.
        """
        if "\n" in line or "\r" in line:
            raise LinkProtocolError("A console command must be a single line.")
        try:
            self._sock.sendall(f"{line}\n".encode())
        except OSError as exc:
            raise LinkClosedError(
                f"The connection to the console {self._name} broke.", str(exc)
            ) from exc
        return self._answer(line.split(" ", 1)[0], timeout_s)

    def close(self) -> None:
        """Close the session; may be called more than once."""
        self._sock.close()

    def _answer(self, what: str, timeout_s: float) -> list[str]:
        deadline_s = self._clock.monotonic_s() + timeout_s
        lines: list[str] = []
        while True:
            line = self._line(what, deadline_s, timeout_s)
            if line == "OK" or line.startswith("OK:"):
                return lines
            if line.startswith("KO"):
                message = line.removeprefix("KO").lstrip(": ")
                raise GuestCallError(f"The console refused {what!r}.", details=message)
            lines.append(line)

    def _line(self, what: str, deadline_s: float, timeout_s: float) -> str:
        while b"\n" not in self._buffer:
            left_s = deadline_s - self._clock.monotonic_s()
            try:
                self._sock.settimeout(max(0.001, left_s))
                data = self._sock.recv(1 << 16) if left_s > 0 else None
            except TimeoutError:
                data = None
            except OSError as exc:
                raise LinkClosedError(
                    f"The connection to the console {self._name} broke.", str(exc)
                ) from exc
            if data is None:
                raise LinkTimeoutError(
                    f"The console {self._name} did not answer {what!r} within {timeout_s:g} s."
                )
            if not data:
                raise LinkClosedError(f"The console {self._name} closed the session.")
            self._buffer += data
            if len(self._buffer) > _MAX_ANSWER_BYTES:
                raise LinkProtocolError(f"The reply of the console {self._name} is too long.")
        raw, _, self._buffer = self._buffer.partition(b"\n")
        return raw.decode(errors="replace").rstrip("\r")

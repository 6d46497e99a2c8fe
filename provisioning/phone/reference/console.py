"""Drive the console of a phone: Android's emulator has it, and so has the reference phone.

Source: AOSP ``external/qemu/android/console.c``: lines in, answers that end in ``OK`` or begin
with ``KO:``.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Self

from appliance.base.clock import SYSTEM_CLOCK
from appliance.base.errors import (
    GuestCallError,
    LinkClosedError,
    LinkProtocolError,
    LinkTimeoutError,
)

if TYPE_CHECKING:
    from types import TracebackType

    from appliance.base.clock import Clock

_MAX_ANSWER_BYTES = 1 << 20


class ConsoleClient:
    """A session with a console; a context manager.

    Args:
        address: host and port.
        token: what ``auth`` wants.
        timeout_s: for connecting and signing in.
        clock: whose deadlines count.

    Raises:
        LinkClosedError: nobody listens, or the token is wrong.
        LinkTimeoutError: nobody answered in time.
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
                f"Nobody listens on the console {self._name}.", details=str(exc)
            ) from exc
        try:
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._answer("the banner", timeout_s)
            self.run(f"auth {token}", timeout_s=timeout_s)
        except GuestCallError as exc:
            self.close()
            raise LinkClosedError(
                f"The console {self._name} refuses this token.", details=exc.details
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
        """Run one command and return the lines of its answer, without the ``OK``.

        Raises:
            GuestCallError: it was answered with ``KO``, with its words.
            LinkTimeoutError: no answer came in time; the session is of no use any more.
            LinkClosedError: the phone went away.
        """
        if "\n" in line or "\r" in line:
            raise LinkProtocolError("A command of the console is one line.")
        try:
            self._sock.sendall(f"{line}\n".encode())
        except OSError as exc:
            raise LinkClosedError(f"The console {self._name} went away.", str(exc)) from exc
        return self._answer(line.split(" ", 1)[0], timeout_s)

    def close(self) -> None:
        """End the session; harmless twice."""
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
                raise LinkClosedError(f"The console {self._name} went away.", str(exc)) from exc
            if data is None:
                raise LinkTimeoutError(
                    f"The console {self._name} did not answer {what!r} within {timeout_s:g} s."
                )
            if not data:
                raise LinkClosedError(f"The console {self._name} closed the session.")
            self._buffer += data
            if len(self._buffer) > _MAX_ANSWER_BYTES:
                raise LinkProtocolError(f"The console {self._name} sends without end.")
        raw, _, self._buffer = self._buffer.partition(b"\n")
        return raw.decode(errors="replace").rstrip("\r")

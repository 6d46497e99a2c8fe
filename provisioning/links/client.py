"""The client of a probe: requests with ids and deadlines over any transport; thread-safe."""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from typing import TYPE_CHECKING, assert_never

from foundation.errors import (
    GuestCallError,
    LinkClosedError,
    LinkError,
    LinkProtocolError,
    LinkTimeoutError,
)
from provisioning.links.framing import (
    MAX_LINE_BYTES,
    FramingError,
    Hello,
    InvalidLine,
    LineSplitter,
    Reply,
    encode,
    parse,
)
from provisioning.links.outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from provisioning.links.transport import Transport
    from provisioning.protocols import Json

MAX_NOISE_BYTES = 16 << 20
"""The link ends after this many bytes without a valid message."""

_PING_EVERY_S = 0.25
# An operation is itself answered within this time on most machines.
_FIRST_PING_S = 1.0


class _Call:
    """A request that waits for its reply."""

    def __init__(self, op: str) -> None:
        self.op = op
        self.done = threading.Event()
        self.result: Json = None
        self.error: LinkError | None = None

    def end(self, result: Json = None, error: LinkError | None = None) -> None:
        """End the call and wake its caller; only the first end counts."""
        if not self.done.is_set():
            self.result, self.error = result, error
            self.done.set()


class LinkClient:
    """A `provisioning.protocols.Link` over a transport.

    A call that hangs does not delay other calls: each waits for its own reply, and requests are sent
    through a queue, so that a guest that does not read blocks no caller beyond its deadline. Replies
    after the deadline and lines that are not replies are ignored; a call that gets no reply while
    invalid lines arrive fails with a protocol error.

    Args:
        transport: carries the bytes; the client takes ownership.
        name: name of the other end, for errors and threads.
    """

    def __init__(self, transport: Transport, *, name: str = "probe") -> None:
        self.name = name
        self._transport = transport
        self._ids = itertools.count(secrets.randbits(40))
        self._pending: dict[int, _Call] = {}
        self._lock = threading.Lock()
        self._hello: Hello | None = None
        self._closed_because: str | None = None
        self._garbage_lines = 0
        self._noise_bytes = 0
        self._last_garbage = ""
        self._outbox = Outbox(transport.write, on_broken=self._break, name=f"link-out-{name}")
        self._reader = threading.Thread(target=self._read, name=f"link-in-{name}", daemon=True)
        self._reader.start()

    @property
    def hello(self) -> Hello | None:
        """Return the probe's last announcement, if any."""
        return self._hello

    @property
    def is_closed(self) -> bool:
        """Return whether either side has closed the link."""
        return self._closed_because is not None

    def call(
        self, op: str, params: Mapping[str, Json] | None = None, *, timeout_s: float = 10.0
    ) -> Json:
        """Call one operation of the probe and wait for its reply.

        Args:
            op: name of the operation.
            params: its arguments.
            timeout_s: time limit of the whole round trip; also sent to the probe.

        Raises:
            LinkClosedError: the other end closed the connection.
            LinkTimeoutError: no reply before the deadline; later calls still work.
            LinkProtocolError: request or reply exceed 4 MiB, or invalid lines arrived instead.
            GuestCallError: the operation failed in the guest; carries the guest's message.
        """
        call = _Call(op)
        invalid_before = self._garbage_lines
        request_id = self._send(call, op, params, timeout_s)
        try:
            if not call.done.wait(timeout_s):
                call.end(error=self._no_reply(op, timeout_s, invalid_before))
        finally:
            self._forget(request_id)
        if call.error is not None:
            raise call.error
        return call.result

    def resync(self, *, timeout_s: float = 10.0) -> Json:
        """Synchronize with the other end, at the start and after its machine was rewound.

        Waiting calls fail at once, as the guest that would have answered them no longer exists. A
        newline ends any partial line in the guest; then pings are sent until one is answered.

        Returns:
            The probe's reply to the ping.

        Raises:
            LinkClosedError: the transport has ended.
            LinkTimeoutError: no ping was answered in time.
        """
        self._interrupt()
        return self._ping(timeout_s)

    def resync_with(
        self, op: str, describe: Callable[[], Mapping[str, Json]], *, timeout_s: float = 10.0
    ) -> Json:
        """Synchronize as `resync` does, with a call that also is the first sign of life.

        This saves a round trip: pings are sent only if there is no reply for a second. If one of
        them is answered first, the call was lost, and is repeated.

        Args:
            op: name of an operation that the probe answers before it reads further requests.
            describe: returns its arguments; called just before they are sent.
            timeout_s: time limit of everything.

        Raises:
            LinkClosedError, LinkTimeoutError, LinkProtocolError, GuestCallError: as for `call`.
        """
        self._interrupt()
        deadline_s = time.monotonic() + timeout_s
        call = _Call(op)
        request_id = self._send(call, op, describe(), timeout_s, prefix=b"\n")
        try:
            if not call.done.wait(min(_FIRST_PING_S, timeout_s)):
                self._ping(deadline_s - time.monotonic())
        finally:
            self._forget(request_id)
        if not call.done.is_set():
            if (left_s := deadline_s - time.monotonic()) <= 0:
                raise self._no_reply(op, timeout_s, self._garbage_lines)
            return self.call(op, describe(), timeout_s=left_s)
        if call.error is not None:
            raise call.error
        return call.result

    def _interrupt(self) -> None:
        """Drop all requests that were sent to a machine that no longer exists."""
        self._outbox.clear()
        self._end_all(f"Communication with {self.name} was interrupted: its machine was rewound.")

    def _ping(self, timeout_s: float) -> Json:
        """Send pings until one is answered."""
        call = _Call("ping")
        deadline_s = time.monotonic() + timeout_s
        sent: list[int] = []
        try:
            while (left_s := deadline_s - time.monotonic()) > 0 and not call.done.is_set():
                sent.append(self._send(call, "ping", None, left_s, prefix=b"\n"))
                call.done.wait(min(_PING_EVERY_S, left_s))
        finally:
            for request_id in sent:
                self._forget(request_id)
        call.end(error=self._no_reply("ping", timeout_s, self._garbage_lines))
        if call.error is not None:
            raise call.error
        return call.result

    def close(self) -> None:
        """Close the transport; may be called more than once."""
        self._shut("it was closed by this side")
        if threading.current_thread() is not self._reader:
            self._reader.join(timeout=5.0)

    def _send(
        self,
        call: _Call,
        op: str,
        params: Mapping[str, Json] | None,
        timeout_s: float,
        *,
        prefix: bytes = b"",
    ) -> int:
        request_id = next(self._ids)
        request = {"id": request_id, "op": op, "params": dict(params or {}), "timeout_s": timeout_s}
        try:
            line = encode(request)
        except FramingError as exc:
            raise LinkProtocolError(
                f"The request {op!r} cannot be sent.", details=str(exc)
            ) from exc
        with self._lock:
            if self._closed_because is not None:
                raise LinkClosedError(*self._closed_message())
            self._pending[request_id] = call
        if not self._outbox.put(prefix + line):
            self._forget(request_id)
            raise LinkTimeoutError(f"{self.name} does not read its requests.")
        return request_id

    def _forget(self, request_id: int) -> None:
        with self._lock:
            self._pending.pop(request_id, None)

    def _no_reply(self, op: str, timeout_s: float, invalid_before: int) -> LinkError:
        brief = f"{self.name} did not answer {op!r} within {timeout_s:g} s."
        garbage = self._garbage_lines - invalid_before
        if garbage:
            return LinkProtocolError(
                brief,
                details=f"{garbage} invalid lines arrived instead; the last: {self._last_garbage}",
            )
        return LinkTimeoutError(brief)

    def _read(self) -> None:
        splitter = LineSplitter(MAX_LINE_BYTES)
        reason = "the other end closed it"
        try:
            while data := self._transport.read():
                self._noise_bytes += len(data)
                for line in splitter.feed(data):
                    self._take(parse(line))
                if self._noise_bytes > MAX_NOISE_BYTES:
                    self._shut(f"{MAX_NOISE_BYTES} bytes arrived without a valid message")
                    return
        except (OSError, EOFError, LinkError) as exc:
            reason = f"reading failed: {exc}"
        self._break(reason)

    def _take(self, message: Hello | Reply | InvalidLine) -> None:
        match message:
            case Hello():
                self._noise_bytes = 0
                if self._hello is not None and self._hello != message:
                    self._end_all(f"{self.name} was restarted.")
                self._hello = message
            case Reply(request_id=request_id):
                self._noise_bytes = 0
                with self._lock:
                    call = self._pending.pop(request_id, None)
                if call is not None:
                    call.end(message.result, self._error(call.op, message.error))
            case InvalidLine():
                self._take_invalid_line(message)
            case _:
                assert_never(message)

    def _take_invalid_line(self, garbage: InvalidLine) -> None:
        self._garbage_lines += 1
        self._last_garbage = garbage.why
        with self._lock:
            call = self._pending.pop(garbage.request_id, None) if garbage.request_id else None
        if call is not None:
            call.end(
                error=LinkProtocolError(
                    f"{self.name} sent an invalid reply to {call.op!r}.", details=garbage.why
                )
            )

    def _error(self, op: str, error: tuple[str, str] | None) -> LinkError | None:
        match error:
            case None:
                return None
            case ("timeout", message):
                return LinkTimeoutError(
                    f"{op!r} did not end in time in {self.name}.", details=message
                )
            case ("oversize", message):
                return LinkProtocolError(f"The reply to {op!r} is too large.", details=message)
            case (kind, message):
                failure = GuestCallError(
                    f"{op!r} failed in {self.name}.", details=f"{kind}: {message}"
                )
                failure.kind = kind
                return failure

    def _break(self, reason: str) -> None:
        output = self._transport.read_error_tail().strip()
        self._shut(f"{reason}\n{output}" if output else reason)

    def _shut(self, reason: str) -> None:
        with self._lock:
            if self._closed_because is not None:
                return
            self._closed_because = reason
        self._outbox.close()
        self._transport.close()
        self._end_all(*self._closed_message())

    def _closed_message(self) -> tuple[str, str]:
        return f"The link to {self.name} is closed.", self._closed_because or ""

    def _end_all(self, brief: str, details: str = "") -> None:
        with self._lock:
            calls = list(self._pending.values())
            self._pending.clear()
        for call in calls:
            call.end(error=LinkClosedError(brief, details))


def connect(transport: Transport, *, name: str, timeout_s: float) -> LinkClient:
    """Create a client and wait until the probe answers.

    Args:
        transport: transport that the client takes ownership of; closed on failure.
        name: name of the other end, for errors.
        timeout_s: time limit of the first reply.

    Raises:
        LinkClosedError, LinkTimeoutError, LinkProtocolError: no probe answers.
    """
    client = LinkClient(transport, name=name)
    try:
        client.resync(timeout_s=timeout_s)
    except BaseException:
        client.close()
        raise
    return client

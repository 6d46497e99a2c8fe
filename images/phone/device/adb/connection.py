"""One host's connection: authentication, then streams."""

from __future__ import annotations

import contextlib
import re
import secrets
import socket
import sys
import threading
from typing import TYPE_CHECKING

from images.phone.device.adb.keys import TOKEN_BYTES, is_signed
from images.phone.device.streams.stream import WINDOW_BYTES, Budget, Stream
from images.phone.device.streams.wire import (
    AUTH,
    AUTH_PUBLIC_KEY,
    AUTH_SIGNATURE,
    AUTH_TOKEN,
    CLSE,
    CNXN,
    MAX_PAYLOAD_BEFORE_AUTH_BYTES,
    MAX_PAYLOAD_BYTES,
    OKAY,
    OPEN,
    VERSION_MIN,
    VERSION_SKIP_CHECKSUM,
    WRTE,
    AdbProtocolError,
    ConnectionEndedError,
    Message,
    encode_header,
    receive,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from images.phone.device.adb.keys import PublicKey

MAX_STREAMS = 128
AUTH_TIMEOUT_S = 60.0
_SEND_TIMEOUT_S = 30.0
_MAX_SIGNATURES = 32
_MAX_ID = 0x7FFFFFFF
DELAYED_ACK = "delayed_ack"


class Connection:
    """Serve one host.

    Args:
        sock: connection to the host; this object takes ownership.
        banner: description of the phone, such as ``device::ro.product.name=...``.
        keys: returns the known public keys; without keys, nobody can connect.
        serve: starts a service on a stream; returns False immediately for unknown services.
        budget: memory for received data that no service has read.
    """

    def __init__(
        self,
        sock: socket.socket,
        banner: bytes,
        keys: Callable[[], tuple[PublicKey, ...]],
        serve: Callable[[str, Stream, Connection], bool],
        budget: Budget | None = None,
    ) -> None:
        self._sock = sock
        self._banner = banner
        self._keys = keys
        self._serve = serve
        self._budget = budget
        self._send_lock = threading.Lock()
        self._streams_lock = threading.Lock()
        self._streams: dict[int, Stream] = {}
        self._next_id = 1
        self._version = VERSION_MIN
        self._host_version = VERSION_MIN
        self._host_max_bytes = MAX_PAYLOAD_BEFORE_AUTH_BYTES
        self._is_online = False
        self._has_delayed_acks = False
        self._token = b""
        self._signatures = 0
        self.at_end: list[Callable[[], None]] = []
        """Functions called when the connection ends."""

    def run(self) -> None:
        """Exchange messages until either side ends the connection; never raises."""
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock.settimeout(AUTH_TIMEOUT_S)
        try:
            while True:
                limit = MAX_PAYLOAD_BYTES if self._is_online else MAX_PAYLOAD_BEFORE_AUTH_BYTES
                check = self._host_version < VERSION_SKIP_CHECKSUM
                self._take(receive(self._sock, max_bytes=limit, check=check))
        except AdbProtocolError as exc:
            sys.stderr.write(f"adb: refused a host: {exc}\n")
        except (ConnectionEndedError, OSError):
            pass
        finally:
            self.close()

    def close(self) -> None:
        """End the connection with all its streams; idempotent."""
        self.disconnect()
        self._sock.close()
        self._end_streams()

    def disconnect(self) -> None:
        """Make `run` return; thread-safe."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def open(self, destination: str) -> Stream | None:
        """Open a stream to the host, such as to ``tcp:8000`` there; None if there are too many.

        If the host refuses, the stream ends.
        """
        if not self._is_online:
            return None
        stream = self._add_stream(0, 0)
        if stream is not None:
            credit_bytes = WINDOW_BYTES if self._has_delayed_acks else 0
            self.send(Message(OPEN, stream.local_id, credit_bytes, destination.encode() + b"\0"))
        return stream

    def _end_streams(self) -> None:
        with self._streams_lock:
            streams = list(self._streams.values())
        for stream in streams:
            stream.drop()
        ends, self.at_end = self.at_end, []
        for end in ends:
            end()

    def send(self, message: Message) -> None:
        """Send one message; end the connection if the host is gone or reads nothing for 30 s."""
        header = encode_header(message, with_checksum=self._version < VERSION_SKIP_CHECKSUM)
        with self._send_lock, contextlib.suppress(OSError):
            try:
                self._sock.sendall(header + message.payload)
            except OSError:
                self._sock.shutdown(socket.SHUT_RDWR)

    def _take(self, message: Message) -> None:
        if message.command == CNXN:
            self._take_connect(message)
        elif message.command == AUTH:
            self._take_auth(message)
        elif not self._is_online:
            raise AdbProtocolError("a stream before the connection is authorized")
        elif message.command == OPEN:
            self._take_open(message)
        else:
            self._take_for_stream(message)

    def _take_connect(self, message: Message) -> None:
        if not message.payload.startswith(b"host:") or message.arg0 < VERSION_MIN:
            raise AdbProtocolError("the peer is not a host, or too old")
        self._is_online = False
        self._end_streams()
        self._host_version = min(message.arg0, VERSION_SKIP_CHECKSUM)
        self._host_max_bytes = max(256, min(message.arg1, MAX_PAYLOAD_BYTES))
        self._has_delayed_acks = all(
            DELAYED_ACK in _features(banner) for banner in (message.payload, self._banner)
        )
        self._ask_signature()

    def _ask_signature(self) -> None:
        self._token = secrets.token_bytes(TOKEN_BYTES)
        self.send(Message(AUTH, AUTH_TOKEN, 0, self._token))

    def _take_auth(self, message: Message) -> None:
        if not self._token:
            raise AdbProtocolError("an unsolicited answer")
        if message.arg0 == AUTH_SIGNATURE:
            self._signatures += 1
            if self._signatures > _MAX_SIGNATURES:
                raise AdbProtocolError("too many signatures")
            if is_signed(self._token, message.payload, self._keys()):
                self._go_online()
            else:
                self._ask_signature()
        elif message.arg0 != AUTH_PUBLIC_KEY:
            raise AdbProtocolError(f"unknown kind of authorization {message.arg0}")
        # An offered key is never accepted, because nobody can confirm it. The connection stays open
        # until it times out, so that the host's adb shows the phone as "unauthorized".

    def _go_online(self) -> None:
        self._token = b""
        self._version = VERSION_MIN
        self.send(Message(CNXN, VERSION_SKIP_CHECKSUM, MAX_PAYLOAD_BYTES, self._banner))
        self._version = self._host_version
        self._is_online = True
        self._sock.settimeout(None)
        # SO_SNDTIMEO limits only sends; the timeout of a Python socket would also limit reads.
        seconds = int(_SEND_TIMEOUT_S).to_bytes(8, "little") + bytes(8)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, seconds)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def _take_open(self, message: Message) -> None:
        name = message.payload.split(b"\0", 1)[0].decode(errors="surrogateescape")
        if message.arg0 == 0:
            raise AdbProtocolError("a stream without an id")
        # With delayed acknowledgements the host grants credit immediately; without them it must
        # not.
        is_odd = self._has_delayed_acks != bool(message.arg1)
        stream = None if is_odd else self._add_stream(message.arg0, message.arg1)
        if stream is None:
            self.send(Message(CLSE, 0, message.arg0))
        elif not self._serve(name, stream, self):
            stream.refuse()

    def _add_stream(self, remote_id: int, credit_bytes: int) -> Stream | None:
        with self._streams_lock:
            if len(self._streams) >= MAX_STREAMS:
                return None
            while self._next_id in self._streams:
                self._next_id = self._next_id % _MAX_ID + 1
            local_id = self._next_id
            self._next_id = local_id % _MAX_ID + 1
            self._streams[local_id] = Stream(
                local_id,
                remote_id,
                self.send,
                self._host_max_bytes,
                self._forget,
                credit_bytes if self._has_delayed_acks else None,
                self._budget,
            )
            return self._streams[local_id]

    def _take_for_stream(self, message: Message) -> None:
        with self._streams_lock:
            stream = self._streams.get(message.arg1)
        if stream is None or (message.arg0 and stream.remote_id not in {0, message.arg0}):
            if message.command == WRTE:
                self.send(Message(CLSE, 0, message.arg0))
            return
        if message.command == OKAY:
            stream.take_okay(message.payload, message.arg0)
        elif message.command == CLSE:
            stream.take_close()
        elif message.command == WRTE and not stream.take_data(message.payload):
            raise AdbProtocolError("too much data before the last was acknowledged")

    def _forget(self, local_id: int) -> None:
        with self._streams_lock:
            self._streams.pop(local_id, None)


def _features(banner: bytes) -> list[str]:
    """Return the features in a banner."""
    match = re.search(rb"features=([^;\0]*)", banner)
    return match[1].decode(errors="replace").split(",") if match else []

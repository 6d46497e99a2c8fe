"""A host that sends arbitrary messages to a phone: ADB without the adb program."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Self

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa, utils

from images.phone.device.streams import wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

BANNER = b"host::features=shell_v2,cmd,stat_v2,ls_v2,sendrecv_v2"


class RawHost:
    """A connection to a phone; a context manager that closes it.

    Args:
        port: port of the phone.
        key: private key; without one nothing is sent at the start.
        banner: banner of the host.
    """

    def __init__(self, port: int, key: Path | None = None, banner: bytes = BANNER) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._next_id = 1
        self.banner = b""
        if key is not None:
            self._sign_in(key, banner)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sock.close()

    def send(self, *messages: wire.Message) -> None:
        """Send messages in one write."""
        self.sock.sendall(b"".join(encode(message) for message in messages))

    def receive(self) -> wire.Message:
        """Wait for a message."""
        return wire.receive(self.sock, max_bytes=wire.MAX_PAYLOAD_BYTES, check=False)

    def open(self, service: str) -> tuple[int, int]:
        """Open a stream and return the local and the remote ID.

        Raises:
            ConnectionRefusedError: the phone does not support the service.
        """
        own, self._next_id = self._next_id, self._next_id + 1
        self.send(wire.Message(wire.OPEN, own, 0, service.encode(errors="replace") + b"\0"))
        while True:
            message = self.receive()
            if message.arg1 == own and message.command == wire.OKAY:
                return own, message.arg0
            if message.arg1 == own and message.command == wire.CLSE:
                raise ConnectionRefusedError(service)

    def read(self, ids: tuple[int, int]) -> Iterator[bytes]:
        """Yield the data of a stream until its end."""
        own, other = ids
        while True:
            message = self.receive()
            if message.arg1 != own:
                continue
            if message.command == wire.CLSE:
                self.send(wire.Message(wire.CLSE, own, other))
                return
            if message.command == wire.WRTE:
                self.send(wire.Message(wire.OKAY, own, other))
                yield message.payload

    def _sign_in(self, path: Path, banner: bytes) -> None:
        key = _load(path)
        self.send(
            wire.Message(wire.CNXN, wire.VERSION_SKIP_CHECKSUM, wire.MAX_PAYLOAD_BYTES, banner)
        )
        asked = self.receive()
        assert (asked.command, asked.arg0) == (wire.AUTH, wire.AUTH_TOKEN)
        signed = key.sign(asked.payload, padding.PKCS1v15(), utils.Prehashed(hashes.SHA1()))  # noqa: S303
        self.send(wire.Message(wire.AUTH, wire.AUTH_SIGNATURE, 0, signed))
        answer = self.receive()
        assert answer.command == wire.CNXN
        self.banner = answer.payload


def encode(message: wire.Message) -> bytes:
    """Return a message's bytes, with the checksum that all phones accept."""
    return wire.encode_header(message, with_checksum=True) + message.payload


_KEYS: dict[Path, rsa.RSAPrivateKey] = {}


def _load(path: Path) -> rsa.RSAPrivateKey:
    if path not in _KEYS:
        key = serialization.load_pem_private_key(path.read_bytes(), None)
        assert isinstance(key, rsa.RSAPrivateKey)
        _KEYS[path] = key
    return _KEYS[path]

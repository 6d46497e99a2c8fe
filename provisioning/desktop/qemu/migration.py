"""Saves and loads the state of QEMU's devices as a migration stream; the RAM stays in its file.

libvirt runs QEMU in a sandbox that cannot start programs, so the stream uses a Unix socket.
Source: QEMU 7.2, docs/devel/migration.rst; ``x-ignore-shared`` leaves out RAM that is mapped
shared, so that its file is the saved state of the RAM.
"""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
from typing import TYPE_CHECKING, NamedTuple

from foundation.clock import SYSTEM_CLOCK, wait_until
from foundation.errors import MesocosmError, SnapshotError
from foundation.files import digest_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foundation.clock import Clock
    from provisioning.desktop.qemu.connection import Hypervisor

_TIMEOUT_S = 20.0
_EVERY_S = 0.004
_PIECE_BYTES = 1 << 20
_CAPABILITIES = {"capabilities": [{"capability": "x-ignore-shared", "state": True}]}


class StreamChecksum(NamedTuple):
    """Size and digest of a stream as QEMU sent it.

    Attributes:
        size_bytes: total size.
        digest: SHA-256, 64 hexadecimal digits.
    """

    size_bytes: int
    digest: str


def save_stream(
    hypervisor: Hypervisor, name: str, file: Path, *, clock: Clock = SYSTEM_CLOCK
) -> StreamChecksum:
    """Write the state of a paused domain's devices to a file, and verify the file.

    Args:
        hypervisor: hypervisor that runs the domain.
        name: name of the domain; its RAM is a shared file.
        file: file to write; a temporary socket is created next to it.
        clock: clock used for waits.

    Returns:
        The checksum of the stream, which `read_verified` checks.

    Raises:
        SnapshotError: QEMU did not send the whole state in time, or the file is incomplete.
        MachineError: QEMU is gone or refused.
    """
    address = file.with_suffix(".sock")
    address.unlink(missing_ok=True)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(address))
            server.listen(1)
            server.settimeout(_TIMEOUT_S)
            receiver = _Receiver(server, file)
            receiver.start()
            try:
                ignore_shared_ram(hypervisor, name)
                hypervisor.qmp(name, "migrate", {"uri": f"unix:{address}"})
                # If QEMU ended before completion, the stream could not be loaded.
                _wait(hypervisor, name, clock)
            except MesocosmError:
                server.close()
                receiver.require_no_error()  # an error of the receiver is the cause
                raise
            checksum = receiver.finish()
    finally:
        address.unlink(missing_ok=True)
    read_verified(file, checksum)
    return checksum


def ignore_shared_ram(hypervisor: Hypervisor, name: str) -> None:
    """Make a domain save and load its state without RAM that is mapped from a file, from now on.

    To save such a state, its RAM must be shared with the file; to load one, it must map a file.

    Raises:
        MachineError: QEMU is gone or refused.
    """
    hypervisor.qmp(name, "migrate-set-capabilities", _CAPABILITIES)


@contextlib.contextmanager
def full_snapshots(hypervisor: Hypervisor, name: str) -> Iterator[None]:
    """Within a block, let a domain save snapshots that any domain can load, and load such ones.

    QEMU stores the enabled capabilities in each snapshot, and loads only a snapshot that matches.

    Raises:
        MachineError: QEMU is gone or refused.
    """
    known = hypervisor.qmp(name, "query-migrate-capabilities")
    wanted = _CAPABILITIES["capabilities"]
    changed = [row for row in wanted if row in known]
    off = [{**row, "state": False} for row in changed]
    if not changed:
        yield
        return
    hypervisor.qmp(name, "migrate-set-capabilities", {"capabilities": off})
    try:
        yield
    finally:
        hypervisor.qmp(name, "migrate-set-capabilities", {"capabilities": changed})


def read_verified(file: Path, checksum: StreamChecksum) -> bytes:
    """Return the content of a file after checking that it is what QEMU sent.

    Raises:
        SnapshotError: the file has other content, or cannot be read.
    """
    try:
        data = file.read_bytes()
    except OSError as exc:
        raise SnapshotError(f"{file} cannot be read.", str(exc)) from exc
    actual = StreamChecksum(len(data), digest_bytes(data))
    if actual != checksum:
        raise SnapshotError(
            f"{file} is not the state that QEMU sent.",
            details=f"Expected {checksum.size_bytes} bytes with digest {checksum.digest[:12]}, "
            f"got {actual.size_bytes} bytes with digest {actual.digest[:12]}.",
            resolution="Check the free space of the state folder with `mesocosm doctor`.",
        )
    return data


def load_stream(
    hypervisor: Hypervisor,
    name: str,
    data: bytes,
    address: Path,
    *,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Load a stream into a domain that was started with ``is_incoming``; it is paused afterwards.

    Args:
        hypervisor: hypervisor that runs the domain.
        name: name of the domain.
        data: the return value of `read_verified`.
        address: path of the socket to create, in a folder that QEMU and this process can reach.
        clock: clock used for waits.

    Raises:
        SnapshotError: QEMU did not load the stream.
        MachineError: QEMU is gone or refused.
    """
    ignore_shared_ram(hypervisor, name)
    # The guest announces its address itself; each round would wake its network and its listeners.
    hypervisor.qmp(name, "migrate-set-parameters", {"announce-rounds": 0})
    hypervisor.qmp(name, "migrate-incoming", {"uri": f"unix:{address}"})
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_TIMEOUT_S)
            client.connect(str(address))
            client.sendall(data)
        _wait(hypervisor, name, clock)
    except OSError as exc:
        raise SnapshotError(f"{name} did not load its saved state.", str(exc)) from exc
    finally:
        address.unlink(missing_ok=True)


class _Receiver(threading.Thread):
    """Writes what QEMU sends to a file, and records its size and digest.

    Args:
        server: the listening socket that QEMU connects to.
        file: file to write.
    """

    def __init__(self, server: socket.socket, file: Path) -> None:
        super().__init__(name="migration", daemon=True)
        self._server = server
        self._file = file
        self._error: OSError | None = None
        self._size_bytes = 0
        self._digest = hashlib.sha256()

    def run(self) -> None:
        """Receive until QEMU closes the stream."""
        try:
            self._receive()
        except OSError as exc:
            self._error = exc

    def require_no_error(self) -> None:
        """Wait for the end of the stream, and require that it was received without an error.

        Raises:
            SnapshotError: the stream could not be received or written.
        """
        self.join(_TIMEOUT_S)
        if self._error is not None:
            raise SnapshotError(
                f"The state of QEMU could not be written to {self._file}.",
                details=str(self._error),
                resolution="Check the free space of the state folder with `mesocosm doctor`.",
            ) from self._error

    def finish(self) -> StreamChecksum:
        """Wait for the end of the stream and return its checksum.

        Raises:
            SnapshotError: the stream was not received or written completely.
        """
        self.require_no_error()
        if self.is_alive():
            raise SnapshotError(
                f"QEMU did not end its stream within {_TIMEOUT_S:g} s.",
                details=f"{self._size_bytes} bytes were received.",
            )
        return StreamChecksum(self._size_bytes, self._digest.hexdigest())

    def _receive(self) -> None:
        client, _address = self._server.accept()
        with client, self._file.open("wb") as out:
            client.settimeout(_TIMEOUT_S)
            while data := client.recv(_PIECE_BYTES):
                self._size_bytes += len(data)
                self._digest.update(data)
                out.write(data)


def _wait(hypervisor: Hypervisor, name: str, clock: Clock) -> None:
    def status() -> str:
        reply = hypervisor.qmp(name, "query-migrate")
        if reply.get("status") == "failed":
            raise SnapshotError(
                f"QEMU of {name} could not migrate its state.",
                details=reply.get("error-desc", ""),
            )
        return "completed" if reply.get("status") == "completed" else ""

    if not wait_until(status, timeout_s=_TIMEOUT_S, every_s=_EVERY_S, clock=clock):
        raise SnapshotError(f"QEMU of {name} did not migrate its state within {_TIMEOUT_S:g} s.")

"""Save and load the state of QEMU's devices as a migration stream; the RAM stays in its file.

libvirt runs QEMU in a sandbox that may start no program, so the stream goes over a unix socket.
Source: QEMU 7.2, docs/devel/migration.rst; ``x-ignore-shared`` leaves out RAM that is mapped
shared, whose file then is the RAM's saved state.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from appliance.base.clock import SYSTEM_CLOCK, wait_until
from appliance.base.errors import SnapshotError

if TYPE_CHECKING:
    from pathlib import Path

    from appliance.base.clock import Clock
    from provisioning.desktop.qemu.connection import Hypervisor

_TIMEOUT_S = 20.0
_EVERY_S = 0.004
_PIECE_BYTES = 1 << 20
_CAPABILITIES = {"capabilities": [{"capability": "x-ignore-shared", "state": True}]}


def save_stream(
    hypervisor: Hypervisor, name: str, file: Path, *, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Write the state of a paused domain's devices to a file.

    Args:
        hypervisor: where the domain runs.
        name: of the domain; its RAM is a shared file.
        file: to be written; a socket is made beside it for as long as this takes.
        clock: waits.

    Raises:
        SnapshotError: QEMU did not send all of it in time.
        MachineError: QEMU is gone or refused.
    """
    address = file.with_suffix(".sock")
    address.unlink(missing_ok=True)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(address))
            server.listen(1)
            server.settimeout(_TIMEOUT_S)
            receiver = threading.Thread(target=_receive, args=(server, file), daemon=True)
            receiver.start()
            hypervisor.qmp(name, "migrate-set-capabilities", _CAPABILITIES)
            hypervisor.qmp(name, "migrate", {"uri": f"unix:{address}"})
            # QEMU that ends earlier leaves a stream that cannot be loaded.
            _wait(hypervisor, name, clock)
            receiver.join(_TIMEOUT_S)
    finally:
        address.unlink(missing_ok=True)


def load_stream(
    hypervisor: Hypervisor, name: str, file: Path, address: Path, *, clock: Clock = SYSTEM_CLOCK
) -> None:
    """Load a stream into a domain that was started to wait for one; it is paused afterwards.

    Args:
        hypervisor: where the domain runs.
        name: of the domain.
        file: what `save_stream` wrote.
        address: of the socket to be made; QEMU and this process can reach its folder.
        clock: waits.

    Raises:
        SnapshotError: QEMU did not take it.
        MachineError: QEMU is gone or refused.
    """
    hypervisor.qmp(name, "migrate-set-capabilities", _CAPABILITIES)
    # The guest tells of its address itself; each round would wake its network, and who listens to it.
    hypervisor.qmp(name, "migrate-set-parameters", {"announce-rounds": 0})
    hypervisor.qmp(name, "migrate-incoming", {"uri": f"unix:{address}"})
    try:
        data = file.read_bytes()
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(_TIMEOUT_S)
            client.connect(str(address))
            client.sendall(data)
        _wait(hypervisor, name, clock)
    except OSError as exc:
        raise SnapshotError(f"{name} did not take its saved state.", str(exc)) from exc
    finally:
        address.unlink(missing_ok=True)


def _receive(server: socket.socket, file: Path) -> None:
    with contextlib.suppress(OSError), file.open("wb") as out:
        client, _address = server.accept()
        with client:
            client.settimeout(_TIMEOUT_S)
            while data := client.recv(_PIECE_BYTES):
                out.write(data)


def _wait(hypervisor: Hypervisor, name: str, clock: Clock) -> None:
    def status() -> str:
        found = hypervisor.qmp(name, "query-migrate")
        if found.get("status") == "failed":
            raise SnapshotError(
                f"QEMU of {name} could not move its state.", details=found.get("error-desc", "")
            )
        return "completed" if found.get("status") == "completed" else ""

    if not wait_until(status, timeout_s=_TIMEOUT_S, every_s=_EVERY_S, clock=clock):
        raise SnapshotError(f"QEMU of {name} did not move its state within {_TIMEOUT_S:g} s.")

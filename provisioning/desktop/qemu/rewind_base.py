"""The base that a desktop is rewound from: its RAM at ``ready`` as a file, and a snapshot without RAM.

Loading a snapshot that holds the RAM reads all pages, however few the guest has written to. So a saved
desktop also keeps its RAM in a file next to its disk, which its QEMU maps privately, as forks map their
template's. A rewind restores the pages that the guest has written to, and loads the other state.

The full snapshot stays: it is loaded if this process has no permission to write to QEMU's memory, and
templates are made from it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.clock import wait_until
from foundation.errors import MesocosmError, SnapshotError
from foundation.files import digest_bytes, write_atomic
from provisioning.desktop.qemu.domain import PROBE_SOCKET, STREAMS_SOCKET
from provisioning.desktop.qemu.memory import restore_memory
from provisioning.desktop.qemu.migration import ignore_shared_ram
from provisioning.desktop.qemu.process import find_qemu
from provisioning.desktop.qemu.saved_vm import (
    FileStamp,
    SavedVm,
    describe_change,
    stamp_of_file,
    write_back,
)
from provisioning.desktop.qemu.starting import start_domain
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor
    from provisioning.links.client import LinkClient

RAM = "ram"
"""Name of the RAM file of a machine or template."""

DEVICES_AT_READY = f"{READY}-without-ram"
"""Name of the snapshot of everything except the RAM, in the machine's disk."""

_RECORD = "rewind_base.json"
_LINK_TIMEOUT_S = 1.0
_EVERY_S = 0.002
_log = logging.getLogger(__name__)


class BaseRecord(BaseModel):
    """The record of a machine's RAM file when it was made.

    Attributes:
        saved: SHA-256 of the state that ``ready`` is verified by; identifies the snapshot.
        ram: stamp of the RAM file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    saved: str
    ram: FileStamp


def find_base(folder: Path) -> Path | None:
    """Return the RAM file that a machine is rewound from; None if it has none that matches ``ready``.

    Args:
        folder: the machine's folder.
    """
    ram = folder / RAM
    try:
        record = BaseRecord.model_validate_json((folder / _RECORD).read_bytes())
        is_same_state = record.saved == _digest_saved(folder)
    except (OSError, ValidationError):
        return None
    if not is_same_state or describe_change(ram, record.ram):
        return None
    return ram


def ensure_base(vm: SavedVm) -> Path | None:
    """Return the RAM file of a stopped desktop as `find_base` does, making it if it is missing.

    If it cannot be made, rewinds load the full snapshot.
    """
    folder = vm.folder.path
    if base := find_base(folder):
        return base
    try:
        _make_base(vm)
    except (MesocosmError, OSError) as exc:
        _log.warning("%s: rewinds will load the full snapshot: %s", vm.info.machine_id, exc)
    return find_base(folder)


def _make_base(vm: SavedVm) -> None:
    """Make the base from the snapshot ``ready``, with a QEMU whose RAM is the file.

    Raises:
        MesocosmError, OSError: the base cannot be made; nothing of it remains.
    """
    folder, name, hypervisor = vm.folder.path, vm.info.machine_id, vm.hypervisor
    _forget_base(folder)
    try:
        start_domain(hypervisor, replace(vm.spec, ram=folder / RAM, is_template=True), paused=True)
        try:
            _monitor(hypervisor, name, f"loadvm {READY}")
            ignore_shared_ram(hypervisor, name)
            _monitor(hypervisor, name, f"savevm {DEVICES_AT_READY}")
        finally:
            hypervisor.destroy(name)
        write_back(folder / RAM)
        record = BaseRecord(saved=_digest_saved(folder), ram=stamp_of_file(folder / RAM))
        write_atomic(folder / _RECORD, record.model_dump_json(indent=1))
    except BaseException:
        _forget_base(folder)
        raise


def _forget_base(folder: Path) -> None:
    """Remove a machine's base; its full snapshot stays."""
    for name in (_RECORD, RAM):
        (folder / name).unlink(missing_ok=True)


class LinkHolder(Protocol):
    """The holder of the link to a VM's probe."""

    @property
    def link(self) -> LinkClient:
        """Return the link to the probe."""
        ...

    def close_link(self) -> None:
        """Close the link."""
        ...

    def reconnect(self) -> LinkClient:
        """Return a link to a guest that does not run yet; `LinkClient.resync` waits for it."""
        ...


def restore_ram(
    hypervisor: Hypervisor, name: str, ram: Path, holder: LinkHolder
) -> LinkClient | None:
    """Restore the RAM at ``ready`` of a paused QEMU that maps it, under a new link to the probe.

    Data in transit to the probe would otherwise be written into RAM already restored. The new link
    is there before, so that the guest, whose probe had one too, does not notice the change.

    Args:
        hypervisor: hypervisor that runs the domain.
        name: name of the domain.
        ram: the return value of `find_base`.
        holder: holder of the link.

    Returns:
        The link, which must not be used before the guest runs; None if the RAM was not restored,
        and the full snapshot must be loaded.
    """
    try:
        process = find_qemu(name)
        if process is None:
            raise SnapshotError(f"The QEMU process of {name} is not visible to this process.")
        holder.close_link()
        _wait_for_link(hypervisor, name, is_there=False)
        link = holder.reconnect()
        _wait_for_link(hypervisor, name, is_there=True)
        written = restore_memory(process, ram)
    except MesocosmError as exc:
        _log.warning("%s: the full snapshot is loaded instead: %s", name, exc)
        return None
    _log.debug("%s: %d KiB of RAM were restored", name, written >> 10)
    return link


def load_devices(hypervisor: Hypervisor, name: str) -> bool:
    """Load the state at ``ready``, except RAM, into a QEMU for which `ignore_shared_ram` was called.

    Returns:
        Whether the state was loaded; if not, the full snapshot must be loaded.
    """
    try:
        _monitor(hypervisor, name, f"loadvm {DEVICES_AT_READY}")
    except MesocosmError as exc:
        _log.warning("%s: the full snapshot is loaded instead: %s", name, exc)
        return False
    return True


def _wait_for_link(hypervisor: Hypervisor, name: str, *, is_there: bool) -> None:
    """Wait until QEMU has handled the end or start of the probe's connection: it writes to RAM then.

    The connection for streams must have ended in either case.

    Raises:
        SnapshotError: it has not.
    """

    def is_handled() -> bool:
        connected = [
            row["filename"] for row in hypervisor.qmp(name, "query-chardev") if _is_connected(row)
        ]
        is_probe = any(PROBE_SOCKET in file for file in connected)
        is_streams = any(STREAMS_SOCKET in file for file in connected)
        return is_probe == is_there and not is_streams

    if not wait_until(is_handled, timeout_s=_LINK_TIMEOUT_S, every_s=_EVERY_S):
        change = "did not accept the connection to" if is_there else "still has a client of"
        raise SnapshotError(f"QEMU {change} the probe of {name}.")


def _is_connected(chardev: Mapping[str, str]) -> bool:
    """Return whether a socket has a client.

    Source: QEMU 7.2, chardev/char-socket.c.
    """
    return not chardev["filename"].startswith("disconnected:")


def _monitor(hypervisor: Hypervisor, name: str, line: str) -> None:
    if output := hypervisor.monitor(name, line):
        raise SnapshotError(f"QEMU refused {line}.", details=output)


def _digest_saved(folder: Path) -> str:
    return digest_bytes((folder / "snapshots" / f"{READY}.json").read_bytes())

"""What a desktop is rewound from: its RAM at ``ready`` as a file, and a snapshot without RAM.

A snapshot that holds the RAM is loaded page by page, all of them, however few the guest wrote to. So a
saved desktop keeps its RAM in a file beside its disk as well, which its QEMU maps privately, as forks do
with their template's. To rewind it is to give it back what it wrote to, and to load the rest.

The whole snapshot stays: it is loaded where this process may not write to QEMU's memory, and
templates are made of it.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.base.clock import wait_until
from appliance.base.errors import MesocosmError, SnapshotError
from appliance.base.files import digest_bytes, write_atomic
from provisioning.desktop.qemu.domain import PROBE_SOCKET
from provisioning.desktop.qemu.memory import restore_memory
from provisioning.desktop.qemu.migration import ignore_shared_ram
from provisioning.desktop.qemu.process import find_qemu
from provisioning.desktop.qemu.saved_vm import FileMark, SavedVm, altered, mark_of, write_back
from provisioning.desktop.qemu.starting import start_domain
from provisioning.protocols import READY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from provisioning.desktop.qemu.connection import Hypervisor

RAM = "ram"
"""Name of the file of a machine or template that holds its RAM."""

DEVICES_AT_READY = f"{READY}-without-ram"
"""The snapshot of everything but the RAM, in the machine's disk."""

_RECORD = "rewind_base.json"
_LINK_GONE_S = 1.0
_EVERY_S = 0.002
_log = logging.getLogger(__name__)


class BaseRecord(BaseModel):
    """What a machine's RAM file was when it was made.

    Attributes:
        saved: SHA-256 of what the snapshot ``ready`` is verified by: another one is another state.
        ram: mark of the file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = 1
    saved: str
    ram: FileMark


def find_base(folder: Path) -> Path | None:
    """Return the RAM file that a machine is rewound from; None where it has none that fits ``ready``.

    Args:
        folder: of the machine.
    """
    ram = folder / RAM
    try:
        record = BaseRecord.model_validate_json((folder / _RECORD).read_bytes())
        is_same_state = record.saved == _digest_saved(folder)
    except (OSError, ValidationError):
        return None
    if not is_same_state or altered(ram, record.ram):
        return None
    return ram


def have_base(vm: SavedVm) -> Path | None:
    """Return what `find_base` does of a desktop that does not run; it is made where it is missing.

    Where it cannot be made, rewinds load the whole snapshot.
    """
    folder = vm.folder.path
    if base := find_base(folder):
        return base
    try:
        _make_base(vm)
    except (MesocosmError, OSError) as exc:
        _log.warning("%s: rewinds load all of its RAM: %s", vm.info.machine_id, exc)
    return find_base(folder)


def _make_base(vm: SavedVm) -> None:
    """Make it of the snapshot ``ready``, by a QEMU whose RAM is the file.

    Raises:
        MesocosmError, OSError: it cannot be made; nothing is left of it.
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
        record = BaseRecord(saved=_digest_saved(folder), ram=mark_of(folder / RAM))
        write_atomic(folder / _RECORD, record.model_dump_json(indent=1))
    except BaseException:
        _forget_base(folder)
        raise


def _forget_base(folder: Path) -> None:
    """Remove what a machine is rewound from; its whole snapshot stays."""
    for name in (_RECORD, RAM):
        (folder / name).unlink(missing_ok=True)


def give_back_ram(hypervisor: Hypervisor, name: str, ram: Path) -> bool:
    """Give the RAM at ``ready`` back to a paused QEMU that maps it; nobody is connected to its probe.

    Args:
        hypervisor: where the domain runs.
        name: of the domain.
        ram: what `find_base` returned.

    Returns:
        Whether it was done; else the whole snapshot must be loaded.
    """
    try:
        process = find_qemu(name)
        if process is None:
            raise SnapshotError(f"The process of {name} is not seen from here.")
        _require_no_link(hypervisor, name)
        written = restore_memory(process, ram)
    except MesocosmError as exc:
        _log.warning("%s: all of its RAM is loaded instead: %s", name, exc)
        return False
    _log.debug("%s: %d KiB of RAM were given back", name, written >> 10)
    return True


def load_devices(hypervisor: Hypervisor, name: str) -> bool:
    """Load all but the RAM at ``ready`` into a QEMU that was told to ignore its RAM.

    Returns:
        Whether it was done; else the whole snapshot must be loaded.
    """
    try:
        _monitor(hypervisor, name, f"loadvm {DEVICES_AT_READY}")
    except MesocosmError as exc:
        _log.warning("%s: its whole snapshot is loaded instead: %s", name, exc)
        return False
    return True


def _require_no_link(hypervisor: Hypervisor, name: str) -> None:
    """Wait until QEMU has seen that nobody is connected to the probe: it writes to RAM when it does.

    Raises:
        SnapshotError: somebody still is.
    """

    def is_gone() -> bool:
        rows = hypervisor.qmp(name, "query-chardev")
        return not any(PROBE_SOCKET in row["filename"] and _is_connected(row) for row in rows)

    if not wait_until(is_gone, timeout_s=_LINK_GONE_S, every_s=_EVERY_S):
        raise SnapshotError(f"Somebody is still connected to the probe of {name}.")


def _is_connected(chardev: Mapping[str, str]) -> bool:
    """Return whether a socket has a client. Source: QEMU 7.2, chardev/char-socket.c."""
    return not chardev["filename"].startswith("disconnected:")


def _monitor(hypervisor: Hypervisor, name: str, line: str) -> None:
    if output := hypervisor.monitor(name, line):
        raise SnapshotError(f"QEMU refused {line}.", details=output)


def _digest_saved(folder: Path) -> str:
    return digest_bytes((folder / "snapshots" / f"{READY}.json").read_bytes())

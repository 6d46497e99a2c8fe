"""Starts copies of kept machines for a lease: all that are requested, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foundation.errors import SnapshotError, UnsupportedError
from provisioning.end_state import EndStateBackend, read_kept
from provisioning.fleet.sources import AcquiredMachine
from provisioning.protocols import ResetReport

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from provisioning.fleet.backends import Backends
    from provisioning.fleet.sources import FleetParts
    from provisioning.resource import ResourceSpec


def unkeepable_reason(backends: Backends, spec: ResourceSpec) -> str:
    """Return why machines cannot be kept, in one sentence; empty if they can."""
    backend: object = backends.of(spec)
    if not isinstance(backend, EndStateBackend):
        return f"machines of the kind {spec.kind} cannot be saved here"
    return backend.unkeepable_reason()


def start_kept(
    parts: FleetParts, lease_id: str, folders: Mapping[str, Path]
) -> dict[str, AcquiredMachine]:
    """Start a copy of each kept machine in its kept state.

    Args:
        parts: parts of the fleet.
        lease_id: the lease, which must be in the ledger.
        folders: where each role's machine was kept.

    Raises:
        MachineError: a copy cannot be started or has no memory; no copy is left running.
    """
    taken: dict[str, AcquiredMachine] = {}
    try:
        for role, folder in folders.items():
            taken[role] = _start(parts, lease_id, folder)
    except BaseException:
        for machine in taken.values():
            parts.inventory.discard(machine.handle.claim)
        raise
    return taken


def _start(parts: FleetParts, lease_id: str, folder: Path) -> AcquiredMachine:
    record = read_kept(folder)
    if record is None:
        raise SnapshotError(
            f"There is no kept machine in {folder}.",
            resolution="It was removed, or made by an older version; run the trial again.",
        )
    backend = parts.backends.of_record(record)
    if backend is None or not isinstance(backend, EndStateBackend):
        raise UnsupportedError(f"Kept machines of the kind {record.kind} cannot be started here.")
    spec = parts.backends.spec_of(record)
    needs = [(spec, backend.reserved_mib(record))]
    numbers = parts.allocation.try_reserve(lease_id, needs)
    if numbers is None:
        raise parts.allocation.no_memory(needs, "A kept machine needs its own RAM.")
    start_s = parts.clock.monotonic_s()
    try:
        handle = backend.start_kept(folder, record)
    except BaseException:
        parts.ledger.cancel(numbers)
        raise
    parts.ledger.bind(numbers[0], handle.folder.machine_id)
    parts.ledger.set_holder(handle.folder.machine_id, lease_id)
    seconds = parts.clock.monotonic_s() - start_s
    return AcquiredMachine(spec, handle, ResetReport("kept", seconds), is_fork=True)
